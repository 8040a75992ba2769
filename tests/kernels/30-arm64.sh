#!/usr/bin/env bash
# tactus for arm64 on Debian's arm64 kernel: it builds, accounts and records, the scheduler comes and goes, and recordings cross over
# both ways. ARM64=all has everything that tests/guest/arm64.sh has, ARM64_KERNEL is another kernel.
# kernel: debian-arm64
. tests/tap.sh

kernel=${ARM64_KERNEL:-debian-arm64}
views="tasks latency events roles"
if ! vm/kernel.sh "$kernel" >/dev/null 2>"$scratch/err"; then
	sed 's/^/# /' "$scratch/err"
	skip "tactus works on arm64" "$kernel: $(tail -n 1 "$scratch/err")"
	done_testing
fi
if [ "$(id -u)" != 0 ] && ! command -v aarch64-linux-gnu-gcc >/dev/null; then
	skip "tactus works on arm64" "gcc-aarch64-linux-gnu is not installed, and only root can"
	done_testing
fi
if ! make --no-print-directory -s -j"$(nproc)" cross >"$scratch/err" 2>&1; then
	flunk "tactus builds for aarch64" "$(tail -n 20 "$scratch/err")"
	done_testing
fi
pass "tactus builds for aarch64"

# The guest has a /tmp of its own, so what it is to read lies in the checkout.
exchange=build/aarch64/exchange
mkdir -p $exchange
cp examples/late-frames.tactus $exchange/x86.rec
for view in $views; do
	"$tactus" "$view" -i $exchange/x86.rec >"$exchange/x86.$view" 2>/dev/null
done
cp tests/recordings/h200-startup.tac $exchange/x86.cuda.rec
"$tactus" cuda -i $exchange/x86.cuda.rec >$exchange/x86.cuda 2>/dev/null

arguments=quick
[ "${ARM64:-}" != all ] || arguments=''
CMD="tests/guest/arm64.sh $arguments" KERNEL=$kernel CPUS=1 CLOCK=virtual LIMIT=900 guest >"$scratch/said"
status=$?
grep -vE '^# (recording|table) ' "$scratch/said"
is "every test passed on arm64" $status 0

sed -n 's/^# recording //p' "$scratch/said" | base64 -d | gzip -d >"$scratch/arm64.rec"
for view in $views; do
	is "a recording of arm64 replays on $(uname -m), byte by byte: $view" \
		"$("$tactus" "$view" -i "$scratch/arm64.rec" 2>/dev/null | sha256sum)" "$(sed -n "s/^# table $view //p" "$scratch/said")"
done
done_testing

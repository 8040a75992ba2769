#!/usr/bin/env bash
# 'make run' by an ordinary user, who may watch nothing here: the same job in a VM, with the figures of before and after.
# kernel: debian-7.2
. tests/tap.sh

cache=$(. tools/lib.sh && printf '%s' "$cache")
export KERNEL=debian-7.2
if [ "$(id -u)" = 0 ]; then
	# With a copy of the checkout, and with the kernels that are here already.
	home=$scratch/ordinary
	mkdir -p "$home"/{tmp,cache/kernel,tactus/build/bench}
	cp -r vm tools bench "$home/tactus"
	cp "$tactus" "$home/tactus/build/"
	cp build/bench/load "$home/tactus/build/bench/"
	chown -R 65534:65534 "$home"
	chmod 755 "$scratch"
	run_it() {
		cd "$home/tactus" && unshare -m bash -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - "$cache/kernel" "$home/cache/kernel" \
			setpriv --reuid 65534 --regid 65534 --clear-groups env TACTUS_CACHE="$home/cache" HOME="$home" TMPDIR="$home/tmp" tools/run.sh
	}
else
	run_it() { tools/run.sh; }
fi
(run_it) >"$scratch/out" 2>"$scratch/err" </dev/null
is "'make run' by an ordinary user runs to its end" $? 0
sed 's/^/# /' "$scratch/err" "$scratch/out"
like "'make run' by an ordinary user says what is missing here" "$(cat "$scratch/err")" "'tactus run' can't watch threads here: .*root"
# cell ROW COLUMN: a figure of the table, whose columns are as wide as its head's
cell() { awk -v row="$1" -v column="$2" '$0 ~ row { print substr($0, column == 1 ? 84 : 109) + 0 }' "$scratch/out"; }
before=$(cell 'beside 3 hogs' 1) after=$(cell 'beside 3 hogs' 2)
holds "a thread that wakes every 5 ms beside 3 hogs is late by less than half under tactus run, in the VM" awk "BEGIN { exit !($after * 2 < $before) }"
before=$(cell 'fork storm' 1) after=$(cell 'fork storm' 2)
holds "a game's loop beside a fork storm has less than half as many late frames under tactus run, in the VM" awk "BEGIN { exit !($after * 2 < $before) }"
is "a thread that is alone has one figure, for nothing is to be gained" "$(cell alone 2)" 0
done_testing

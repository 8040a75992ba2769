#!/usr/bin/env bash
# What tactus is, once more on arm64: unit tests, accounts, recordings from there and elsewhere, roles, hints, the scheduler.
# Runs in an arm64 VM by the virtual clock, after recordings were left in build/aarch64/exchange. Usage: arm64.sh [quick]
# Quick: accounts, recordings, and that the scheduler comes and goes.
# What was built for arm64 stands where tests expect what was built.
mount --bind build/aarch64 build || exit 1
. tests/tap.sh
. tests/guest/scheduler.sh

without=launch,gpu,wine,input,frame,socket,sound,names
exchange=build/exchange

is "this kernel and these programs are of arm64" "$(uname -m)" aarch64
unit_tests() {
	local test
	at "unit tests"
	for test in build/tests/*_test; do
		# A thousand kills in the middle of a saving take minutes in emulation, and test the file system.
		[ "$test" != build/tests/procdb_file_test ] || continue
		holds "unit test $(basename "$test") passes on arm64" "$test"
	done
}
[ "${1:-}" = quick ] || unit_tests
at "sensors"
"$tactus" doctor --json >"$scratch/doctor" 2>"$scratch/err"
is "doctor on arm64 knows interrupts from threads" "$(json 'd["interrupts"]' <"$scratch/doctor")" True
is "doctor on arm64 has the best hook for the scheduler and for new programs" \
	"$(json 'sorted(s["hook"] for s in d["sensors"] if s["name"] in ("sched", "launch"))' <"$scratch/doctor")" \
	"['lsm/bprm_committed_creds', 'tp_btf/sched_switch']"

at "accounts and recordings"
"$tactus" tasks -o "$scratch/run.rec" --json -n all -- hackbench -g 1 -l 30 2>"$scratch/err" | grep '^{' >"$scratch/live"
"$tactus" tasks -i "$scratch/run.rec" --json -n all >"$scratch/replay"
# The window of a run is a little longer than what its recording has events of.
sed -i 's/"cpu_percent":[0-9.]*,//; s/,"window_ns":[0-9]*//' "$scratch/live" "$scratch/replay"
say_measured "$(wc -l <"$scratch/live") threads on arm64; $(cat "$scratch/err")"
holds "accounts of a command on arm64: live equals replay" cmp "$scratch/live" "$scratch/replay"
holds "accounts of hackbench on arm64 have more than 40 threads" test "$(wc -l <"$scratch/live")" -gt 40
is "hackbench ran and waited in its own account on arm64" "$(json 'all(r["cpu_ns"] > 0 for r in rows)' <"$scratch/live")" True
"$tactus" cuda --json -v --library build/workloads/libcuda.so.1 -- build/workloads/cuda_calls build/workloads/libcuda.so.1 launches 500 \
	>"$scratch/out" 2>"$scratch/err"
is "calls into a double of libcuda are counted exactly on arm64" \
	"$(grep '^{' "$scratch/out" | json '[r["calls"] for r in rows if r.get("function") == "cuLaunchKernel"]')" "[500]"
# With -v libbpf's own words are there too, thousands of lines.
like "cuda on arm64 says in a line why calls trap there" "$(grep '^tactus: ' "$scratch/err")" 'every call was counted by a trap: .* x86-64 only'
input_of() { if [ "$1" = cuda ]; then echo $exchange/x86.cuda.rec; else echo $exchange/x86.rec; fi; }
for view in tasks latency events roles cuda; do
	"$tactus" $view -i "$(input_of $view)" >"$scratch/table" 2>/dev/null
	holds "a recording of x86-64 replays on arm64, byte by byte: $view" cmp "$scratch/table" "$exchange/x86.$view"
done
"$tactus" record --without $without -o "$scratch/own.rec" -- build/workloads/threads 12 >/dev/null 2>"$scratch/err"
is "a recording is made on arm64" $? 0
for view in tasks latency events roles; do
	echo "# table $view $("$tactus" $view -i "$scratch/own.rec" 2>/dev/null | sha256sum)"
done
gzip -c "$scratch/own.rec" | base64 | sed 's/^/# recording /'

latency_roles_and_hints() {
	at "latency"
	"$tactus" latency --json -n all -- build/workloads/pace 5000 200 1000 >"$scratch/out" 2>"$scratch/err"
	is "waits of a thread that wakes every 5 ms are counted on arm64" \
		"$(grep '^{' "$scratch/out" | json '[r["waits"] > 150 for r in rows if r.get("comm") == "pace"]')" "[True]"

	at "roles"
	role_of() { "$tactus" roles --json -n all --without $without -- build/workloads/pace "$@" 2>/dev/null | grep '^{' | json '[r["role"] for r in rows if r["comm"] == "pace"][0]'; }
	is "a thread that works 0.2 ms every 5.3 ms is audio on arm64" "$(role_of 5333 200 1500)" audio
	is "a thread that works all the time is cpu-bound on arm64" "$(role_of 0 1 1500)" cpu-bound

	at "hints"
	build/workloads/pace 5000 200 3000000 >/dev/null &
	clocked=$!
	: >"$scratch/err"
	"$tactus" run --actuator hints --compare off --without $without >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "hints to the kernel's scheduler: slices"
	for _ in $(seq 300); do [ "$(build/workloads/attr $clocked)" = "0 -9 100000" ] && break; sleep 0.1; done
	is "a thread that wakes by a clock gets a short slice and weight by hints on arm64" "$(build/workloads/attr $clocked)" "0 -9 100000"
	kill -INT $runner
	wait $runner
	is "hints are taken back at the end on arm64" "$(build/workloads/attr $clocked | cut -d' ' -f1,2) $(build/workloads/attr $clocked | awk '{print $3 > 100000}')" "0 0 1"
	kill $clocked
}
[ "${1:-}" = quick ] || latency_roles_and_hints

at "the scheduler"
# percentile FILE: p99 of cyclictest's histogram, in us
percentile() { awk '/^[0-9]/ {n += $2; c[$1] = $2} END {for (i = 0; i < 50000; i++) {s += c[sprintf("%06d", i)]; if (s >= n * .99) {print i; exit}}}' "$1"; }
timed() { cyclictest -t1 -i 5000 -l 200 --policy=other -q -h 40000 >"$1"; }
on_time() {
	timed "$scratch/idle"
	# shellcheck disable=SC2119 # it takes words that others give it
	for _ in 1 2 3; do hog; done
	timed "$scratch/eevdf"
	start_run
	is "the scheduler takes over on arm64" "$(state)" enabled
	timed "$scratch/first"
	timed "$scratch/tactus"
	is "the scheduler stays in charge under load on arm64" "$(state)" enabled
	end_load
	idle=$(percentile "$scratch/idle") eevdf=$(percentile "$scratch/eevdf") ours=$(percentile "$scratch/tactus")
	say_measured "p99 lateness of a thread that wakes every 5 ms on arm64: $idle us idle; beside three hogs $eevdf us by EEVDF, $ours us by tactus"
	holds "beside three hogs a thread that works by a clock is at most twice as late as on an idle arm64 machine" test "$ours" -le $((idle * 2))
}
if [ "${1:-}" = quick ]; then
	start_run
	is "the scheduler takes over on arm64" "$(state)" enabled
	holds "hackbench completes under the scheduler on arm64" hackbench -g 1 -l 10
else
	on_time
fi
kill -KILL "$pid"
is "after SIGKILL the kernel's own scheduler is back within a second on arm64" "$(state_within 10 disabled)" disabled
wait "$pid" 2>/dev/null
is "no error was logged by the arm64 kernel" "$(dmesg | grep -E 'sched_ext.*(error|stall)|WARNING|BUG:')" ''
at "end"
done_testing

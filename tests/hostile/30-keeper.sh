#!/usr/bin/env bash
# A run that is killed at once, as by the OOM killer: what it changed is undone at once, by a keeper that signals do not end.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/hints.sh

less=launch,gpu,wine,input,frame,socket,sound,learned
now_ms() { echo $(($(date +%s%N) / 1000000)); }
# until_nice TID TEST VALUE SECONDS
until_nice() {
	local end=$(($(now_ms) + $4 * 1000))
	while [ "$(now_ms)" -lt "$end" ]; do
		nice=$(nice_of "$1")
		test "${nice:-0}" "$2" "$3" && return 0
		sleep 0.01
	done
	echo "thread $1 has nice $(nice_of "$1") after $4 s"
	return 1
}
keeper_of() { pgrep -P "$1" tactus-keeper; }
start_tactus() {
	: >"$scratch/err"
	"$tactus" run --actuator hints --compare off --without $less >/dev/null 2>"$scratch/err" &
	runner=$!
	until_hints 300
}

setpriv --reuid 65534 --regid 65534 --clear-groups build/workloads/pace skip 5000 200 3600000 >/dev/null &
urgent=$!
trap 'kill -KILL $urgent $runner 2>/dev/null; rm -rf "$scratch"' EXIT

start_tactus
holds "a user's thread that wakes by a clock gets a pressing nice value" until_nice $urgent -lt 0 60
# Four others wait for the run's end as its keeper does: how soon they are woken says what this machine can do just now.
read -r took slowest < <(python3 - $runner $urgent <<'PYTHON'
import os, select, signal, sys, time
runner, urgent = map(int, sys.argv[1:])
ends, told = os.pipe()
end = os.pidfd_open(runner)
for _ in range(4):
    if os.fork() == 0:
        waiting = select.poll()
        waiting.register(end, select.POLLIN)
        waiting.poll()
        os.write(told, b"%20d" % time.monotonic_ns())
        os._exit(0)
# It looks in time beside any load.
os.setpriority(os.PRIO_PROCESS, 0, -15)
time.sleep(0.2)
killed = time.monotonic_ns()
signal.pidfd_send_signal(end, signal.SIGKILL)
while os.getpriority(os.PRIO_PROCESS, urgent) < 0 and time.monotonic_ns() - killed < 60e9: time.sleep(0.002)
took = time.monotonic_ns() - killed
slowest = max(int(os.read(ends, 20)) for _ in range(4)) - killed
print(took // 1000000, slowest // 1000000)
PYTHON
)
wait $runner 2>/dev/null
say_measured "the nice value was back $took ms after the kill; the last of four others heard of the run's end after $slowest ms"
is "a thread has its nice value back after the run was killed" "$(nice_of $urgent)" 0
holds "a killed run's hints are undone soon after its end: within a quarter of a second and twice what the last of four others needs to hear of it" \
	test "$took" -le $((250 + 2 * slowest))
sleep 0.3
is "a keeper that has undone everything leaves nothing to undo" "$("$tactus" undo)" "nothing to undo"
is "the journal is gone after the keeper's work" "$(ls /run/tactus/hints.journal 2>/dev/null)" ""

start_tactus
holds "the thread is raised again by the next run" until_nice $urgent -lt 0 60
keeper=$(keeper_of $runner)
say_measured "the keeper holds $(awk '/^Rss/ { print $2; exit }' "/proc/${keeper:-self}/smaps_rollup") KB, $(awk '/^Private_Dirty/ { print $2; exit }' "/proc/${keeper:-self}/smaps_rollup") KB of them its own"
name="the kernel takes everything else before the keeper when memory is short"
if (echo -1000 >/proc/self/oom_score_adj) 2>/dev/null; then
	is "$name" "$(cat "/proc/${keeper:-self}/oom_score_adj")" -1000
else
	skip "$name" "this process may not ask for that itself (CAP_SYS_RESOURCE)"
fi
kill -INT "${keeper:-none}"
kill -TERM "${keeper:-none}"
kill -HUP "${keeper:-none}"
sleep 0.2
is "a keeper goes on after signals that ask it to end" "$(keeper_of $runner)" "$keeper"
kill -KILL "${keeper:-none}"
for _ in $(seq 60); do
	again=$(keeper_of $runner)
	[ -n "$again" ] && [ "$again" != "$keeper" ] && break
	sleep 0.1
done
like "a keeper that was killed is replaced" "$again" '^[0-9]+$'
kill -KILL $runner
wait $runner 2>/dev/null
holds "the keeper that came later undoes the hints too" until_nice $urgent -ge 0 3

start_tactus
holds "the thread is raised by a run that ends well" until_nice $urgent -lt 0 60
kill -STOP $runner
stopped=$(now_ms)
holds "a run that stands still has its hints taken back" until_nice $urgent -ge 0 30
say_measured "the nice value was back $(($(now_ms) - stopped)) ms after the run was stopped"
wait_for "$scratch/err" 'the run stands still: the hints of [0-9]+ threads? were taken back'
holds "the journal of a run that stands still is left to it" test -s /run/tactus/hints.journal
kill -CONT $runner
holds "a run that goes on gives its hints again" until_nice $urgent -lt 0 60
keeper=$(keeper_of $runner)
kill -TERM $runner
wait $runner
holds "the keeper has ended when a run has ended well" test ! -e "/proc/${keeper:-self}"
is "a thread has its nice value back after a run that ended well" "$(nice_of $urgent)" 0
echo "policy ext end" >/run/tactus/partial.journal
"$tactus" undo >/dev/null
holds "tactus undo takes up the journal of a killed --partial run" test ! -e /run/tactus/partial.journal
rm -f /run/tactus/partial.journal
done_testing

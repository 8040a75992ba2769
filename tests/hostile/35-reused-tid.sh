#!/usr/bin/env bash
# A thread that has earned a hint ends before it gets it, and another takes its number: that one gets nothing.
# Needs to choose the next number of a thread (/proc/sys/kernel/ns_last_pid).
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/hints.sh

if [ ! -w /proc/sys/kernel/ns_last_pid ]; then
	skip "a thread that got another's number gets no hint of that one" "the kernel does not let numbers be chosen"
	done_testing
fi
less=launch,gpu,wine,input,frame,socket,sound,learned
: >"$scratch/err"
"$tactus" run --actuator hints --compare off --without $less >/dev/null 2>"$scratch/err" &
runner=$!
trap 'kill -CONT $runner; kill $runner $innocent 2>/dev/null; rm -rf "$scratch"' EXIT
until_hints 900
reused=0
hinted=0
for try in $(seq 4); do
	build/workloads/pace skip 5000 200 100000 >/dev/null &
	urgent=$!
	# Tactus is held up: what it is to be told of the one that works by a clock waits in a ring.
	kill -STOP $runner
	sleep 2
	kill $urgent
	wait $urgent 2>/dev/null
	innocent=$(python3 - $urgent <<'PYTHON'
import os, sys, time
want = int(sys.argv[1])
# It never waits for a CPU, which beside much other work could be taken for work of its own.
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
# Somebody else may be given the number in between.
for _ in range(50):
    open('/proc/sys/kernel/ns_last_pid', 'w').write(str(want - 1))
    pid = os.fork()
    if pid == 0:
        os.close(1)
        time.sleep(60)
        os._exit(0)
    if pid == want: break
    os.kill(pid, 9)
    os.wait()
time.sleep(0.1)
os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
print(pid, flush=True)
os._exit(0)
PYTHON
	)
	kill -CONT $runner
	got=
	for _ in $(seq 40); do
		[ "$(build/workloads/attr "$innocent" | cut -d' ' -f2)" = 0 ] || got=yes
		sleep 0.02
	done
	if [ "$innocent" = $urgent ]; then
		reused=$((reused + 1))
		hinted=$((hinted + (${#got} > 0)))
	fi
	kill -KILL "$innocent"
	[ $reused -lt 2 ] || break
done
say_measured "$reused sleeping threads got the number of an urgent one, in $try tries; $hinted of them got its hint"
holds "numbers of threads could be used again" test $reused -ge 1
is "a thread that got another's number gets no hint of that one" $hinted 0
kill -TERM $runner
wait $runner
innocent=
done_testing

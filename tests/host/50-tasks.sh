#!/usr/bin/env bash
# Threads' accounts against the kernel's own figures, against a replay of the same run, and through every filter.
# Runs on any kernel with BTF: the host's and each VM's.
. tests/tap.sh

# A worker that sleeps, moves and is pushed off a known number of times. The kernel's figures and ours span the same
# time: the worker is asleep when either begins or ends.
mkfifo "$scratch/in" "$scratch/line"
build/programs/worker <"$scratch/in" >"$scratch/worker" &
worker=$!
exec 3>"$scratch/in"
for _ in $(seq 100); do [ -s "$scratch/worker" ] && break; sleep 0.1; done
read -r pid tid <"$scratch/worker"
"$tactus" tasks -p "$pid" --json -n all >"$scratch/tasks" 2>"$scratch/err" &
watcher=$!
sleep 2
echo go >&3
for _ in $(seq 200); do [ "$(wc -l <"$scratch/worker")" = 2 ] && break; sleep 0.1; done
sleep 0.3
kill -INT $watcher
wait $watcher
is "watching one process ends well" $? 0
exec 3>&-
wait $worker
truth() { tail -n 1 "$scratch/worker" | json "d['$1']"; }
ours() { json "[r for r in rows if r['tid'] == $tid][0]['$1']" <"$scratch/tasks"; }
say_measured "CPU time: kernel $(truth cpu_ns) ns, tactus $(ours cpu_ns) ns"
say_measured "switches: kernel $(truth voluntary) voluntary and $(truth involuntary) not, tactus $(ours voluntary) and $(ours involuntary)"
say_measured "runs: kernel $(truth runs), tactus $(ours runs); waited: kernel $(truth wait_ns) ns, tactus $(ours wait_ns) ns"
# On a kernel that hides some switches from every tracer (the accounts say how many), as many may be missing here.
unseen=$(sed -n 's/^tactus: \([0-9]*\) switches happened.*/\1/p' "$scratch/err")
say_measured "switches that the kernel did not show: ${unseen:-0}"
holds "voluntary switches are the kernel's" python3 -c "assert 0 <= $(truth voluntary) - $(ours voluntary) <= ${unseen:-0}"
holds "and so are involuntary ones" python3 -c "assert 0 <= $(truth involuntary) - $(ours involuntary) <= ${unseen:-0}"
holds "at least the known number of sleeps" test "$(ours voluntary)" -ge 300
holds "it was pushed off at least ten times" test "$(ours involuntary)" -ge 10
holds "CPU time agrees with the thread's CPU clock within 1 %" \
	python3 -c "t, o = $(truth cpu_ns), $(ours cpu_ns); assert abs(t - o) <= 0.01 * t, (t, o)"
if [ "$(truth wait_ns)" != 0 ]; then
	holds "time waited agrees with schedstat within 2 %" \
		python3 -c "t, o = $(truth wait_ns), $(ours wait_ns); assert abs(t - o) <= 0.02 * t + 1e6, (t, o)"
else
	echo "# this kernel has no scheduler statistics: time waited is checked in the VMs"
fi
is "moves are the known number" "$(ours migrations)" "$(truth moves)"
is "only this process's threads are there" "$(json "all(r['pid'] == $pid for r in rows)" <"$scratch/tasks")" True

# One run, accounted in the kernel and recorded at once: the same table, number by number.
loops=${TACTUS_VM:+40}
"$tactus" tasks -o "$scratch/run.rec" --json -n all -- hackbench -g 2 -l "${loops:-300}" 2>"$scratch/err" | grep '^{' >"$scratch/live"
"$tactus" tasks -i "$scratch/run.rec" --json -n all >"$scratch/replay"
say_measured "$(wc -l <"$scratch/live") threads live, $(wc -l <"$scratch/replay") from the recording; $(cat "$scratch/err")"
holds "live equals replay for a command" cmp "$scratch/live" "$scratch/replay"
holds "of more than 80 threads" test "$(wc -l <"$scratch/live")" -gt 80
"$tactus" tasks -o "$scratch/all.rec" --json -n all -d 2 >"$scratch/live" 2>"$scratch/err" &
watcher=$!
hackbench -g 1 -l "${loops:-300}" >/dev/null
build/programs/threads 200
wait $watcher
"$tactus" tasks -i "$scratch/all.rec" --json -n all >"$scratch/replay"
say_measured "$(wc -l <"$scratch/live") threads of the whole machine"
holds "live equals replay for the whole machine" cmp "$scratch/live" "$scratch/replay"
"$tactus" affinity -i "$scratch/run.rec" --json -n all >"$scratch/out"
is "scores are from 0 to 100" "$(json 'all(0 <= r["score"] <= 100 for r in rows)' <"$scratch/out")" True

"$tactus" tasks --json -n all -- build/programs/threads 500 >"$scratch/out"
is "threads that ended are in the account, each as one" "$(json 'len([r for r in rows if r["ended"] and r["comm"] == "threads"])' \
	<"$scratch/out")" 501
is "no two rows are the same thread" "$(json 'len({r["tid"] for r in rows}) == len(rows)' <"$scratch/out")" True
"$tactus" tasks --by process --json -- build/programs/threads 50 >"$scratch/out"
is "summed by process they are one row of 51" "$(json '[(r["threads"], r["runs"] >= 51) for r in rows]' <"$scratch/out")" "[(51, True)]"

# Filters act in the kernel.
"$tactus" tasks --json -n all -c threads -d 1 >"$scratch/out" 2>/dev/null &
watcher=$!
sleep 0.5
build/programs/threads 30
build/programs/threads 30 0 other
wait $watcher
is "-c: threads of that name, and none that left it" "$(json '(len(rows) >= 31, {r["comm"] for r in rows} <= {"threads", "other"})' \
	<"$scratch/out")" "(True, True)"
"$tactus" events -C 1 --json -- sh -c 'taskset -c 0 build/programs/threads 20; taskset -c 1 build/programs/threads 20' >"$scratch/out" 2>/dev/null
is "-C: switches of that CPU alone" "$(json '{r["cpu"] for r in rows if r["event"] == "switch"}' <"$scratch/out")" "{1}"
root=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)
mkdir "$root/tactus-test-$$" "$root/tactus-test-$$/inner"
"$tactus" tasks --json -n all --cgroup "$root/tactus-test-$$" -- sh -c "
	build/programs/threads 5 0 outside
	sh -c 'echo \$\$ >$root/tactus-test-$$/inner/cgroup.procs; exec build/programs/threads 10 0 inside'" >"$scratch/out" 2>"$scratch/err"
is "--cgroup with a command: both must hold" "$(json '{r["comm"] for r in rows if r["comm"] == "outside"}' <"$scratch/out" 2>&1 | tail -n 1)" "set()"
"$tactus" tasks --json -n all --cgroup "$root/tactus-test-$$" -d 1 >"$scratch/out" 2>"$scratch/err" &
watcher=$!
sleep 0.4
sh -c "echo \$\$ >$root/tactus-test-$$/inner/cgroup.procs; exec build/programs/threads 10 0 inside"
build/programs/threads 10 0 outside
wait $watcher
is "--cgroup: the threads born below it" "$(json '{r["comm"] for r in rows}' <"$scratch/out")" "{'inside'}"
rmdir "$root/tactus-test-$$/inner" "$root/tactus-test-$$"
ends "--cgroup with a folder that is none" 1 'not a cgroup of version 2' "$tactus" tasks --cgroup /tmp -d 1
ends "-p with no such process" 1 'tactus: tasks: no process has pid 4194303' "$tactus" tasks -p 4194303 -d 1
ends "-p that is no number" 2 "pid 'x' is not a number" "$tactus" tasks -p x
ends "-C that is no list" 2 "'1-' is not a list of CPUs" "$tactus" tasks -C 1-
ends "an order that is none" 2 "the value 'height' is none of" "$tactus" tasks --sort height

# A hostile name reaches neither a terminal nor a JSON reader raw.
name=$(printf '\033[31m"\\\377x')
"$tactus" tasks --json -n all -- build/programs/threads 3 0 "$name" >"$scratch/out"
is "any name is valid JSON" "$(json 'any("\x1b[31m\"\\" in r["comm"] for r in rows)' <"$scratch/out")" True
"$tactus" tasks -n all -- build/programs/threads 3 0 "$name" >"$scratch/out"
is "and harmless in a table" "$(grep -c "$(printf '\033')" "$scratch/out")" 0
like "where it shows as" "$(cat "$scratch/out")" ' \?\[31m"\\\?x '
done_testing

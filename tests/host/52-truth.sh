#!/usr/bin/env bash
# Accounts against ground truth: a worker that does a known amount of each thing, and the kernel's own counters of it.
# Runs on any kernel with BTF: the host's and each VM's.
. tests/tap.sh

# A worker that sleeps, moves and is pushed off a known number of times. The kernel's figures and ours span the same
# time: the worker is asleep when either begins or ends.
mkfifo "$scratch/in"
build/workloads/worker <"$scratch/in" >"$scratch/worker" &
worker=$!
exec 3>"$scratch/in"
wait_for "$scratch/worker" '^[0-9]+ [0-9]+$'
read -r pid tid <"$scratch/worker"
"$tactus" tasks -v -p "$pid" --json -n all >"$scratch/tasks" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
# What the kernel's CPU clock leaves out: interrupts, and time that whoever runs this machine as a guest gave to others.
taken_ns() { awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f", ($7 + $8 + $9) * 1e9 / hz }' /proc/stat; }
taken_before_ns=$(taken_ns)
echo go >&3
wait_for "$scratch/worker" '^\{.*}$'
taken=$(($(taken_ns) - taken_before_ns + 2000000000 / $(getconf CLK_TCK)))
kill -INT $watcher
wait $watcher
is "tasks of one process ends well" $? 0
exec 3>&-
wait $worker
truth() { tail -n 1 "$scratch/worker" | json "d['$1']"; }
ours() { json "[r for r in rows if r['tid'] == $tid][0]['$1']" <"$scratch/tasks"; }
say_measured "CPU time: kernel $(truth cpu_ns) ns, tactus $(ours cpu_ns) ns"
say_measured "switches: kernel $(truth voluntary) voluntary and $(truth involuntary) not, tactus $(ours voluntary) and $(ours involuntary)"
say_measured "runs: kernel $(truth runs), tactus $(ours runs); waited: kernel $(truth wait_ns) ns, tactus $(ours wait_ns) ns"
# On a kernel that hides some switches from every tracer (the accounts say how many), as many may be missing here.
unseen=$(sed -n 's/^tactus: the kernel did not show \([0-9]*\) switch.*/\1/p' "$scratch/err")
say_measured "switches that the kernel did not show: ${unseen:-0}"
holds "a thread's voluntary switches are as many as the kernel counts, less those that it hid" python3 -c "assert 0 <= $(truth voluntary) - $(ours voluntary) <= ${unseen:-0}"
holds "a thread's involuntary switches are as many as the kernel counts, less those that it hid" python3 -c "assert 0 <= $(truth involuntary) - $(ours involuntary) <= ${unseen:-0}"
# So that there is something to compare. A sleep whose timer fires before the thread is off its CPU needs no switch.
holds "most of the worker's 300 sleeps are switches" test "$(truth voluntary)" -ge 200
holds "the worker is pushed off at least ten times" test "$(truth involuntary)" -ge 10
# In a VM in real time the host may stop a CPU between the kernel's reading of the clock and ours; in virtual time not.
if [ -n "${TACTUS_VM:-}" ] && [ "${TACTUS_CLOCK:-real}" != virtual ]; then
	echo "# times are checked in the VM's virtual time, not here"
else
	# At either end of a run the kernel has read its clock a moment before the hook reads it, and between the two whoever runs this
	# machine as a guest may stop it: such a time is running for one of them and waiting for the other.
	say_measured "interrupts and the machine's own host took $taken ns at most"
	holds "a thread's CPU time agrees with its CPU clock within 1 %, 5 us a run and what was taken from the CPUs meanwhile" \
		python3 -c "t, o, runs = $(truth cpu_ns), $(ours cpu_ns), $(ours runs); assert abs(t - o) <= 0.01 * t + 5000 * runs + $taken, (t, o, runs)"
	holds "the time a thread waited agrees with schedstat within 1 %, and what was taken from the CPUs meanwhile" \
		python3 -c "t, o = $(truth wait_ns), $(ours wait_ns); assert abs(t - o) <= 0.01 * t + 1e6 + $taken, (t, o)"
fi
is "a thread's moves are as many as it made" "$(ours migrations)" "$(truth moves)"
is "tasks of one process has no other process's threads" "$(json "all(r['pid'] == $pid for r in rows)" <"$scratch/tasks")" True

done_testing

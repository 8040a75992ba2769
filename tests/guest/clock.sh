#!/usr/bin/env bash
# The virtual clock of several CPUs: CPUs that are busy at the same time each get all of the time that passes, and a timer beside
# them is on time. Runs in the VM.
. tests/tap.sh

# Each spins for a second of the common clock and says what it had by its own CPU clock, which is the kernel's account of it.
cat >"$scratch/spin.py" <<-'END'
	import sys, time
	began, cpu_began = time.monotonic_ns(), time.thread_time_ns()
	while time.monotonic_ns() - began < 1000000000:
	    pass
	wall, cpu = time.monotonic_ns() - began, time.thread_time_ns() - cpu_began
	print(wall, cpu)
END
pids=()
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" python3 "$scratch/spin.py" >"$scratch/spun-$cpu" &
	pids+=($!)
done
wait "${pids[@]}"
for cpu in $(seq 0 $(($(nproc) - 1))); do
	read -r wall_ns cpu_ns <"$scratch/spun-$cpu"
	say_measured "CPU $cpu: busy for $cpu_ns of $wall_ns ns"
	holds "a thread alone on CPU $cpu has at least 98 % of the time while the other CPUs are busy" \
		test $((cpu_ns * 100)) -ge $((wall_ns * 98))
	holds "a thread on CPU $cpu has no more CPU time than time has passed" test "$cpu_ns" -le "$wall_ns"
done
cyclictest -q -t "$(nproc)" -a -i 5000 -l 200 >"$scratch/cyclic"
worst_us=$(sed -n 's/.*Max: *\([0-9]*\).*/\1/p' "$scratch/cyclic" | sort -n | tail -n 1)
say_measured "timers on $(nproc) idle CPUs were at most $worst_us us late"
holds "timers on idle CPUs are at most 1 ms late" test "$worst_us" -le 1000
done_testing

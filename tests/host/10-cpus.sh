#!/usr/bin/env bash
# tactus cpus against the kernel's own figures: context switches in /proc/stat, a CPU kept busy, an idle one.
# Runs on any kernel: the host's and each VM's.
. tests/tap.sh

# Virtual time passes at once while a program is read from the disk.
if [ "${TACTUS_CLOCK:-real}" != virtual ]; then
	# hackbench switches at full rate on every CPU; the span that the kernel counts lies inside the one that tactus counts.
	# Both have run once before, so that reading them from the disk is no part of it.
	# hackbench's switches are most of what happens in either; other work on the machine is between the two.
	loops=${TACTUS_VM:+150}
	build/workloads/ctxt /dev/null hackbench -l 1 >/dev/null
	build/workloads/ctxt "$scratch/outside" \
		"$tactus" cpus --json -- build/workloads/ctxt "$scratch/inside" hackbench -g 4 -l "${loops:-600}" >"$scratch/out"
	is "cpus ends with status 0 after a load of switches" $? 0
	grep '^{' "$scratch/out" >"$scratch/cpus"
	counted=$(json 'sum(r["switches"] for r in rows)' <"$scratch/cpus")
	inside=$(cat "$scratch/inside") outside=$(cat "$scratch/outside")
	lost=$(json 'sum(r["lost"] for r in rows)' <"$scratch/cpus")
	say_measured "$counted switches counted, ctxt grew by $inside inside of that time and by $outside around it, $lost known to be lost"
	holds "the load makes more than 2000 switches" test "$inside" -gt 2000
	holds "the sum over the CPUs is at least /proc/stat's ctxt of the load inside, less 2 %" test $((counted * 100)) -ge $((inside * 98))
	holds "the sum over the CPUs is at most /proc/stat's ctxt of all that is around" test "$counted" -le "$outside"
	# The host's kernel may hide switches from every tracer; the VMs' kernels do not.
	[ -z "${TACTUS_VM:-}" ] || is "cpus loses no switch" "$lost" 0
	is "a row of cpus has the promised names and no other" \
		"$(json 'all(list(r) == ["record","schema","cpu","switches","busy_ns","idle_ns","busy_percent","lost"] for r in rows)' <"$scratch/cpus")" True
	is "cpus has a row for every CPU online" "$(json 'len(rows)' <"$scratch/cpus")" "$(nproc --all)"

	# How long it spins is what it reads off its own CPU clock, whatever else runs there.
	cat >"$scratch/spin.py" <<-'END'
		import sys, time
		began = time.process_time_ns()
		while time.process_time_ns() - began < 700000000:
		    pass
		print(time.process_time_ns() - began, file=open(sys.argv[1], "w"))
		sys.exit(42)
	END
	"$tactus" cpus --json -- taskset -c 0 python3 "$scratch/spin.py" "$scratch/spun" >"$scratch/busy"
	is "cpus passes on its command's exit status" $? 42
	busy=$(json 'rows[0]["busy_ns"]' <"$scratch/busy")
	say_measured "CPU 0 is busy for $busy ns around a thread that spins on it for $(cat "$scratch/spun") ns by its own clock"
	holds "a CPU is busy for as long as a thread spins on it" test $((busy * 100)) -ge $(($(cat "$scratch/spun") * 98))
fi

# In a VM in real time the host may stop one CPU and not another, and the guest's clock ticks less often than it should.
if [ -n "${TACTUS_VM:-}" ] && [ "${TACTUS_CLOCK:-real}" != virtual ]; then
	echo "# times are checked in the VM's virtual time, not here"
	done_testing
fi
"$tactus" cpus -d 1 --json >"$scratch/second"
spans=$(json '[r["busy_ns"] + r["idle_ns"] for r in rows]' <"$scratch/second")
say_measured "busy plus idle of each CPU over a second: $spans ns"
holds "busy and idle time fill the window on every CPU" \
	python3 -c "s = $spans; assert all(1e9 <= x for x in s) and max(s) - min(s) < 0.05 * max(s), s"

# Idle time against the kernel's own, read inside the same window.
cat >"$scratch/idle.py" <<'END'
import sys, time
def idle():
    rows = [line.split() for line in open("/proc/stat") if line.startswith("cpu") and line[3] != " "]
    return [int(row[4]) + int(row[5]) for row in rows]
before = idle()
began = time.monotonic_ns()
time.sleep(1.5)
print(time.monotonic_ns() - began, file=open(sys.argv[2], "w"))
print(*[(after - start) * 10000000 for start, after in zip(before, idle())], file=open(sys.argv[1], "w"))
END
"$tactus" cpus --json -- python3 "$scratch/idle.py" "$scratch/kernel-idle" "$scratch/span" >"$scratch/idle"
say_measured "idle: kernel $(cat "$scratch/kernel-idle") ns, tactus $(json '*[r["idle_ns"] for r in rows]' <"$scratch/idle") ns"
# The kernel's span lies inside our window; what is outside of them may be idle or busy.
holds "the idle time of each CPU agrees with /proc/stat's within 75 ms" python3 -c "
import json
span = int(open('$scratch/span').read())
ours = [json.loads(line) for line in open('$scratch/idle')]
kernel = [int(word) for word in open('$scratch/kernel-idle').read().split()]
for row, truth in zip(ours, kernel):
    outside = row['idle_ns'] + row['busy_ns'] - span
    assert truth - 7.5e7 <= row['idle_ns'] <= truth + outside + 7.5e7, (row, truth)"

[ -z "${TACTUS_VM:-}" ] || done_testing
table=$("$tactus" cpus -d 0.2)
like "the table of cpus has a head" "$table" '^CPU +SWITCHES +BUSY +IDLE +BUSY % +LOST$'
like "the table of cpus has a line of sums" "$table" '^all +[0-9]+ '
done_testing

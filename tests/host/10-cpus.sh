#!/usr/bin/env bash
# tactus cpus against the kernel's own figures: context switches in /proc/stat, a CPU kept busy, an idle one.
# Runs on any kernel: the host's and each VM's.
. tests/tap.sh

# Virtual time passes at once while a program is read from the disk.
if [ "${TACTUS_CLOCK:-real}" != virtual ]; then
	# hackbench switches at full rate on every CPU; the span that the kernel counts lies inside the one that tactus counts.
	# Both have run once before, so that reading them from the disk is no part of it.
	loops=${TACTUS_VM:+150}
	build/workloads/ctxt /dev/null hackbench -l 1 >/dev/null
	"$tactus" cpus --json -- build/workloads/ctxt "$scratch/grown" hackbench -g 4 -l "${loops:-600}" >"$scratch/out"
	is "a load's window ends with status 0" $? 0
	grep '^{' "$scratch/out" >"$scratch/cpus"
	counted=$(json 'sum(r["switches"] for r in rows)' <"$scratch/cpus")
	grown=$(cat "$scratch/grown")
	lost=$(json 'sum(r["lost"] for r in rows)' <"$scratch/cpus")
	say_measured "$counted switches counted, ctxt grew by $grown, $lost known to be lost"
	holds "the sum over the CPUs agrees with /proc/stat's ctxt within 2 %" \
		python3 -c "assert $grown > 2000 and abs($counted - $grown) <= 0.02 * $grown, ($counted, $grown)"
	# The host's kernel may hide switches from every tracer; the VMs' kernels do not.
	[ -z "${TACTUS_VM:-}" ] || is "no switch is lost" "$lost" 0
	is "one row a CPU, with the promised names and no other" \
		"$(json 'all(list(r) == ["cpu","switches","busy_ns","idle_ns","lost"] for r in rows)' <"$scratch/cpus")" True
	is "a row for every CPU online" "$(json 'len(rows)' <"$scratch/cpus")" "$(nproc --all)"

	spin_s=1
	[ -z "${TACTUS_VM:-}" ] || spin_s=2
	# Long enough that starting it, slow where the CPU is emulated, is a small part.
	taskset -c 0 timeout 0.1 sh -c 'while :; do :; done'
	"$tactus" cpus --json -- taskset -c 0 timeout "$spin_s" sh -c 'while :; do :; done' >"$scratch/busy"
	is "the command's exit status is passed on" $? 124
	share=$(json 'rows[0]["busy_ns"] * 100 // (rows[0]["busy_ns"] + rows[0]["idle_ns"])' <"$scratch/busy")
	say_measured "CPU 0 is busy $share % of the time beside a spinning thread"
	holds "a CPU with a spinning thread is busy" test "$share" -ge 90
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
time.sleep(2)
print(*[(after - start) * 10000000 for start, after in zip(before, idle())], file=open(sys.argv[1], "w"))
END
"$tactus" cpus --json -- python3 "$scratch/idle.py" "$scratch/kernel-idle" >"$scratch/idle"
say_measured "idle: kernel $(cat "$scratch/kernel-idle") ns, tactus $(json '*[r["idle_ns"] for r in rows]' <"$scratch/idle") ns"
# The kernel's two seconds lie inside our window; what is outside of them may be idle or busy.
holds "idle time agrees with /proc/stat's within 5 %" python3 -c "
import json
ours = [json.loads(line) for line in open('$scratch/idle')]
kernel = [int(word) for word in open('$scratch/kernel-idle').read().split()]
for row, truth in zip(ours, kernel):
    outside = row['idle_ns'] + row['busy_ns'] - 2e9
    assert truth - 1e8 <= row['idle_ns'] <= truth + outside + 1e8, (row, truth)"

[ -z "${TACTUS_VM:-}" ] || done_testing
table=$("$tactus" cpus -d 0.2)
like "the table has a head" "$table" '^CPU +SWITCHES +BUSY +IDLE +BUSY % +LOST$'
like "and a line of sums" "$table" '^all +[0-9]+ '
done_testing

#!/usr/bin/env bash
# Ten minutes of stress-ng's stressors of the scheduler in a VM under tactus, or SECONDS of them: was it ever ejected, and what
# got done. Called by 'make bench-stress'.
set -euo pipefail

seconds=${SECONDS_OF_STRESS:-600}
# The guest's, not ours. It ends with the stressors' status, or 9 after an ejection.
# shellcheck disable=SC2016
CMD='
. tests/tap.sh
. tests/guest/scheduler.sh
start_run
tests/guest/stress.sh '"$seconds"'
status=$?
sleep 2
echo "in charge at the end: $(state) $(cat /sys/kernel/sched_ext/root/ops)"
stop_run
grep "the scheduler ended: [^u]" "$scratch/err" && status=9
echo "ejections: $(grep -c "the scheduler ended: [^u]" "$scratch/err")"
tail -n 1 "$scratch/out"
exit $status' KERNEL=scx CPUS=${CPUS:-2} LIMIT=$((seconds * 3 + 300)) exec vm/run.sh

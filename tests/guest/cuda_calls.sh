#!/usr/bin/env bash
# The heart of tests/host/80-cuda.sh once more, for kernels in a VM, where each start of a program takes seconds.
. tests/tap.sh

library=$PWD/build/workloads/libcuda.so.1
export TACTUS_NVIDIA_MAJORS=1,5
of() {
	python3 - "$scratch/rows" "$@" <<'END'
import json, sys
table, field, where = sys.argv[2], sys.argv[3], [w.split("=", 1) for w in sys.argv[4:]]
rows = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
print(*[r[field] for r in rows if r["table"] == table and all(str(r[k]) == v for k, v in where)])
END
}
watch() { "$tactus" cuda --json --library "$library" -- build/workloads/cuda_calls "$library" "$@" >"$scratch/rows" 2>"$scratch/err"; }

like "doctor names uprobe.multi, or uprobe, as the hook of cuda" "$("$tactus" doctor --json | grep '"cuda"')" '"hook":"uprobe(.multi)?"'
watch launches 2000
is "every launch is counted" "$(of calls calls function=cuLaunchKernel)" 2000
is "every launch has its kernel's name" "$(of launches launches kernel=saxpy)" 2000
is "launches have the sizes of their grid and block" "$(of launches grid) $(of launches block)" "7x2x1 128x2x1"
is "ioctls lie inside their call" "$(of calls ioctls function=cuInit)" 4
"$tactus" cuda --json --sample 100 --library "$library" -- build/workloads/cuda_calls "$library" launches 20000 >"$scratch/rows" 2>"$scratch/err"
is "launches are counted by the program itself where one of a hundred is sampled" "$(of calls calls function=cuLaunchKernel) $(of calls seen function=cuLaunchKernel)" "20000 200"
like "calls that the program counts itself cost no trap" "$(cat "$scratch/err")" '20000 calls were counted without a trap, in 1 process'
watch names 1
is "kernels' names are read whole" "$(of launches mangled | tr ' ' '\n' | awk '{ print length }' | sort -n | xargs)" "107 183 184 366 367 1501 3020 4026 4026"
watch copies 5
total=$(of calls total_ns function=cuMemcpyDtoH_v2) inner=$(of calls total_ns function=cuStreamSynchronize)
is "a call inside another is not its own time" "$(of calls self_ns function=cuMemcpyDtoH_v2)" $((total - inner))
is "allocated and freed memory adds up" "$(of memory total_bytes) $(of memory now_bytes)" "1048576 0"
"$tactus" record --library "$library" -o "$scratch/file" -- build/workloads/cuda_calls "$library" launches 500 >"$scratch/said" 2>"$scratch/err"
is "calls are recorded beside everything else" $? 0
"$tactus" cuda --json -i "$scratch/file" >"$scratch/rows"
is "every launch and every ioctl is in the recording" "$(of calls calls function=cuLaunchKernel) $(of ioctls count | tr ' ' +)" "500 1+1+1+1"
like "the recording has the threads that ran beside the calls" "$("$tactus" tasks -i "$scratch/file" 2>/dev/null)" cuda_calls

# Before Linux 6.2 a hook can't get at what is kept of a thread while its CPU is inside another look-up. That is counted.
"$tactus" cuda --json --library "$library" -- sh -c 'hackbench -g 1 -l 200 >/dev/null & "$1" "$2" threads 60000; wait' \
	sh build/workloads/cuda_calls "$library" >"$scratch/rows" 2>"$scratch/err"
left_out=$(sed -n 's/.*: \([0-9]*\) events were left out: what is kept of their threads.*/\1/p' "$scratch/err")
counted_calls=$(of calls calls function=cuLaunchKernel)
say_measured "$(uname -r): $counted_calls of 120000 launches counted, ${left_out:-0} events left out"
case $(uname -r) in
[0-5].* | 6.[01].*) holds "beside many switches, what is not counted is said" test $((counted_calls + ${left_out:-0})) -ge 120000 ;;
*) is "beside many switches nothing is left out, every call is counted" "$left_out $counted_calls" " 120000" ;;
esac

# A module with BTF, as Debian's have: the file system that a guest's root is. fentry and kprobes count the same.
if [ -e /sys/kernel/btf/overlay ]; then
	for by in fentry kprobe; do
		"$tactus" cuda --json --count overlay:ovl_open --driver-by $by -- \
			sh -c 'i=0; while [ $i -lt 300 ]; do i=$((i + 1)); : <"$1"; done' sh "$PWD/README.md" >"$scratch/rows" 2>"$scratch/err"
		counted[${#counted[@]}]=$(of calls calls function=overlay:ovl_open)
		case $by in fentry) how='1 of 1 .* by fentry$' ;; *) how='0 of 1 .* by fentry, 1 by kprobe' ;; esac
		like "$by on a module's function" "$(cat "$scratch/err")" "cuda: $how"
	done
	like "the list names fentry for a module's function" "$("$tactus" cuda --list overlay:ovl_open 2>&1)" 'overlay +ovl_open +fentry'
	say_measured "ovl_open ${counted[0]} times by fentry, ${counted[1]} by kprobe"
	is "fentry and kprobe count every call of a module's function" "$((counted[0] >= 300)) ${counted[0]}" "1 ${counted[1]}"
fi
done_testing

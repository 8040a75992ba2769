#!/usr/bin/env bash
# tactus cuda with functions of the driver: on the double of NVIDIA's kernel module (vm/module), whose functions are real kernel
# functions, called by the double of libcuda. Runs in a VM after tests/guest/gpu.sh, which has loaded the module.
. tests/tap.sh

library=$PWD/build/workloads/libcuda.so.1
calls=$PWD/build/workloads/cuda_calls
export CUDA_DOUBLE_CONTROL=/dev/nvidiactl
[ -e /dev/nvidiactl ] || mknod /dev/nvidiactl c 195 255
grep -q nvidia_unlocked_ioctl /proc/kallsyms || insmod "$1/nvidia.ko"
of() {
	python3 - "$scratch/rows" "$@" <<'END'
import json, sys
table, field, where = sys.argv[2], sys.argv[3], [w.split("=", 1) for w in sys.argv[4:]]
rows = [json.loads(line) for line in open(sys.argv[1])]
print(sum(r[field] for r in rows if r["table"] == table and all(str(r[k]) == v for k, v in where)))
END
}

"$tactus" cuda --json --library "$library" --driver '*' -- "$calls" "$library" copies 3 >"$scratch/rows" 2>"$scratch/err"
is "functions of the driver are watched" "$? $(grep -c 'not watched' "$scratch/err")" "0 0"
like "the driver's functions are said to be watched by kprobes, since the module has no BTF" "$(cat "$scratch/err")" \
	'cuda: 0 of 2 functions of the driver are watched by fentry, 2 by kprobe.multi \(not by fentry: nvidia has no BTF\)'
ioctls=$(of ioctls count) inside=$(of ioctls inside)
say_measured "$ioctls ioctls, $(of calls calls function=nvidia:nvidia_unlocked_ioctl) times nvidia_unlocked_ioctl"
is "ioctls on the driver's own device" "$ioctls $inside" "4 4"
is "every ioctl goes by one function of the driver" "$(of calls calls function=nvidia:nvidia_unlocked_ioctl)" 4
is "every call of the driver's function lies inside its ioctl" "$(of layers spans "layer=the driver's functions in ioctls")" 4
is "the device was opened once, outside any ioctl" "$(of calls calls function=nvidia:nvidia_open)" 1
total=$(of layers total_ns 'layer=ioctls inside them') self=$(of layers self_ns 'layer=ioctls inside them')
driver=$(of layers total_ns "layer=the driver's functions in ioctls")
is "an ioctl's own time is what the driver's functions do not take" $((total - driver)) "$self"
"$tactus" cuda --json --library "$library" --count '*' -- "$calls" "$library" copies 3 >"$scratch/rows" 2>"$scratch/err"
is "--count counts calls of the driver" "$(of calls calls function=nvidia:nvidia_unlocked_ioctl)" 4
is "--count counts calls of libcuda" "$(of calls calls function=cuMemcpyHtoD_v2)" 3
is "--count sends no event of a call" "$(of calls seen)" 0
for skipped in kprobe.multi kprobe.multi,cuda:kprobe; do
	TACTUS_SKIP_HOOKS=cuda:$skipped "$tactus" cuda --json --library "$library" --driver 'nvidia_*' -- "$calls" "$library" copies 3 \
		>"$scratch/rows" 2>"$scratch/err"
	status=$?
	if [ $skipped = kprobe.multi ]; then
		is "functions are watched by one probe each where many at once are not to be had" \
			"$status $(of calls calls function=nvidia:nvidia_unlocked_ioctl) $(of layers spans "layer=the driver's functions in ioctls")" "0 4 4"
	else
		like "a kernel without probes is named as the reason why the driver's functions are not watched" "$(cat "$scratch/err")" "the driver's functions are not watched: .*by kprobe: switched off"
		is "ioctls and libcuda are watched without probes in the kernel" "$status $(of ioctls count) $(of calls calls function=cuMemcpyHtoD_v2)" "0 4 3"
	fi
done
like "the list has the driver's functions and their hook" "$("$tactus" cuda --list 'nvidia_*' 2>&1)" 'nvidia +nvidia_unlocked_ioctl +kprobe.multi'
like "the list names kprobe where kprobe.multi is not to be had" "$(TACTUS_SKIP_HOOKS=cuda:kprobe.multi "$tactus" cuda --list 'nvidia_*' 2>&1)" \
	'nvidia +nvidia_unlocked_ioctl +kprobe '
like "the list says why no hook is to be had" "$(TACTUS_SKIP_HOOKS=cuda:kprobe,cuda:fentry "$tactus" cuda --list 'nvidia_*' 2>&1)" \
	'nvidia +nvidia_unlocked_ioctl +no: fentry: switched off.*; kprobe: switched off'

# Functions of the kernel itself, which has BTF, as those of a module that has: /dev/null's ioctls go by one of them.
for by in fentry kprobe; do
	TACTUS_NVIDIA_MAJORS=1,5 "$tactus" cuda --json --driver vmlinux:security_file_ioctl --driver-by $by -- build/workloads/ioctls /dev/null 500 \
		>"$scratch/all" 2>"$scratch/err"
	status=$?
	grep '^{' "$scratch/all" >"$scratch/rows"
	is "a kernel function by $by: each call is seen, inside its ioctl" \
		"$status $(of ioctls count) $(of layers spans "layer=the driver's functions in ioctls")" "0 500 500"
	is "a kernel function by $by: as many calls are counted as seen" "$(of calls calls function=vmlinux:security_file_ioctl)" "$(of calls seen function=vmlinux:security_file_ioctl)"
	if [ $by = fentry ]; then
		like "a kernel function is said to be watched by fentry" "$(cat "$scratch/err")" 'cuda: 1 of 1 functions of the driver are watched by fentry$'
	else
		like "a kernel function is said to be watched by kprobe.multi where that was asked for" "$(cat "$scratch/err")" 'cuda: 0 of 1 functions of the driver are watched by fentry, 1 by kprobe.multi \(not by fentry: not asked for\)'
	fi
done
like "the list has fentry where it can be had" "$("$tactus" cuda --list 'vmlinux:security_file_ioctl' 2>&1)" 'vmlinux +security_file_ioctl +fentry'
"$tactus" cuda --json --count 'vmlinux:vfs_*' -- build/workloads/ioctls /dev/null 5 >"$scratch/all" 2>"$scratch/err"
like "of many functions the first 64 are hooked by fentry, the others by kprobes" "$? $(cat "$scratch/err")" \
	'cuda: 64 of [0-9]+ functions of the driver are watched by fentry, [1-9][0-9]* by kprobe.multi'
grep '^{' "$scratch/all" >"$scratch/rows"
holds "functions beyond the first 64 are counted ($(of calls calls function=vmlinux:vfs_read) times vfs_read)" test "$(of calls calls function=vmlinux:vfs_read)" -ge 1
TACTUS_NVIDIA_MAJORS=1,5 "$tactus" cuda --driver vmlinux:security_file_ioctl --driver vmlinux:no_such_function -o "$scratch/args.jsonl" \
	-- build/workloads/ioctls /dev/null 3 >/dev/null 2>"$scratch/err"
is "a kernel function's second argument is the command of the ioctl that it is in" \
	"$(json '{r["arguments"][1] for r in rows if r["type"] == "kernel"} >= {hex(r["cmd"]) for r in rows if r["type"] == "syscall"} > set()' <"$scratch/args.jsonl")" True
like "cuda --driver names one of several patterns that no function fits" "$(cat "$scratch/err")" 'no function that can be hooked fits vmlinux:no_such_function'
"$tactus" cuda --json --library "$library" --driver 'nvidia_*' --driver-by fentry -- "$calls" "$library" copies 3 >"$scratch/rows" 2>"$scratch/err"
status=$?
like "fentry asked for alone where it can't be had is said to be the reason" "$(cat "$scratch/err")" \
	"the driver's functions are not watched: by fentry: nvidia has no BTF; by kprobe: not asked for"
is "ioctls are watched where the driver's functions are not" "$status $(of ioctls count)" "0 4"
like "more functions than fit are refused with a reason" \
	"$("$tactus" cuda --library "$library" --driver 'vmlinux:*' -- true 2>&1)" 'not watched: more than 2048 functions fit'
done_testing

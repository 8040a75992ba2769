#!/usr/bin/env bash
# Functions of a driver, live: their arguments, and whether the thread itself, a kernel thread or an interrupt was in them. The kernel's
# own functions stand for NVIDIA's: one that each ioctl goes by, the tick's, and the one by which kernel threads do work. Runs in a VM.
. tests/tap.sh

export TACTUS_NVIDIA_MAJORS=1,5
burn='build/workloads/ioctls /dev/null 40; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
"$tactus" cuda --driver vmlinux:security_file_ioctl --driver vmlinux:update_process_times -o "$scratch/calls.jsonl" -- sh -c "$burn" >"$scratch/out" 2>"$scratch/err"
is "functions of the kernel are watched beside a command" $? 0
sed 's/^/# /' "$scratch/err"
# calls NAME EXPRESSION: of the calls of that function, as r
calls() { json "(lambda all: $2)([r for r in rows if r['phase'] == 'E' and r['name'].endswith(':$1')])" <"$scratch/calls.jsonl"; }
say_measured "$(calls security_file_ioctl 'len(all)') calls in ioctls, $(calls update_process_times 'len(all)') ticks"
is "a driver's function that a thread calls is told as the thread's, each call" "$(calls security_file_ioctl '(sorted({r["context"] for r in all}), len(all) >= 40)')" "(['thread'], True)"
is "a driver's function has its arguments: the command of the ioctl that it is in" \
	"$(calls security_file_ioctl 'sum(r["arguments"][1] == "0xc040462a" for r in all)')" 40
is "a driver's function that an interrupt calls is told apart, each call" "$(calls update_process_times '(sorted({r["context"] for r in all}), len(all) > 0)')" "(['interrupt'], True)"

"$tactus" cuda --driver vmlinux:process_one_work -d 2 -o "$scratch/calls.jsonl" >"$scratch/out" 2>"$scratch/err"
is "functions of the kernel are watched for two seconds" $? 0
say_measured "$(calls process_one_work 'len(all)') works"
is "a driver's function that kernel threads call is told apart, each call" "$(calls process_one_work '(sorted({r["context"] for r in all}), len(all) > 0)')" "(['kernel thread'], True)"
done_testing

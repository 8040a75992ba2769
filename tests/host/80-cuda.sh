#!/usr/bin/env bash
# tactus cuda against a double of libcuda.so.1 (tests/fakes/libcuda.c), which stands for the real one where there is no GPU:
# counts, arguments, spans inside spans, memory, errors, threads, forks, all forms of output, and what can go wrong.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh
. tests/cuda.sh

library=$PWD/build/workloads/libcuda.so.1
calls=$PWD/build/workloads/cuda_calls
# The double's devices: /dev/null stands for /dev/nvidiactl, /dev/ptmx for /dev/nvidia-uvm.
export TACTUS_NVIDIA_MAJORS=1,5

# watch OPTION... -- WHAT N: rows go to $scratch/rows, what the program says to $scratch/said
watch() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	rows_of "$tactus" cuda --json --library "$library" "${options[@]}" -- "$calls" "$library" "$@"
}

watch -- launches 5000
is "watching launches ends well" $? 0
is "every launch is counted" "$(of calls calls function=cuLaunchKernel)" 5000
is "every launch is seen" "$(of calls seen function=cuLaunchKernel)" 5000
is "launches are told by the kernel's name" "$(of launches launches kernel=saxpy)" 5000
is "a launch is told with its grid" "$(of launches grid)" 7x2x1
is "a launch is told with its block, whose depth is on the stack" "$(of launches block)" 128x2x1
is "a launch is told with its shared memory" "$(of launches shared_bytes)" 256
is "nothing is lost of 5,000 launches" "$(grep -c lost "$scratch/err")" 0
is "the ioctls of cuInit are inside it" "$(of calls ioctls function=cuInit)" 4
is "a control of the driver is told by name" "$(of ioctls count 'name=RM_CONTROL GPU_GET_NAME_STRING')" 1
is "a control that the driver refuses is told, which the system call hides" "$(of ioctls refused 'name=RM_CONTROL GR_GET_INFO')" 1
is "a class of the driver is told by name" "$(of ioctls inside 'name=RM_ALLOC NV01_ROOT_CLIENT')" 1
is "an ioctl of UVM is known by its plain number" "$(of ioctls count name=UVM_INITIALIZE)" 1
is "no ioctl is outside of calls" "$(of layers spans 'layer=ioctls outside')" 0

watch -- config 100
is "launches by a structure are counted" "$(of calls calls function=cuLaunchKernelEx)" 100
is "a launch by a structure is told with its grid" "$(of launches grid)" 3x2x1

watch --sample 10 -- launches 5000
is "sampled launches: the count is exact" "$(of calls calls function=cuLaunchKernel)" 5000
seen=$(of calls seen function=cuLaunchKernel)
is_between "sampled launches: one in ten is seen" 500 "$seen" $((500 + $(nproc)))

watch --sample 10 -- leak
is "sampled calls: all bytes of device memory are counted" "$(of memory total_bytes memory=device)" $((8 << 20))
is "sampled calls: the peak of device memory is exact" "$(of memory peak_bytes memory=device)" $((8 << 20))
is "sampled calls: what is never freed is told" "$(of never_freed bytes memory=device)" $((3 << 20))
is "sampled calls: what is never freed is counted by function" "$(of never_freed count function=cuMemAlloc_v2)" 3
is "sampled calls: host memory that is never freed is told" "$(of never_freed bytes memory=host)" 4096

CUDA_DOUBLE_MEMORY=1 watch -- leak
is "memory that the driver allocates is told by its own sizes, pieces of 2 MB" "$(of driver_memory total_bytes)" $((12 << 20))
is "memory that the driver frees is subtracted" "$(of driver_memory now_bytes)" $((6 << 20))
is "memory of the driver is told by its class" "$(of driver_memory class)" NV01_MEMORY_LOCAL_USER
is "memory of the driver changes nothing of the calls" "$(of memory total_bytes memory=device)" $((8 << 20))

watch --api all -- errors
is "an error of an allocation is told by name" "$(of errors name function=cuMemAlloc_v2)" CUDA_ERROR_OUT_OF_MEMORY
is "an error of a launch is told by name when its end is watched" "$(of errors name function=cuLaunchKernel)" CUDA_ERROR_INVALID_VALUE
is "an error of a name that is not there is told by name" "$(of errors name function=cuModuleGetFunction)" CUDA_ERROR_NOT_FOUND

watch -- copies 5
is "bytes copied to the device are counted" "$(of copies bytes 'kind=host to device')" $((5 << 20))
is "bytes copied from the device are counted" "$(of copies bytes 'kind=device to host')" $((5 << 20))
total=$(of calls total_ns function=cuMemcpyDtoH_v2) inner=$(of calls total_ns function=cuStreamSynchronize) self=$(of calls self_ns function=cuMemcpyDtoH_v2)
is "a call inside another is not its own time" $((total - inner)) "$self"
say_measured "copies back took $total ns, $inner of it in the call inside"

watch -- waits 10
waited=$(sed -n 's/waited_ns=//p' "$scratch/said") total=$(of calls total_ns function=cuStreamSynchronize)
say_measured "waits by the program's clock $waited ns, in its calls $total ns"
is_between "time in calls that wait is at least what ten of them sleep, at most what the program's own clock has" 200000000 "$total" "$waited"

like "--live prints a line a second" "$("$tactus" cuda --live --library "$library" -- "$calls" "$library" waits 80 2>&1)" '^ +0 +[0-9]+ +[0-9]+ +[0-9.]+ m?s +0 B +0$'
"$tactus" cuda --live --json --library "$library" --report "$scratch/seconds" -- "$calls" "$library" waits 80 >/dev/null 2>&1
is "--live --json prints nothing but objects, and calls of each second among them" \
	"$(json 'sum(r["calls"] for r in rows if r.get("record") == "cuda_second") >= 80' <"$scratch/seconds")" True

watch -- threads 1000
is "launches of two threads are counted" "$(of calls calls function=cuLaunchKernel)" 2000
is "waits of two threads at once are counted" "$(of calls calls function=cuStreamSynchronize)" 2
watch -- fork 100
is "launches of a process and its fork are counted" "$(of calls calls function=cuLaunchKernel)" 200
is "launches of a process and its fork are told apart" "$(json 'len({r["pid"] for r in rows if r["table"] == "launches"})' <"$scratch/rows")" 2
is "an error of a fork is told by name" "$(of errors name)" CUDA_ERROR_NOT_INITIALIZED

watch --api '^cuMem' -- copies 2
is "--api with a regular expression chooses the functions" "$(json 'all(r["function"].startswith("cuMem") for r in rows if r["table"] == "calls")' <"$scratch/rows")" True
TACTUS_SKIP_HOOKS=cuda:uprobe.multi watch -- launches 300
is "launches are counted by single probes where many at once are not to be had" "$(of calls calls function=cuLaunchKernel)" 300

echo "# kernels' names"
watch -o "$scratch/file" -- names 3
python3 - "$scratch/rows" "$scratch/said" <<'END'
import json, sys
said = [line[5:].rstrip("\n") for line in open(sys.argv[2]) if line.startswith("name=")]
rows = [r for r in map(json.loads, open(sys.argv[1])) if r["table"] == "launches"]
assert all(r["launches"] == 3 for r in rows), rows
told = sorted(r["mangled"] for r in rows if r["mangled"].endswith("i") or len(r["mangled"]) > 4000)
assert [len(n) for n in said] == [183, 184, 366, 367, 1501, 3020, 4026, 5001], [len(n) for n in said]
assert told == sorted(n[:4026] for n in said), [len(n) for n in told]
words = {r["mangled"]: r["kernel"] for r in rows}
for name in said:
    if len(name) <= 4026:
        assert words[name] == name.lstrip("_Z0123456789")[:-1] + "(int)", (len(name), words[name][:40])
END
is "names of kernels are read whole, from one piece to 4,026 bytes, and put into words" $? 0
"$tactus" cuda --json -i "$scratch/file" >"$scratch/replay"
is "names of kernels are the same from a recording" "$(sort "$scratch/replay" | md5sum)" "$(sort "$scratch/rows" | md5sum)"
text=$("$tactus" cuda -i "$scratch/file")
like "a table has names of kernels short" "$text" 'at::native::vectorized_elementwise_kernel<16, at::native::CUDAFunctorOnSelf_add<float>, std::array<char\*, 2ul> >\(\.\.\.\)'
like "a table says how to see names of kernels whole" "$text" 'wide shows names whole'
like "--wide shows names of kernels whole" "$("$tactus" cuda --wide -i "$scratch/file")" 'void at::native::vectorized_elementwise_kernel<16, .*std::array<char\*, 2ul>\)'
like "--mangled shows names of kernels as they are" "$("$tactus" cuda --mangled -i "$scratch/file")" '_ZN2at6native29vectorized_elementwise_kernelILi16E'
"$tactus" cuda -i "$scratch/file" -o "$scratch/trace.jsonl" >/dev/null
is "a trace has names of kernels in words" "$(grep -c '"kernel":"void at::native::vectorized_elementwise_kernel<16, ' "$scratch/trace.jsonl")" 3

echo "# forms of output"
watch -o "$scratch/file" -- copies 3
cp "$scratch/rows" "$scratch/live"
"$tactus" cuda --json -i "$scratch/file" >"$scratch/replay"
is "a recording of copies says what was seen live" "$(sort "$scratch/live" | md5sum)" "$(sort "$scratch/replay" | md5sum)"
"$tactus" cuda -i "$scratch/file" -o "$scratch/trace.jsonl" >/dev/null
is "JSON lines are made of a recording" $? 0
"$tactus" cuda -i "$scratch/file" -o "$scratch/trace.json" >/dev/null
is "a Chrome trace is made of a recording" $? 0
python3 - "$scratch/trace.jsonl" "$scratch/trace.json" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [r["event_id"] for r in rows] == list(range(len(rows))), "numbers in order"
assert all(a["ts"] <= b["ts"] for a, b in zip(rows, rows[1:])), "times in order"
stacks = {}
for row in rows:
    stack = stacks.setdefault(row["tid"], [])
    if row["phase"] == "B": stack.append(row)
    elif row["phase"] == "E":
        begun = stack.pop()
        assert begun["name"] == row["name"], (begun, row)
        assert abs(row["ts"] - begun["ts"] - row["duration_us"] / 1e3) < 1e-5, row
assert not any(stacks.values()), "all that begins ends"
control = [r for r in rows if r.get("command") == "RM_CONTROL GPU_GET_NAME_STRING"][0]
assert control["type"] == "syscall" and control["cmd"] == 0xc020462a, control
assert control["decoded"] == {"dir": 3, "type": 70, "nr": 0x2a, "size": 32}, control
trace = json.load(open(sys.argv[2]))["traceEvents"]
assert sum(e["ph"] == "X" and e["name"] == "cuMemcpyHtoD_v2" for e in trace) == 3, "spans"
assert any(e["ph"] == "M" and e["args"]["name"] == "cuda_calls" for e in trace), "names"
END
is "JSON lines and the Chrome trace are well formed, in order, and nest" $? 0
text=$("$tactus" cuda -i "$scratch/file")
for words in '^calls$' '^layers$' '^copies$' '^memory$' '^ioctls$' 'cuMemcpyHtoD_v2 +copy +3'; do
	like "a recording is told in words: $words" "$text" "$words"
done

echo "# a start-up on a real H200, recorded there by bench/cuda/h200.sh"
"$tactus" cuda --json -i tests/recordings/h200-startup.tac >"$scratch/rows"
is "a recording of an H200 is read" $? 0
is "a recording of an H200 has 463 ioctls" "$(of ioctls count)" 463
is "ioctls of an H200 are inside calls but for one" "$(of ioctls inside) $(of layers spans 'layer=ioctls outside')" "462 1"
is "ioctls of an H200 are of cuInit and of the making of the context" "$(of calls ioctls function=cuInit) $(of calls ioctls function=cuDevicePrimaryCtxRetain)" "107 355"
is "channels of an H200 are told by name" "$(of ioctls count 'name=RM_ALLOC HOPPER_CHANNEL_GPFIFO_A')" 20
is "ioctls of UVM of an H200 are told by name" "$(of ioctls count name=UVM_REGISTER_CHANNEL)" 20
is "a kernel on an H200 is told by name, in words and as it is" "$(of launches kernel) $(of launches mangled)" "small_kernel(int*) _Z12small_kernelPi"
is "no time of a recording of an H200 is counted twice" $(($(of calls total_ns) - $(of calls self_ns))) "$(of layers total_ns 'layer=ioctls inside them')"

echo "# processes that are there already"
mkfifo "$scratch/go"
for when in loaded later; do
	: >"$scratch/said"
	"$calls" "$library" launches 2000 $when <"$scratch/go" >"$scratch/said" &
	program=$!
	exec 3>"$scratch/go"
	wait_for "$scratch/said" pid=
	: >"$scratch/err"
	"$tactus" cuda --json -p $program >"$scratch/rows" 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
	if [ $when = later ]; then
		# The double's calls begin at once when it is loaded; this process loads it first.
		"$calls" "$library" waits 2 >/dev/null
		sleep 3
	fi
	echo go >&3
	exec 3>&-
	wait $program
	kill -INT $watcher
	wait $watcher
	is "a process that is there already, library $when: tactus ends well" $? 0
	is "a process that is there already, library $when: its launches are seen, nobody else's" "$(of calls calls function=cuLaunchKernel)" 2000
done

echo "# what can go wrong"
cp "$library" "$scratch/libcuda.so.1"
truncate -s 3000 "$scratch/libcuda.so.1"
ends "a damaged library is told" 1 'cuda: .*libcuda.so.1: its .* are not all there: its calls are not seen' \
	sh -c "'$tactus' cuda --library '$scratch/libcuda.so.1' -d 0.2 2>&1 >/dev/null | grep -F '$scratch/' >&2; exit 1"
# shellcheck disable=SC2016 # It is for the shell inside; the program maps the library and waits until it is probed.
"$tactus" events --only cuda_launch --json -- sh -c '(sleep 2; echo) | "$0" "$1" launches 300 loaded' "$calls" "$library" >"$scratch/out" 2>"$scratch/err"
is "events --only cuda_launch shows every launch live, and nothing else" \
	"$(json '(sum(r["event"] == "cuda_launch" for r in rows), sum(r["event"] != "cuda_launch" for r in rows))' < <(grep '^{' "$scratch/out"))" "(300, 0)"
"$tactus" record --cuda --library "$library" --without all -o "$scratch/calls.rec" -- "$calls" "$library" launches 50 >/dev/null 2>"$scratch/err"
is "record --cuda --without all leaves out evidence, not the calls" \
	"$("$tactus" events -i "$scratch/calls.rec" --only cuda_launch --json | grep -c '"event":"cuda_launch"')" 50
ends "a library that is not there is told" 1 'cuda: cannot watch CUDA calls, .*No such file' "$tactus" cuda --library "$scratch/none" -d 0.2
ends "a process that is not there is told" 1 'no process has pid' "$tactus" cuda -p 4194303 -d 0.2
ends "a bad pattern is refused" 2 "the value '\*\(' is neither" "$tactus" cuda --api '*('
ends "a bad sample is refused" 2 'is not a number from 1' "$tactus" cuda --sample 0
ends "a word too much is refused" 2 "unexpected word 'python'" "$tactus" cuda python
ends "a recording written from a recording is refused" 2 'writes a FILE.jsonl or a FILE.json' "$tactus" cuda -i "$scratch/file" -o "$scratch/other"
out=$(env -u TACTUS_NVIDIA_MAJORS "$tactus" cuda -- true 2>&1)
is "a command without CUDA ends well" $? 0
if [ -e /dev/nvidiactl ]; then
	skip "calls without a driver have no ioctls inside" "this machine has one"
else
	like "a machine without a driver is told" "$out" 'no NVIDIA driver'
	like "a machine without a libcuda is told" "$out" 'no libcuda was found'
fi
out=$("$tactus" cuda -- "$calls" "$library" launches 10 2>&1)
is "a library that is found late, and gone at once, is no trouble" $? 0
like "a library that is found late, and gone at once, is told" "$out" 'probed only when a process had mapped it|no libcuda was found'

cp "$library" "$scratch/libcuda.so.1"
: >"$scratch/said"
"$calls" "$scratch/libcuda.so.1" waits 5 loaded <"$scratch/go" >"$scratch/said" &
program=$!
exec 3>"$scratch/go"
wait_for "$scratch/said" pid=
: >"$scratch/err"
"$tactus" cuda --json -p $program >"$scratch/rows" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
printf 'x' | dd of="$scratch/libcuda.so.1" bs=1 seek="$(stat -c %s "$scratch/libcuda.so.1")" conv=notrunc 2>/dev/null
wait_for "$scratch/err" 'written to'
is "a library that is written to while it is watched is let go of" $? 0
echo go >&3
exec 3>&-
wait $program
is "the program of a library that is written to goes on" $? 0
kill -INT $watcher
wait $watcher
is "tactus ends well after a library was written to" $? 0

watch --count 'cuMem*' -- copies 4
is "--count counts calls and sees none" "$(of calls calls function=cuMemcpyHtoD_v2) $(of calls seen) $(of calls calls function=cuInit)" "4 0 0"
if [ ! -e /dev/nvidiactl ]; then
	like "cuda says that functions of a driver that is not there are not watched" "$(cat "$scratch/err")" \
		'not watched: no function that can be hooked fits cuMem\* in modules called nvidia\*'
fi
list=$(LD_LIBRARY_PATH=$PWD/build/workloads "$tactus" cuda --list 'cuMem*' 2>&1)
like "--list has how each function is watched" "$list" 'libcuda +cuMemAlloc_v2 +entry and return +allocate'
like "--list has a function's other names" "$list" 'cuMemFree_v2 .*cuMemFreeByAnotherName'
done_testing

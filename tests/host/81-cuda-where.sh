#!/usr/bin/env bash
# tactus cuda where the library is not an ordinary file of an ordinary process: 32 bits, another mount namespace, a process that
# ends while probes are put on, a kernel that refuses; and calls in what 'tactus record' writes. On the double of libcuda.so.1.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh

library=$PWD/build/workloads/libcuda.so.1
calls=$PWD/build/workloads/cuda_calls
export TACTUS_NVIDIA_MAJORS=1,5
mkfifo "$scratch/go"
# launched: launches of the double's kernel, by the rows of a view
launched() { json 'sum(r["calls"] for r in rows if r.get("function") == "cuLaunchKernel")' <"$1"; }
# begin OPTION...: tactus in the background, until it watches
begin() {
	: >"$scratch/err"
	"$tactus" cuda --json "$@" >"$scratch/rows" 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
}
end() {
	kill -INT "$watcher"
	wait "$watcher"
}

echo "# a 32-bit program with a 32-bit library"
mkdir "$scratch/narrow"
narrow=$scratch/narrow/libcuda.so.1 narrow_calls=$scratch/narrow/cuda_calls
# The kernel's headers are the same for both.
headers=(-idirafter "/usr/include/$(gcc -print-multiarch)")
if gcc -m32 "${headers[@]}" -w -O2 -D_GNU_SOURCE -fPIC -fvisibility=hidden -shared tests/fakes/libcuda.c -o "$narrow" 2>"$scratch/err" &&
	gcc -m32 "${headers[@]}" -w -O2 -D_GNU_SOURCE tests/workloads/cuda_calls.c -o "$narrow_calls" -ldl -lpthread 2>>"$scratch/err" &&
	"$narrow_calls" "$narrow" launches 1 2>>"$scratch/err"; then
	is "the 32-bit program is one" "$(od -An -tx1 -j4 -N1 "$narrow_calls" | tr -d ' ')" 01
	said='^1 .*narrow/libcuda.so.1: it is a 32-bit library: its calls are not seen'
	"$tactus" cuda --json --no-detour --library "$library" -- sh -c '"$1" "$2" waits 60 && "$3" "$4" launches 400' \
		sh "$narrow_calls" "$narrow" "$calls" "$library" >"$scratch/all" 2>"$scratch/err"
	is "watching a 32-bit program and another ends well" $? 0
	grep '^{' "$scratch/all" >"$scratch/rows"
	like "the 32-bit program ran to its end" "$(cat "$scratch/all")" '^waited_ns='
	like "cuda says once that a 32-bit program's calls are not seen" "$(grep -c narrow "$scratch/err") $(cat "$scratch/err")" "$said"
	is "calls of a program beside a 32-bit one are seen" "$(launched "$scratch/rows")" 400
	: >"$scratch/said"
	"$narrow_calls" "$narrow" launches 50 loaded <"$scratch/go" >"$scratch/said" &
	program=$!
	exec 3>"$scratch/go"
	wait_for "$scratch/said" pid=
	begin -p $program
	like "cuda says of a 32-bit program that is there already that its calls are not seen" "$(grep -c narrow "$scratch/err") $(cat "$scratch/err")" "$said"
	echo go >&3
	exec 3>&-
	wait $program
	is "a 32-bit program that is there already goes on" $? 0
	end
	is "tactus ends well after a 32-bit program" $? 0
else
	skip "a 32-bit program" "none can be made or run here: $(head -1 "$scratch/err")"
fi

echo "# a container: the library lies where only the process sees it"
mkdir "$scratch/inside"
if unshare -m true 2>"$scratch/err"; then
	: >"$scratch/said"
	unshare -m sh -c 'mount -t tmpfs none "$1" && cp "$2" "$1" && exec "$3" "$1/libcuda.so.1" launches 700 loaded' \
		sh "$scratch/inside" "$library" "$calls" <"$scratch/go" >"$scratch/said" &
	program=$!
	exec 3>"$scratch/go"
	wait_for "$scratch/said" pid=
	is "the path of a container's library leads nowhere outside" "$(ls "$scratch/inside")" ""
	like "the process in a container maps its library" "$(cat /proc/$program/maps)" "inside/libcuda.so.1"
	begin -p $program
	echo go >&3
	exec 3>&-
	wait $program
	end
	is "tactus ends well after a container" $? 0
	is "launches in a container are counted" "$(launched "$scratch/rows")" 700
else
	skip "a container" "no mount namespace to be had: $(cat "$scratch/err")"
fi

echo "# of two processes with the same library one is watched"
# at_entry PID: the first bytes of cuLaunchKernel there; a probe is an int3, cc, and may lie behind an endbr64
at_entry() {
	python3 - "$1" "$(nm -D "$library" | awk '$3 == "cuLaunchKernel" {print $1}')" <<'END'
import sys
base = [line.split("-")[0] for line in open(f"/proc/{sys.argv[1]}/maps") if "libcuda.so.1" in line][0]
with open(f"/proc/{sys.argv[1]}/mem", "rb") as memory:
    memory.seek(int(base, 16) + int(sys.argv[2], 16))
    print(memory.read(5).hex())
END
}
mkfifo "$scratch/go2"
: >"$scratch/said"
"$calls" "$library" threads 300 loaded <"$scratch/go" >"$scratch/said" &
program=$!
"$calls" "$library" launches 300 loaded <"$scratch/go2" >"$scratch/said2" &
other=$!
exec 3>"$scratch/go" 4>"$scratch/go2"
wait_for "$scratch/said" pid=
wait_for "$scratch/said2" pid=
# Another tactus on this machine, which finds out who feeds a GPU, has probes there for 50 ms of a second.
while untouched=$(at_entry $program) && [[ $untouched =~ ^(cc|f30f1efacc) ]]; do sleep 0.15; done
begin -p $program
like "a probe is in the code of the process that is watched" "$(at_entry $program)" '^(cc|f30f1efacc)'
case $(uname -r) in
[0-5].* | 6.[0-9].*) skip "the other's is as it was" "before Linux 6.10 it can't be spared" ;;
*)
	# Ours would stay.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		seen=$(at_entry $other)
		[ "$seen" != "$untouched" ] || break
		sleep 0.15
	done
	is "the code of a process that is not watched is as it was" "$seen" "$untouched" ;;
esac
echo go >&3
echo go >&4
exec 3>&- 4>&-
wait $program $other
end
is "launches of all threads of the one process are counted and the other's not" "$(launched "$scratch/rows")" 600

echo "# a process that ends while probes are put on"
: >"$scratch/said"
"$calls" "$library" launches 10 loaded <"$scratch/go" >"$scratch/said" &
program=$!
exec 3>"$scratch/go"
wait_for "$scratch/said" pid=
"$tactus" cuda --json -p $program >"$scratch/rows" 2>"$scratch/err" &
watcher=$!
# That the process is there is asked before anything is loaded; its mappings are read after that.
until [ -n "$(find /proc/$watcher/fd -lname '*bpf-map*' 2>/dev/null)" ]; do sleep 0.01; done
kill -KILL $program
wait $program 2>/dev/null
exec 3>&-
wait_for "$scratch/err" watching
is "watching a process that has ended begins" $? 0
end
is "watching a process that has ended ends well" $? 0
like "of a process that has ended it is said what was not seen" "$(cat "$scratch/err")" 'no libcuda was found|no call into libcuda was seen'

echo "# what a kernel refuses"
TACTUS_SKIP_HOOKS=cuda:uprobe.multi,cuda:uprobe "$tactus" cuda --library "$library" -- "$calls" "$library" launches 10 \
	>"$scratch/rows" 2>"$scratch/err"
is "tactus cuda can't start without any probe" $? 1
like "tactus cuda says why it can't start without any probe" "$(cat "$scratch/err")" 'cannot watch CUDA calls, '
TACTUS_SKIP_HOOKS=cuda:kprobe.multi,cuda:kprobe "$tactus" cuda --json --driver '*' --library "$library" -- "$calls" "$library" \
	launches 300 >"$scratch/rows" 2>"$scratch/err"
is "tactus cuda goes on without probes of the kernel's functions" $? 0
like "tactus cuda says that there are no probes of the kernel's functions" "$(cat "$scratch/err")" "the driver's functions are not watched: "
is "launches are counted without probes of the kernel's functions" "$(launched "$scratch/rows")" 300
"$tactus" cuda --json --driver vmlinux:vfs_read --driver-by fentry --library "$library" -- "$calls" "$library" launches 300 \
	>"$scratch/rows" 2>"$scratch/err"
is "launches are counted with fentry alone" "$? $(launched "$scratch/rows")" "0 300"
like "tactus cuda says that fentry is there, or why not" "$(cat "$scratch/err")" \
	'cuda: 1 of 1 functions of the driver are watched by fentry$|not watched: by fentry: this kernel.*; by kprobe: not asked for'
if [ ! -e /sys/bus/event_source/devices/kprobe ]; then
	like "tactus cuda without fentry and kprobes says the reason of each" "$("$tactus" cuda --driver vmlinux:vfs_read -- true 2>&1)" \
		'1 of 1 .* by fentry$|not watched: by fentry: this kernel.*; by kprobe: this kernel is built without kprobes'
fi
ends "a way to watch the driver that is none is refused" 2 'is none of auto, fentry and kprobe' "$tactus" cuda --driver-by magic

echo "# tactus record"
"$tactus" record --library "$library" -o "$scratch/file" -- "$calls" "$library" launches 500 >"$scratch/said" 2>"$scratch/err"
is "tactus record --library ends well" $? 0
"$tactus" cuda --json -i "$scratch/file" >"$scratch/rows"
is "every launch is in a recording with --library" "$(launched "$scratch/rows")" 500
is "ioctls are in a recording with --library" "$(json 'sum(r["count"] for r in rows if r["table"] == "ioctls")' <"$scratch/rows")" 4
like "the scheduler's events are in a recording with --library" "$("$tactus" tasks -i "$scratch/file" 2>/dev/null)" 'cuda_calls'
"$tactus" record --cuda -o "$scratch/file" -- true >"$scratch/said" 2>"$scratch/err"
is "tactus record --cuda ends well without a libcuda" $? 0
"$tactus" record -o "$scratch/file" -- true >/dev/null 2>&1
like "a recording without --cuda has nothing of CUDA" "$("$tactus" cuda -i "$scratch/file" 2>&1)" 'nothing of CUDA in this recording'
done_testing

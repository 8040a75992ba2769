#!/usr/bin/env bash
# A user has links, pipes and devices where a library was mapped a moment ago: none of them is opened.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"
mkdir "$scratch/his" "$scratch/roots"
cp build/workloads/mapper "$scratch/mapper"
echo secret >"$scratch/roots/libcuda.so.1"
cp "$scratch/roots/libcuda.so.1" "$scratch/roots/libEGL.so.1"
chmod 700 "$scratch/roots"
mkfifo "$scratch/his/pipe"
mknod "$scratch/libEGL.so.1" c 1 5
chmod 644 "$scratch/libEGL.so.1"
chown -R 65534:65534 "$scratch/his"

# What is opened, and by whom, is told by the kernel (fanotify, a group for each file).
cat >"$scratch/opens.py" <<'END'
import ctypes, os, select, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
names, poll = {}, select.poll()
for path in sys.argv[2:]:
    fd = libc.fanotify_init(0x200, 0)
    if fd < 0 or libc.fanotify_mark(fd, 1, ctypes.c_uint64(0x20), -100, path.encode()) < 0:
        sys.exit(f"{path}: {os.strerror(ctypes.get_errno())}")
    names[fd] = path
    poll.register(fd, select.POLLIN)
open(sys.argv[1] + "/watched", "w").write("ready\n")
while True:
    for fd, _ in poll.poll():
        data = os.read(fd, 65536)
        with open(sys.argv[1] + "/opened", "a") as out:
            while data:
                length, _, _, _, _, _, pid = struct.unpack_from("IBBHQii", data)
                out.write(f"{pid} {names[fd]}\n")
                data = data[length:]
END
: >"$scratch/opened"
python3 "$scratch/opens.py" "$scratch" "$scratch/roots/libcuda.so.1" "$scratch/roots/libEGL.so.1" "$scratch/his/pipe" "$scratch/libEGL.so.1" 2>"$scratch/watched" &
opens=$!
for _ in $(seq 100); do
	[ ! -s "$scratch/watched" ] || break
	sleep 0.05
done
if ! grep -q ready "$scratch/watched"; then
	skip "who opens a file" "the kernel does not tell: $(cat "$scratch/watched")"
	done_testing
fi
: >"$scratch/err"
: >"$scratch/cuda-err"
"$tactus" roles -v --json -n all >"$scratch/roles" 2>"$scratch/err" &
watcher=$!
"$tactus" cuda --json >"$scratch/rows" 2>"$scratch/cuda-err" &
cuda=$!
wait_for "$scratch/err" watching
wait_for "$scratch/cuda-err" watching
watcher_before=$(cost $watcher) cuda_before=$(cost $cuda)
# opened FILE: how often tactus did
opened() { grep -cxE -- "($watcher|$cuda) $1" "$scratch/opened"; }
for name in libcuda.so.1 libEGL.so.1; do
	"${as_user[@]}" "$scratch/mapper" swap "$scratch/his" $name "$scratch/roots/$name" 32
	"${as_user[@]}" "$scratch/mapper" swap-folder "$scratch/his/folder" $name "$scratch/roots" 32
	"${as_user[@]}" "$scratch/mapper" swap-hard "$scratch/his" $name "$scratch/his/pipe" 32
done
for _ in $(seq 8); do
	"${as_user[@]}" "$scratch/mapper" hold "$scratch/libEGL.so.1" </dev/null >/dev/null
	sleep 0.15
done
"${as_user[@]}" "$scratch/mapper" hold "$scratch/libEGL.so.1" < <(sleep 0.5) >/dev/null
sleep 0.5
costs_as_before "roles beside files that are no libraries" $watcher "$watcher_before"
costs_as_before "cuda beside files that are no libraries" $cuda "$cuda_before"
kill -INT $watcher $cuda
wait $watcher
is "tactus goes on while files are swapped" $? 0
wait $cuda
kill $opens
wait $opens 2>/dev/null
is "a file of root's behind a link is never opened" "$(opened "$scratch/roots/libcuda.so.1") $(opened "$scratch/roots/libEGL.so.1")" "0 0"
is "a pipe with a library's name is never opened" "$(opened "$scratch/his/pipe")" 0
is "a device with a library's name is never opened" "$(opened "$scratch/libEGL.so.1")" 0
say_measured "of 192 swaps and 9 mappings of a device: $(opened "$scratch/roots/libcuda.so.1")+$(opened "$scratch/roots/libEGL.so.1") opens of root's files, $(opened "$scratch/his/pipe") of a pipe, $(opened "$scratch/libEGL.so.1") of the device; $(wc -l <"$scratch/opened") opens by anybody"
done_testing

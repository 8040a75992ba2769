#!/usr/bin/env bash
# Libraries of root's that go with containers and upgrades: their probes are taken off when nobody maps them, so that descriptors don't grow for months. One
# that is still installed keeps its own, so that the next program's first frame is seen. What was let go of is found, and said, once more when it is mapped again.
. tests/tap.sh

pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
name=libGLX.so.0.0.0
map=(python3 -IS -c 'import ctypes, sys, time; ctypes.CDLL(sys.argv[1]); time.sleep(0.5)')
in_place() { grep -c "$1/.*probes are in place" "$scratch/err"; }
descriptors() { find "/proc/$watcher/fd" -mindepth 1 | wc -l; }
# found_again FOLDER SAID COMMAND...: the command maps a file there every few seconds, until that was said oftener than so
found_again() {
	local folder=$1 said=$2
	shift 2
	for _ in 1 2 3 4 5 6; do
		sleep 7
		"$@"
		sleep 1
		[ "$(in_place "$folder")" -le "$said" ] || return 0
	done
	return 1
}

mkdir "$scratch/installed" "$scratch/upgraded" "$scratch/old"
echo 'void glXSwapBuffers(void) {}' | gcc -x c -shared -fPIC -o "$scratch/made.so" -
chmod 644 "$scratch/made.so"
cp "$scratch/made.so" "$scratch/installed/$name"
cp "$scratch/made.so" "$scratch/upgraded/$name"
"$tactus" roles -v --json -n all >"$scratch/out" 2>"$scratch/err" &
watcher=$!
pids+=("$watcher")
wait_for "$scratch/err" watching
before=$(descriptors)
"${map[@]}" "$scratch/installed/$name"
wait_for "$scratch/err" '/installed/.*probes are in place' 300
# More than one sensor may say it.
sleep 2
installed=$(in_place /installed)

"${map[@]}" "$scratch/upgraded/$name"
wait_for "$scratch/err" '/upgraded/.*probes are in place' 300
mv "$scratch/upgraded/$name" "$scratch/old/$name"
cp "$scratch/made.so" "$scratch/upgraded/$name"
holds "a library that was replaced is let go of when nobody maps it" found_again /old 0 "${map[@]}" "$scratch/old/$name"

unshare -m bash -c "mount -t tmpfs none /mnt && cp '$scratch/made.so' /mnt/$name && echo made >'$scratch/container'; exec sleep 900" &
container=$!
pids+=("$container")
wait_for "$scratch/container" made
inside=(nsenter -t "$container" -m "${map[@]}" "/mnt/$name")
"${inside[@]}"
wait_for "$scratch/err" '/mnt/.*probes are in place' 300
sleep 2
holds "a container's library is let go of when nobody maps it" found_again /mnt "$(in_place /mnt)" "${inside[@]}"

"${map[@]}" "$scratch/installed/$name"
sleep 1
is "a library that is still installed keeps its probe though nobody maps it" "$(in_place /installed)" "$installed"
say_measured "descriptors: $before before, $(descriptors) after"
kill -INT $watcher
wait $watcher
is "the watcher ends with status 0" $? 0
done_testing

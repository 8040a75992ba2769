#!/usr/bin/env bash
# A mapped library on a file system whose server never answers: tactus does not wait for it, and goes on with others.
# alone: another tactus may wait for the silent file
. tests/tap.sh

chmod 755 "$scratch"
mkdir "$scratch/silent" "$scratch/others"
echo "unsigned eglSwapBuffers(void *a, void *b) { return a == b; }" >"$scratch/library.c"
gcc -O1 -shared -fPIC "$scratch/library.c" -o "$scratch/others/libEGL.so.1"
: >"$scratch/err"
: >"$scratch/said"
mkfifo "$scratch/go"
if ! [ -c /dev/fuse ]; then
	skip "a silent file" "there is no /dev/fuse here"
	done_testing
fi
: >"$scratch/err"
"$tactus" roles -v --json -n all >"$scratch/roles" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
before=$(cost $watcher)
# In a mount namespace of its own, which ends with it.
unshare -m --propagation private build/workloads/fuse_silent "$scratch/silent" libEGL.so.1 <"$scratch/go" >"$scratch/said" 2>&1 &
server=$!
exec 3>"$scratch/go"
for _ in $(seq 100); do
	! grep -q 'mapped\|fuse_silent:' "$scratch/said" || break
	sleep 0.05
done
if ! grep -q mapped "$scratch/said"; then
	kill $server $watcher 2>/dev/null
	skip "a silent file" "it can't be made here: $(cat "$scratch/said")"
	done_testing
fi
build/workloads/present call "$scratch/others/libEGL.so.1" eglSwapBuffers 40 1500 >"$scratch/presented" 2>&1 &
other=$!
wait $other
costs_as_before "roles beside a file that never answers" $watcher "$before"
state=$(awk '/^State/ { print $2 }' "/proc/$watcher/status")
began=$SECONDS
kill -INT $watcher
for _ in $(seq 100); do
	grep -q '^State:.[^Z]' "/proc/$watcher/status" 2>/dev/null || break
	sleep 0.1
done
took=$((SECONDS - began))
# Who waits for it for ever ends no earlier than the server, even if it is killed.
kill -KILL $watcher 2>/dev/null
exec 3>&-
kill $server
wait $watcher 2>/dev/null
status=$?
wait $server 2>/dev/null
is "tactus ends when it is asked to beside a file that never answers" "$status" 0
is "frames of another program are counted beside a file that never answers" \
	"$(json "sum(r['presents'] for r in rows if r['pid'] == $other)" <"$scratch/roles" 2>/dev/null)" 40
like "a file that may never answer is counted" "$(grep '^tactus: libraries' "$scratch/err")" 'libraries: [0-9]+ times a mapped file was not looked at'
say_measured "tactus was in state $state and ended within $took s; $(grep '^tactus: libraries' "$scratch/err")"
done_testing

#!/usr/bin/env bash
# 'tactus stats' shows the lines of a 'tactus run' elsewhere: to several at once, to anybody, and never at the run's cost.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

export TACTUS_FEED=$scratch/feed
without=launch,gpu,wine,input,frame,socket,sound,names
run=("$tactus" run --actuator none --without "$without")
begin_run() {
	rm -f "$scratch/err"
	: >"$scratch/out"
	: >"$scratch/err"
	"${run[@]}" --json >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "observing only"
}

chmod 711 "$scratch"
ends "stats without a run ends with an error" 1 "no 'tactus run' is at work here" "$tactus" stats
begin_run
"$tactus" stats --json -d 2.5 >"$scratch/one" &
one=$!
setpriv --reuid=nobody --clear-groups "$tactus" stats -d 2.5 >"$scratch/two" &
two=$!
# One that calls and never reads.
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]); time.sleep(60)' "$TACTUS_FEED" &
mute=$!
wait $one
is "stats ends with status 0 when its time is up" $? 0
wait $two
is "stats of a user without rights ends with status 0" $? 0
holds "stats shows at least one line in 2.5 seconds" test "$(wc -l <"$scratch/one")" -ge 1
is "every line of stats is one of the run's own" "$(cat "$scratch/one" "$scratch/out" | json 'len(rows) - len({r["wall_ns"] for r in rows})')" \
	"$(json 'len(rows)' <"$scratch/one")"
holds "stats as text has a head" grep -q '^TIME ' "$scratch/two"
like "stats as text has a line with the time, the actuator and how busy the machine is" "$(tail -n 1 "$scratch/two")" '^[0-9:]{8}  none +[0-9]+ %'
say_measured "$(tail -n 1 "$scratch/two")"
is "every status tells the waits by tier" "$(json 'all(set(r["wait_p99_ns"]) == {"urgent", "normal", "batch"} for r in rows)' <"$scratch/one")" True
holds "the statuses of a run tell waits of normal threads" test "$(json 'sum(r["waits"]["normal"] for r in rows)' <"$scratch/out")" -gt 0

"${run[@]}" -d 0.3 >"$scratch/other" 2>"$scratch/other-err"
is "a second run ends with status 0 without a socket of its own" $? 0
like "a second run says that stats will not see it" "$(cat "$scratch/other-err")" "stats' will not see this run: .*another run serves it"
"$tactus" stats | head -n 1 >/dev/null
is "stats ends with status 0 when its reader goes away" "${PIPESTATUS[0]}" 0
"$tactus" stats >"$scratch/last" 2>"$scratch/last-err" &
last=$!
wait_for "$scratch/last" '^[0-9:]{8} '
kill -KILL $runner $mute
wait $runner $mute 2>/dev/null
wait $last
is "stats ends with status 0 when the run is killed" $? 0
like "stats says that the run has ended" "$(cat "$scratch/last-err")" 'the run has ended'
holds "a killed run leaves its socket" test -S "$TACTUS_FEED"
begin_run
"$tactus" stats -d 0.3 --json >"$scratch/one"
is "the next run serves stats on the socket that a killed run left" $? 0
kill -INT $runner
wait $runner
holds "a run removes its socket at its end" test ! -e "$TACTUS_FEED"

echo "# what hooks saw"
# A double of a sound server, which is there before the run, of libcuda, and a game's packets.
mkdir "$scratch/pulse"
cp build/workloads/libcuda.so.1 "$scratch/libcuda.so.1"
python3 - "$scratch/pulse/native" >"$scratch/sound" <<'END' &
import socket, sys, threading, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
sends = socket.socket(socket.AF_UNIX)
sends.connect(sys.argv[1])
takes = server.accept()[0]
threading.Thread(target=lambda: [None for _ in iter(lambda: takes.recv(4096), b"")], daemon=True).start()
print("listens", flush=True)
while True:
    sends.sendall(b"sound" * 20)
    time.sleep(0.02)
END
doubles=($!)
wait_for "$scratch/sound" listens
without=launch,gpu,wine,input,names,learned
run=("$tactus" run -v --actuator none --without "$without")
begin_run
build/workloads/netplay >/dev/null &
doubles+=($!)
build/workloads/train "$scratch/libcuda.so.1" 100 >/dev/null &
doubles+=($!)
# Frames and flushes through doubles of libraries, which go on once these are probed.
printf 'int eglSwapBuffers(void *display, void *surface) { return display == surface; }\n' >"$scratch/egl.c"
printf 'void glFlush(void) {}\nvoid glFinish(void) {}\n' >"$scratch/gl.c"
gcc -shared -fPIC -O1 "$scratch/egl.c" -o "$scratch/libEGL.so.1"
gcc -shared -fPIC -O1 "$scratch/gl.c" -o "$scratch/libOpenGL.so.0"
# presents LIBRARY FUNCTION COUNT
presents() {
	rm -f "$scratch/in"
	mkfifo "$scratch/in"
	: >"$scratch/presented"
	build/workloads/present call "$scratch/$1" "$2" "$3" wait <"$scratch/in" >"$scratch/presented" 2>&1 &
	exec 3>"$scratch/in"
	wait_for "$scratch/err" "frame: .*/${1//./\\.}: probes are in place"
	echo >&3
	wait_for "$scratch/presented" presented
	exec 3>&-
	wait $!
}
presents libEGL.so.1 eglSwapBuffers 40
presents libOpenGL.so.0 glFlush 30
# hits NAME: so far
hits() { tail -n 1 "$scratch/out" | json "d['hits']['$1']"; }
for hook in network_turns sound_writes cuda_feeds presents library_submits; do
	wait_for "$scratch/out" "\"$hook\":[1-9][0-9]" && pass "a run counts what hooks saw: $hook"
done
# Another program of this machine may do the same meanwhile.
for _ in $(seq 100); do [ "$(hits presents)" -lt 40 ] || [ "$(hits library_submits)" -lt 30 ] || break; sleep 0.1; done
holds "a run counts each of 40 frames that a program presents" test "$(hits presents)" -ge 40
holds "a run counts each of 30 submits through a library" test "$(hits library_submits)" -ge 30
say_measured "presents $(hits presents) of 40, library_submits $(hits library_submits) of 30, network_turns $(hits network_turns), sound_writes $(hits sound_writes), cuda_feeds $(hits cuda_feeds)"
: >"$scratch/last-err"
"$tactus" stats >"$scratch/one" 2>"$scratch/last-err" &
last=$!
wait_for "$scratch/last-err" 'hits of hooks: .*network_turns [0-9]+' && pass "stats says in words what hooks saw"
wait_for "$scratch/last-err" 'hits of hooks: presents [0-9]+, library_submits [0-9]+' && pass "stats says in words how many frames and submits hooks saw"
"$tactus" stats --json -d 2.5 >"$scratch/two"
sleep 0.2
is "stats as JSON has the hits of the run's own lines" \
	"$(cat "$scratch/two" "$scratch/out" | json '[len(rows) > 0] + [len({str(r["hits"]) for r in rows if r["wall_ns"] == one}) for one in {r["wall_ns"] for r in rows}]' | tr -d ' []' | tr , '\n' | sort -u | paste -sd' ')" "1 True"
kill -INT $last
wait $last
kill -INT $runner
wait $runner
like "a run says in words at its end what hooks saw" "$(cat "$scratch/err")" 'hits of hooks: .*cuda_feeds [0-9]+.*sound_writes [0-9]+, network_turns [0-9]+'
kill "${doubles[@]}"
wait "${doubles[@]}" 2>/dev/null

echo precious >"$TACTUS_FEED"
"${run[@]}" -d 0.2 >/dev/null 2>"$scratch/err"
is "a run with a file in the socket's place ends with status 0" $? 0
like "a run with a file in the socket's place says that stats will not see it" "$(cat "$scratch/err")" 'will not see this run'
is "a file in the socket's place is left alone" "$(cat "$TACTUS_FEED")" precious
ends "stats of a path that is a file ends with an error" 1 'no .tactus run. is at work here' "$tactus" stats
TACTUS_FEED=$scratch/$(printf 'x%.0s' {1..120})
"${run[@]}" -d 0.2 >/dev/null 2>"$scratch/err"
like "a run says that its socket's path is too long" "$(cat "$scratch/err")" 'too long for a socket'
done_testing

#!/usr/bin/env bash
# Under the scheduler, by the virtual clock: an honest thread that wakes every 5 ms beside a user who starts threads without end,
# maps libraries and burns after a few frames every second, is as early as without him; beside twelve threads of his that work by a
# clock too, as early as a queue of them allows. Runs in a VM.
. tests/tap.sh

# [SECONDS [SHORT]]: of the attack; he is left out, and works by a clock, for SHORT: a tenth of that, or as long.
seconds=${1:-10}
short=${2:-$((seconds < 100 ? seconds : seconds / 10))}
he=(setpriv --reuid 65534 --regid 65534 --clear-groups)
honest=(setpriv --reuid 65533 --regid 65533 --clear-groups)
chmod 755 "$scratch"
mkdir "$scratch/his"
for program in burner mapper short_lived hostile_names pace; do cp "build/workloads/$program" "$scratch/$program"; done
cp build/bench/load "$scratch/load"
echo 'unsigned eglSwapBuffers(void *a, void *b) { static volatile long calls; calls++; return a == b; }' >"$scratch/egl.c"
gcc -O1 -shared -fPIC "$scratch/egl.c" -o "$scratch/his/libEGL.so.1"
chown -R 65534:65534 "$scratch/his"
chmod -R a+rX "$scratch"
his=() ours=() shells=()
# shellcheck disable=SC2317 # a trap calls it
end_all() {
	kill "${his[@]}" "${ours[@]}" 2>/dev/null
	rm -rf "$scratch"
}
trap end_all EXIT

"${honest[@]}" "$scratch/pace" 0 1 10000000 >/dev/null &
ours+=($!)
: >"$scratch/err"
"$tactus" run --actuator scx --compare off >/dev/null 2>"$scratch/err" &
runner=$!
ours+=("$runner")
wait_for "$scratch/err" 'scheduling by sched_ext' 600
# timed NAME SECONDS
timed() { "${honest[@]}" "$scratch/load" periodic 5000 200 "$2" 2 >"$scratch/$1"; }
p99_us() { sed -n 's/.*\bp99_us=\([0-9]*\).*/\1/p' "$scratch/$1"; }
timed without "$short"
# forever COMMAND...: as the hostile user, again whenever it ends
forever() {
	(trap 'kill $child; exit' TERM; while :; do "${he[@]}" "$@" & child=$!; wait $child; done) >/dev/null 2>&1 &
	his+=($!) shells+=($!)
}
stop_him() {
	kill "${his[@]}" 2>/dev/null
	his=() shells=()
	sleep 1
}
forever "$scratch/hostile_names" 5000
timed clocked "$short"
burst_us=$(cat /proc/"$(pgrep -n -x -u 65534 hostile_names)"/task/*/schedstat | awk '{ ran += $1; runs += $3 } END { print int(ran / runs / 1000) }')
stop_him
forever "$scratch/short_lived" 20000
forever "$scratch/mapper" again "$scratch/his/libEGL.so.1"
mkfifo -m 666 "$scratch/go"
"${he[@]}" "$scratch/burner" "$scratch/his/libEGL.so.1" eglSwapBuffers 12 2 1000 0 <"$scratch/go" >/dev/null 2>&1 &
his+=($!)
exec 5>"$scratch/go"
(for ((i = 0; i < seconds; i++)); do echo; sleep 1; done >&5) &
his+=($!)
python3 tests/shares.py "$seconds" 1 65534 65533 "${shells[@]}" >"$scratch/shares" &
sampler=$!
timed with "$seconds"
wait $sampler
stop_him
kill -TERM "$runner"
wait "$runner"
is "a run under a hostile user ends well" $? 0
without=$(p99_us without) with=$(p99_us with) clocked=$(p99_us clocked)
say_measured "an honest thread that wakes every 5 ms beside a hog, p99: $without us without a hostile user, $with us with him," \
	"$clocked us beside twelve threads of his that run $burst_us us every 4 ms"
read -r his_wants our_wants his_s our_s <"$scratch/shares"
say_measured "in $seconds s he had $his_wants threads that wanted to run on average and got $his_s s of CPU; the honest hog and thread $our_wants and $our_s s"
holds "an honest urgent thread's p99 beside a hostile user is within twice of what it is without him" test "$with" -le $((without * 2))
holds "an honest urgent thread waits for a hostile user's clocked threads no longer than each of them runs twice" \
	test "$clocked" -le $((without + 12 * 2 * burst_us))
holds "a hostile user gets no more of the CPU under the scheduler than his weight is worth, within a tenth" \
	awk "BEGIN { exit !($his_s / ($his_s + $our_s) <= $his_wants / ($his_wants + $our_wants) * 1.1) }"
done_testing

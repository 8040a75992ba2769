#!/usr/bin/env bash
# Ten minutes of 'tactus run' beside a user who tries everything at once: an honest urgent thread is as early as without him, or, where
# the kernel's own scheduler does not manage that, as early as with the same nice value by hand and no tactus; he gets what his weight
# is worth, and tactus stays as small as it was. HOSTILE_SECONDS: another time than ten minutes. Under sched_ext: 71.
# alone: it measures times
. tests/tap.sh

seconds=${HOSTILE_SECONDS:-600}
renice -n 0 -p $$ >/dev/null
he=(setpriv --reuid 65534 --regid 65534 --clear-groups)
honest=(setpriv --reuid 65533 --regid 65533 --clear-groups)
chmod 755 "$scratch"
mkdir "$scratch/his" "$scratch/many"
for program in burner mapper short_lived hostile_names pace; do cp "build/workloads/$program" "$scratch/$program"; done
cp build/bench/load "$scratch/load"
cat >"$scratch/egl.c" <<'END'
void *answer;
__attribute__((noinline)) void *eglGetProcAddress(const char *name) { __asm__ volatile("" : : "r"(name)); return answer; }
unsigned eglSwapBuffers(void *a, void *b) { static volatile long calls; calls++; return a == b; }
END
gcc -O1 -shared -fPIC "$scratch/egl.c" -o "$scratch/his/libEGL.so.1"
for i in $(seq 200); do
	mkdir "$scratch/many/$i"
	cp "$scratch/his/libEGL.so.1" "$scratch/many/$i/"
done
chown -R 65534:65534 "$scratch/his" "$scratch/many"
chmod -R a+rX "$scratch"
mkfifo -m 666 "$scratch/go"
his=() ours=() shells=()
# shellcheck disable=SC2317 # a trap calls it
end_all() {
	kill "${his[@]}" "${ours[@]}" 2>/dev/null
	rm -rf "$scratch"
}
trap end_all EXIT

for _ in $(seq "$(nproc)"); do
	"${honest[@]}" "$scratch/pace" 0 1 $((seconds * 2000 + 120000)) >/dev/null &
	ours+=($!)
done
cost() { echo "$(awk '/^RssAnon/ { print $2 }' "/proc/$runner/status") $(find "/proc/$runner/fd" | wc -l) $(awk '{ print $14 + $15 }' "/proc/$runner/stat")"; }
# timed NAME SECONDS: the honest thread, of which nothing tells but its clock
timed() { "${honest[@]}" "$scratch/load" periodic 5000 200 "$2" 2 >"$scratch/$1"; }
p99_us() { sed -n 's/.*\bp99_us=\([0-9]*\).*/\1/p' "$scratch/$1"; }

# forever COMMAND...: as the hostile user, again whenever it ends
forever() {
	(trap 'kill $child; exit' TERM; while :; do "${he[@]}" "$@" & child=$!; wait $child; done) >/dev/null 2>&1 &
	his+=($!) shells+=($!)
}
# attack SECONDS: everything at once, for as long
attack() {
	"${he[@]}" "$scratch/burner" "$scratch/his/libEGL.so.1" eglSwapBuffers 12 "$(nproc)" 1000 0 <"$scratch/go" >/dev/null 2>&1 &
	his+=($!)
	exec 5>"$scratch/go"
	forever "$scratch/short_lived" 20000
	forever "$scratch/hostile_names" 5000
	forever "$scratch/mapper" again "$scratch/his/libEGL.so.1"
	(for ((i = 0; i < $1; i++)); do echo; sleep 1; done >&5) &
	his+=($!)
	"${he[@]}" "$scratch/mapper" hold "$scratch"/many/*/libEGL.so.1 <"$scratch/hold" >/dev/null 2>&1 &
	his+=($!)
	exec 6>"$scratch/hold"
}
stop_him() {
	kill "${his[@]}" 2>/dev/null
	his=() shells=()
	exec 5>&- 6>&-
}
mkfifo -m 666 "$scratch/hold"

before_s=${HOSTILE_BEFORE:-$((seconds / 10 < 20 ? 20 : seconds / 10))}
attack "$before_s"
nice -n -9 "${honest[@]}" "$scratch/load" periodic 5000 200 "$before_s" 2 >"$scratch/by_hand"
stop_him
: >"$scratch/err"
"$tactus" run --actuator hints >/dev/null 2>"$scratch/err" &
runner=$!
ours+=("$runner")
wait_for "$scratch/err" "hints to the kernel's scheduler: slices" 300

timed warm 5
cost_before=$(cost)
timed without "$before_s"
cost_between=$(cost)
attack "$seconds"

# How many threads that run or want to are his and how many the honest hogs', and what each of the two got
python3 tests/shares.py "$seconds" 0.2 65534 65533 "${shells[@]}" >"$scratch/shares" &
sampler=$!
timed with "$seconds"
wait $sampler
cost_after=$(cost)
stop_him
kill -TERM "$runner"
wait "$runner"
is "a run ends well after a hostile user's time" $? 0

without=$(p99_us without) with=$(p99_us with) by_hand=$(p99_us by_hand)
read -r his_wants our_wants his_s our_s <"$scratch/shares"
read -r kb_before fds_before ticks_before <<<"$cost_before"
read -r kb_between fds_between ticks_between <<<"$cost_between"
read -r kb_after fds_after ticks_after <<<"$cost_after"
say_measured "an honest thread that wakes every 5 ms beside hogs, p99: $without us without him ($before_s s), $with us with him ($seconds s), $by_hand us with him at nice -9 and without tactus"
say_measured "he had $his_wants threads that wanted to run on average and got $his_s s of CPU; the honest hogs $our_wants and $our_s s"
say_measured "tactus: $kb_before, $kb_between, $kb_after KB; $fds_before, $fds_between, $fds_after descriptors;" \
	"CPU $(awk "BEGIN { printf \"%.1f %% without him, %.1f %% with him\", ($ticks_between - $ticks_before) / $before_s, ($ticks_after - $ticks_between) / $seconds }")"
holds "an honest urgent thread's p99 beside a hostile user is within twice of what it is without him, or what the kernel makes of its nice value" \
	test "$with" -le $((without * 2 > by_hand ? without * 2 : by_hand))
holds "a hostile user gets no more of the CPU than his weight is worth, within a tenth" \
	awk "BEGIN { exit !($his_s / ($his_s + $our_s) <= $his_wants / ($his_wants + $our_wants) * 1.1) }"
holds "memory grows by less than 64 MB beside a hostile user" test $((kb_after - kb_between)) -lt 65536
done_testing

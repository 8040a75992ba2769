#!/usr/bin/env bash
# 160 libraries of one user, and one who maps and unmaps new ones for ever, don't keep another user's out; what is unmapped is let go.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"
mkdir "$scratch/his" "$scratch/others"
cp build/workloads/mapper build/workloads/present "$scratch/"
cat >"$scratch/library.c" <<'END'
unsigned eglSwapBuffers(void *a, void *b) { return a == b; }
unsigned eglSwapBuffersWithDamageKHR(void *a, void *b) { return a == b; }
unsigned eglSwapBuffersWithDamageEXT(void *a, void *b) { return a == b; }
void *eglGetProcAddress(const char *name) { return name ? 0 : (void *)eglSwapBuffers; }
END
gcc -O1 -shared -fPIC "$scratch/library.c" -o "$scratch/original"
cp "$scratch/original" "$scratch/his/original"
for i in $(seq 160); do cp "$scratch/original" "$scratch/his/libEGL.so.$i"; done
cp "$scratch/original" "$scratch/others/libEGL.so.1"
chown -R 65534:65534 "$scratch/his"
chown -R 1:1 "$scratch/others"

# A session's usual limit, which is not enough for 160 libraries with probes.
: >"$scratch/err"
(ulimit -Sn 1024 && exec "$tactus" roles -v --json -n all) >"$scratch/roles" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
descriptors() { find "/proc/$watcher/fd" -type l | wc -l; }
memory_kb() { awk '/^RssAnon/ { print $2 }' "/proc/$watcher/status"; }
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$watcher/stat"; }
in_place() { grep -c "$1.*probes are in place" "$scratch/err"; }
first=$(descriptors)
mkfifo "$scratch/go"
chmod 666 "$scratch/go"
: >"$scratch/held"
"${as_user[@]}" "$scratch/mapper" hold "$scratch"/his/libEGL.so.* <"$scratch/go" >"$scratch/held" &
holder=$!
exec 3>"$scratch/go"
wait_for "$scratch/held" mapped
# Until all of his that may have probes have them: none has come for two seconds.
probed=0 still=0
for _ in $(seq 150); do
	now=$(in_place /his/)
	if [ "$now" -gt "$probed" ] || [ "$now" = 0 ]; then still=0; else still=$((still + 1)); fi
	probed=$now
	[ $still -lt 20 ] || break
	sleep 0.1
done
held=$(descriptors)
probed=$(in_place /his/)
setpriv --reuid 1 --regid 1 --clear-groups "$scratch/present" call "$scratch/others/libEGL.so.1" eglSwapBuffers 40 800 >"$scratch/presented" 2>&1 &
other=$!
wait $other
is "another user's program presents" $? 0
is "a library of another user has its probes beside 160 of one" "$(in_place /others/)" 1
holds "of 160 libraries of one user at most 96 have probes ($probed)" test "$probed" -le 96
exec 3>&-
wait $holder
# All of that is let go some seconds after nobody maps it.
for _ in $(seq 120); do
	[ "$(descriptors)" -gt $((first + 40)) ] || break
	sleep 0.1
done
after=$(descriptors)
holds "probes of libraries that nobody maps any more are taken off ($first descriptors, $held while mapped, $after after)" \
	test "$after" -le $((first + 40))

# New files for ever.
memory_before=$(memory_kb)
timeout 2 "${as_user[@]}" "$scratch/mapper" churn "$scratch/his" libEGL.so.1000 10000000
memory_after=$(memory_kb)
# A second of his own CPU time, however long that lasts on a busy machine.
began=$(cpu_ticks)
(ulimit -t 1 && exec "${as_user[@]}" "$scratch/mapper" churn "$scratch/his" libEGL.so.1000 10000000)
spent=$(($(cpu_ticks) - began))
holds "memory stays what it was while a user maps new libraries for ever ($memory_before KB, $memory_after KB)" \
	test $((memory_after - memory_before)) -le 2048
holds "a process that maps new libraries for ever costs tactus half of its own time at most ($spent of 100 ticks)" test "$spent" -le 50
kill -INT $watcher
wait $watcher
is "tactus ends well after 160 libraries" $? 0
is "another user's frames are counted beside 160 libraries" \
	"$(json "sum(r['presents'] for r in rows if r['pid'] == $other)" <"$scratch/roles")" 40
is "no library is refused for want of descriptors" "$(grep -c 'Too many open files' "$scratch/err")" 0
like "what one user has too much is said and counted" "$(grep '^tactus: libraries' "$scratch/err")" '^tactus: libraries: [0-9]+ times a mapped file was not looked at'
say_measured "$probed of 160 libraries with probes; descriptors: $first, $held while mapped, $after after; memory $memory_before KB, $memory_after KB after two seconds of new files; a second of his CPU time with new files cost tactus $spent hundredths of a second"
say_measured "$(grep '^tactus: libraries' "$scratch/err")"
done_testing

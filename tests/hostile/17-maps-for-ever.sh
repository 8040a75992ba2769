#!/usr/bin/env bash
# A process that maps and unmaps the same library for ever: tactus goes on at little cost, and hears of others' libraries.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"
mkdir "$scratch/his" "$scratch/others"
cp build/workloads/mapper build/workloads/present "$scratch/"
echo "unsigned eglSwapBuffers(void *a, void *b) { return a == b; }" >"$scratch/library.c"
gcc -O1 -shared -fPIC "$scratch/library.c" -o "$scratch/his/libEGL.so.1"
cp "$scratch/his/libEGL.so.1" "$scratch/others/"
chown -R 65534:65534 "$scratch/his"
: >"$scratch/err"
"$tactus" roles -v --json -n all --without launch,gpu,wine,input,socket,sound,learned,names,runtime >"$scratch/roles" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$watcher/stat"; }
memory_kb() { awk '/^RssAnon/ { print $2 }' "/proc/$watcher/status"; }
"${as_user[@]}" "$scratch/mapper" again "$scratch/his/libEGL.so.1" &
attacker=$!
wait_for "$scratch/err" 'his/libEGL.so.1: probes are in place'
# Rings of 4 MB become resident as others on the machine fill them.
# Beside it for four seconds: his CPU time is the measure, since the machine may be busy.
cost_before=$(cost $watcher)
his_before=$(awk '{ print $14 + $15 }' "/proc/$attacker/stat") before=$(cpu_ticks) memory_before=$(memory_kb)
"$scratch/present" call "$scratch/others/libEGL.so.1" eglSwapBuffers 40 4000 >"$scratch/presented" 2>&1 &
other=$!
wait $other
his=$(($(awk '{ print $14 + $15 }' "/proc/$attacker/stat") - his_before)) ours=$(($(cpu_ticks) - before)) memory_after=$(memory_kb)
costs_as_before "roles beside a process that maps for ever" $watcher "$cost_before" 6144
kill $attacker
wait $attacker 2>/dev/null
kill -INT $watcher
wait $watcher
is "tactus ends well after a process that maps for ever" $? 0
is "frames of another user are counted beside a process that maps for ever" \
	"$(json "sum(r['presents'] for r in rows if r['pid'] == $other)" <"$scratch/roles")" 40
# A tick of each may be rounded.
holds "a process that maps for ever costs tactus a quarter of its own time at most ($ours of $his ticks)" test $(((ours - 2) * 4)) -le "$his"
holds "memory stays what it was beside a process that maps for ever ($memory_before KB, $memory_after KB)" test $((memory_after - memory_before)) -le 6144
say_measured "tactus took $ours hundredths of a second of CPU where the attacker took $his; memory $memory_before KB before, $memory_after KB after; $(grep -o '[0-9]* of mappings' "$scratch/err") lost"
done_testing

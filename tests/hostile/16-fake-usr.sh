#!/usr/bin/env bash
# A user's namespaces with a /usr of his own: his library is taken for what it is, and the real one of that path for itself.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

real=$(readlink -f "$(ldconfig -p | sed -n 's/.*libEGL\.so\.1 .*=> //p' | head -n 1)")
as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"
mkdir "$scratch/his"
cp build/workloads/present "$scratch/"
# Its function lies elsewhere than in the real one.
{
	for i in $(seq 300); do echo "int before_$i(int n) { return n * $i + 77; }"; done
	echo "unsigned eglSwapBuffers(void *a, void *b) { return a == b; }"
} >"$scratch/library.c"
gcc -O1 -shared -fPIC "$scratch/library.c" -o "$scratch/his/libEGL"
chown -R 65534:65534 "$scratch/his"
if [ -z "$real" ] || ! "${as_user[@]}" unshare -Urm true 2>"$scratch/err"; then
	skip "a /usr of a user's own" "no real libEGL, or no namespaces for users: $(cat "$scratch/err")"
	done_testing
fi
: >"$scratch/err"
: >"$scratch/said"
"$tactus" roles -v --json -n all >"$scratch/roles" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
before=$(cost $watcher)
mkfifo "$scratch/go"
chmod 666 "$scratch/go"
# A bind mount over the real file's name, which others see as it is.
"${as_user[@]}" unshare -Urm sh -c 'mount --bind "$1" "$2" && exec "$3" call "$2" eglSwapBuffers 30 wait' sh "$scratch/his/libEGL" "$real" "$scratch/present" \
	<"$scratch/go" >"$scratch/said" 2>&1 &
fake=$!
exec 3>"$scratch/go"
wait_for "$scratch/said" mapped
like "the process in its own namespaces calls its library what the real one is called" "$(cat "/proc/$fake/maps")" "$real"
wait_for "$scratch/err" "$real: probes are in place"
echo >&3
wait_for "$scratch/said" presented
build/workloads/present call libEGL.so.1 eglSwapBuffers 20 1200 >"$scratch/presented" 2>&1 &
honest=$!
wait $honest
is "a program that presents by the real library ends well" $? 0
exec 3>&-
wait $fake
is "the process in its own namespaces ends well" $? 0
costs_as_before "roles beside a /usr of a user's own" $watcher "$before"
kill -INT $watcher
wait $watcher
of() { json "sum(r['presents'] for r in rows if r['pid'] == $1)" <"$scratch/roles"; }
is "frames by a library in a user's own /usr are his own" "$(of $fake)" 30
is "frames by the real library of that name are counted" "$(of $honest)" 20
say_measured "his $(of $fake) of 30, the honest one's $(of $honest) of 20; $(grep -c 'probes are in place' "$scratch/err") files probed"
done_testing

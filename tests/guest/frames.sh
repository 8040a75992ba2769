#!/usr/bin/env bash
# Frames on the kernel of a VM, counted exactly: a program presents a known number of them once the probes are in place.
. tests/tap.sh

: >"$scratch/err"
: >"$scratch/presented"
"$tactus" frames -v --json -n all >"$scratch/rows" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
mkfifo "$scratch/go"
build/workloads/present call libEGL.so.1 eglSwapBuffers 250 wait <"$scratch/go" >"$scratch/presented" 2>&1 &
presenter=$!
exec 3>"$scratch/go"
wait_for "$scratch/presented" mapped
wait_for "$scratch/err" '^tactus: frame: .*libEGL.*: (probes are|a probe is) in place'
# Thrice, as often as there are lines.
printf '\n\n\n' >&3
exec 3>&-
wait $presenter
is "a program in a guest presents three times 250 frames" "$? $(grep -c presented "$scratch/presented")" "0 3"
kill -INT $watcher
wait $watcher
is "tactus frames in a guest ends with status 0" $? 0
is "tactus frames in a guest counts each of 750 frames of the program that presents, and no other's" \
	"$(json '[(r["pid"], r["frames"]) for r in rows if "frames" in r]' <"$scratch/rows")" "[($presenter, 750)]"
done_testing

#!/usr/bin/env bash
# Makes examples/late-frames.tactus anew: a real game (Doom, drawn by the CPU) for some seconds, the last three of them beside a compile
# of three jobs. Needs root, and what 'make test' installs. On a machine with two CPUs the compile makes frames late.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'kill "$display" 2>/dev/null; rm -rf "$scratch"' EXIT

Xvfb -displayfd 3 -screen 0 640x480x24 -nolisten tcp 3>"$scratch/display" >/dev/null 2>&1 &
display=$!
until [ -s "$scratch/display" ]; do sleep 0.1; done
DISPLAY=:$(cat "$scratch/display")
# One helper thread for drawing; no sound.
export DISPLAY SDL_AUDIODRIVER=dummy LP_NUM_THREADS=1 HOME=$scratch XDG_RUNTIME_DIR=$scratch

cat >"$scratch/play" <<'PLAY'
/usr/games/chocolate-doom -iwad /usr/share/games/doom/freedoom1.wad -playdemo demo1 -nogui -nosound -window -geometry 320x200 >/dev/null 2>&1 &
game=$!
sleep 5
for file in cuda frames threads; do gcc -O2 -c src/model/$file.c -o "$HOME/$file.o" & done
sleep 3
kill $game
wait
PLAY
rm -f examples/late-frames.tactus
build/tactus record -o examples/late-frames.tactus -- sh "$scratch/play"

#!/usr/bin/env bash
# What 'tactus frames' costs a program that presents: one glxgears under Xvfb, beside which it is started and ended round by
# round; and, where it is to be had, MangoHud in glxgears of their own. Usage: bench/frames/run.sh [ROUNDS [SECONDS]]
# Compared is the CPU time of a frame, threads and the kernel's share included, so that others on the machine decide less.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tools/lib.sh

rounds=${1:-10} seconds=${2:-2}
tactus=build/tactus
work=$(mktemp -d)
install_packages xvfb mesa-utils libgl1-mesa-dri python3
apt-cache show mangohud >/dev/null 2>&1 && install_packages mangohud
hud=$(dpkg -L mangohud 2>/dev/null | grep '/libMangoHud.so$')

started=()
trap 'kill "${started[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
gcc -std=gnu11 -Wall -Wextra -Werror -O2 -D_GNU_SOURCE -fPIC -shared bench/frames/count.c -o "$work/count.so" || exit 1
export DISPLAY=:$((500 + $$ % 300)) LIBGL_ALWAYS_SOFTWARE=1
Xvfb "$DISPLAY" -screen 0 640x480x24 -nolisten tcp >/dev/null 2>&1 &
started+=($!)
for _ in $(seq 100); do
	[ -S "/tmp/.X11-unix/X${DISPLAY#:}" ] && break
	sleep 0.1
done

# gears NAME [LIBRARY...]: its pid is $gears
gears() {
	local name=$1
	shift
	FRAMES_INTO=$work/$name LD_PRELOAD=$(IFS=: && echo "$work/count.so:$*") glxgears >/dev/null 2>&1 &
	gears=$!
	started+=("$gears")
}
now_ns() { python3 -c 'import time; print(time.monotonic_ns())'; }
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# beside OPTIONS...: one round of tactus, and one without it
beside() {
	local pid before
	"$tactus" "$@" >"$work/out" 2>"$work/err" &
	pid=$!
	started+=("$pid")
	for _ in $(seq 300); do
		grep -q watching "$work/err" && break
		sleep 0.1
	done
	sleep 0.5
	before=$(ticks $pid)
	echo "begin $1${2:-} $(now_ns)"
	sleep "$seconds"
	echo "end $1${2:-} $(now_ns) $(($(ticks $pid) - before))"
	kill -INT $pid
	wait $pid 2>/dev/null
	sleep 0.5
	echo "begin none $(now_ns)"
	sleep "$seconds"
	echo "end none $(now_ns) 0"
}

gears alone
sleep 3
echo "begin none $(now_ns)" >"$work/marks"
sleep "$seconds"
echo "end none $(now_ns) 0" >>"$work/marks"
for _ in $(seq "$rounds"); do
	beside frames >>"$work/marks"
	beside frames --why >>"$work/marks"
done
kill $gears
wait $gears 2>/dev/null
# with_hud KIND [LIBRARY...]: one round in a glxgears of its own
with_hud() {
	gears "hud-$1-$round" "${@:2}"
	sleep $((seconds + 1))
	kill $gears 2>/dev/null
	wait $gears 2>/dev/null
}
for ((round = 0; round < (rounds + 1) / 2 && ${#hud}; round++)); do
	with_hud none
	MANGOHUD=1 with_hud overlay "${hud%.so}_dlsym.so" "$hud"
	MANGOHUD=1 MANGOHUD_CONFIG=no_display with_hud silent "${hud%.so}_dlsym.so" "$hud"
done
python3 bench/frames/report.py "$work" "$(getconf CLK_TCK)"

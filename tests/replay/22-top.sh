#!/usr/bin/env bash
# 'tactus top' as text over the recording in examples/: without root, without a terminal, and as its page shows it.
. tests/tap.sh

chmod 755 "$scratch"
cp "$tactus" examples/late-frames.tactus "$scratch"
as_nobody() { if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi; }
top() { TZ=UTC LC_ALL=${locale:-C.UTF-8} COLUMNS=${columns:-80} LINES=${lines:-24} as_nobody "$scratch/tactus" top -i "$scratch/late-frames.tactus" "$@"; }

holds "the screens in docs/top.md are what tactus prints" python3 docs/pictures/top.py --check
top --once --at 6 >"$scratch/six"
is "a screen has as many lines as LINES says" "$(wc -l <"$scratch/six")" 24
like "a screen of the recording has the game with its frames" "$(cat "$scratch/six")" '^chocolate-doom [0-9.]+ fps, 6 late'
top -b >"$scratch/all"
is "-b prints a screen for each second of a recording and one for its rest" "$(grep -c '^tactus top' "$scratch/all")" 11
is "a screen that -b prints is the one that --at leads to" \
	"$(awk '/^tactus top/ { n++ } n == 6' "$scratch/all" | head -n 24)" "$(cat "$scratch/six")"
is "a screen at a time behind the end is the last one" "$(top --once --at 1h)" "$(top --once)"
is "a screen at 0 has no thread" "$(top --once --at 0 | grep -c 'nothing has run yet')" 1
locale=C top --once --at 7 >"$scratch/ascii"
is "a locale without UTF-8 gets ASCII only" "$(LC_ALL=C grep -c '[^ -~]' "$scratch/ascii")" 0
holds "bars in ASCII show waits" grep -q '[#@]' "$scratch/ascii"
for width in 20 40 61 80 133 1000; do
	is "no line is wider than $width columns" "$(($(columns=$width top --once --at 7 | LC_ALL=C.UTF-8 wc -L) > width))" 0
done
head -c 300000 examples/late-frames.tactus >"$scratch/late-frames.tactus"
top --once >"$scratch/cut" 2>"$scratch/err"
is "top of a recording that was cut ends with status 0" $? 0
like "top of a recording that was cut says so" "$(cat "$scratch/err")" 'ends in the middle of a block'
done_testing

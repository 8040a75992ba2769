#!/usr/bin/env bash
# The wine sensor with the newest Wine of Debian's, which is not installed: it runs with a folder as its root, with programs of 64
# bits and, by the new WoW64, of 32 bits: these run its 64-bit ntdll.so too.
# not beside: Wine, whose calls are counted
. tests/tap.sh
. tests/wine.sh
. tests/wine-apart.sh

if ! wine_apart_begin; then
	skip "priorities of Windows programs on the newest Wine" "Debian's newest Wine can't be had here, or no compiler for Windows programs: $(tail -n 1 "$scratch/apart-err" 2>/dev/null)"
	done_testing
fi
# On a busy machine, or with a library that no cache has, probes come later than Wine is up: no thread or handle is made before tactus
# says that they are there.
watch_options=(-v)
probes_are_there() { wait_for "$scratch/err" 'wine: .*/ntdll\.so: watched from now on'; }
ways=(own handle suspended duplicate id)

# check_bits BITS: the program of that many bits
check_bits() {
	watch
	start "${apart[@]}" "Z:/programs/priorities$1.exe"
	probes_are_there
	go
	echo "# $1 bits"
	check_threads "${ways[@]}"
	usual=$(of own-critical confidence)
	finish
	watch_ends
	is "tactus roles ends well after a program of $1 bits on the newest Wine" $? 0
	is "no call of a program of $1 bits was of an unknown convention, lost or not known" "$(grep wine: "$scratch/err" | grep -v 'watched from now on')" ""
	watch
	start "${apart[@]}" "Z:/programs/priorities$1.exe" realtime
	probes_are_there
	go
	wait_until_seen own-critical windows_class
	is "$1 bits, REALTIME class: TIME_CRITICAL is audio, nearly for certain" "$(of own-critical role),$(of own-critical confidence),$(of own-critical windows_class)" "audio,99,REALTIME"
	finish
	watch_ends
	watch
	start "${apart[@]}" "Z:/programs/priorities$1.exe" high
	probes_are_there
	go
	wait_until_seen own-critical windows_class
	finish
	watch_ends
	# This class changes no role: where a busy machine had it known after the priorities, it is told with the thread's end.
	python3 "$scratch/seen.py" "$scratch/roles" "$scratch/threads" >"$scratch/seen"
	is "$1 bits, HIGH class: TIME_CRITICAL is audio, as sure as in the NORMAL class" "$(of own-critical role),$(of own-critical confidence),$(of own-critical windows_class)" "audio,$usual,HIGH"
	is "$1 bits, HIGH class: a thread that asked for nothing has no role by Windows" "$(of never by_wine)" 0
	watch
	start "${apart[@]}" "Z:/programs/priorities$1.exe" idle
	probes_are_there
	go
	wait_until_seen never windows_class
	is "$1 bits, IDLE class: a thread that asked for nothing is background" "$(of never answer),$(of never windows_class)" "background,wine,None,nice $own_nice,IDLE"
	is "$1 bits, IDLE class: a thread that asked for TIME_CRITICAL is audio" "$(of own-critical role)" audio
	finish
	watch_ends
}

cp build/workloads/priorities.exe "$scratch/programs/priorities64.exe"
check_bits 64
if ! command -v i686-w64-mingw32-gcc >/dev/null; then
	skip "priorities of 32-bit Windows programs" "there is no compiler for them (gcc-mingw-w64-i686-win32)"
elif ! [ -e "$apart_root/$apart_wine/i386-windows/ntdll.dll" ]; then
	skip "priorities of 32-bit Windows programs" "$(cat "$scratch/apart-version") has no new WoW64"
else
	i686-w64-mingw32-gcc -std=gnu11 -O2 tests/workloads-windows/priorities.c -o "$scratch/programs/priorities32.exe"
	check_bits 32
fi

# Which convention it was, by what a run counts.
export TACTUS_FEED=$scratch/feed
timeout 60 "$tactus" run --actuator none --json --without learned,feed,gpu,input,sound,socket,frame >"$scratch/run" 2>"$scratch/run-err" &
run_pid=$!
wait_for "$scratch/run-err" 'observing only'
start "${apart[@]}" Z:/programs/priorities64.exe
make_threads
echo go >&3
wait_for "$scratch/program" '^set'
wait_for "$scratch/run" '"wine_(microsoft|system_v)":[1-9]'
# Wine is built by the convention of Linux since 10.0, whose ntdll.so takes the second argument from esi at once.
major=$(sed -n 's/^wine-\([0-9]*\).*/\1/p' "$scratch/apart-version")
[ "$major" -ge 10 ] && own=system_v other=microsoft || own=microsoft other=system_v
say_measured "calls by convention: $(grep -o '"wine_microsoft":[0-9]*,"wine_system_v":[0-9]*,"wine_unfit":[0-9]*' "$scratch/run" | tail -1)"
like "calls on $(cut -d ' ' -f 1 "$scratch/apart-version") are by the convention that it is built with, $own" "$(tail -n 1 "$scratch/run")" "\"wine_$own\":[1-9]"
like "no call on the newest Wine is taken for the other convention, $other" "$(tail -n 1 "$scratch/run")" "\"wine_$other\":0,"
like "every call on the newest Wine fits a calling convention" "$(tail -n 1 "$scratch/run")" '"wine_unfit":0'
finish
kill -INT $run_pid
wait $run_pid
done_testing

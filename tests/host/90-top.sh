#!/usr/bin/env bash
# 'tactus top' in a real terminal: keys are sent, the screen is read. A recording for what must be exact, this machine for what must be
# alive, and every end for what must be given back.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

command -v tmux >/dev/null || { skip "a terminal shows what tactus top shows" "tmux is not installed"; done_testing; }
export TACTUS_FEED=$scratch/feed TMUX_TMPDIR=$scratch
unset TMUX COLUMNS LINES NO_COLOR
recording=examples/late-frames.tactus
server=(tmux -L top -f /dev/null)
trap '"${server[@]}" kill-server 2>/dev/null; rm -rf "$scratch"' EXIT
chmod 711 "$scratch"

# A shell in a terminal of its own: what a user has before and after.
"${server[@]}" new-session -d -s top -x 80 -y 24 "env LC_ALL=C.UTF-8 PS1='$ ' bash --norc --noprofile"
pane=$("${server[@]}" list-panes -t top -F '#{pane_id}')
press() { "${server[@]}" send-keys -t "$pane" "$@"; }
screen() { "${server[@]}" capture-pane -p -t "$pane"; }
says() { "${server[@]}" display-message -p -t "$pane" "$1"; }
# shows REGEX [LOOKS]: until the screen has a line like that; false after two minutes of looks
shows() {
	local i
	for ((i = 0; i < ${2:-1200}; i++)); do
		! screen | grep -qE -- "$1" || return 0
		sleep 0.1
	done
	return 1
}
# seen NAME REGEX: such a line comes onto the screen
seen() { if shows "$2"; then pass "$1"; else flunk "$1" "no line like '$2' on: $(screen)"; fi; }
# gone NAME REGEX: no such line is on the screen any more
gone() {
	local i
	for ((i = 0; i < 1200; i++)); do
		screen | grep -qE -- "$2" || { pass "$1"; return; }
		sleep 0.1
	done
	flunk "$1" "a line like '$2' is still on: $(screen)"
}
number=0
# begin WORDS...: types a command, which says when it has ended and with what
begin() {
	number=$((number + 1))
	press -l "clear; $*; echo \"end$number \$?\" "
	press Enter
}
# ended NAME STATUS: the command that was begun last has ended with that, and the terminal is as it was
ended() {
	seen "$1" "^end$number $2\$"
	press -l "stty -g >'$scratch/mode'; echo mode$number"
	press Enter
	shows "^mode$number\$" || flunk "the shell answers after $1"
	is "the terminal has its mode back: $1" "$(cat "$scratch/mode")" "$(cat "$scratch/mode.before")"
	is "the terminal has its own screen and its cursor back: $1" "$(says '#{alternate_on} #{cursor_flag}')" "0 1"
}
# The tactus that runs in the terminal.
tactus_pid() { pgrep -P "$(says '#{pane_pid}')" -x "$(basename "$tactus")" | head -n 1; }
signal() { kill "-$1" "$(tactus_pid)"; }
turns_of_tactus() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$(tactus_pid)/status"; }

shows '^\$' || flunk "a shell runs in the terminal"
press -l "stty -g >'$scratch/mode.before'; echo ready"
press Enter
shows '^ready$' || flunk "the shell in the terminal answers"

# What a screen shows of a recording, but for its first and last lines, is what --once prints of the same second.
as_text() { LC_ALL=C.UTF-8 COLUMNS=${1:-80} LINES=24 "$tactus" top -i $recording --once --at "$2" "${@:3}" | sed '1d;$d'; }
# same NAME SECOND [OPTIONS...]
same() {
	local name=$1 second=$2 i
	shows "$second.0 of 10.2 s" || { flunk "$name" "never at $second s: $(screen)"; return; }
	as_text 80 "$second" "${@:3}" >"$scratch/text"
	for ((i = 0; i < 300; i++)); do
		screen | sed '1d;$d' >"$scratch/screen"
		! cmp -s "$scratch/screen" "$scratch/text" || { pass "$name"; return; }
		sleep 0.1
	done
	flunk "$name" "$(diff "$scratch/screen" "$scratch/text")"
}

begin "$tactus top -i $recording --at 6"
same "top of a recording shows the second that --at names" 6
like "the second with the compile has cc1 and the game's threads in it" "$(screen)" '^├ llvmpipe-0 +render +urgent +[0-9.]+ '
like "the line of frames says why the last late frame was late" "$(screen)" 'chocolate-doom [0-9.]+ fps, 6 late; last by 33.2 ms: chocolate-doom waited 21.8 ms'
press Right
same "the key Right leads to the next second" 7
press 3
same "the pane of frames shows late frames with their reasons" 7 --pane frames
press 4
same "the pane of waits shows who was behind them" 7 --pane waits
press 2
same "the pane of CPUs shows each CPU" 7 --pane cpus
press Left
same "the key Left leads to the second before" 6 --pane cpus
press '$'
seen "the key \$ leads to the end" '10.2 of 10.2 s'
press 0
seen "the key 0 leads to the beginning" ' 0.0 of 10.2 s'
press Right Right Right 1
same "a second that was reached by keys looks as one that was gone to at once" 3
press Right Right Right Right s
same "the key s sorts by the p99" 7 --sort p99
press v
same "the key v shows threads alone" 7 --sort p99 --by thread
press / l l v m Enter
same "a filter that is typed leaves the threads that match" 7 --sort p99 --by thread --filter llvm
press Enter
same "the key Enter shows the thread's page" 7 --thread 8702
like "a thread's page says behind whom it waited" "$(screen)" '^behind +cc1 \['
press Escape
seen "the key Esc leads back to the threads" '^NAME '
press Escape
gone "the key Esc takes the filter away" '/llvm'
press '?'
seen "the key ? shows what the keys do" 'Space play or pause'
press x
gone "any key leaves the help" 'Space play or pause'
press 0 Space
seen "the space bar plays the recording" ' [1-9].[0-9] of 10.2 s  playing x1'
press Space
seen "the space bar pauses the recording" 'of 10.2 s  paused'

"${server[@]}" resize-window -t top -x 40 -y 24
seen "a terminal of 40 columns has the narrow line of panes" '^1thr 2cpu'
seen "a terminal of 40 columns has the narrow table" '^NAME +CPU% +P99 LAST s$'
is "no line is wider than a terminal of 40 columns" "$(($(screen | LC_ALL=C.UTF-8 wc -L) > 40))" 0
"${server[@]}" resize-window -t top -x 140 -y 24
seen "a terminal of 140 columns has the tids" '^NAME +TID +ROLE '
"${server[@]}" resize-window -t top -x 80 -y 24
seen "a terminal that is 80 columns wide again has the table of that width" '^NAME +ROLE +TIER +CPU%.*BEHIND$'
press q
ended "the key q ends it" 0

begin "$tactus top -i $recording --at 6"
shows ' 6.0 of 10.2 s' || flunk "top shows the recording before Ctrl-C"
holds "a terminal with colours gets colours" grep -q $'\033\[[0-9;]*3[1-7]m' <("${server[@]}" capture-pane -e -p -t "$pane")
press C-c
ended "Ctrl-C ends it" 0
begin "NO_COLOR=1 $tactus top -i $recording --at 6"
shows ' 6.0 of 10.2 s' || flunk "top shows the recording with NO_COLOR"
is "a terminal with NO_COLOR gets no colour" "$("${server[@]}" capture-pane -e -p -t "$pane" | grep -c $'\033\[[0-9;]*3[0-7]m')" 0
signal TERM
ended "SIGTERM ends it" 0
begin "$tactus top -i $recording --at 6"
shows ' 6.0 of 10.2 s' || flunk "top shows the recording before Ctrl-Z"
press C-z
seen "Ctrl-Z leads back to the shell" 'Stopped'
is "the terminal has its own screen and its cursor back while it is stopped" "$(says '#{alternate_on} #{cursor_flag}')" "0 1"
press -l fg
press Enter
seen "the command fg leads back to the screen" ' 6.0 of 10.2 s'
press Right
seen "keys work after Ctrl-Z and fg" ' 7.0 of 10.2 s'
signal SEGV
number=$((number + 1))
press -l "echo end$number \$?"
press Enter
ended "a crash" 139
begin "TERM=dumb $tactus top"
seen "a terminal without a full screen is told what to do instead" "'dumb' has no full screen: 'tactus top --once'"
ended "a terminal without a full screen is an error" 1
ends "top without a terminal ends with an error" 1 'not on a terminal' "$tactus" top
ends "top of a file that is not there ends with an error" 1 'No such file' "$tactus" top -i "$scratch/none" --once
ends "top with --at and without a recording is bad usage" 2 '^tactus: top: --at is for a recording' "$tactus" top --at 3
holds "--help is shorter than 60 lines" test "$("$tactus" top --help | wc -l)" -lt 60

# Live.
build/workloads/hostile_names 600000 &
hostile=$!
begin "$tactus top --filter hostile"
seen "a live top shows a process whose threads run, and what they are called without controls" '^├ \?\[31mred\?\[0m '
gone "the time on a live screen goes on" "$(screen | sed -n '1s/.* //p')"
press f
seen "the key f freezes the screen" 'tactus top  frozen'
frozen=$(screen)
# So often it would have looked whether a second is over.
before=$(turns_of_tactus)
until [ "$(turns_of_tactus)" -gt $((before + 20)) ]; do sleep 0.1; done
is "a frozen screen stays as it is" "$(screen)" "$frozen"
press f
gone "the key f lets the screen go on" 'tactus top  frozen'
press q
ended "the key q ends a live one" 0
kill $hostile
wait $hostile 2>/dev/null
# A thread that burns CPU, by what top adds up of it and by the kernel's own count, screen by screen.
sh -c 'while :; do :; done' &
hog=$!
COLUMNS=80 LC_ALL=C.UTF-8 python3 - "$tactus" $hog >"$scratch/hog" <<'PYTHON'
import re, subprocess, sys, time
tactus, hog = sys.argv[1:]
ran_s = lambda: int(open(f'/proc/{hog}/schedstat').read().split()[0]) / 1e9
top = subprocess.Popen([tactus, 'top', '-b', '--by', 'thread', '--filter', hog], stdout=subprocess.PIPE, text=True)
at, shown_s = [], []
for line in top.stdout:
    if line.startswith('tactus top'):
        at.append((ran_s(), time.monotonic()))
    row = re.match(r'sh +\S+ +\S+ +([0-9.]+) ', line)
    if row:
        # Of the time since the screen before, which on a busy machine is longer than a second.
        shown_s.append(float(row[1]) / 100 * (at[-1][1] - at[-2][1] if len(at) > 1 else 1))
    if len(at) == 9:
        break
top.terminate()
top.wait()
# The first screen has a second of which nobody noted the beginning.
print(f'{sum(shown_s[1:8]):.2f} {at[7][0] - at[0][0]:.2f} {len(shown_s)}')
PYTHON
read -r shown_s ran_s screens <"$scratch/hog"
echo "# measured: a thread ran for $ran_s s, and top showed $shown_s s of it, on $screens screens"
holds "the CPU time that a live top shows of a thread is what the kernel gave it, to a tenth and a fifth of a second" \
	awk -v shown="$shown_s" -v ran="$ran_s" 'BEGIN { off = shown > ran ? shown - ran : ran - shown; exit !(ran > 0 && off <= 0.1 * ran + 0.2) }'
begin "$tactus top --filter $hog"
seen "a live top shows a thread that burns CPU" '^sh '
press Enter
seen "a thread's page lists its single waits, which only switches tell" '^Waits of 100 us and more'
seen "a thread's page says how often it ran" '^CPU .* [1-9][0-9]* runs'
press Escape
seen "the key Esc leads from a live page back to the threads" '^NAME '
seen "a live top that reads sums again shows the thread" '^sh .* [1-9][0-9.]* '
press q
ended "the key q ends a live one after a page" 0
kill $hog
wait $hog 2>/dev/null
begin "$tactus top"
seen "a live top shows a head with switches" '^CPUs .* switches/s'
press C-c
ended "Ctrl-C ends a live one" 0
begin "setpriv --bounding-set -all --inh-caps -all $tactus top"
seen "sensors that cannot start are said on the terminal" '^tactus: .*'
ended "sensors that cannot start are an error" 1
begin "$tactus top -- sh -c 'echo said by the command; exec sleep 1000000'"
seen "what a command says is shown in the foot" '^said by the command'
signal TERM
ended "SIGTERM ends top and its command" 143
like "what a command said is printed at the end" "$(screen)" '^said by the command'

begin "TACTUS_NVIDIA_MAJORS=1,5 $tactus top --cuda --without all -- build/workloads/cuda_calls build/workloads/libcuda.so.1 launches 900000000000"
seen "launches by CUDA are counted" '^misses .* CUDA [1-9][0-9]*/s'
press q
ended "the key q ends top and its command" 143

# As a client.
holds "a copy of tactus lies where anybody may run it" install -m 755 "$tactus" "$scratch/tactus"
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups $scratch/tactus"
begin "$as_nobody top"
seen "top without rights and without a run says what it needs" 'needs root to watch threads'
ended "top without rights and without a run is an error" 1
"$tactus" run --actuator none --without launch,gpu,wine,input,frame,socket,sound,names >/dev/null 2>"$scratch/run-err" &
runner=$!
wait_for "$scratch/run-err" "observing only"
begin "$as_nobody top"
seen "a client shows the waits of each tier" '^normal +[0-9]+ +[0-9]+ '
seen "a client says what it does not get" 'Single threads, CPUs, frames'
kill -INT $runner
wait $runner
seen "a client says that the run has ended" '^tactus: the run has ended'
ended "the end of a run ends its client" 0

# Beside a run that acts.
build/workloads/pace 5000 200 600000 >/dev/null &
clocked=$!
: >"$scratch/run-err"
"$tactus" run --actuator hints --compare off --without launch,gpu,wine,input,frame,socket,sound,names,learned >/dev/null 2>"$scratch/run-err" &
runner=$!
wait_for "$scratch/run-err" "hints to the kernel's scheduler|another tactus"
if grep -q "another tactus" "$scratch/run-err"; then
	skip "a thread that has a hint shows what it got" "another tactus gives hints on this machine"
else
	"${server[@]}" resize-window -t top -x 160 -y 24
	begin "$tactus top --filter $clocked --without all"
	seen "a thread that has a hint shows what it got" '^pace .* (slice|nice) '
	press 5
	seen "the pane of the run says how many hints there are" '^hints: [1-9][0-9]* urgent now'
	press q
	ended "the key q ends one beside a run" 0
	kill -INT $runner
fi
wait $runner
kill $clocked
done_testing

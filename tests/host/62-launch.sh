#!/usr/bin/env bash
# The launch sensor: programs are seen as they start, most of them cost no event, each hook alone finds what processes are.
# Without kernel hooks of a kind that is refused here, that kind is left out; tests/guest/launch.sh has the others.
# EMULATED=yes tries the hooks alone: the rest is a matter of time, or the same on every kernel.
. tests/tap.sh

game=$scratch/steamapps/common/Foo/Foo
mkdir -p "$scratch/steamapps/common/Foo" "$scratch/bin"
cp build/workloads/stamp "$game"
cp build/workloads/stamp "$scratch/steamapps/common/Foo/UnityCrashHandler64"
for name in weston pipewire plain other; do cp build/workloads/stamp "$scratch/bin/$name"; done
stamp=$PWD/build/workloads/stamp
# Only this sensor: the others have their own tests, and cost time to load.
others=gpu:,cuda:,wine:,input:,frame:,socket:,sound:
export TACTUS_SKIP_HOOKS=$others

# sensor_hook SKIPPED: which hook it takes then
sensor_hook() { TACTUS_SKIP_HOOKS=$1 "$tactus" doctor --json 2>/dev/null | json '[s["hook"] for s in d["sensors"] if s["name"] == "launch"][0]'; }
# read_kinds FILE: what processes of each name were held for, read once a run: starting Python takes a second in an emulated
# guest.
read_kinds() {
	grep '^{' "$1" | json '"\n".join(sorted(set("%s:%s" % (r["comm"], r["process"]) for r in rows)))' >"$scratch/kinds"
}
kind_of() { sed -n "s/^$1://p" "$scratch/kinds" | paste -sd /; }

# zoo SECONDS: a script that starts one of each, all there for so long
cat >"$scratch/zoo" <<END
"$stamp" "$game" \$1 &
"$stamp" "$scratch/steamapps/common/Foo/UnityCrashHandler64" \$1 &
"$stamp" "$scratch/bin/weston" \$1 &
"$stamp" "$scratch/bin/pipewire" \$1 &
"$stamp" "$scratch/bin/plain" \$1 &
SteamAppId=440 "$stamp" "$scratch/bin/other" \$1 &
wait
END

# Each hook with a zoo of its own, side by side; one after the other where a CPU is emulated. /proc is looked at once a second.
seconds=3
[ "${EMULATED:-no}" = no ] || seconds=8
skipped=$others
hooks=()
while hook=$(sensor_hook "$skipped") && [ "$hook" != none ]; do
	at=$scratch/hook${#hooks[@]}
	# Who looks from time to time needs longer where a CPU is emulated beside others.
	case ${EMULATED:-no}:$hook in yes:netlink* | yes:/proc*) seconds=25 ;; esac
	TACTUS_SKIP_HOOKS=$skipped "$tactus" roles -o "$at.rec" --json -n all -- sh "$scratch/zoo" $seconds >"$at" 2>"$at.err" &
	[ "${EMULATED:-no}" = no ] || wait $!
	hooks+=("$hook")
	skipped+=",launch:$hook"
done
wait
for i in "${!hooks[@]}"; do
	hook=${hooks[i]}
	read_kinds "$scratch/hook$i"
	is "$hook: a program in a game's place is a game" "$(kind_of Foo)" game
	is "$hook: a game's crash handler is a helper" "$(kind_of UnityCrashHandl)" "game's helper"
	is "$hook: a program called weston is a compositor" "$(kind_of weston)" compositor
	is "$hook: a program called pipewire is a sound server" "$(kind_of pipewire)" "sound server"
	is "$hook: a program with Steam's environment is a game" "$(kind_of other)" game
	is "$hook: a program like any other is nothing else" "$(kind_of plain)" ""
	launches=$("$tactus" events -i "$scratch/hook$i.rec" --json 2>/dev/null | grep '"event":"exec"' | grep -c '/common/Foo/Foo"')
	case $hook in
	netlink* | /proc*) ;;
	*) is "$hook: the game's launch is in the recording once" "$launches" 1 ;;
	esac
done
say_measured "hooks tried: $(printf '%s; ' "${hooks[@]}")"
is "the last hook is a look at /proc" "${hooks[-1]}" '/proc once a second'
[ "${EMULATED:-no}" = no ] || done_testing

# How soon: 40 launches, each with the times before its exec and in its main; a compositor's role tells when the kernel half
# knew what it is. Each lives long enough to be known on a busy machine, so ten live at a time.
for ((i = 1; i <= 40; i++)); do echo "'$stamp' '$scratch/bin/weston' 2 & sleep 0.05; [ $((i % 10)) != 0 ] || wait"; done >"$scratch/many"
"$tactus" record -o "$scratch/rec" -- sh "$scratch/many" >"$scratch/out" 2>"$scratch/err"
"$tactus" events -i "$scratch/rec" --json 2>/dev/null | grep -E '"event":"(exec|role)"' >"$scratch/events"
python3 - "$scratch/out" "$scratch/events" >"$scratch/times" <<'PY'
import json, statistics, sys
stamps = [list(map(int, l.split())) for l in open(sys.argv[1]) if len(l.split()) == 3 and l.split()[0].isdigit()]
rows = [json.loads(l) for l in open(sys.argv[2])]
compositor = 5
seen, before_main, known = [], 0, []
for pid, before, main in stamps:
    times = [r["time_ns"] for r in rows if r["event"] == "exec" and r["tid"] == pid and r["time_ns"] >= before]
    roles = [r["time_ns"] for r in rows if r["event"] == "role" and r["tid"] == pid and r["role"] == compositor and
             r["time_ns"] >= min(times, default=0)]
    if times:
        seen.append(min(times) - before)
        before_main += before < min(times) < main
    if roles and times:
        known.append(min(roles) - min(times))
us = lambda values: int(statistics.median(values)) // 1000 if values else 999999
print(len(stamps), len(seen), before_main, us(seen), max(seen, default=0) // 1000, len(known), us(known), min(known, default=0) // 1000)
PY
read -r count seen_count before_main median_us max_us known_count known_us known_least_us <"$scratch/times"
say_measured "$seen_count of $count launches, exec to event: median $median_us us, longest $max_us us; what it is known $known_us us" \
	"after that in the median, $known_least_us us at best"
is "forty programs were launched" "$count" 40
is "every one of forty launches is an event" "$seen_count" 40
is "every one of forty launches is told between the call of exec and the program's main" "$before_main" 40
is "every one of forty launched compositors gets its role" "$known_count" 40

# How many cost an event: a compile of small files, and a game after it. perf counts the execs.
measure_compile() {
	mkdir "$scratch/C"
	for i in {1..40}; do echo "int f$i(int n) { return n + $i; }" >"$scratch/C/f$i.c"; done
	"$tactus" record -o "$scratch/rec" --ring-kb 8192 -- perf stat -x, -o "$scratch/perf" -e sched:sched_process_exec \
		env STAMP_NS=0 sh -c 'game=$1; shift; make -s -j2 "$@" && "$game"' sh "$game" -C "$scratch/C" CC=gcc f{1..40}.o >"$scratch/out" 2>"$scratch/err"
	execs=$(sed -n 's/^\([0-9]*\),.*sched_process_exec.*/\1/p' "$scratch/perf")
	launches=$("$tactus" events -i "$scratch/rec" --json 2>/dev/null | grep -c '"event":"exec"')
	if [ "${execs:-0}" -lt 100 ]; then
		flunk "a compile of forty files has a hundred execs at least" "$(cat "$scratch/perf" "$scratch/out" "$scratch/err")"
		return
	fi
	pass "a compile of forty files has a hundred execs at least"
	say_measured "a compile: $execs execs, $launches events: $(((execs - launches) * 1000 / execs)) of 1000 execs cost none"
	is "a game after a compile costs an event" "$("$tactus" events -i "$scratch/rec" --json 2>/dev/null | grep '"event":"exec"' | grep -c '/common/Foo/Foo"')" 1
	holds "more than nine of ten execs of a compile cost no event" test $((launches * 10)) -lt "$execs"
}
measure_compile

# Processes that are gone before anyone can look.
for ((i = 0; i < 200; i++)); do echo "'$game'"; done >"$scratch/many"
"$tactus" roles --json -n all -- env STAMP_NS=0 sh "$scratch/many" >"$scratch/out" 2>"$scratch/err"
is "tactus roles ends well after two hundred games that end at once" $? 0
is "two hundred games that end at once cause no word" "$(grep -vE 'did not show' "$scratch/err")" ""

# Names and paths of any bytes; a path as long as paths may be.
odd=$scratch/steamapps/common/$(printf 'a\nb\033[31m\377\001')
mkdir -p "$odd"
cp build/workloads/stamp "$odd/$(printf '\033]0;x\007\n\376')"
deep=$scratch/steamapps/common
while [ ${#deep} -lt 3800 ]; do deep+=/$(printf 'd%.0s' {1..200}); done
mkdir -p "$deep"
cp build/workloads/stamp "$deep/deep"
say_measured "a path of $((${#deep} + 5)) bytes"
printf '%s "%s"/* 1 & %s "%s"/deep 1; wait\n' "$stamp" "$odd" "$stamp" "$deep" >"$scratch/many"
"$tactus" roles -o "$scratch/rec" --json -n all -- bash "$scratch/many" >"$scratch/out" 2>"$scratch/err"
is "tactus roles ends well after odd names and long paths" $? 0
is "games of odd names and of long paths are found" "$(grep '^{' "$scratch/out" | json "sum(r['process'] == 'game' for r in rows)")" 2
"$tactus" events -i "$scratch/rec" --json 2>/dev/null | grep '"event":"exec"' >"$scratch/events"
is "launches of odd names are valid JSON, and a long path is known by its end" "$(json "sum(r['path'].endswith('ddd/deep') for r in rows)" <"$scratch/events")" 1
"$tactus" roles -i "$scratch/rec" >"$scratch/table" 2>/dev/null
is "no control character of a name reaches the terminal" "$(tr -d '\n' <"$scratch/table" | LC_ALL=C grep -c '[[:cntrl:]]')" 0

# Threads without a ceiling: the command ends when they are all made, the game stays until their roles have been told.
cat >"$scratch/many" <<END
"$stamp" "$game" 600 5000 >"$scratch/said" &
echo \$! >"$scratch/pid"
until grep -q threads "$scratch/said"; do sleep 0.1; done
sleep 0.5
END
"$tactus" roles --json -n all -- sh "$scratch/many" >"$scratch/out" 2>"$scratch/err"
pid=$(cat "$scratch/pid")
kill "$pid"
is "a game makes 5,000 threads" "$(tail -n 1 "$scratch/said")" "5000 threads"
is "all 5,001 threads belong to a game" "$(json "sum(r['pid'] == $pid and r['process'] == 'game' for r in rows)" <"$scratch/out")" 5001

# The user's word: options and the config file.
is "--game NAME makes a program of the system's a game" \
	"$("$tactus" roles --json -n all --game sleep -- sleep 0.5 2>/dev/null | json "[r['process'] for r in rows if r['comm'] == 'sleep'][0]")" game
: >"$scratch/said"
"$stamp" "$scratch/bin/plain" 600 1 >"$scratch/said" &
pid=$!
wait_for "$scratch/said" threads
is "--game PID makes a process that is there already a game" \
	"$("$tactus" roles --json -n all --game $pid -p $pid -d 0.5 2>/dev/null | json "[r['process'] for r in rows if r['pid'] == $pid][0]")" game
kill $pid
printf '[games]\nplain = yes\nFoo = no\nx = maybe\nwhat\n[roles]\nother* = input\n' >"$scratch/conf"
"$tactus" roles --config "$scratch/conf" --json -n all -- sh "$scratch/zoo" 1 >"$scratch/out" 2>"$scratch/err"
is "a config file with errors does not stop tactus roles" $? 0
read_kinds "$scratch/out"
like "a wrong rule of a config file is told with its line" "$(cat "$scratch/err")" "conf:4: 'maybe' is neither yes nor no"
like "a wrong line of a config file is told" "$(cat "$scratch/err")" 'conf:5: neither a \[section\] nor'
is "a config file with errors makes a program a game" "$(kind_of plain)" game
is "a config file with errors makes a game none" "$(kind_of Foo)" ""
is "a config file with errors gives a thread its role" "$(grep '^{' "$scratch/out" | json "[r['evidence_kind'] + ' ' + r['role'] for r in rows if r['comm'] == 'other'][0]")" "user input"
ends "a folder as a config file is refused" 1 "it is a folder" "$tactus" roles -d 1 --config "$scratch"
done_testing

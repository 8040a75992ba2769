#!/usr/bin/env bash
# What the command line promises, on recordings and on bad usage: no root, no kernel.
. tests/tap.sh

example=examples/late-frames.tactus
calls=tests/recordings/h200-startup.tac
count() { "$tactus" "$@" 2>/dev/null | wc -l; }

# Rows.
"$tactus" cuda -i "$calls" --json -n all >"$scratch/all"
say_measured "$(wc -l <"$scratch/all") records of CUDA"
is "a table of the CUDA recording has more than the 20 rows that a terminal gets" \
	"$(json 'len([r for r in rows if r["table"] == "ioctls"]) > 20' <"$scratch/all")" True
"$tactus" cuda -i "$calls" --json >"$scratch/plain"
holds "--json without -n has every row" cmp "$scratch/all" "$scratch/plain"
is "cuda --json -n 2 has two rows of calls and two of ioctls" "$("$tactus" cuda -i "$calls" --json -n 2 | json '[[r["table"] for r in rows].count(t) for t in ("calls", "ioctls")]')" "[2, 2]"
for view in tasks affinity roles inversions; do
	is "$view --json -n 2 has two records" "$(count $view -i "$example" --json -n 2)" 2
	holds "$view --json has more than two records" test "$(count $view -i "$example" --json)" -gt 2
done
lines_of_misses() { grep -cE '(waited|overran), '; }
is "misses -n 2 prints two misses" "$("$tactus" misses --all -i "$example" -n 2 | lines_of_misses)" 2
like "misses -n 2 says how many more there are" "$("$tactus" misses --all -i "$example" -n 2)" "^and $(($("$tactus" misses --all -i "$example" | lines_of_misses) - 2)) more"
is "events -n 5 prints a heading and the first five switches" "$("$tactus" events -i "$example" -n 5)" "$("$tactus" events -i "$example" | head -n 6)"
is "events --json -n 5 has the first five events" "$("$tactus" events -i "$example" --json -n 5)" "$("$tactus" events -i "$example" --json | head -n 5)"
is "events --only frame -n 3 has three frames" "$(count events -i "$example" --only frame -n 3)" 3
is "migrations -n 2 prints two moves" "$("$tactus" migrations -i "$example" -n 2 | grep -c ' -> [0-9]')" 2

# What JSON and text have of switches, threads and CPUs.
{
	echo 'thread 0 10 0 pid=10 comm=low
thread 0 20 0 pid=20 comm=urgent
sample 1 10 0 prio=121
switch 1000 10 0 next_tid=20 prev_state=0 prev_prio=121 next_prio=51 flags=1
switch 3000 20 0 next_tid=10 prev_state=1 prev_prio=51 next_prio=121
switch 4000 10 0 next_tid=0 prev_state=2 prev_prio=121 next_prio=140'
	for ((cpu = 1; cpu < 100; cpu += 2)); do
		echo "switch $((5000 + cpu)) 0 $cpu next_tid=10 prev_prio=140 next_prio=121
switch $((6000 + cpu)) 10 $cpu next_tid=0 prev_state=1 prev_prio=121 next_prio=140"
	done
} >"$scratch/events"
python3 tests/recording.py "$scratch/hand.tac" 100 <"$scratch/events"
"$tactus" events -i "$scratch/hand.tac" --json >"$scratch/json"
first='[r for r in rows if r["event"] == "switch"][0]'
is "a switch in JSON has both names" "$(json "${first}[\"prev_comm\"], ${first}[\"next_comm\"]" <"$scratch/json")" "low urgent"
is "a switch in JSON has how long the thread ran" "$(json "${first}[\"ran_ns\"]" <"$scratch/json")" 999000
is "a switch in JSON has the kernel's own priorities" "$(json "${first}[\"prev_prio\"], ${first}[\"next_prio\"]" <"$scratch/json")" "120 50"
is "a switch in JSON has how long the thread that comes waited" "$(json '[r["waited_ns"] for r in rows if r["event"] == "switch"][1]' <"$scratch/json")" 2000000
like "a switch in text has both priorities and the state" "$("$tactus" events -i "$scratch/hand.tac")" 'low +\[ +10\] +120 R\+ \(.*urgent +\[ +20\] +50 '
"$tactus" affinity -i "$scratch/hand.tac" --json >"$scratch/json"
is "affinity --json lists every CPU, however many" "$(json '[r["cpu_list"] for r in rows if r["comm"] == "low"] == [",".join(map(str, [0, *range(1, 100, 2)])).replace("0,1,", "0-1,")]' <"$scratch/json")" True
like "affinity in text cuts a long list" "$("$tactus" affinity -i "$scratch/hand.tac")" ',\.\.\.'
"$tactus" tasks -i "$scratch/hand.tac" --json >"$scratch/json"
is "tasks --json has the share of the CPU and the window that it is a share of" \
	"$(json 'all(abs(r["cpu_percent"] - 100 * r["cpu_ns"] / r["window_ns"]) < 0.01 for r in rows) and d["window_ns"] > 0' <"$scratch/json")" True

# An inversion that lasts is reported while it lasts.
python3 tests/recording.py "$scratch/inversion.tac" <<'END'
thread 0 10 0 pid=10 comm=low
thread 0 20 0 pid=20 comm=urgent
thread 0 30 1 pid=30 comm=clock
sample 1 10 0 prio=121
wakeup 1000 20 0 waker_tid=10 target_cpu=0 prio=51
switch 60000 30 1 next_tid=0 prev_state=1 prev_prio=121 next_prio=140
switch 120000 0 1 next_tid=30 prev_prio=140 next_prio=121
switch 180000 30 1 next_tid=0 prev_state=1 prev_prio=121 next_prio=140
switch 300000 10 0 next_tid=20 prev_prio=121 next_prio=51 flags=1
END
"$tactus" inversions -i "$scratch/inversion.tac" >"$scratch/out"
is "an inversion that lasts is reported once, when it has lasted long enough" \
	"$(grep -c '0.120 s  urgent \[20\] (rt 49) has waited 119 ms for CPU 0, where low \[10\] (nice 0) runs' "$scratch/out")" 1
is "an inversion that lasts is reported before the table" "$(grep -nE 'has waited|WAITER' "$scratch/out" | cut -d: -f1 | paste -sd' ')" "1 3"
is "inversions --alert 1s reports none that lasts less" "$("$tactus" inversions -i "$scratch/inversion.tac" --alert 1s | grep -c 'has waited')" 0
is "inversions --alert none reports none" "$("$tactus" inversions -i "$scratch/inversion.tac" --alert none | grep -c 'has waited')" 0
is "inversions --json has the alert as a record of its own" \
	"$("$tactus" inversions -i "$scratch/inversion.tac" --json | json '[(r["waiter_prio"], r["runner_prio"], r["lasted_ns"]) for r in rows if r.get("record") == "inversion_alert"]')" "[(50, 120, 119000000)]"

# Commands and options: what was meant.
ends "a misspelt command is answered with the one that was meant" 2 "taks: no such command: did you mean 'tactus tasks'" "$tactus" taks
ends "a command that is near to none is answered with the list" 2 "frobnicate: no such command: try 'tactus --help'" "$tactus" frobnicate
ends "a misspelt option is answered with the one that was meant" 2 "no option '--colums': did you mean '--columns'" "$tactus" tasks --colums x
for view in run stats events; do
	ends "$view says that it has no table where somebody wants to sort one" 2 "no option '--sort': 'tactus $view' prints no table" "$tactus" $view --sort time
	ends "$view says that it has no table where somebody wants to choose columns" 2 "no option '--columns': 'tactus $view' prints no table" "$tactus" $view --columns time
done
ends "doctor names its columns where somebody sorts by another" 2 "no column 'nosuch'; there are name, state, hook, subject" "$tactus" doctor --quick --sort nosuch
like "doctor --sort and --columns choose what the table of sensors shows" "$("$tactus" doctor --quick --columns state,sensor --sort sensor -r | grep -A1 '^STATE')" '^STATE +SENSOR
[a-z]+ +[a-z]+$'
ends "an unknown option of one letter is named" 2 "there is no option '-x'" "$tactus" tasks -x
ends "a long option without its value is told from an unknown one" 2 "option '--sort' needs a value: COLUMN" "$tactus" tasks --sort
ends "a long option without its value behind words is named" 2 "option '--html' needs a value: FILE" "$tactus" compare a.tactus b.tactus --html
ends "a recording without -i is told how to be named" 2 "unexpected word 'game.tactus': a recording is named with -i: -i game.tactus" "$tactus" report game.tactus
ends "a short option without its value is told from an unknown one" 2 "option '-d' needs a value: SECONDS" "$tactus" tasks -d
ends "a short option behind others without its value is named" 2 "option '-d' needs a value" "$tactus" tasks -jd
ends "an option with a value that it does not take is named" 2 "option '--json' takes no value" "$tactus" tasks --json=3
ends "a beginning that several options have is not guessed at" 2 "option '--co' could be several" "$tactus" tasks --co x
is "'tactus help tasks' is 'tactus tasks --help'" "$("$tactus" help tasks)" "$("$tactus" tasks --help)"
is "'tactus help db list' is 'tactus db list --help'" "$("$tactus" help db list)" "$("$tactus" db list --help)"
ends "'tactus help' of what is no command says so" 2 'no such command' "$tactus" help nothing
is "'tactus version' is 'tactus --version'" "$("$tactus" version)" "$("$tactus" --version)"
ends "latency --over without a unit is refused with a hint" 2 "'5' has no unit: 5ms, 5us or 5s" "$tactus" latency --over 5 -i "$example"
ends "misses --over without a unit is refused with a hint" 2 "'2' has no unit" "$tactus" misses --over 2 -i "$example"
holds "latency --over with a unit is taken" "$tactus" latency --over 5ms -i "$example"
ends "a duration of several parts is taken" 2 'leave -d out' "$tactus" tasks -i "$example" -d 1m30s
ends "a duration whose last part has no unit is bad usage" 2 "'1m30' is not" "$tactus" tasks -i "$example" -d 1m30
ends "a duration of several parts over a year is out of range" 2 'out of range' "$tactus" tasks -i "$example" -d 9000h1s
is "events --only help lists every kind" "$("$tactus" events --only help | wc -l)" "$(($(grep -cE '^\s*EVENT\([A-Z_]+, ' core/event.h) + 1))"
ends "a misspelt kind of event is answered with the one that was meant" 2 "'fram' names no kind of event: frame\\? '--only help' lists them" "$tactus" events --only fram
commands=$("$tactus" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -v '^tactus$')
for command in $commands "db list" "db summary" "db show" "db forget" "db import" "db merge" "db export" "db check"; do
	# shellcheck disable=SC2086
	"$tactus" $command --help >"$scratch/help"
	holds "help of '$command' has fewer than 60 lines ($(wc -l <"$scratch/help"))" test "$(wc -l <"$scratch/help")" -lt 60
	sed -n '/Examples:/,$p' "$scratch/help" | sed -nE 's/^ *(tactus .*)/\1/p' | sed -E 's/  +.*//; s/ (\||&&) .*//' >"$scratch/examples"
	holds "help of '$command' has two examples" test "$(wc -l <"$scratch/examples")" -ge 2
	while IFS= read -r line; do
		# What comes before --help is taken as it is meant, or refused.
		asked=${line/#tactus/\"$tactus\"}
		case $asked in *' -- '*) asked=${asked/ -- / --help -- } ;; *) asked="$asked --help" ;; esac
		eval "$asked" >"$scratch/out" 2>&1 || flunk "the example '$line' is taken as it is" "$(cat "$scratch/out")"
	done <"$scratch/examples"
done

# Tables.
columns_of() { script -qec "stty cols $1; NO_COLOR=1 $tactus tasks -i $example -n 3 ${2:-}" /dev/null </dev/null | tr -d '\r'; }
is "on a narrow terminal no line of a table is wider than it" "$(columns_of 60 | grep -v 'want of room' | awk 'length > 60' | wc -l)" 0
like "on a narrow terminal it is said which columns are left out" "$(columns_of 60)" '^\(for want of room without PID, .*; --columns chooses\)$'
is "on a wide terminal nothing is left out" "$(columns_of 200 | grep -c 'want of room')" 0
is "on a narrow terminal the columns that matter most stay" "$(columns_of 40 | head -n 1 | xargs)" "TID COMM CPU CPU %"
is "in a pipe nothing is left out" "$("$tactus" tasks -i "$example" | head -n 1 | wc -w)" "$(columns_of 300 | head -n 1 | wc -w)"
escape=$(printf '\033')
is "NO_COLOR keeps colours off a terminal" "$(columns_of 100 | grep -c "$escape")" 0
is "--color always colours in a pipe too" "$("$tactus" tasks -i "$example" --color always -n 1 | grep -c "$escape")" 1
is "a terminal gets colours" "$(script -qec "TERM=xterm $tactus tasks -i $example -n 1" /dev/null </dev/null | grep -c "$escape")" 1
is "what is bad is red" "$("$tactus" frames -i "$example" --color always | grep -c "$escape\[31m10")" 1
is "--sort sorts by any column, the largest first" "$("$tactus" tasks -i "$example" --sort wait_max --json | json '[r["wait_max_ns"] for r in rows] == sorted((r["wait_max_ns"] for r in rows), reverse=True)')" True
is "--sort --reverse has the smallest first" "$("$tactus" latency -i "$example" --sort waits -r --json | json '(lambda waits: waits == sorted(waits))([r["waits"] for r in rows if r["record"] == "latency_task"])')" True
is "--columns reaches the summary of latency too" "$("$tactus" latency -i "$example" --columns after,p99 | grep -A1 AFTER | xargs)" "AFTER P99 anything $("$tactus" latency -i "$example" | awk '$1 == "anything" { print $9, $10 }')"
is "-n leaves the summary of latency whole" "$("$tactus" latency -i "$example" -n 1 --json | grep -c '"record":"latency",')" 3
is "--sort orders what cuda --list finds" "$(LD_LIBRARY_PATH=build/workloads "$tactus" cuda --list 'cuMem*' --sort name --json 2>/dev/null | json '(lambda names: len(names) > 3 and names == sorted(names))([r["name"] for r in rows])')" True
is "--columns has these and no other, in text" "$("$tactus" roles -i "$example" --columns role,comm -n 1 | head -n 1 | xargs)" "ROLE COMM"
ends "--columns of what is no column is bad usage" 2 "there is no column 'height'; there are cpu," "$tactus" cpus --columns height

# Tables again and again: what they have adds up to the one table of all.
"$tactus" tasks -i "$example" --json >"$scratch/whole"
"$tactus" tasks -i "$example" --json --interval 2 >"$scratch/parts"
say_measured "$(grep -c '"interval"' "$scratch/parts") intervals of two seconds"
holds "tasks --interval prints a table for each interval" test "$(grep -c '"record":"interval"' "$scratch/parts")" -ge 5
cat >"$scratch/adds.py" <<'END'
import collections, json, sys
def sums(path):
    found = collections.defaultdict(lambda: [0] * 5)
    for row in map(json.loads, open(path)):
        if row["record"] == "task":
            for i, field in enumerate(("cpu_ns", "runs", "wait_ns", "switches", "wakeups")):
                found[row["tid"]][i] += row[field]
    return dict(found)
whole, parts = sums(sys.argv[1]), sums(sys.argv[2])
print("\n".join(f"{tid}: {whole.get(tid)} in all, {parts.get(tid)} in parts" for tid in whole | parts if whole.get(tid) != parts.get(tid)))
END
is "what the intervals have of each thread adds up to the whole" "$(python3 "$scratch/adds.py" "$scratch/whole" "$scratch/parts")" ""
for view in tasks affinity latency inversions migrations "misses --all" gpu input; do
	# shellcheck disable=SC2086
	holds "$view --interval has several tables of a recording" test "$("$tactus" $view -i "$example" --interval 2 2>/dev/null | grep -c '^[0-9.]* s to [0-9.]* s$')" -ge 5
done
is "'tasks 2' is 'tasks --interval 2'" "$("$tactus" tasks 2 -i "$example")" "$("$tactus" tasks -i "$example" --interval 2)"
ends "an interval that is no time is bad usage" 2 "interval '0.001' is not a number of seconds" "$tactus" tasks --interval 0.001
ends "a second word that is no number of tables is bad usage" 2 "number of tables '5x' is not" "$tactus" tasks 1 5x
ends "a third number is bad usage" 2 "unexpected word '7'" "$tactus" tasks 1 5 7
done_testing

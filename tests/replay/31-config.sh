#!/usr/bin/env bash
# Options that a config file gives values, over recordings and by 'tactus config': no root, no kernel.
. tests/tap.sh

example=examples/late-frames.tactus
conf=$scratch/conf
# given TEXT...: the config file, a line an argument
given() { printf '%s\n' "$@" >"$conf"; chmod 600 "$conf"; }
rows() { "$tactus" tasks --config "$conf" -i "$example" --json "$@" | wc -l; }
in_force() { "$tactus" config --config "$conf" --json "$@" | json '{r["option"]: (r["value"], r["from"]) for r in rows if r["record"] == "option"}'; }
value() { local of=$1; shift; "$tactus" config --config "$conf" --json "$@" | json "[r['value'] + ' ' + r['from'] for r in rows if r['option'] == '$of'][0]"; }

given '[options]' 'rows = 4' '[options tasks]' 'rows = 3' 'sort = wait_max_ns' 'columns = comm,wait_max_ns'
is "a file gives a command its number of rows" "$(rows)" 3
is "the command line counts before the file" "$(rows -n 2)" 2
is "a file gives the order and the columns" \
	"$("$tactus" tasks --config "$conf" -i "$example" --json -n all | json '[r["wait_max_ns"] for r in rows] == sorted((r["wait_max_ns"] for r in rows), reverse=True), sorted(d)')" \
	"True ['comm', 'record', 'schema', 'wait_max_ns']"
is "what is for every command counts for another one" "$("$tactus" affinity --config "$conf" -i "$example" --json | wc -l)" 4
is "a file that is not read gives no command its rows" "$("$tactus" tasks --config /dev/null -i "$example" --json | wc -l)" "$("$tactus" tasks -i "$example" --json --config /dev/null -n all | wc -l)"
is "'tactus config' has a value of the file with its line" "$(value rows tasks)" "3 $conf:4"
is "'tactus config' has a value of the command line" "$(value rows tasks -n 7)" "7 command line"
is "'tactus config' has a value that nobody gave" "$(value by tasks)" "thread default"
is "'tactus config' has an option without a value that nobody gave" "$(value reverse tasks)" "no default"
is "'tactus config' of a part of a command has that part's options" "$(value format db export)" " default"
is "'tactus config' without a command has the lines of the file" "$("$tactus" config --config "$conf" --json | json '[r["command"] for r in rows]')" "['every', 'tasks', 'tasks', 'tasks']"
is "'tactus config --all' has every option of every command" "$("$tactus" config --all --json --config "$conf" | json 'len({r["command"] for r in rows if r["record"] == "option"})')" \
	"$(($("$tactus" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -cv '^tactus$') + 7))"

given '[options]' 'duration = 2' 'cgroup = /x' 'ring-kb = 64' 'without = names' 'json = yes' 'format = jsonl'
is "options about watching do not count for a recording" "$("$tactus" roles --config "$conf" -i "$example" | json 'd["record"]')" role
is "'tactus config' says so of a recording" "$(value duration tasks -i "$example")" " default"
is "'tactus config' says otherwise of what is watched" "$(value duration tasks)" "2 $conf:2"
is "an option that takes no value is switched on by 'yes'" "$("$tactus" tasks --config "$conf" -i "$example" -n 1 | json 'd["record"]')" task
given '[options]' 'pid = 1'
is "processes of the file do not count beside a command" "$(value pid tasks -- true)" " default"
comm=$("$tactus" tasks --config /dev/null -i "$example" --json | json 'd["comm"]')
given '[options tasks]' "comm = $comm"
is "names of the file choose threads of a recording" "$("$tactus" tasks --config "$conf" -i "$example" --json)" "$("$tactus" tasks --config /dev/null -i "$example" -c "$comm" --json)"
is "names of the file count for a recording" "$(value comm tasks -i "$example")" "$comm $conf:2"
given '[options tasks]' 'pid = 99999'
like "processes of the file choose threads of a recording" "$("$tactus" tasks --config "$conf" -i "$example" --json 2>&1)" '^tactus: no thread in the recording matched '
given '[options]' 'json = no' 'by = tree'
like "an option that takes no value is left off by 'no'" "$("$tactus" tasks --config "$conf" -i "$example" -n 1)" '^ *TID '
is "a choice that only another command has does not count" "$(value by tasks)" "thread default"
is "a choice counts for the command that has it" "$(value by top)" "tree $conf:3"

# What makes no sense beside the command line does not count.
given '[options]' 'from = 1s' 'to = 2s' 'margin = 10ms' 'json = yes' 'format = trace' '[options top]' 'at = 1' '[options record]' 'ring = 30s' 'memory = 8' 'on = xid' \
	'[options db forget]' 'all = yes'
is "a part of a recording does not count for what is watched" "$(value from tasks) $(value to tasks -d 1)" " default  default"
is "a part of a recording counts for one" "$(value from tasks -i "$example") $(value to tasks -i "$example")" "1s $conf:2 2s $conf:3"
is "a part on the command line counts before the file's" "$(value from tasks -i "$example" --around 3) $(value to tasks -i "$example" --from 1s)" " default  default"
is "a margin counts only with the frame that it is around" "$(value margin tasks -i "$example") $(value margin tasks -i "$example" --around 3)" " default 10ms $conf:4"
holds "a margin without a frame does not stop a command" "$tactus" tasks --config "$conf" -i "$example"
holds "a file's part does not stop a command with another one" "$tactus" tasks --config "$conf" -i "$example" --from 500ms
is "JSON does not count beside folded stacks" "$(value json latency --folded) $(value json latency)" "no default yes $conf:5"
is "a moment does not count for what top watches" "$(value at top) $(value at top -i "$example")" " default 1 $conf:8"
is "what is for a ring counts beside one" "$(value memory record -o x) $(value on record -o x)" "8 $conf:11 xid $conf:12"
is "a ring does not count beside a file that is no recording" "$(value ring record -o x.jsonl) $(value memory record -o x.jsonl) $(value on record -o x.jsonl)" " default  default  default"
is "a trace does not count for who writes none" "$(value format record -o x) $(value format cuda -o x)" " default trace $conf:6"
is "a file does not ask to forget all that was learned" "$(value all db forget)" "no default"
given '[options record]' 'memory = 8' 'on = xid'
is "what is for a ring does not count without one" "$(value memory record -o x) $(value on record -o x)" " default  default"

# What is wrong is said with its line, and how to go on.
wrong() {
	local name=$1 pattern=$2 status=0
	shift 2
	given "$@"
	"$tactus" tasks --config "$conf" -i "$example" >"$scratch/out" 2>"$scratch/err" || status=$?
	is "$name: the exit status is that of bad usage" $status 2
	like "$name: the message has the line" "$(cat "$scratch/err")" "^tactus: $conf:$pattern"
	like "$name: the message says how to go on" "$(cat "$scratch/err")" '--config /dev/null'
	[ ! -s "$scratch/out" ] || flunk "$name: nothing is printed" "$(head -n 3 "$scratch/out")"
}
wrong "an unknown option" "2: no command has an option 'sotr'" '[options]' 'sotr = x'
wrong "an option that the command has not" "3: 'tactus tasks' has no option 'why'" '' '[options tasks]' 'why = yes'
wrong "a misspelt option" "2: 'tactus tasks' has no option 'row': did you mean 'rows'\\?" '[options tasks]' 'row = 1'
wrong "a misspelt command" "2: no command 'taks': did you mean 'tasks'\\?" '[options taks]' 'rows = 1'
wrong "a bad value" "2: number of rows 'many' is not a number" '[options]' 'rows = many'
wrong "a value that is no choice" "2: 'x' is no value of the option 'by'" '[options tasks]' 'by = x'
wrong "a value that is neither yes nor no" "2: 'maybe' is no value of the option 'json'" '[options]' 'json = maybe'
wrong "an option of one call" "2: 'output' is given on the command line only" '[options]' 'output = /tmp/x'
wrong "columns for every command" "2: columns differ: 'sort' belongs in a section \\[options COMMAND\\]" '[options]' 'sort = tid'
wrong "a line without a value" "2: no value after the '='" '[options]' 'rows ='
wrong "an option given twice" "3: 'rows' again: line 2 has it already" '[options]' 'rows = 1' 'rows = 2'
wrong "a part that is chosen twice" "3: --around says what is shown, or --from and --to do" '[options]' 'from = 1s' 'around = 3'
wrong "a part that has no length" "3: --to is not later than --from" '[options tasks]' 'from = 2s' 'to = 1s'
wrong "a misspelt section" "1: no section \\[optons\\]: did you mean \\[options\\]\\?" '[optons]' 'rows = 1'
wrong "a section without lines that there is not" "2: no section \\[frobnicate\\]: it is one of \\[games\\]" '[games]' '[frobnicate]'
wrong "a line before the first section" "1: 'rows' stands before the first \\[section\\]" 'rows = 1' '[options]'
wrong "bytes that are no text" "1: it has a byte that no text has" $'\1\2\177' '[options]'
given '[optons]' 'rows = 1'
holds "'tactus config' ends with 2 at a misspelt section" test "$("$tactus" config --config "$conf" >/dev/null 2>&1; echo $?)" = 2
given '[options tasks]' 'sort = height'
ends "a column that is none is told with its line" 2 "^tactus: $conf:2: there is no column 'height'" "$tactus" tasks --config "$conf" -i "$example"
given '[options]' 'rows = many'
ends "'tactus config' finds a bad value of any command" 2 "$conf:2: number of rows" "$tactus" config --config "$conf"
# refuses NAME REGEX SECTION LINE: 'tactus config' takes what the command itself would
refuses() { given "$3" "$4"; ends "'tactus config' refuses $1" 2 "$conf:2: $2" "$tactus" config --config "$conf"; }
refuses "a span that is none" "the value 'banana' is not " '[options record]' 'ring = banana'
refuses "a size that is none" "the value '-1' is not " '[options record]' 'memory = -1'
refuses "a cause that there is not" "the value 'foo' is " '[options record]' 'on = foo'
refuses "a column that there is not" "there is no column 'banana'" '[options tasks]' 'columns = tid,banana'
refuses "a duration of the command's own" "the value 'banana' is not " '[options latency]' 'over = banana'
ends "'tactus config' refuses a choice on the command line" 2 "^tactus: run: the value 'foo' is none of auto" "$tactus" config --config /dev/null run --actuator foo
ends "'tactus config' refuses what to sum up by on the command line" 2 "the value 'cow' is neither" "$tactus" config --config /dev/null tasks --by cow
ends "'tactus config' refuses a duration on the command line" 2 "the value 'banana'" "$tactus" config --config /dev/null latency --over banana
ends "'tactus config' refuses a column on the command line" 2 "no column 'banana'" "$tactus" config --config /dev/null tasks --sort banana
ends "a number of tables makes no sense with a recording" 2 'read to its end: leave the COUNT after the INTERVAL out' "$tactus" latency --config /dev/null -i "$example" 1 3
ends "a duration makes no sense with a recording" 2 'read to its end: leave -d out' "$tactus" latency --config /dev/null -i "$example" -d 3
holds "an interval makes sense with a recording" "$tactus" latency --config /dev/null -i "$example" 1
is "columns that there are are named once" "$("$tactus" latency --config /dev/null -i "$example" --columns x 2>&1 | sed 's/.*there are //' | tr -d ' ' | tr ',' '\n' | sort | uniq -d)" ""
ends "'tactus config' refuses options that do not go together" 2 'leave -d out' "$tactus" config --config /dev/null tasks -i x -d 1
ends "'tactus config' refuses a config file behind the command" 2 'config --config FILE tasks' "$tactus" config tasks --config "$conf"
ends "'tactus config' names an option that there is not" 2 "^tactus: tasks: there is no option '--banana'" "$tactus" config --config /dev/null tasks -n 3 --banana
ends "'tactus config' names a misspelt option" 2 "no option '--row-s': did you mean '--rows'" "$tactus" config --config /dev/null tasks --row-s 3
ends "'tactus config' names an option without its value" 2 "'-n' needs a value" "$tactus" config --config /dev/null tasks -n
holds "'tactus config' takes every option of the list of calls" "$tactus" config --config /dev/null cuda --list --api all
given '[options]' 'rows = 1' '[roles]' 'foo = loud' '[games]' 'mine* = yes'
is "a wrong rule does not touch who needs no rules" "$("$tactus" tasks --config "$conf" -i "$example" --json 2>&1 | wc -l)" 1
like "'tactus config' says which rule is wrong" "$("$tactus" config --config "$conf" 2>&1)" "conf:4: 'loud' is no role"
is "'tactus config' ends with 2 at a wrong rule" "$("$tactus" config --config "$conf" >/dev/null 2>&1; echo $?)" 2
is "'tactus config' has the rules of the file with their lines" "$("$tactus" config --config "$conf" --json 2>/dev/null | json '[(r["section"], r["pattern"], r["value"], r["from"]) for r in rows if r["record"] == "rule"]')" "[('games', 'mine*', 'yes', '$conf:6')]"
is "'tactus config --all' has the rules that are built in" "$("$tactus" config --config "$conf" --all --json 2>/dev/null | json '[r["from"] for r in rows if r["record"] == "rule" and r["pattern"] == "weston"]')" "['built in']"
ends "a config file that is not there is told" 1 'No such file' "$tactus" tasks --config "$scratch/none" -i "$example"
mkfifo "$scratch/pipe"
ends "a pipe is no config file for a view" 1 'pipe: it is a pipe' timeout 10 "$tactus" tasks --config "$scratch/pipe" -i "$example"
ends "a pipe is no config file for 'tactus config'" 1 'pipe: it is a pipe' timeout 10 "$tactus" config --config "$scratch/pipe"
ends "a device is no config file" 1 'zero: it is a pipe, a socket or a device' timeout 10 "$tactus" config --config /dev/zero
ends "a folder is no config file" 1 'it is a folder' "$tactus" config --config "$scratch"
head -c 1100000 /dev/zero | tr '\0' '#' >"$scratch/large"
ends "a config file that is too long is told the limit" 1 'longer than the 1 MB' "$tactus" config --config "$scratch/large"
ends "'tactus config' of what is no command is bad usage" 2 "'nothing' is no command" "$tactus" config nothing
holds "--help works beside a wrong file" "$tactus" tasks --config "$conf" --help

# The sample is right as it is, and with each of its lines in force.
cp examples/tactus.conf "$conf"
chmod 600 "$conf"
is "the sample gives no option a value" "$("$tactus" config --config "$conf" 2>&1)" "No option has a value of its own: $conf gives none."
sed -E 's/^#([^ ].*=)/\1/' examples/tactus.conf >"$conf"
holds "every line of the sample is right" "$tactus" config --config "$conf"
is "every line of the sample says nothing but what is in force" "$("$tactus" config --config "$conf" 2>&1 >/dev/null)" ""
holds "the sample has a line of every section" test "$("$tactus" config --config "$conf" --json | json 'len({r.get("section") or r["command"] for r in rows})')" -ge 9
done_testing

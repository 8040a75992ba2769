#!/usr/bin/env bash
# One rule for everything that is written: what tactus did not write stays unless --force is given, nothing is opened before there is
# something to write, and a report and a command's own output do not mix.
. tests/tap.sh

example=examples/late-frames.tactus
calls=tests/recordings/h200-startup.tac
csv=("$tactus" frames -i "$example" --csv)
lines=("$tactus" cuda -i "$calls" -o)
refusal='exists and is not .*: name another file, or give --force to replace it'

for name in csv lines; do
	declare -n command=$name
	file=$scratch/$name.jsonl
	echo precious >"$file"
	ends "$name over a file that tactus did not write ends with an error" 1 "$refusal" "${command[@]}" "$file"
	is "$name leaves a file that tactus did not write as it is" "$(cat "$file")" precious
	holds "$name with --force replaces a file that tactus did not write" "${command[@]}" "$file" --force
	holds "$name replaces its own earlier output without --force" "${command[@]}" "$file"
done
echo '{"traceEvents":[]}' >"$scratch/foreign.json"
ends "cuda -o over another program's trace ends with an error" 1 "$refusal" "${lines[@]}" "$scratch/foreign.json"
holds "cuda -o makes a trace for chrome://tracing" "${lines[@]}" "$scratch/own.json"
holds "cuda -o replaces its own earlier trace" "${lines[@]}" "$scratch/own.json"
is "a trace for chrome://tracing says who made it" "$(json 'd["otherData"]["producer"].split()[0]' <<<"$(tr -d '\n' <"$scratch/own.json")")" tactus

cp "$example" "$scratch/copy.tactus"
for more in "" --force; do
	# shellcheck disable=SC2086
	ends "frames --csv over the recording that it reads is bad usage (${more:-plain})" 2 'read and .* written are one file' \
		"$tactus" frames -i "$scratch/copy.tactus" --csv "$scratch/copy.tactus" $more
	# shellcheck disable=SC2086
	ends "--report over the recording that is read is bad usage (${more:-plain})" 2 'read and .* written are one file' \
		"$tactus" tasks -i "$scratch/copy.tactus" --report "$scratch/copy.tactus" $more
done
holds "a recording that is read and named as output stays whole" cmp "$example" "$scratch/copy.tactus"

# What can't be watched leaves no file behind, and one that is there as it was.
echo precious >"$scratch/kept"
"$tactus" frames --csv "$scratch/none.csv" --cgroup /nowhere -d 0.1 2>/dev/null
holds "frames that cannot start makes no file of --csv" test ! -e "$scratch/none.csv"
"$tactus" cuda -o "$scratch/none.jsonl" --cgroup /nowhere -d 0.1 2>/dev/null
holds "cuda that cannot start makes no file of -o" test ! -e "$scratch/none.jsonl"
"$tactus" tasks --report "$scratch/kept" --force --cgroup /nowhere -d 0.1 2>/dev/null
is "tasks that cannot start leaves a file of --report as it was, even with --force" "$(cat "$scratch/kept")" precious
ends "tasks --report over a file that is there ends with an error" 1 "$refusal" "$tactus" tasks -i "$example" --report "$scratch/kept"
ends "record over a file that is no recording says how to replace it" 1 "$refusal" "$tactus" record -o "$scratch/kept" -d 0.1
"$tactus" record --without all -o "$scratch/kept" --force -d 0.1 >/dev/null 2>&1
holds "record --force makes a recording of a file that was none" "$tactus" tasks -i "$scratch/kept"

# A report, and what the command itself prints.
"$tactus" cpus -- echo mine >"$scratch/out" 2>"$scratch/err"
is "beside a command whose output goes to a file, that file has what the command prints alone" "$(cat "$scratch/out")" mine
like "beside a command whose output goes to a file, the report is on standard error" "$(cat "$scratch/err")" '^CPU +SWITCHES'
"$tactus" cpus --report "$scratch/report" -- echo mine >"$scratch/out" 2>"$scratch/err"
is "cpus --report leaves standard output to what the command prints" "$(cat "$scratch/out")" mine
like "cpus --report puts the table into its file" "$(cat "$scratch/report")" '^CPU +SWITCHES'
is "cpus --report puts nothing of the table on standard error" "$(grep -c SWITCHES "$scratch/err")" 0
"$tactus" cpus -o "$scratch/report2" -d 0.1
like "cpus -o is a report too" "$(cat "$scratch/report2")" '^CPU +SWITCHES'
"$tactus" tasks --json --report "$scratch/report3" -- echo mine >"$scratch/out" 2>/dev/null
is "tasks --json --report leaves the command's output alone" "$(cat "$scratch/out")" mine
is "tasks --json --report has nothing but objects" "$(json 'all("tid" in r for r in rows)' <"$scratch/report3")" True
is "tasks without a command puts its report on standard output" "$("$tactus" tasks -i "$example" 2>/dev/null | head -n 1 | grep -c CPU)" 1
is "a report into a full device ends with status 1" "$("$tactus" tasks -i "$example" --report /dev/full 2>/dev/null; echo $?)" 1

# What a file of -o holds is what its name says, or what --format says.
"$tactus" tasks -o "$scratch/named.jsonl" --json -- true >"$scratch/out" 2>"$scratch/err"
is "-o FILE.jsonl writes one JSON object per event" "$(json 'd["record"], any(r["event"] == "switch" for r in rows)' <"$scratch/named.jsonl")" "event True"
like "-o FILE.jsonl says what it writes" "$(cat "$scratch/err")" 'named.jsonl: one JSON object per event'
"$tactus" tasks -o "$scratch/named.jsonl" -- true >/dev/null 2>"$scratch/err"
is "-o FILE.jsonl replaces its own earlier output" $? 0
ends "-o FILE.json of what is no trace is bad usage" 2 'would be a trace .*: name a FILE.jsonl' "$tactus" tasks -o "$scratch/named.json" -d 0.1
holds "-o FILE.json that was refused makes no file" test ! -e "$scratch/named.json"
"$tactus" tasks -o "$scratch/named.json" --format recording -- true >/dev/null 2>"$scratch/err"
holds "-o FILE.json --format recording is a recording" "$tactus" tasks -i "$scratch/named.json"
like "-o says that it writes a recording" "$(cat "$scratch/err")" 'named.json: a recording, which -i reads'
"$tactus" record --without all --format jsonl -o "$scratch/lines" -- true >"$scratch/out" 2>"$scratch/err"
is "record --format jsonl writes as many objects as it says" "$(grep -oE 'lines: [0-9]+ events' "$scratch/err")" "lines: $(wc -l <"$scratch/lines") events"
holds "cuda -i -o FILE --format trace writes a trace whatever the name" "$tactus" cuda -i "$calls" -o "$scratch/odd" --format trace
is "a trace under another name is one" "$(head -c 12 "$scratch/odd")" '{"otherData"'
ends "an unknown --format is bad usage" 2 "format 'xml' is none of recording, jsonl, trace" "$tactus" record -o "$scratch/x" --format xml
ends "--format without -o is bad usage" 2 'format is for the file of -o' "$tactus" tasks --format jsonl -d 0.1
done_testing

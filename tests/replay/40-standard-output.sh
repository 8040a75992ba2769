#!/usr/bin/env bash
# '-o -' is standard output where a stream makes sense (export, report, lines of JSON of 'record'), and is refused in one line where it makes none. No root.
. tests/tap.sh

top=$PWD
example=$top/examples/late-frames.tactus
case $tactus in /*) ;; *) tactus=$top/$tactus ;; esac
cd "$scratch" || exit 1

for format in perfetto chrome csv parquet; do
	"$tactus" export -i "$example" -o "file" --format $format --force >/dev/null 2>&1
	"$tactus" export -i "$example" -o - --format $format 2>err | cat >piped
	is "export -o - --format $format writes to a pipe what it writes to a file" "${PIPESTATUS[0]} $(cmp piped file 2>&1)" "0 "
	"$tactus" export -i "$example" -o - --format $format >redirected 2>/dev/null
	is "export -o - --format $format writes to where standard output leads what it writes to a file" "$? $(cmp redirected file 2>&1)" "0 "
done
like "what export -o - says of it goes to standard error" "$(cat err)" '^-: 25957 events in [0-9.]+ MB$'
"$tactus" export -i "$example" -o - --format csv --json --only frame >frames.csv 2>err
is "export -o - --json has its record on standard error" "$(json 'd["record"], d["events"]' <err) $(wc -l <frames.csv)" "export 232 233"
{
	echo before
	"$tactus" export -i "$example" -o - --format csv --only frame 2>/dev/null
	echo behind
} >around
is "export -o - leaves what standard output has before and behind it" "$(sed -n '1p;$p' around | tr '\n' ' ')$(wc -l <around)" "before behind 235"
"$tactus" export -i "$example" -o - --format csv --only frame 2>/dev/null >>around
is "export -o - >>FILE goes on at its end" "$(head -n 1 around) $(wc -l <around)" "before 468"
"$tactus" export -i "$example" -o - --format csv 2>err | head -n 1 >/dev/null
like "export -o - ends quietly when its reader has enough" "${PIPESTATUS[0]} $(cat err)" '^0 -: [0-9]+ events in [0-9.]+ MB$'
ends "export -o - on a full disk fails" 1 'No space left' sh -c "'$tactus' export -i '$example' -o - --format csv >/dev/full"
ends "export -o - without a format is bad usage" 2 "the name '-' does not say which format.*--format" "$tactus" export -i "$example" -o -
python3 - "$tactus" "$example" >terminal.out <<'PYTHON'
import os, pty, sys
pty.spawn([sys.argv[1], "export", "-i", sys.argv[2], "-o", "-", "--format", "parquet"])
PYTHON
like "export -o - of what no terminal shows is refused on one" "$(cat terminal.out)" 'no terminal shows that: name a file, or send it through a pipe'

"$tactus" report -i "$example" -o page.html >/dev/null 2>&1
is "report -o - writes the page that it writes to a file" "$("$tactus" report -i "$example" -o - 2>/dev/null | cmp - page.html 2>&1)" ""
is "--report - is standard output" "$("$tactus" tasks -i "$example" --report - | cksum)" "$("$tactus" tasks -i "$example" | cksum)"

ends "cut -o - is refused" 2 'a recording cannot go to standard output: name a file' "$tactus" cut -i "$example" -o - --to 2s
ends "record -o - is refused" 2 'a recording cannot go to standard output: name a file' "$tactus" record -o - -d 1
ends "record -o - beside a command, which writes there too, is refused" 2 'the command writes to standard output too' "$tactus" record -o - --format jsonl -- true
ends "a view's -o - is refused, since its table goes there" 2 'what it prints goes to standard output: name a file to record to' "$tactus" tasks -o - -d 1
ends "compare --html - is refused, since its table goes there" 2 'standard output, where the table goes' "$tactus" compare "$example" "$example" --html -
holds "nothing of that makes a file that is called -" test ! -e ./-
"$tactus" export -i "$example" -o ./- --format csv >/dev/null
is "a file that is called so is ./-" "$(head -c 7 ./-)" time_ns
done_testing

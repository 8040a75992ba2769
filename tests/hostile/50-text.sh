#!/usr/bin/env bash
# Threads, files and programs with names of escape sequences, turned directions, zero-width characters and broken bytes: a terminal gets none of it.
. tests/tap.sh

# Prints how many characters of stdin no terminal should get, and the first of them.
harmful() {
	python3 -c '
import sys, unicodedata
data = sys.stdin.buffer.read()
found = []
try:
    text = data.decode("utf-8")
except UnicodeDecodeError as error:
    found.append("byte %#x" % data[error.start])
    text = data.decode("utf-8", "replace")
for c in text:
    if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cn"):
        found.append("U+%04X" % ord(c))
print(len(found), *sorted(set(found))[:6])'
}
# clean NAME FILE...: none of the files has a harmful character
clean() {
	local name=$1 seen
	shift
	seen=$(cat "$@" | harmful)
	is "$name" "$seen" 0
}

names=build/workloads/hostile_names
"$tactus" tasks -n all --report "$scratch/tasks" -- "$names" 700 >/dev/null 2>"$scratch/err"
is "tasks of threads with hostile names ends with status 0" $? 0
holds "tasks shows threads with hostile names" grep -q 'red' "$scratch/tasks"
say_measured "$(wc -l <"$scratch/tasks") rows; a row: $(grep -a red "$scratch/tasks" | head -n 1)"
clean "tasks of threads with hostile names prints plain text only" "$scratch/tasks" "$scratch/err"
"$tactus" tasks --json -n all -- "$names" 500 >"$scratch/json" 2>"$scratch/err"
clean "tasks --json of threads with hostile names prints plain text only" "$scratch/json" "$scratch/err"
is "tasks --json keeps a hostile name whole for a program that reads it" \
	"$(json '"\u202edrowssap" in [r["comm"] for r in rows]' <"$scratch/json")" True

evil=$scratch/$'\033[2Jfile\xe2\x80\xae\xff'.tac
"$tactus" record --without frame,wine -o "$evil" -- "$names" 700 >"$scratch/out" 2>"$scratch/err"
is "record to a file with a hostile name ends with status 0" $? 0
clean "record to a file with a hostile name prints plain text only" "$scratch/out" "$scratch/err"
for view in events "events --json" "events --wakeups" latency inversions misses migrations roles frames input gpu "report --json"; do
	# shellcheck disable=SC2086
	"$tactus" $view -i "$evil" >"$scratch/out" 2>"$scratch/err"
	clean "$view of a recording with hostile names prints plain text only" "$scratch/out" "$scratch/err"
done
"$tactus" compare "$evil" "$evil" >"$scratch/out" 2>"$scratch/err"
clean "compare of recordings with hostile names prints plain text only" "$scratch/out" "$scratch/err"
"$tactus" tasks -i "$evil.none" >"$scratch/out" 2>"$scratch/err"
clean "tasks of a file with a hostile name that is not there says so in plain text" "$scratch/out" "$scratch/err"
"$tactus" db check "$evil" >"$scratch/out" 2>"$scratch/err"
clean "db check of a file with a hostile name prints plain text only" "$scratch/out" "$scratch/err"
"$tactus" tasks -d "$evil" >"$scratch/out" 2>"$scratch/err"
clean "bad usage with a hostile word is told in plain text" "$scratch/out" "$scratch/err"
"$tactus" tasks -- "$evil" >"$scratch/out" 2>"$scratch/err"
clean "command with a hostile name that can't be run is told in plain text" "$scratch/out" "$scratch/err"

# A program and a library of such names, which sensors meet by themselves.
mkdir -p "$scratch/"$'\033]0;own\a\xe2\x80\xae'
there=$scratch/$'\033]0;own\a\xe2\x80\xae'
cp "$names" "$there/"$'\033[5mgame'
cp build/workloads/libcuda.so.1 "$there/"
LD_PRELOAD=$there/libcuda.so.1 TACTUS_FEED=$scratch/feed "$tactus" run -v --actuator none --without frame,wine -- "$there/"$'\033[5mgame' 700 >"$scratch/out" 2>"$scratch/err"
is "run -v of a program with a hostile path ends with its status" $? 0
clean "run -v of a program and a library with hostile paths prints plain text only" "$scratch/out" "$scratch/err"
say_measured "$(wc -c <"$scratch/err") bytes on stderr of run -v"
done_testing

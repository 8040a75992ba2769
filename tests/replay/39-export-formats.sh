#!/usr/bin/env bash
# tactus export as JSON for chrome://tracing, checked by a reader that shares nothing with the writer (tests/chrome.py), and as Parquet, read back by DuckDB
# (tests/duckdb.py; tools/deps.sh fetches it where there is a network). No root.
. tests/tap.sh
. tools/lib.sh

example=examples/late-frames.tactus
"$tactus" tasks -i "$example" --json -n all >"$scratch/tasks-json"
json '"\n".join("%u %u" % (r["tid"], r["cpu_ns"]) for r in rows if r.get("cpu_ns"))' <"$scratch/tasks-json" | sort >"$scratch/tasks"

# JSON for chrome://tracing.
trace=$scratch/example.json
"$tactus" export -i "$example" -o "$trace" >"$scratch/out" 2>"$scratch/err"
is "the example is exported as JSON for chrome://tracing" "$? $(cat "$scratch/err")" "0 "
say_measured "$(python3 tests/chrome.py "$trace" "$trace.read" 2>&1), $(stat -c %s "$trace") bytes"
is "a trace for chrome://tracing has rows in which slices lie within each other, CPUs that run one thread at a time, and arrows with ends" "$(cat "$trace.read/errors")" ""
sort "$trace.read/cpu" >"$scratch/cpu"
is "in a trace for chrome://tracing each thread has the CPU time that tasks shows" "$(join "$scratch/tasks" "$scratch/cpu" | awk '$2 == $3' | wc -l)" "$(wc -l <"$scratch/tasks")"
of() { json "$2" <"$trace.read/$1"; }
is "late frames in a trace for chrome://tracing are those of frames --why" "$(of slices 'sorted((r["args"]["frame"], r["args"]["late_ns"], r["args"]["behind_tid"]) for r in rows if r["cat"] == "late" and r["row"].startswith("frames"))')" \
	"$("$tactus" frames --why -i "$example" --json | json 'sorted((r["late_frame"], r["late_ns"], r["other_tid"]) for r in rows if r["record"] == "late_frame")')"
is "long waits in a trace for chrome://tracing are those of latency --over" "$(of slices 'sorted((r["dur"], r["args"]["behind_tid"]) for r in rows if r["row"].startswith("waits"))')" \
	"$("$tactus" latency -i "$example" --over 1ms --json | json 'sorted((r["wait_ns"], r["behind_tid"] or 0) for r in rows if r["record"] == "wait")')"
is "every wake-up is in a trace for chrome://tracing with its waker" "$(of instants 'sorted((r["at"], r["args"]["tid"], r["args"]["waker_tid"]) for r in rows if r["cat"] == "wakeup")' | cksum)" \
	"$("$tactus" events -i "$example" --only wakeup --json | json 'sorted((r["time_ns"], r["tid"], r["waker_tid"]) for r in rows)' | cksum)"
holds "arrows lead from waits to who was in the way, and to frames" test "$(of flows 'sum(r["rows"][0].startswith("waits") and any(one.startswith("in the way") for one in r["rows"]) for r in rows)')" -gt 10
"$tactus" export -i "$example" -o "$scratch/by-format" --format chrome >/dev/null
holds "--format chrome writes the same whatever the name" cmp "$trace" "$scratch/by-format"
"$tactus" export -i "$example" -o "$scratch/part.json" --from 3s --to 5s >/dev/null
python3 tests/chrome.py "$scratch/part.json" "$scratch/part.read" >/dev/null 2>&1
is "a part's trace for chrome://tracing has no error" "$(cat "$scratch/part.read/errors")" ""
python3 - "$scratch/odd.tac" <<'PYTHON'
import subprocess, sys
lines = ("thread 0 7 0 pid=7 comm=\u00ff\x1b\"\\<b>\nsample 0 7 0\nswitch 5 7 0 next_tid=9 prev_state=1\nlost 6 0 0 count=3 of_kind=1\nswitch 8 7 0 next_tid=0 prev_state=1\n"
         "unseen_switch 9 7 0 since_ns=1000008500\nsample 9 7 0 flags=4\n")
subprocess.run([sys.executable, "tests/recording.py", sys.argv[1]], input=lines, text=True, check=True)
PYTHON
"$tactus" export -i "$scratch/odd.tac" -o "$scratch/odd.json" >/dev/null 2>&1
python3 tests/chrome.py "$scratch/odd.json" "$scratch/odd.read" >/dev/null 2>"$scratch/err"
is "a trace for chrome://tracing of odd names and of losses is sound JSON" "$(cat "$scratch/odd.read/errors" "$scratch/err")" ""
like "a name that is no plain text comes through harmless in JSON" "$(cat "$scratch/odd.read/slices")" '\\u00ff\?\\"\\\\<b> \[7\]'

# Parquet.
"$tactus" export -i "$example" -o "$scratch/example.parquet" >"$scratch/out" 2>"$scratch/err"
is "the example is exported as Parquet" "$? $(cat "$scratch/err")" "0 "
say_measured "$(cat "$scratch/out"), as CSV $("$tactus" export -i "$example" -o "$scratch/example.csv" | sed 's/.* in //')"
is "a Parquet file begins and ends as one" "$(head -c 4 "$scratch/example.parquet")$(tail -c 4 "$scratch/example.parquet")" PAR1PAR1
holds "export replaces a Parquet file of its own" "$tactus" export -i "$example" -o "$scratch/example.parquet"
printf 'PAR1 of others PAR1' >"$scratch/foreign.parquet"
ends "export leaves a Parquet file of somebody else's" 1 'exists and is not|force' "$tactus" export -i "$example" -o "$scratch/foreign.parquet"
ends "record writes no Parquet" 2 "which 'tactus export' writes" "$tactus" record -o "$scratch/x.parquet"
duckdb=$cache/duckdb/libduckdb.so
if [ ! -e "$duckdb" ]; then
	skip "DuckDB reads what export writes" "DuckDB is not here: 'tools/deps.sh test' fetches it where there is a network"
	done_testing
fi
"$tactus" export -i "$example" -o "$scratch/frames.parquet" --only frame >/dev/null
"$tactus" export -i "$scratch/odd.tac" -o "$scratch/odd.parquet" --only thread >/dev/null 2>&1
python3 tests/recording.py "$scratch/none.tac" <<<'thread 0 1 0 pid=1 comm=nobody'
"$tactus" export -i "$scratch/none.tac" -o "$scratch/none.parquet" --only frame >/dev/null 2>&1
# All at once: what takes time is to load the library.
cd "$scratch" && python3 "$OLDPWD/tests/duckdb.py" "$duckdb" >answers 2>&1 <<'SQL'
select count(*), count(distinct kind) from 'example.parquet'
select count(*) from (select columns(*)::varchar from 'example.parquet' except all select * from read_csv('example.csv', all_varchar = true))
select count(*) from read_csv('example.csv', all_varchar = true)
with moments as (select next_tid tid, -time_ns::bigint ns, 1 came from 'example.parquet' where kind = 'switch' union all select tid, time_ns::bigint, -1 from 'example.parquet' where kind = 'switch') select tid, sum(ns)::bigint from moments where tid <> 0 group by tid having sum(came) = 0
select distinct typeof(time_ns), typeof(comm), typeof(next_tid), typeof(next_prio) from 'example.parquet'
select count(*), count(distinct kind) from 'frames.parquet'
select count(*) < 20 from (describe select * from 'frames.parquet')
select comm from 'odd.parquet'
select count(*) from 'none.parquet'
SQL
is "DuckDB answers every question" "$? $(wc -l <answers)" "0 9"
answer() { sed -n "$1p" answers; }
is "DuckDB reads every row" "$(answer 1)" "[[\"25957\", \"$(tail -n +2 example.csv | cut -d, -f5 | sort -u | wc -l)\"]]"
is "every value in Parquet is that of CSV, and none is missing" "$(answer 2) $(answer 3)" '[["0"]] [["25957"]]'
is "CPU time by SQL is that of tasks, for every thread that came as often as it left" \
	"$(python3 -c 'import json, sys
sums, tasks = {int(tid): int(ns) for tid, ns in json.loads(sys.argv[1])}, {row["tid"]: row["cpu_ns"] for row in map(json.loads, open(sys.argv[2])) if row.get("cpu_ns")}
both = sums.keys() & tasks.keys()
print(len(both), [tid for tid in both if sums[tid] != tasks[tid]])' "$(answer 4)" tasks-json)" "16 []"
is "numbers in Parquet are numbers, and text is text" "$(answer 5)" '[["UBIGINT", "VARCHAR", "UBIGINT", "BIGINT"]]'
is "--only chooses rows and columns of Parquet" "$(answer 6) $(answer 7)" "[[\"$(cut -d, -f5 example.csv | grep -cx frame)\", \"1\"]] [[\"true\"]]"
is "a name that is no plain text comes through harmless in Parquet" "$(answer 8)" '[["\u00ff?\"\\<b>"]]'
is "a table without rows is one" "$(answer 9)" '[["0"]]'
done_testing

#!/usr/bin/env bash
# Processes that are called as no process should be, in every file that is made of a recording: HTML, formulas, turned directions, escape sequences, quotes. In each they are
# text, whole but for what is not plain, and nothing else. (On the page in a browser: tests/replay/36-report.sh.) No root.
. tests/tap.sh
. tools/lib.sh

python3 - "$scratch" <<'PYTHON'
import json, subprocess, sys
names = ["<script>", "=cmd|'/C~calc'!A", "+1+1", "-2+3", "@SUM(A1)", "\u202egnp.exe", "\x1b[31mred", '"quote",x', "\\u003cb", "</thread>", "a\u200bb", "%s%n"]
lines = []
for i, name in enumerate(names):
    lines.append(f"thread 0 {100 + i} 0 pid={100 + i} comm={name}")
at = 10
for i in range(200):
    tid = 100 + i % len(names)
    lines.append(f"wakeup {at - 5} {tid} 0 target_cpu=0 prio=120 waker_tid={100 + (i + 1) % len(names)}")
    lines.append(f"switch {at} {100 + (i - 1) % len(names) if i else 0} 0 next_tid={tid} prev_state=1 prev_prio=120 next_prio=120")
    at += 16000 if i % 50 else 90000
    if tid == 100:
        lines.append(f"frame {at - 10} 100 0 interval_ns={0 if i == 0 else 16000000} number={i + 1} api=1")
subprocess.run([sys.executable, "tests/recording.py", sys.argv[1] + "/evil.tac"], input="\n".join(lines), text=True, check=True)
# As a terminal shows them, which has ? for what is not plain.
plain = [name.replace("~", " ").encode()[:16].decode(errors="ignore") for name in names]
json.dump(sorted("".join("?" if c in "\u202e\x1b\u200b" else c for c in name) for name in plain), open(sys.argv[1] + "/plain", "w"))
PYTHON
wanted=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1])))' "$scratch/plain")
evil=$scratch/evil.tac
for file in evil.pftrace evil.json evil.csv evil.parquet evil.html; do
	maker='export'
	[[ $file != *.html ]] || maker='report'
	holds "$maker of hostile names to $file ends with status 0" "$tactus" $maker -i "$evil" -o "$scratch/$file"
done
# harmless NAME FILE: nothing in it turns text around, is not seen, or talks to a terminal
harmless() {
	is "$1" "$(python3 -c 'import sys, unicodedata
text = open(sys.argv[1], encoding="utf-8").read()
print(sorted({"U+%04X" % ord(c) for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}))' "$2")" "[]"
}
harmless "the page of hostile names has no character that turns text around, as it is" "$scratch/evil.html"
harmless "CSV of hostile names has no character that turns text around" "$scratch/evil.csv"
harmless "JSON for chrome://tracing of hostile names has no character that turns text around" "$scratch/evil.json"

is "CSV has every hostile name whole, and an apostrophe before each that a spreadsheet would compute" "$(python3 -c 'import csv, json, sys
seen = sorted({row["comm"] for row in csv.DictReader(open(sys.argv[1], newline="")) if row["kind"] == "thread"})
plain = json.load(open(sys.argv[2]))
print(seen == sorted("\x27" + name if name[0] in "=+-@" else name for name in plain), [cell for cell in seen if cell[0] in "=+-@"])' "$scratch/evil.csv" "$scratch/plain")" "True []"
is "CSV of hostile names has a row an event and as many cells in each" "$(python3 -c 'import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="")))
print(len({len(row) for row in rows}), len(rows) - 1)' "$scratch/evil.csv")" "1 $("$tactus" export -i "$evil" -o - --format csv --json 2>&1 >/dev/null | json 'd["events"]')"
"$tactus" frames -i "$evil" --csv "$scratch/frames.csv" >/dev/null 2>&1
is "frames --csv has no cell that a spreadsheet would compute" "$(python3 -c 'import csv, sys
print([cell for row in csv.reader(open(sys.argv[1], newline="")) for cell in row if cell[:1] in ("=", "+", "@") or (cell[:1] == "-" and not cell[1:].replace(".", "").isdigit())])' "$scratch/frames.csv")" "[]"

python3 tests/chrome.py "$scratch/evil.json" "$scratch/evil.json.read" >/dev/null 2>&1
is "JSON for chrome://tracing of hostile names has no error" "$(cat "$scratch/evil.json.read/errors")" ""
is "JSON for chrome://tracing has every hostile name, and none else" "$(python3 -c 'import json, sys
print(sorted({e["args"]["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "M" and e["name"] == "process_name"} - {"machine"}))' "$scratch/evil.json")" "$wanted"
python3 tests/perfetto.py "$scratch/evil.pftrace" "$scratch/evil.pftrace.read" >/dev/null 2>&1
is "a Perfetto trace of hostile names has no error" "$(cat "$scratch/evil.pftrace.read/errors")" ""
is "a Perfetto trace has every hostile name" "$(python3 -c 'import json, sys
trace = open(sys.argv[1], "rb").read()
print([name for name in json.load(open(sys.argv[2])) if name.encode() not in trace], "\u202e".encode() in trace, b"\x1b[" in trace)' "$scratch/evil.pftrace" "$scratch/plain")" "[] False False"
is "the page of hostile names begins no script but its own two" "$(grep -oi '<script' "$scratch/evil.html" | wc -l) $(grep -c '</thread>' "$scratch/evil.html")" "2 0"
duckdb=$cache/duckdb/libduckdb.so
if [ -e "$duckdb" ]; then
	is "Parquet has every hostile name, and none else" "$(cd "$scratch" && python3 "$OLDPWD/tests/duckdb.py" "$duckdb" <<<"select distinct comm from 'evil.parquet' where kind = 'thread'" |
		python3 -c 'import json, sys; print(sorted(row[0] for row in json.load(sys.stdin)))')" "$wanted"
else
	skip "Parquet has every hostile name, and none else" "DuckDB is not here: 'tools/deps.sh test' fetches it where there is a network"
fi
done_testing

#!/usr/bin/env bash
# tactus migrations: a program's threads are moved for known reasons, and that is what it says; live, recorded, in words.
. tests/tap.sh

"$tactus" migrations --json --without all -n all -o "$scratch/file" -- build/workloads/moves >"$scratch/out" 2>"$scratch/err"
is "migrations ends well" $? 0
grep -v '^{' "$scratch/out" >"$scratch/said"
grep '^{' "$scratch/out" >"$scratch/live"
cat >"$scratch/judge.py" <<'END'
import json, sys
said = [l.split() for l in open(sys.argv[1])]
rows = [json.loads(l) for l in open(sys.argv[2])]
moves = [r for r in rows if "time_ns" in r]
def causes(name):
    tids = {int(t) for n, t, _ in said if n == name}
    found = {}
    for m in moves:
        if m["tid"] in tids: found[m["cause"]] = found.get(m["cause"], 0) + 1
    return found
def count(name): return sum(int(c) for n, _, c in said if n == name)
for name in ("toggled", "asleep", "execs", "naps", "spins"): print("#", "measured:", name, causes(name), "the program counts", count(name))
def check(words, holds): print(("ok" if holds else "not ok"), words)
check("a spinning thread that is sent to and fro: each move, by affinity, none other", causes("toggled") == {"affinity": count("toggled")})
check("the same asleep: by affinity too, although it is moved when it wakes", causes("asleep").get("affinity") == count("asleep") and "wakeup" not in causes("asleep"))
check("an exec beside a hog moves", causes("execs").get("exec", 0) >= 1 and causes("execs").get("exec", 0) <= count("execs"))
check("a thread that never execs is not moved by one", not any("exec" in causes(n) for n in ("toggled", "asleep", "naps", "spins")))
check("one that wakes beside a hog is placed elsewhere", causes("naps").get("wakeup", 0) >= 1)
check("spinning threads that never sleep are balanced, not woken", causes("spins").get("balance", 0) >= 1 and set(causes("spins")) <= {"balance", "wakeup"} and causes("spins").get("wakeup", 0) <= 3)
check("nothing goes offline here", not any(m["cause"] == "hotplug" for m in moves))
check("every cause is known", not any(m["cause"] == "unknown" for m in moves))
check("a thread runs where it was moved to, at once or later", all(m["to_run_ns"] is None or m["to_run_ns"] >= 0 for m in moves) and sum(m["to_run_ns"] is not None for m in moves) > len(moves) / 2)
sums = {r["cause"]: r["moves"] for r in rows if "cause" in r and "time_ns" not in r}
check("the sums by cause are those of the moves", sums == {c: sum(m["cause"] == c for m in moves) for c in {m["cause"] for m in moves}})
threads = {r["tid"]: r["moves"] for r in rows if "tid" in r and "time_ns" not in r}
check("and by thread", threads == {t: sum(m["tid"] == t for m in moves) for t in {m["tid"] for m in moves}})
END
while read -r line; do
	case $line in
	'#'*) echo "$line" ;;
	'ok '*) pass "${line#ok }" ;;
	*) flunk "${line#not ok }" "$(cat "$scratch/said")" ;;
	esac
done < <(python3 "$scratch/judge.py" "$scratch/said" "$scratch/live")
"$tactus" migrations -i "$scratch/file" --json -n all >"$scratch/replay"
holds "live and replay are equal" diff "$scratch/live" "$scratch/replay"
"$tactus" migrations -i "$scratch/file" >"$scratch/text"
like "in words, each" "$(cat "$scratch/text")" 'moves +\[ *[0-9]+\] [a-z-]+ +affinity +[01] -> [01] +[a-z]+ +[0-9.]+ [mun]?s'
like "and their sums" "$(cat "$scratch/text")" '^affinity +[0-9]+ '
grep -E 'affinity|^CAUSE|^wakeup|^balance|^exec' "$scratch/text" | tail -n 5 | sed 's/^/# measured: /'
is "--summary shows no single one" "$("$tactus" migrations -i "$scratch/file" --summary --json | grep -c time_ns)" 0
"$tactus" migrations -d 0.2 --without all -p $$ >"$scratch/text" 2>&1
like "nobody moves: it says so" "$(cat "$scratch/text")" 'no thread was moved|CAUSE'
done_testing

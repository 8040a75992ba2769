#!/usr/bin/env bash
# tactus migrations: a program's threads are moved for known reasons, and that is what it says; live, recorded, in words.
. tests/tap.sh

"$tactus" migrations --json --without all -n all -o "$scratch/file" -- build/workloads/moves >"$scratch/out" 2>"$scratch/err"
is "migrations of a command ends with status 0" $? 0
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
check("a spinning thread that is sent to and fro has each move, by affinity, and none other", causes("toggled") == {"affinity": count("toggled")})
check("a sleeping thread that is sent to and fro has each move by affinity", causes("asleep").get("affinity") == count("asleep"))
check("a sleeping thread that is sent to and fro has no move by wake-up", "wakeup" not in causes("asleep"))
check("a program that starts itself anew beside a hog is moved by exec", causes("execs").get("exec", 0) >= 1)
# One that was moved back before it looked found itself where it was.
check("a program is moved by exec at most as often as it found itself elsewhere or was moved on",
      causes("execs").get("exec", 0) <= count("execs") + causes("execs").get("balance", 0) + causes("execs").get("wakeup", 0))
check("a thread that never execs has no move by exec", not any("exec" in causes(n) for n in ("toggled", "asleep", "naps", "spins")))
check("a thread that wakes beside a hog is moved by wake-up", causes("naps").get("wakeup", 0) >= 1)
check("spinning threads that are one too many are moved by balance", causes("spins").get("balance", 0) >= 1)
check("spinning threads are moved at least as often as they found themselves elsewhere", sum(causes("spins").values()) >= count("spins"))
check("spinning threads are moved by nothing but balance and their first wake-up", set(causes("spins")) <= {"balance", "wakeup"} and causes("spins").get("wakeup", 0) <= 3)
check("no move is by hotplug where every CPU stays online", not any(m["cause"] == "hotplug" for m in moves))
check("every move has a known cause", not any(m["cause"] == "unknown" for m in moves))
check("no thread runs before it was moved", all(m["to_run_ns"] is None or m["to_run_ns"] >= 0 for m in moves))
check("most threads run after they were moved", sum(m["to_run_ns"] is not None for m in moves) > len(moves) / 2)
sums = {r["cause"]: r["moves"] for r in rows if "cause" in r and "time_ns" not in r}
check("the sums by cause are those of the single moves", sums == {c: sum(m["cause"] == c for m in moves) for c in {m["cause"] for m in moves}})
threads = {r["tid"]: r["moves"] for r in rows if "tid" in r and "time_ns" not in r}
check("the sums by thread are those of the single moves", threads == {t: sum(m["tid"] == t for m in moves) for t in {m["tid"] for m in moves}})
END
while read -r line; do
	case $line in
	'#'*) echo "$line" ;;
	'ok '*) pass "${line#ok }" ;;
	*) flunk "${line#not ok }" "$(cat "$scratch/said")" ;;
	esac
done < <(python3 "$scratch/judge.py" "$scratch/said" "$scratch/live")
"$tactus" migrations -i "$scratch/file" --json -n all >"$scratch/replay"
holds "migrations from the recording are those seen live" diff "$scratch/live" "$scratch/replay"
"$tactus" migrations -i "$scratch/file" >"$scratch/text"
like "a single move in words has its thread, cause and CPUs" "$(cat "$scratch/text")" 'moves +\[ *[0-9]+\] [a-z-]+ +affinity +[01] -> [01] +[a-z]+ +[0-9.]+ [mun]?s'
like "migrations in words has sums by cause" "$(cat "$scratch/text")" '^affinity +[0-9]+ '
grep -E 'affinity|^CAUSE|^wakeup|^balance|^exec' "$scratch/text" | tail -n 5 | sed 's/^/# measured: /'
is "migrations --summary shows no single move" "$("$tactus" migrations -i "$scratch/file" --summary --json | grep -c time_ns)" 0
"$tactus" migrations -d 0.2 --without all -p $$ >"$scratch/text" 2>&1
like "migrations of a shell that waits says that none was moved, or has a table" "$(cat "$scratch/text")" 'no thread was moved|CAUSE'
done_testing

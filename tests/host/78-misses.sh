#!/usr/bin/env bash
# tactus misses: a thread with a clock, kept from its CPU at known moments: each miss is found, none other, with its amount
# and who it was. Live, recorded, in words.
. tests/tap.sh

# Everything but behaviour is left out: it is the clock that tells what the thread is for.
others=launch,gpu,wine,input,frame,socket,sound,learned,names
"$tactus" misses --without $others --json -o "$scratch/file" -- \
	build/workloads/clocked 10000 500 500 1 250:2000:8000 300:1000:6000 350:3000:26000 400:-200:15000 >"$scratch/out" 2>"$scratch/err"
is "misses ends well" $? 0
grep -v '^{' "$scratch/out" >"$scratch/said"
grep '^{' "$scratch/out" >"$scratch/live"
cat >"$scratch/judge.py" <<'END'
import json, sys
words = [l.split() for l in open(sys.argv[1])]
events = (json.loads(l) for l in open(sys.argv[3]))
clocked, taker = int(words[0][1]), int(words[0][3])
wakes = [e["time_ns"] for e in events if e["event"] == "wakeup" and e["tid"] == clocked]
late = {int(w[1]): (int(w[2]), int(w[3])) for w in words if w[0] == "late"}
rows = [json.loads(l) for l in open(sys.argv[2])]
misses = [r for r in rows if "expected_ns" in r and r["tid"] == clocked]
row = next((r for r in rows if "misses" in r and r["tid"] == clocked), {})
def check(words, holds): print(("ok" if holds else "not ok"), words)
found = {}
for miss in misses:
    beat = min(late, key=lambda b: abs(late[b][0] - miss["expected_ns"]), default=None)
    found[beat] = miss
    if beat is not None:
        print(f"# measured: beat {beat}: late by {miss['late_ns'] / 1e6:.3f} ms, the thread saw {late[beat][1] / 1e6:.3f}; {miss['kind']} behind {miss['behind_comm']}")
# Beats that passed before the thread ran again are told of with the first.
covered = {b + i for b, m in found.items() if b is not None for i in range(m["beats"])}
# Before that its role need not be known; and where the machine itself was stopped, no timer fired.
check("each beat that was clearly missed is found",
      {b for b, (due, ns) in late.items() if ns > 3.1e6 and b >= 240 and any(abs(w - due) < 1e6 for w in wakes)} <= covered)
check("none other", None not in found and covered <= set(late) and len(found) == len(misses))
check("the four moments at which the CPU was taken are among them", {250, 300, 350} <= set(found) and 401 in covered)
check("expected when the clock says", all(abs(m["expected_ns"] - late[b][0]) < 1e6 for b, m in found.items()))
check("late by what the thread saw itself", all(abs(m["late_ns"] - late[b][1]) < 1e6 for b, m in found.items()))
check("actual is expected and late", all(m["actual_ns"] - m["expected_ns"] == m["late_ns"] for m in misses))
check("behind the one that took it", all(found[b]["behind_tid"] == taker for b in (250, 300, 350, 401) if b in found))
check("three beats passed in the longest", found.get(350, {}).get("beats") == 3)
check("the role, the CPU, the period", all((m["role"], m["cpu"], round(m["period_ns"] / 1e6)) == ("audio", 1, 10) for m in misses))
check("the row counts them", row.get("misses") == len(misses) and row.get("role") == "audio" and row.get("beats", 0) > 400)
END
while read -r line; do
	case $line in
	'#'*) echo "$line" ;;
	'ok '*) pass "${line#ok }" ;;
	*) flunk "${line#not ok }" "$(cat "$scratch/said" "$scratch/live")" ;;
	esac
done < <(python3 "$scratch/judge.py" "$scratch/said" "$scratch/live" <("$tactus" events -i "$scratch/file" --json))
"$tactus" misses -i "$scratch/file" --json >"$scratch/replay"
holds "live and replay are equal" diff "$scratch/live" "$scratch/replay"
"$tactus" misses -i "$scratch/file" >"$scratch/text"
like "in words" "$(cat "$scratch/text")" 'clocked +\[ *[0-9]+\] audio +(10\.[0-9]|9\.9[0-9]) ms +[0-9.]+ ms +1  waited, behind taker \[[0-9]+\]; 3 beats passed'
sed -n 2,3p "$scratch/text" | sed 's/^/# measured: /'
is "later than 10 ms is one" "$("$tactus" misses -i "$scratch/file" --over 10ms --json | grep -c expected_ns)" \
	"$(json 'sum(r.get("late_ns", 0) > 10e6 for r in rows)' <"$scratch/live")"
"$tactus" misses --without all --json -- sleep 0.3 >"$scratch/out" 2>&1
is "nobody has a clock: no row" "$(grep -c misses "$scratch/out")" 0
# Without a role, every clock counts with --all, and only then.
"$tactus" record --without all -o "$scratch/file" -- build/workloads/clocked 5000 200 150 1 100:1000:4000 >"$scratch/said" 2>/dev/null
is "a thread whose role nobody knows is not told of" "$("$tactus" misses -i "$scratch/file" --json | grep -c '"comm":"clocked"')" 0
taker=$(sed -n 's/.*taker //p' "$scratch/said")
is "but with --all" "$("$tactus" misses -i "$scratch/file" --all --json | json "[r['behind_tid'] for r in rows if r.get('comm') == 'clocked' and r.get('late_ns', 0) > 2.5e6]")" "[$taker]"
ends "a span that is none" 2 'is not a span of time' "$tactus" misses --over soon
done_testing

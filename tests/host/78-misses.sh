#!/usr/bin/env bash
# tactus misses: a thread with a clock, kept from its CPU at known moments: each miss is found, none other, with its amount
# and who it was. Live, recorded, in words.
. tests/tap.sh

# Everything but behaviour is left out: it is the clock that tells what the thread is for.
others=launch,gpu,wine,input,frame,socket,sound,learned,names
# What the thread says goes to a file of its own: two that write to one may cut each other's lines.
"$tactus" misses --without $others --json -o "$scratch/file" -- sh -c 'exec build/workloads/clocked "$@" >"$0"' "$scratch/said" \
	10000 500 500 1 250:2000:8000 300:1000:6000 350:3000:26000 400:-200:15000 >"$scratch/live" 2>"$scratch/err"
is "misses of a command ends with status 0" $? 0
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
def first_due(late, wakes):
    # Any period tells the phase: the last wake-up does, if none was late.
    due, period_no = next(((late[b][0], b) for b in late), (wakes[-1], 499))
    return due - period_no * period
def check(words, holds): print(("ok" if holds else "not ok"), words)
period = 10_000_000
found = {}
for miss in misses:
    period_no = min(late, key=lambda b: abs(late[b][0] - miss["expected_ns"]), default=None)
    found[period_no] = miss
    if period_no is not None:
        print(f"# measured: period {period_no}: late by {miss['late_ns'] / 1e6:.3f} ms, the thread saw {late[period_no][1] / 1e6:.3f}; {miss['kind']} behind {miss['behind_comm']}")
# Periods that passed before the thread ran again are reported with the first.
covered = {b + i for b, m in found.items() if b is not None for i in range(m["periods"])}
# Before that its role need not be known; and where the machine itself was stopped, no timer fired.
clear = {b for b, (due, ns) in late.items() if ns > 3.1e6 and b >= 240 and any(abs(w - due) < 1e6 for w in wakes)}
taken = [b for b in (250, 300, 350, 401) if b in found]
check("every period that the thread saw clearly missed is reported", clear <= covered)
# A period that had begun when the thread ran again has passed, though it was hardly late for that one.
check("periods that the thread did not see missed are not reported",
      None not in found and all(b + i in late or i * period <= late[b][1] for b, m in found.items() for i in range(m["periods"])))
check("no period is reported twice", len(found) == len(misses))
check("of the periods at which the CPU was taken before they were due some are reported", {250, 300, 350} & set(found))
check("periods at which the CPU was taken before they were due are reported, if their timer fired", {250, 300, 350} & clear <= set(found))
check("period during which the CPU was taken is reported, if its timer fired", {401} & clear <= covered)
check("misses are expected when the thread's own clock says", all(abs(m["expected_ns"] - late[b][0]) < 1e6 for b, m in found.items()))
check("misses are late by what the thread saw itself", all(abs(m["late_ns"] - late[b][1]) < 1e6 for b, m in found.items()))
check("actual time of a miss is the expected one and the lateness", all(m["actual_ns"] - m["expected_ns"] == m["late_ns"] for m in misses))
check("misses where the CPU was taken are behind the one that took it", all(found[b]["behind_tid"] == taker for b in taken))
check("periods that passed are as many as the thread saw periods pass",
      all(late[b][1] // period + 1 - m["periods"] in ((0, 1) if late[b][1] % period < 1e6 else (0, )) for b, m in found.items()))
check("misses have the role of sound", all(m["role"] == "audio" for m in misses))
check("misses have the CPU of the thread", all(m["cpu"] == 1 for m in misses))
check("misses have the period of the thread's clock and no fraction of it", all(round(m["period_ns"] / 1e6) == 10 for m in misses))
check("row of the thread has the period of its clock and no fraction of it", round(row.get("period_ns", 0) / 1e6) == 10)
check("row of the thread counts its misses", row.get("misses") == len(misses))
check("row of the thread has the role of sound", row.get("role") == "audio")
# The clock is known after some ten periods in a row; where the machine stopped, timers were late, and that took longer.
on_time = sum(any(abs(w - due) < 1e6 for w in wakes) for due in range(first_due(late, wakes), first_due(late, wakes) + 500 * period, period))
check("row of the thread counts the periods whose timer fired on time, but for those before its clock was known", row.get("periods", 0) >= on_time * 0.8)
END
while read -r line; do
	case $line in
	'#'*) echo "$line" ;;
	'ok '*) pass "${line#ok }" ;;
	*) flunk "${line#not ok }" "$(cat "$scratch/said" "$scratch/live")" ;;
	esac
done < <(python3 "$scratch/judge.py" "$scratch/said" "$scratch/live" <("$tactus" events -i "$scratch/file" --json))
"$tactus" misses -i "$scratch/file" --json >"$scratch/replay"
holds "misses are equal live and replayed" diff "$scratch/live" "$scratch/replay"
"$tactus" misses -i "$scratch/file" >"$scratch/text"
passed=$(json '[r["periods"] for r in rows if r.get("late_ns", 0) > 20e6 and r.get("behind_comm") == "taker"][0]' <"$scratch/live")
like "longest miss is told in words with its period, who was in the way and how many periods passed" "$(cat "$scratch/text")" \
	'clocked +\[ *[0-9]+\] audio +(10\.[0-9]|9\.9[0-9]) ms +[0-9.]+ ms +1  waited, behind taker \[[0-9]+\]; '"$passed"' periods passed'
sed -n 2,3p "$scratch/text" | sed 's/^/# measured: /'
is "--over 10ms reports the misses that are later, and no others" "$("$tactus" misses -i "$scratch/file" --over 10ms --json | grep -c expected_ns)" \
	"$(json 'sum(r.get("late_ns", 0) > 10e6 for r in rows)' <"$scratch/live")"
"$tactus" misses --without all --json -- sleep 0.3 >"$scratch/out" 2>&1
is "command without a clock has no row" "$(grep -c misses "$scratch/out")" 0
# Without a role, every clock counts with --all, and only then.
# A machine that stops may hide one of the periods that are taken; not five.
"$tactus" record --without all -o "$scratch/file" -- build/workloads/clocked 5000 200 250 1 {100,130,160,190,220}:1000:4000 >"$scratch/said" 2>/dev/null
is "thread whose role nobody knows is not reported" "$("$tactus" misses -i "$scratch/file" --json | grep -c '"comm":"clocked"')" 0
taker=$(sed -n 's/.*taker //p' "$scratch/said")
dues=$(sed -nE 's/^late (100|130|160|190|220) ([0-9]*) .*/\2/p' "$scratch/said" | paste -sd,)
"$tactus" misses -i "$scratch/file" --all --json >"$scratch/rows"
behind=$(json "[r['behind_tid'] for r in rows if r.get('comm') == 'clocked' and any(abs(r.get('expected_ns', 0) - due) < 1e6 for due in [$dues])]" <"$scratch/rows")
say_measured "periods taken at $dues; reported behind $behind, the taker is $taker"
is "thread whose role nobody knows is reported with --all, behind the one that took its CPU" "$(json "$taker in $behind" <<<'{}')" True
ends "--over refuses what is no span of time" 2 'is not a span of time' "$tactus" misses --over soon
done_testing

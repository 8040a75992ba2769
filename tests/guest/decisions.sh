#!/usr/bin/env bash
# The scheduler's decisions against what a program sees of them itself: deadline misses, and the limit on moves. Runs in the VM, on the virtual
# clock, with two CPUs. Usage: decisions.sh [quick] (quick: a quarter of the misses, one second of moves).
. tests/tap.sh

late_bursts=20 seconds=4
[ "${1:-}" != quick ] || late_bursts=5 seconds=1

# shellcheck disable=SC2054 # one word of several names
run=("$tactus" run --compare off --without launch,gpu,wine,input,frame,socket,sound,names)
said() { sed -n "s/^$1=//p" "$scratch/said"; }
# decide MODE AMOUNT: the workload under a run that records; its decisions are left in $scratch/decisions
decide() {
	"${run[@]}" --json -o "$scratch/$1.tac" >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "scheduling by sched_ext"
	build/workloads/decisions "$1" "$2" >"$scratch/said"
	sleep 1.2
	kill -INT $runner
	wait $runner
	is "a run beside '$1' that records ends well" $? 0
	"$tactus" events -i "$scratch/$1.tac" --json | grep '"event":"decision"' >"$scratch/decisions"
}

decide late $late_bursts
misses=$(json "sum(r['tid'] == $(said tid) and r['what'] == 3 for r in rows)" <"$scratch/decisions")
waits=$(json "sorted(r['wait_ns'] for r in rows if r['tid'] == $(said tid) and r['what'] == 3)" <"$scratch/decisions")
say_measured "$(said bursts) bursts, $(said late) times later than 2 ms by the thread's own clock; $misses deadline misses, waits of $waits ns"
is "the thread was late in each burst by its own clock" "$(said late)" $late_bursts
is "an urgent thread that waits longer than 2 ms is a deadline miss, each time and no more" "$misses" "$(said late)"
# A kernel thread may come in between: who leaves the CPU in the switch that follows is what counts.
"$tactus" events -i "$scratch/late.tac" --json --only decision,switch >"$scratch/events"
json "(lambda t: [(m['other_tid'], next(s['tid'] for s in rows if s['event'] == 'switch' and s['next_tid'] == t and s['time_ns'] >= m['time_ns'])) for m in rows if m['event'] == 'decision' and m['what'] == 3 and m['tid'] == t])($(said tid))" <"$scratch/events" >"$scratch/pairs"
is "a deadline miss names who left the CPU as the thread came" "$(python3 -c 'import sys; print([p for p in eval(sys.stdin.read()) if p[0] != p[1]])' <"$scratch/pairs")" "[]"
holds "most deadline misses name the realtime thread that took the CPU" test "$(grep -o "($(said taker), " "$scratch/pairs" | wc -l)" -ge $((late_bursts * 3 / 4))
is "a deadline miss says how long the wait was, of 9 ms" "$(json "all(8e6 < w < 10.5e6 for w in $waits)" <"$scratch/decisions")" True
holds "the run's lines count the deadline misses" test "$(grep '^{' "$scratch/out" | json 'sum(r.get("deadline_misses", 0) for r in rows)')" -ge "$misses"
like "a deadline miss is told in words" "$("$tactus" events -i "$scratch/late.tac" | grep -E "\\[ *$(said tid)\\] is urgent" | head -n 1)" 'is urgent and waited (8|9|10)\.[0-9]+ ms behind decisions'

decide shove $seconds
moves=$(json "sum(r['tid'] == $(said tid) and r['what'] == 2 for r in rows)" <"$scratch/decisions")
most=$(json "max((lambda t: [sum(a <= b < a + 10**9 for b in t) for a in t[::20]])([r['time_ns'] for r in rows if r['tid'] == $(said tid) and r['what'] == 2]) or [0])" <"$scratch/decisions")
say_measured "$(said bursts) times in $seconds s its CPU was taken; $(said moves) moves by its own count, $moves by the scheduler's, $most at most in a second"
holds "the CPU is taken more often than the limit on moves allows" test "$(said bursts)" -gt $((300 * seconds))
holds "a thread whose CPU is taken goes to another, up to the limit" test "$moves" -ge $((150 * seconds))
holds "a thread that moved 200 times in a second stays for the rest of it" test "$moves" -le $((201 * (seconds + 1)))
done_testing

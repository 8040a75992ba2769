#!/usr/bin/env bash
# Stacks of waits and of wakers: a program whose functions have known names waits in wait_in_a, called by wait_in_b, and is woken in
# wake_in_c, called by wake_in_d. Live, from a recording, folded, as JSON, for late frames; and nothing of it unless it is asked for.
. tests/tap.sh

times=100
workload=(build/workloads/stacks "$times")
# Who waits: static functions too, which only the table of all symbols has.
waits='^waits;stack-waiter;.*;waiter;wait_in_b;wait_in_a(;[^;]*_\[k\])+ [0-9]+$'
wakers='^wakers;stack-waker;.*;main;wake_in_d;wake_in_c(;[^;]*_\[k\])+ [0-9]+$'
waited_us() { grep -E "$waits" "$1" | awk '{ sum += $NF } END { print sum + 0 }'; }

"$tactus" latency --over 1ms --folded --report "$scratch/live" -- "${workload[@]}" >"$scratch/out" 2>"$scratch/err"
is "latency --folded ends well" $? 0
like "the stack in which a long wait began is folded, from the outermost function to the kernel's" "$(cat "$scratch/live")" "$waits"
like "the stack in which the waiter was woken is folded" "$(cat "$scratch/live")" "$wakers"
like "the kernel's part ends in the scheduler" "$(grep -E "$waits" "$scratch/live")" ';schedule_\[k\];__schedule_\[k\] '
like "the waker's part in the kernel is a write to a pipe" "$(grep -E "$wakers" "$scratch/live")" 'pipe_write_\[k\]'
is "the hook itself is on no stack" "$(grep -cE 'bpf_prog|bpf_trampoline|__traceiter' "$scratch/live")" 0
say_measured "$times waits of 3 ms or more: $(waited_us "$scratch/live") us on the stack of known names"
holds "the time on the stack is what the waits took at least" test "$(waited_us "$scratch/live")" -ge $((times * 3000 * 8 / 10))
is "folded lines are all that is in the report" "$(grep -cvE '^(waits|wakers);.* [0-9]+$' "$scratch/live")" 0
is "what the command prints is all that is printed" "$(cat "$scratch/out")" "$times"
# Names are found while a program lives: on a busy machine a fifth of a second can be over before that.
long=200
"$tactus" latency --over 1ms --folded -- build/workloads/stacks $long >"$scratch/out" 2>"$scratch/err"
is "folded lines without --report don't mix with what the command prints" "$(cat "$scratch/out")" $long
like "folded lines beside a command go to standard error without --report" "$(cat "$scratch/err")" "$waits"

"$tactus" record --stacks -o "$scratch/file" -- "${workload[@]}" >/dev/null 2>&1
"$tactus" latency -i "$scratch/file" --over 1ms --folded >"$scratch/replayed" 2>"$scratch/err"
like "a recording has the stack of the wait with its names" "$(cat "$scratch/replayed")" "$waits"
like "a recording has the stack of the waker with its names" "$(cat "$scratch/replayed")" "$wakers"
is "stacks of a recording are nothing to talk about" "$(cat "$scratch/err")" ""
"$tactus" latency -i "$scratch/file" --over 1ms --stacks --json | grep '"record":"stack"' >"$scratch/json"
is "JSON has the functions of both, the innermost first" \
	"$(json '[(r["user"][:2], r["waker_user"][:2], r["waker_comm"], r["times"] > 0 and r["max_ns"] <= r["wait_ns"]) for r in rows if r["comm"] == "stack-waiter" and "wait_in_a" in r["user"]][0]' <"$scratch/json")" \
	"(['wait_in_a', 'wait_in_b'], ['wake_in_c', 'wake_in_d'], 'stack-waker', True)"
like "the listing has who waited, how often, and until whom" "$("$tactus" latency -i "$scratch/file" --over 1ms --stacks | tr '\n' ' ')" \
	'stack-waiter \[[0-9]+\] waited [0-9.]+ [mu]?s in all, [0-9]+ times, at most .* wait_in_a +wait_in_b .*until stack-waker \[[0-9]+\] woke it in .*wake_in_c +wake_in_d'
is "the listing has the thread's own number" \
	"$("$tactus" latency -i "$scratch/file" --over 1ms --stacks | sed -nE 's/^stack-waiter \[([0-9]+)\] waited.*/\1/p' | sort -u)" \
	"$("$tactus" latency -i "$scratch/file" --json | json '[r["tid"] for r in rows if r.get("comm") == "stack-waiter"][0]')"
like "a recording without stacks says how to make one with" "$("$tactus" latency -i examples/late-frames.tactus --folded 2>&1)" "^tactus: no stacks: the recording has none; 'tactus record --stacks'"
ends "--folded and --json are not taken together" 2 'folded is text' "$tactus" latency --folded --json -i "$scratch/file"

# A ring whose first seconds, in which functions are named, are gone.
"$tactus" record --ring 1s --stacks -o "$scratch/ring" -- build/workloads/stacks 1000000 >"$scratch/ring.out" 2>"$scratch/ring.err" &
recorder=$!
wait_for "$scratch/ring.err" 'kill -USR1'
sleep 3
kill -USR1 $recorder
wait_for "$scratch/ring.err" 'ring: the last'
kill "$(pgrep -P $recorder -f '^build/workloads/stacks')"
wait $recorder
"$tactus" latency -i "$scratch/ring" --over 1ms --folded >"$scratch/replayed" 2>"$scratch/err"
like "a ring has the stack of the wait with names from before it" "$(cat "$scratch/replayed")" "$waits"
like "a ring has the stack of the waker with names from before it" "$(cat "$scratch/replayed")" "$wakers"

# A late frame: the program sleeps 35 ms where it should not.
"$tactus" frames --why --folded --report "$scratch/frames" -- build/workloads/delays 20 60 1 50:35:sleep >/dev/null 2>"$scratch/err"
is "frames --why --folded ends well" $? 0
like "a late frame has the stack in which its thread slept" "$(grep -E '^waits;' "$scratch/frames")" '^waits;delays;.*nanosleep.*_\[k\];schedule_\[k\];__schedule_\[k\] [0-9]+$'
is "whom an interrupt met is no waker" "$(cat "$scratch/live" "$scratch/frames" | grep -E '^wakers;.*;(asm_sysvec_|asm_common_int|el.[th]_64_irq)' | grep -cv '^wakers;an interrupt;')" 0
slept_us=$(grep -E '^waits;delays;.*nanosleep' "$scratch/frames" | awk '{ most = $NF > most ? $NF : most } END { print most + 0 }')
say_measured "a frame that slept 35 ms: $slept_us us on that stack"
holds "the time on the stack of the late frame is what it slept" test "$slept_us" -ge 35000

# Where the kernel's names are hidden.
sed 's/^[0-9a-f]*/0000000000000000/' /proc/kallsyms >"$scratch/kallsyms"
unshare -m sh -c 'mount --bind "$1" /proc/kallsyms && shift && exec "$@"' sh "$scratch/kallsyms" \
	"$tactus" latency --over 1ms --folded --report "$scratch/hidden" -- build/workloads/stacks $long >/dev/null 2>"$scratch/err"
is "names that the kernel hides are said in one line" "$(grep -c "addresses without names: /proc/kallsyms" "$scratch/err")" 1
like "a program's own names are there where the kernel's are hidden" "$(cat "$scratch/hidden")" '^waits;stack-waiter;.*;wait_in_b;wait_in_a;0x'

# maps_of_stacks WANT OPTION...: how many maps for stacks a tactus has that watches with these options, as soon as its rings are
# there and so many of them, or at last
maps_of_stacks() {
	local pid found want=$1
	shift
	"$tactus" latency -d 60 "$@" >/dev/null 2>"$scratch/watching" &
	pid=$!
	for ((i = 0; i < 300; i++)); do
		sleep 0.1
		cat "/proc/$pid"/fdinfo/* >"$scratch/fdinfo" 2>/dev/null
		found=$(grep -cE '^map_type:\s7$' "$scratch/fdinfo")
		# Its rings are of type 27.
		[ "$(grep -cE '^map_type:\s27$' "$scratch/fdinfo")" -lt 2 ] || [ "$found" != "$want" ] || break
	done
	kill -INT $pid
	wait $pid
	echo "$found"
}
is "latency has no map of stacks unless it is asked for stacks" "$(maps_of_stacks 0)" 0
is "latency that is asked for stacks has a map of them" "$(maps_of_stacks 1 --stacks)" 1
done_testing

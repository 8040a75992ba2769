#!/usr/bin/env bash
# Stacks of a recording made by hand: its functions and times in parts of it and behind filters. No root.
. tests/tap.sh

file=$scratch/stacks.tactus
none=4294967295
# Two programs wait, each twice, on stacks whose functions are named once, early; the second program's are numbered alike.
python3 tests/recording.py "$file" <<END
thread 0 11 0 pid=10 comm=waiter
thread 0 21 0 pid=20 comm=other
stack 1000 11 0 off_ns=9000000 wait_ns=3000000 kernel=5 user=6 waker_kernel=$none waker_user=$none
stack 2000 21 0 off_ns=9000000 wait_ns=4000000 kernel=5 user=6 waker_kernel=$none waker_user=$none
stack_frame 3000 0 0 pid=0 stack=5 frame=0 name=__schedule
stack_frame 3000 0 0 pid=10 stack=6 frame=0 name=wait_in_a
stack_frame 3000 0 0 pid=10 stack=6 frame=1 name=main
stack_frame 3000 0 0 pid=20 stack=6 frame=0 name=elsewhere
stack 3000000 11 0 off_ns=9000000 wait_ns=5000000 kernel=5 user=6 waker_kernel=$none waker_user=$none
stack 3100000 21 0 off_ns=9000000 wait_ns=7000000 kernel=5 user=6 waker_kernel=$none waker_user=$none
END
folded() { "$tactus" latency --folded "$@" 2>&1 | sort; }
of_waiter='waits;waiter;main;wait_in_a;__schedule_[k]'
of_other='waits;other;elsewhere;__schedule_[k]'
is "a recording's stacks have their functions and times" "$(folded -i "$file")" "$of_other 11000
$of_waiter 8000"
is "a part that begins later counts what ended in it" "$(folded -i "$file" --from 1s)" "$of_other 7000
$of_waiter 5000"
is "a part's functions are known from before it" "$(folded -i "$file" --from 3.05s)" "$of_other 7000"
is "a part's functions are known from just after it" "$(folded -i "$file" --to 2.5ms)" "$of_other 4000
$of_waiter 3000"
is "a filter by process keeps the functions of its threads" "$(folded -i "$file" -p 10)" "$of_waiter 8000"
is "a filter by name keeps the functions of its threads" "$(folded -i "$file" -c other)" "$of_other 11000"
ends "--folded with --interval is refused" 2 'folded is one list at the end: leave --interval out' "$tactus" latency --folded --interval 1s -i "$file"
ends "--folded of several recordings is refused" 2 'folded is one list: name one recording' "$tactus" latency --folded -i "$file" -i "$file"
ends "frames --folded of several recordings is refused" 2 'folded is one list: name one recording' "$tactus" frames --folded -i "$file" -i "$file"

# Two processes of one program, in the same functions of differently numbered stacks; and two wakers of one waiter.
python3 tests/recording.py "$scratch/twins.tactus" <<END
thread 0 11 0 pid=10 comm=twin
thread 0 21 0 pid=20 comm=twin
thread 0 32 0 pid=30 comm=wakes
stack_frame 10 0 0 pid=10 stack=6 frame=0 name=work
stack_frame 10 0 0 pid=20 stack=7 frame=0 name=work
stack_frame 10 0 0 pid=30 stack=8 frame=0 name=wake_a
stack_frame 10 0 0 pid=30 stack=9 frame=0 name=wake_b
stack 1000 11 0 off_ns=9000000 wait_ns=1000000 kernel=$none user=6 waker_tid=32 waker_pid=30 waker_kernel=$none waker_user=8
stack 2000 21 0 off_ns=9000000 wait_ns=2000000 kernel=$none user=7 waker_tid=32 waker_pid=30 waker_kernel=$none waker_user=8
stack 3000 21 0 off_ns=9000000 wait_ns=4000000 kernel=$none user=7 waker_tid=32 waker_pid=30 waker_kernel=$none waker_user=9
END
is "folded, each stack has one line" "$(folded -i "$scratch/twins.tactus")" "waits;twin;work 7000
wakers;wakes;wake_a 3000
wakers;wakes;wake_b 4000"
"$tactus" latency --stacks -i "$scratch/twins.tactus" >"$scratch/listed"
like "a thread is listed by its tid" "$(tr '\n' ' ' <"$scratch/listed")" 'twin \[21\] waited 4\.00 ms in all, 1 times, .*until wakes \[32\] woke it in +wake_b'
like "several threads in the same functions are listed as one" "$(cat "$scratch/listed")" '^several threads named twin waited 3\.00 ms in all, 2 times,'

python3 tests/recording.py "$scratch/nameless.tactus" <<END
thread 0 11 0 pid=10 comm=waiter
stack_frame 10 0 0 pid=0 stack=5 frame=0 name=0xffffffff81000000
stack 1000 11 0 off_ns=9000000 wait_ns=1000000 kernel=5 user=$none waker_kernel=$none waker_user=$none
END
is "a recording by who may not read the kernel's names says so, once" "$("$tactus" latency --stacks -i "$scratch/nameless.tactus" 2>&1 | grep -c '^tactus: .*addresses without names: /proc/kallsyms')" 1

# Cuts: functions from before and from after the part, and none that it does not refer to.
cut() { "$tactus" cut -i "$file" -o "$scratch/part.tactus" --force "$@" >/dev/null; }
cut --from 1s
is "a cut has the functions that were named before it, and counts no stack from before" "$(folded -i "$scratch/part.tactus")" "$of_other 7000
$of_waiter 5000"
cut --from 3.05s
is "a cut does not count stacks that are kept whole before it" "$(folded -i "$scratch/part.tactus")" "$of_other 7000"
cut --to 2.5ms
is "a cut has the functions that are named after it" "$(folded -i "$scratch/part.tactus")" "$of_other 4000
$of_waiter 3000"
cut -p 10
is "a cut by process has the functions of its threads" "$(folded -i "$scratch/part.tactus")" "$of_waiter 8000"
is "a cut by process has no function of another" "$("$tactus" events -i "$scratch/part.tactus" --only stack_frame --json | grep -c elsewhere)" 0
done_testing

#!/usr/bin/env python3
"""Lines for tests/recording.py: a CPU with ticks every 4 ms; two hogs take turns at each, and one that a timer wakes every
20 ms for little goes first."""
prio = 121
print("thread 0 100 0 start_ns=1 pid=100 parent_tid=1 comm=hog-a")
print("thread 0 101 0 start_ns=2 pid=101 parent_tid=1 comm=hog-b")
print("thread 0 102 0 start_ns=3 pid=102 parent_tid=1 comm=timer")
print(f"sample 0 100 0 prio={prio}")
running, other = 100, 101
for tick in range(1, 1000):
    t = tick * 4000
    if tick % 5 == 2:
        print(f"wakeup {t - 3000} 102 0 flags=16 waker_tid={running} target_cpu=0 prio={prio}")
        print(f"switch {t - 2990} {running} 0 next_tid=102 prev_state=0 prev_prio={prio} next_prio={prio}")
        print(f"switch {t - 2490} 102 0 next_tid={running} prev_state=1 prev_prio={prio} next_prio={prio}")
    print(f"switch {t} {running} 0 next_tid={other} prev_state=0 prev_prio={prio} next_prio={prio}")
    running, other = other, running
print(f"sample {1000 * 4000} {running} 0 flags=4 prio={prio}")

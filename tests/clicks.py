#!/usr/bin/env python3
"""Clicks and the frames that answer them, as lines for tests/recording.py: ten of a game that reads the mouse itself and flips a display, 100 ms apart, read after
1 ms, presented after 4, shown after 4 more; the seventh is shown 20 ms later. The mouse moves before the last click, in the same frame. Then a client of a
compositor, one click."""
print("thread 0 10 0 pid=10 comm=game")
print("thread 0 50 0 pid=50 comm=compositor")
print("thread 0 60 0 pid=60 comm=client")
print("device 1 0 0 device=5 node=3 device_kind=1 name=mouse")
print("served 2 0 0 pid=60 server_pid=50")
for i in range(10):
    t, late = 100000 * (i + 1), 20000 if i == 6 else 0
    if i == 9: print(f"input {t - 500} 0 0 device=5 events=1"); print(f"input_wake {t - 400} 10 0 device=5 delay_ns=100000 device_kind=1")
    print(f"input {t} 0 0 device=5 events=1")
    print(f"input_wake {t + 1000} 10 0 device=5 delay_ns=1000000 device_kind=1")
    print(f"frame {t + 4000} 10 0 number={i + 1} api=6")
    print(f"vblank {t + 8000 + late} 10 0 at_ns={10**9 + (t + 8000 + late) * 1000} seq={i * 6} display=1")
print("input_wake 2000500 50 0 device=5 delay_ns=500000 device_kind=1")
print("wakeup 2000600 60 1 waker_tid=50 target_cpu=1 prio=121 flags=32")
print("frame 2003000 60 1 number=1 api=2")
print("commit 2003100 60 1 number=1")
print("frame 2010000 50 0 number=1 api=6")
print("vblank 2016000 50 0 at_ns=3016000000 seq=900 display=1")

#!/usr/bin/env python3
"""A training loop as lines for tests/recording.py: 60 steps of 4.9 ms, of which step 30 waits 20 ms for the loader, 40 for the thread that has the
lock, 45 for a hog on its CPU, 50 for the GPU and 55 for a copy."""
now = 1000.0


def say(kind, tid, cpu, **fields):
    print(kind, f"{now:.1f}", tid, cpu, *(f"{k}={v}" for k, v in fields.items()))


def after(us):
    global now
    now += us


def wait_for(other, us):
    say("switch", 10, 0, next_tid=0, prev_state=1, prev_prio=121, next_prio=140)
    after(us)
    say("wakeup", other, 1, waker_tid=0, target_cpu=1, prio=121, flags=16)
    say("switch", 0, 1, next_tid=other, prev_prio=140, next_prio=121)
    after(100)
    say("wakeup", 10, 0, waker_tid=other, target_cpu=0, prio=121, flags=32)
    say("switch", other, 1, next_tid=0, prev_state=1, prev_prio=121, next_prio=140)
    say("switch", 0, 0, next_tid=10, prev_prio=140, next_prio=121)


def wait_for_gpu(function, us, size=0):
    say("switch", 10, 0, next_tid=0, prev_state=1, prev_prio=121, next_prio=140)
    after(us)
    say("wakeup", 10, 0, waker_tid=0, target_cpu=0, prio=121, flags=16)
    say("switch", 0, 0, next_tid=10, prev_prio=140, next_prio=121)
    say("cuda_call", 10, 0, function=function, duration_ns=us * 1000, bytes=size, pid=10)


for tid, pid, parent, comm in (10, 10, 1, "python3"), (11, 10, 10, "holder"), (20, 20, 10, "pt_data_worker"), (30, 30, 1, "hog"):
    print("thread 0", tid, 0, f"pid={pid} parent_tid={parent} comm={comm}")
for number, name in (1, "cuLaunchKernel"), (2, "cuStreamSynchronize"), (3, "cuMemcpyDtoH_v2"):
    print(f"cuda_name 1 0 0 handle={number} what=1 name={name}")
say("switch", 0, 0, next_tid=10, prev_prio=140, next_prio=121)
for step in range(60):
    wait_for(20, 20000 if step == 30 else 1000)
    for kernel in range(1, 7):
        say("cuda_launch", 10, 0, kernel=kernel, function=1, flags=128)
        after(300)
    if step == 40:
        wait_for(11, 20000)
    if step == 45:
        say("switch", 10, 0, next_tid=30, flags=1, prev_prio=121, next_prio=121)
        after(20000)
        say("switch", 30, 0, next_tid=10, flags=1, prev_prio=121, next_prio=121)
    if step == 55:
        wait_for_gpu(3, 20000, 64 << 20)
    wait_for_gpu(2, 20000 if step == 50 else 2000)

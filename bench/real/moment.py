#!/usr/bin/env python3
"""A moment of a measurement: moment.py COUNTS PID prints the time in ns, the sum of the load's counts, and two CPU times in ticks
since boot: of everything on the machine, and of PID with all that it has started. What others took meanwhile is the difference."""
import glob
import os
import struct
import sys
import time

counts, root = sys.argv[1], int(sys.argv[2])


def processes():
    """{pid: (parent, ticks of it and of its children that have ended)}"""
    found = {}
    for name in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(name, encoding="utf-8", errors="replace") as file:
                words = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[int(name.split("/")[2])] = int(words[1]), sum(map(int, words[11:15]))
    return found


def ours(found):
    children = {}
    for pid, (parent, _) in found.items():
        children.setdefault(parent, []).append(pid)
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        total += found.get(pid, (0, 0))[1]
        waiting += children.get(pid, [])
    return total


def busy():
    """user, nice, system, irq, softirq, steal"""
    with open("/proc/stat", encoding="utf-8") as file:
        words = list(map(int, file.readline().split()[1:]))
    return sum(words[0:3] + words[5:8])


with open(counts, "rb") as file:
    done = sum(number for number, in struct.iter_unpack("Q", file.read()))
now_ns = time.monotonic_ns()
print(now_ns, done, busy(), ours(processes()))

# SPDX-License-Identifier: GPL-2.0
"""A launch-bound PyTorch loop, timed untraced, beside 'tactus cuda' in several settings, and under torch.profiler, in turns
within one process. Usage: launches.py TACTUS LAUNCHES ROUNDS. Prints one JSON object a line."""
import json
import os
import signal
import statistics
import subprocess
import sys
import time

import torch

tactus, launches, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
x = torch.zeros(64, device="cuda")
settings = {
    "default": [],
    "sample 100": ["--sample", "100"],
    "default without ioctls": ["--no-ioctls"],
    "all": ["--api", "all"],
}


def loop():
    """Microseconds a launch."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(launches):
        x.add_(1)
    took = time.perf_counter() - began
    torch.cuda.synchronize()
    return took / launches * 1e6


def beside(options):
    """The loop while tactus watches this process: its time, and what tactus says."""
    watcher = subprocess.Popen(
        [tactus, "cuda", "--json", "-p", str(os.getpid())] + options,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = ""
    while "Ctrl-C ends it" not in said:
        line = watcher.stderr.readline()
        if not line:
            break
        said += line
    time.sleep(0.2)
    us = loop()
    watcher.send_signal(signal.SIGINT)
    out, err = watcher.communicate(timeout=60)
    rows = [json.loads(line) for line in out.splitlines()]
    calls = {row["function"]: row for row in rows if row["table"] == "calls"}
    launched = sum(row["calls"] for row in calls.values() if row["class"] == "launch")
    seen = sum(row["seen"] for row in calls.values() if row["class"] == "launch")
    return us, launched, seen, said + err, {name: row["calls"] for name, row in calls.items()}


def profiled():
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        return loop()


loop()
times = {}
for round_number in range(rounds):
    times.setdefault("untraced", []).append(loop())
    for name, options in settings.items():
        us, launched, seen, said, calls = beside(options)
        times.setdefault(name, []).append(us)
        print(json.dumps({"setting": name, "round": round_number, "us_per_launch": round(us, 3), "made": launches,
                          "launches": launched, "seen": seen, "calls": calls, "said": said}), flush=True)
    times.setdefault("untraced again", []).append(loop())
for _ in range(min(rounds, 2)):
    times.setdefault("torch.profiler", []).append(profiled())
base = statistics.median(times["untraced"] + times["untraced again"])
for name, all_us in times.items():
    us = statistics.median(all_us)
    print(json.dumps({"result": name, "us_per_launch": round(us, 3), "slower_percent": round((us / base - 1) * 100, 1),
                      "all": [round(one, 3) for one in all_us]}), flush=True)

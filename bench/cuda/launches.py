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
LOOPS = 3
x = torch.zeros(64, device="cuda")
everywhere = os.sched_getaffinity(0)
# This thread on a core of its own: where it runs and what else runs there must not differ between the settings.
home = max(everywhere)
with open(f"/sys/devices/system/cpu/cpu{home}/topology/thread_siblings_list", encoding="ascii") as file:
    core = {int(cpu) for cpu in file.read().replace("-", ",").split(",")}
os.sched_setaffinity(0, {home})
settings = {
    "default": [],
    "sample 100": ["--sample", "100"],
    "default, no ioctls": ["--no-ioctls"],
    "all": ["--api", "all"],
    # Watched elsewhere only: what the kernel takes for a probe that does next to nothing.
    "a probe that does nothing": ["-C", str(min(everywhere))],
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
    """Loops while tactus watches this process: their times, and what tactus says."""
    watcher = subprocess.Popen(
        [tactus, "cuda", "--json", "-p", str(os.getpid())] + options,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, everywhere - core))
    said = ""
    while "Ctrl-C ends it" not in said:
        line = watcher.stderr.readline()
        if not line:
            break
        said += line
    time.sleep(0.2)
    all_us = [loop() for _ in range(LOOPS)]
    watcher.send_signal(signal.SIGINT)
    out, err = watcher.communicate(timeout=60)
    rows = [json.loads(line) for line in out.splitlines()]
    calls = {row["function"]: row for row in rows if row["table"] == "calls"}
    launched = sum(row["calls"] for row in calls.values() if row["class"] == "launch")
    seen = sum(row["seen"] for row in calls.values() if row["class"] == "launch")
    return all_us, launched, seen, said + err, {name: row["calls"] for name, row in calls.items()}


def profiled():
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        return loop()


def untraced():
    return [loop() for _ in range(LOOPS)]


times, ratios = {"untraced": []}, {}


def compare(name, before, all_us):
    """Notes how much slower those are than the untraced loops just before and just after them; returns the latter."""
    after = untraced()
    base = (statistics.median(before) + statistics.median(after)) / 2
    ratios.setdefault(name, []).append(statistics.median(all_us) / base)
    times.setdefault(name, []).extend(all_us)
    times["untraced"].extend(before)
    return after


loop()
# So a machine that drifts does not decide. The settings take turns, in an order that turns too.
last = untraced()
names = list(settings)
for round_number in range(rounds):
    turn = round_number % len(names)
    for name in names[turn:] + names[:turn]:
        measured, launched, seen, said, calls = beside(settings[name])
        last = compare(name, last, measured)
        print(json.dumps({"setting": name, "round": round_number, "us_per_launch": [round(us, 2) for us in measured],
                          "untraced_after": [round(us, 2) for us in last], "made": launches * LOOPS,
                          "launches": launched, "seen": seen, "calls": calls, "said": said}), flush=True)
# Last, since a process that was profiled once is slower ever after.
unprofiled = untraced()
for _ in range(3):
    measured = [profiled()]
    times.setdefault("torch.profiler", []).extend(measured)
    ratios.setdefault("torch.profiler", []).append(measured[0] / statistics.median(unprofiled))
times["untraced, after torch.profiler"] = untraced()
ratios["untraced, after torch.profiler"] = [
    statistics.median(times["untraced, after torch.profiler"]) / statistics.median(unprofiled)]
for name, all_us in times.items():
    costs = sorted((ratio - 1) * 100 for ratio in ratios.get(name, [1]))
    quarter = len(costs) // 4
    print(json.dumps({"result": name, "us_per_launch": round(statistics.median(all_us), 3),
                      "slower_percent": round(statistics.median(costs), 1),
                      "middle_half": [round(costs[quarter], 1), round(costs[-1 - quarter], 1)],
                      "best": round(min(all_us), 3),
                      "best_slower_percent": round((min(all_us) / min(times["untraced"]) - 1) * 100, 1),
                      "loops": len(all_us)}), flush=True)

# SPDX-License-Identifier: GPL-2.0
"""The same launch-bound PyTorch loop as launches.py, in a process that 'tactus cuda' starts, which is how --sample is cheap: each
such process between two untraced ones. Usage: started.py TACTUS LAUNCHES ROUNDS [SECONDS]. Prints one JSON object a line.
After so many seconds (240) no other process is begun; there are ten a round."""
import json
import os
import re
import statistics
import subprocess
import sys
import time

LOOPS, WARM = 15, 3


def work(launches, home):
    """In a process of its own: microseconds a launch of each loop, on one line, and how many launches there were."""
    import torch

    x = torch.zeros(64, device="cuda")
    os.sched_setaffinity(0, {home})
    all_us = []
    for number in range(WARM + LOOPS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(launches):
            x.add_(1)
        took = time.perf_counter() - began
        torch.cuda.synchronize()
        if number >= WARM:
            all_us.append(took / launches * 1e6)
    print("loops=" + json.dumps({"us": all_us, "made": launches * (WARM + LOOPS) + 1}), flush=True)


if sys.argv[1] == "--work":
    work(int(sys.argv[2]), int(sys.argv[3]))
    sys.exit()
everywhere = os.sched_getaffinity(0)
home = max(everywhere)
with open(f"/sys/devices/system/cpu/cpu{home}/topology/thread_siblings_list", encoding="ascii") as file:
    core = {int(cpu) for cpu in re.split("[-,]", file.read())}
tactus, launches, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ends_at = time.monotonic() + (float(sys.argv[4]) if len(sys.argv) > 4 else 240)
settings = {
    "sample 100": ["--sample", "100"],
    "sample 100, by traps": ["--sample", "100", "--no-detour"],
    "default": [],
    "default, --detour": ["--detour"],
    "all, sample 100": ["--api", "all", "--sample", "100"],
}


def run(options=None):
    """One process: its loops' times, launches made, and launches counted, seen, and what tactus said."""
    command = [sys.executable, os.path.abspath(__file__), "--work", str(launches), str(home)]
    if options is not None:
        command = [tactus, "cuda", "--json"] + options + ["--"] + command
    # tactus takes nothing of the loop's core; the loop goes there by itself.
    done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                          preexec_fn=lambda: os.sched_setaffinity(0, everywhere - core or everywhere))
    found = re.search("^loops=(.*)$", done.stdout, re.M)
    if not found:
        sys.exit(f"{command}: {done.stdout} {done.stderr}")
    result = json.loads(found.group(1))
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    of_launches = [row for row in rows if row.get("table") == "calls" and row["class"] == "launch"]
    return (result["us"], result["made"], sum(row["calls"] for row in of_launches), sum(row["seen"] for row in of_launches),
            done.stderr)


times, ratios, bests = {"untraced": []}, {}, {}
run()
last = run()[0]
names = list(settings)
for round_number in range(rounds):
    turn = round_number % len(names)
    for name in names[turn:] + names[:turn]:
        if time.monotonic() > ends_at:
            break
        measured, made, counted, seen, said = run(settings[name])
        after = run()[0]
        base = (statistics.median(last) + statistics.median(after)) / 2
        ratios.setdefault(name, []).append(statistics.median(measured) / base)
        bests.setdefault(name, []).append(min(measured) / ((min(last) + min(after)) / 2))
        times.setdefault(name, []).extend(measured)
        times["untraced"].extend(last)
        print(json.dumps({"setting": name, "round": round_number, "us_per_launch": round(statistics.median(measured), 3),
                          "untraced_before": round(statistics.median(last), 3), "untraced_after": round(statistics.median(after), 3),
                          "made": made, "counted": counted, "seen": seen, "said": said}), flush=True)
        last = after
for name, all_us in times.items():
    costs = sorted((ratio - 1) * 100 for ratio in ratios.get(name, [1]))
    quarter = len(costs) // 4
    print(json.dumps({"result": name, "us_per_launch": round(statistics.median(all_us), 3), "best": round(min(all_us), 3),
                      "slower_percent": round(statistics.median(costs), 1),
                      "middle_half": [round(costs[quarter], 1), round(costs[-1 - quarter], 1)],
                      "slower_percent_by_the_least": round((statistics.median(bests.get(name, [1])) - 1) * 100, 1),
                      "processes": len(ratios.get(name, [])) or len(all_us) // LOOPS}), flush=True)

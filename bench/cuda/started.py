# SPDX-License-Identifier: GPL-2.0
"""The same launch-bound PyTorch loop as launches.py, in a process that 'tactus cuda' starts. Such processes differ by a third from each
other, untraced too, so each is compared with itself: it loops while tactus watches, ends tactus, and loops on. What counts calls or
reports them inside the process stays there: hits.py has what that costs alone. A process that only loses its parent is the control.
Usage: started.py TACTUS LAUNCHES ROUNDS [SECONDS]. Prints one JSON object a line. Some 8 seconds a process, four a round; begins
none after SECONDS."""
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time

LOOPS, WARM = 12, 3


def loop(torch, x, launches):
    """Microseconds a launch."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(launches):
        x.add_(1)
    took = time.perf_counter() - began
    torch.cuda.synchronize()
    return took / launches * 1e6


def work(launches, home):
    """In a process of its own, whose parent is ended half-way."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    x = torch.zeros(64, device="cuda")
    os.sched_setaffinity(0, {home})
    for _ in range(WARM):
        loop(torch, x, launches)
    watched = [loop(torch, x, launches) for _ in range(LOOPS)]
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.3)
    alone = [loop(torch, x, launches) for _ in range(LOOPS)]
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        profiled = loop(torch, x, launches)
    with open(sys.argv[4], "w", encoding="ascii") as file:
        json.dump({"watched": watched, "alone": alone, "profiled": profiled}, file)


if sys.argv[1] == "--work":
    work(int(sys.argv[2]), int(sys.argv[3]))
    sys.exit()
everywhere = os.sched_getaffinity(0)
home = max(everywhere)
with open(f"/sys/devices/system/cpu/cpu{home}/topology/thread_siblings_list", encoding="ascii") as file:
    core = {int(cpu) for cpu in re.split("[-,]", file.read())}
tactus, launches, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ends_at = time.monotonic() + (float(sys.argv[4]) if len(sys.argv) > 4 else 3600)
settings = {
    "nothing (control)": None,
    "sample 100": ["--sample", "100"],
    "default": [],
    "default, by traps": ["--no-detour"],
}
slower = {}


def run(options):
    """One process: its loops' times."""
    found = f"/tmp/started-{os.getpid()}.json"
    command = [sys.executable, os.path.abspath(__file__), "--work", str(launches), str(home), found]
    command = ["sh", "-c", '"$@"; exit', "-"] + command if options is None else [tactus, "cuda"] + options + ["--"] + command
    # tactus takes nothing of the loop's core; the loop goes there by itself.
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False,
                   preexec_fn=lambda: os.sched_setaffinity(0, everywhere - core or everywhere))
    for _ in range(600):
        time.sleep(0.1)
        if os.path.exists(found) and os.path.getsize(found):
            time.sleep(0.2)
            with open(found, encoding="ascii") as file:
                result = json.load(file)
            os.unlink(found)
            return result
    sys.exit(f"{command}: no result")


for round_number in range(rounds):
    turn = round_number % len(settings)
    for name in (list(settings) * 2)[turn:turn + len(settings)]:
        if time.monotonic() > ends_at:
            break
        result = run(settings[name])
        alone = statistics.median(result["alone"])
        slower.setdefault(name, []).append(statistics.median(result["watched"]) / alone - 1)
        if settings[name] is None:
            slower.setdefault("torch.profiler", []).append(result["profiled"] / alone - 1)
        print(json.dumps({"setting": name, "round": round_number, "watched_us": round(statistics.median(result["watched"]), 3),
                          "alone_us": round(alone, 3), "profiled_us": round(result["profiled"], 3)}), flush=True)
for name, ratios in slower.items():
    costs = sorted(ratio * 100 for ratio in ratios)
    quarter = len(costs) // 4
    print(json.dumps({"result": name, "slower_percent": round(statistics.median(costs), 1),
                      "middle_half": [round(costs[quarter], 1), round(costs[-1 - quarter], 1)], "processes": len(costs)}),
          flush=True)

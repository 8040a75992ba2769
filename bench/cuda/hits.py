# SPDX-License-Identifier: GPL-2.0
"""What one hit of a probe costs, by the first instruction of the function and by setting: a function that does nothing (entry.S)
is called in a loop, untraced and beside 'tactus cuda', in turns. Usage: hits.py TACTUS CALLS ROUNDS. One JSON object a line."""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

tactus, calls, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
here = os.path.dirname(os.path.abspath(__file__))
home = str(max(os.sched_getaffinity(0)))
ENTRIES = {
    "push": ("push %rbp", "pop %rbp"),
    "nop": ("nop", "nop"),
    "nop of five bytes": (".byte 0x0f,0x1f,0x44,0x00,0x00", "nop"),
    "sub, which is single-stepped": ("sub $8,%rsp", "add $8,%rsp"),
}
SETTINGS = {
    "nothing done": ["-C", "0"],
    "sample 100": ["--sample", "100"],
    "sample 100, by traps": ["--sample", "100", "--no-detour"],
    "default": [],
    "default, by traps": ["--no-detour"],
    "both ends": ["--api", "cuLaunchKernel", "--no-detour"],
    "both ends, sample 100": ["--api", "cuLaunchKernel", "--sample", "100"],
    "both ends, sample 100, by traps": ["--api", "cuLaunchKernel", "--sample", "100", "--no-detour"],
}


def call_ns(program, library, options=None):
    # What is reported is read ten times a second: no more at once than there is room for.
    times = min(calls, 50000) if options == [] else calls
    command = ["taskset", "-c", home, program, library, "rate", str(times)]
    if options is not None:
        command = [tactus, "cuda", "--no-ioctls", "--library", library] + options + ["--"] + command
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"launch_ns=([0-9.]+)", out).group(1))


with tempfile.TemporaryDirectory() as work:
    program = work + "/cuda_calls"
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-o", program, here + "/../../tests/workloads/cuda_calls.c", "-ldl", "-pthread"], check=True)
    took = {}
    libraries = {}
    for name, (first, last) in ENTRIES.items():
        libraries[name] = work + "/" + name.split()[0] + str(len(libraries))
        os.mkdir(libraries[name])
        libraries[name] += "/libcuda.so.1"
        subprocess.run(["gcc", "-shared", "-nostdlib", "-DFIRST=" + first, "-DLAST=" + last, "-o", libraries[name],
                        here + "/entry.S"], check=True)
    for _ in range(rounds):
        for name, library in libraries.items():
            took.setdefault((name, "untraced"), []).append(call_ns(program, library))
            for setting, options in SETTINGS.items():
                if name == "push" or setting == "nothing done":
                    took.setdefault((name, setting), []).append(call_ns(program, library, options))
    for (name, setting), all_ns in took.items():
        print(json.dumps({"entry": name, "setting": setting, "ns_per_call": statistics.median(all_ns),
                          "least": min(all_ns), "most": max(all_ns), "runs": len(all_ns)}), flush=True)

#!/usr/bin/env python3
"""From an event's time stamp in the kernel to its line at who reads the view, as root: python3 bench/event-to-line.py
Late frames and rows of frames from a program that presents, misses of a thread's timer, and stalls of a GPU that is none: for these
the tracepoints of tests/host/86-gpu-jobs.sh stand for those of the kernel's scheduler for GPUs, in a mount namespace of its own."""
import json
import os
import subprocess
import sys
import tempfile
import time

TRACING = "/sys/kernel/tracing"
DELAYS = ["build/workloads/delays", "20", "400", "1"] + [f"{n}:{15 + n % 9}:sleep" for n in range(20, 400, 8)]


def pose(folder):
    """The tracepoints that stand for those of gpu_scheduler; returns what a command is put behind to see them."""
    def field(kind, name, at, size):
        return f"\tfield:{kind} {name};\toffset:{at};\tsize:{size};\tsigned:0;\n"
    fence = field("u64", "fence_context", 16, 8) + field("u64", "fence_seqno", 24, 8)
    names = field("__data_loc char[]", "name", 32, 4) + field("__data_loc char[]", "dev", 36, 4)
    for name, call, text in (("queue", "kcmp", names + fence), ("run", "get_mempolicy", names + fence), ("done", "set_mempolicy_home_node", fence)):
        place = f"{folder}/events/gpu_scheduler/drm_sched_job_{name}"
        os.makedirs(place)
        open(place + "/format", "w").write(text)
        open(place + "/id", "w").write(open(f"{TRACING}/events/syscalls/sys_enter_{call}/id").read())
    inner = (f'mkdir -p {folder}/true && mount --bind {TRACING} {folder}/true && mount -t tmpfs none {TRACING}/events && '
             f'ln -s {folder}/true/events/* {folder}/events/gpu_scheduler {TRACING}/events/ 2>/dev/null; exec "$@"')
    return ["unshare", "-m", "bash", "-c", inner, "bash"]


def delays_of(command, record, field):
    """Those printed as they happened; what the end of the window brings out comes whenever that is."""
    found, at_end = [], []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as view:
        for line in view.stdout:
            now_ns = time.monotonic_ns()
            if not line.startswith(b"{"):
                continue
            row = json.loads(line)
            if row.get("record") == record:
                at_end.append(now_ns - row[field])
                if len(at_end) > 2:
                    found.append(at_end.pop(0))
    return found + (at_end if record == "stall" else [])


def main():
    with tempfile.TemporaryDirectory(prefix="event-to-line.") as folder:
        posed = pose(folder)
        stalls = "; ".join(3 * ["build/workloads/gpu_jobs 30 25"])
        clocked = ["build/workloads/clocked", "5000", "200", "600", "1"] + [f"{n}:1000:4000" for n in range(100, 580, 20)]
        tactus = "build/tactus"
        for what, command, record, field in (
                ("a stall of a GPU (gpu)", posed + [tactus, "gpu", "--json", "--", "sh", "-c", stalls], "stall", "time_ns"),
                ("a late frame (frames --why)", [tactus, "frames", "--why", "--json", "--"] + DELAYS, "late_frame", "time_ns"),
                ("a frame's row (frames --each)", [tactus, "frames", "--each", "--json", "--"] + DELAYS, "frame", "time_ns"),
                ("a miss (misses)", [tactus, "misses", "--json", "--"] + clocked, "miss", "actual_ns")):
            # What is usual is found anew each time: of one kind no more than three stand out.
            found = sorted(sum((delays_of(command, record, field) for _ in range(8 if record == "stall" else 1)), []))
            if not found:
                print(f"{what}: none")
                continue
            print(f"{what}: {len(found)}, p50 {found[len(found) // 2] / 1e6:.2f} ms, p99 {found[min(len(found) - 1, len(found) * 99 // 100)] / 1e6:.2f} ms, "
                  f"longest {found[-1] / 1e6:.2f} ms")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

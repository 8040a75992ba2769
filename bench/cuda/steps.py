#!/usr/bin/env python3
"""Where a PyTorch training step goes: a loop with known delays, and whether 'tactus cuda --steps' names each rightly. Needs root and a GPU.
`steps.py TACTUS OUT [KIND...]` runs all and ends with status 1 if one was named wrongly; `steps.py --loop KIND` is the loop by itself."""
import json
import os
import subprocess
import sys
import threading
import time

STEPS, EVERY, DELAY_S, HOGS = 400, 40, 0.06, 8
# What is injected, and the part of the step that it belongs to. Every 40th step has it.
EXPECTED = {"none": None, "data": "data", "lock": "lock", "hog": "cpu_wait", "copy": "copy", "sync": "sync", "work": "ran",
            "sleep": "slept", "ranges": "data"}
# Of these the loop names each step by NVTX, and steps are to be found by that.
NAMED = ("ranges",)


class Holder(threading.Thread):
    """Keeps a lock for a while when it is told to."""

    def __init__(self):
        super().__init__(daemon=True)
        self.lock, self.go, self.has = threading.Lock(), threading.Semaphore(0), threading.Semaphore(0)

    def run(self):
        while True:
            self.go.acquire()
            with self.lock:
                self.has.release()
                time.sleep(DELAY_S)


def start_hogs():
    """Processes that run on the first thread's CPU for a while, each at a byte that it reads. As many as one takes a small part beside."""
    cpu = sorted(os.sched_getaffinity(0))[-1]
    ear, mouth = os.pipe()
    for _ in range(HOGS):
        if os.fork() == 0:
            os.close(mouth)
            os.sched_setaffinity(0, {cpu})
            with open("/proc/self/comm", "w", encoding="ascii") as name:
                name.write("hog")
            while os.read(ear, 1):
                end = time.monotonic() + DELAY_S
                while time.monotonic() < end:
                    pass
            os._exit(0)
    return cpu, mouth


def loop(kind):
    hog_cpu, hogs = start_hogs() if kind == "hog" else (None, None)
    import torch  # after the fork: hogs need none of it
    from torch import nn
    from torch.utils.data import DataLoader, Dataset

    class Data(Dataset):
        def __len__(self):
            return STEPS

        def __getitem__(self, index):
            if EXPECTED[kind] == "data" and index % EVERY == EVERY - 1:
                time.sleep(DELAY_S)
            return torch.randn(64, 256), torch.randint(0, 10, (64,))

    loader = iter(DataLoader(Data(), batch_size=None, num_workers=1, prefetch_factor=1, multiprocessing_context="fork"))
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    weigh = nn.CrossEntropyLoss()
    big = torch.zeros(256 << 20, dtype=torch.float32, device="cuda")
    there = torch.zeros(256 << 20, dtype=torch.float32)
    holder = Holder()
    holder.start()
    if kind == "sync":
        torch.cuda._sleep(1000)
        torch.cuda.synchronize()
        begin = time.monotonic()
        torch.cuda._sleep(10_000_000)
        torch.cuda.synchronize()
        cycles = int(10_000_000 * DELAY_S / (time.monotonic() - begin))
    if hog_cpu is not None:
        os.sched_setaffinity(0, {hog_cpu})
    delayed = []
    for step, (x, y) in enumerate(loader):
        is_due = step % EVERY == EVERY - 1
        begin = time.monotonic_ns()
        if kind in NAMED:
            torch.cuda.nvtx.range_push(f"step {step}")
        optimizer.zero_grad()
        loss = weigh(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        if is_due and kind == "lock":
            holder.go.release()
            holder.has.acquire()
        with holder.lock:
            pass
        if is_due and kind == "hog":
            os.write(hogs, b"x" * HOGS)
        if is_due and kind == "copy":
            there.copy_(big)
        if is_due and kind == "sync":
            torch.cuda._sleep(cycles)
        if is_due and kind == "sleep":
            time.sleep(DELAY_S)
        if is_due and kind == "work":
            end = time.monotonic() + DELAY_S
            while time.monotonic() < end:
                pass
        loss.item()
        if kind in NAMED:
            torch.cuda.nvtx.range_pop()
        if is_due:
            delayed.append(begin)
    print(json.dumps({"delayed": len(delayed), "steps": STEPS}), flush=True)
    os._exit(0)


def check(tactus, out, kind):
    """One line of what was found; True if it is right."""
    report = os.path.join(out, f"steps-{kind}.jsonl")
    got = subprocess.run([tactus, "cuda", "--steps", "--json", "--report", report, "--force", "--",
                          sys.executable, os.path.abspath(__file__), "--loop", kind],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    with open(report, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    table = max((r for r in rows if r["record"] == "cuda_steps"), key=lambda r: r["steps"], default=None)
    least_ns = DELAY_S * 1e9 * 0.6
    slow = [r for r in rows if r["record"] == "cuda_slow_step" and table and r["pid"] == table["pid"] and r["wall_ns"] > least_ns]
    # The first ones pass before the rhythm is known.
    by_cause = {cause: sum(r["cause"] == cause for r in slow) for cause in sorted({r["cause"] for r in slow})}
    is_right = table is not None and table["steps"] > STEPS // 3
    if kind in NAMED:
        is_right = is_right and table["by"] == "range"
    if EXPECTED[kind]:
        named = by_cause.get(EXPECTED[kind], 0)
        is_right = is_right and named >= STEPS // EVERY // 3 and named >= 0.8 * len(slow)
    figures = {k: table[k] for k in ("steps", "by", "p50_ns", "p99_ns", "max_ns", "slow", "launches", "ranges")} if table else None
    print(f"{'ok' if is_right else 'WRONG':6}{kind:6}{json.dumps({'long steps by cause': by_cause, **(figures or {})})}", flush=True)
    for row in slow[:2]:
        print(f"      step {row['step']}, {row['wall_ns'] / 1e6:.1f} ms, usually {row['usual_ns'] / 1e6:.1f}: {row['words']}", flush=True)
    if not is_right:
        print("      " + "\n      ".join(got.stderr.splitlines()[-12:]), flush=True)
    return is_right


def main():
    if sys.argv[1] == "--loop":
        loop(sys.argv[2])
    out = sys.argv[2]
    os.makedirs(out, exist_ok=True)
    kinds = sys.argv[3:] or list(EXPECTED)
    right = sum([check(os.path.realpath(sys.argv[1]), out, kind) for kind in kinds])
    print(f"{right} of {len(kinds)} named rightly", flush=True)
    sys.exit(right != len(kinds))


main()

#!/usr/bin/env python3
"""Calls of the real libnccl as 'tactus cuda' sees them, against what PyTorch was told to do. Needs root and a GPU.
`nccl.py TACTUS` ends with status 1 if a figure differs; `nccl.py --loop` is the program by itself: one rank, since NCCL takes a GPU for one rank only."""
import json
import os
import subprocess
import sys

CALLS, FLOATS = 50, 1 << 20


def loop():
    import torch
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29555")
    dist.init_process_group("nccl", rank=0, world_size=1)
    for dtype in torch.float32, torch.bfloat16:
        tensor = torch.ones(FLOATS, dtype=dtype, device="cuda")
        for _ in range(CALLS):
            dist.all_reduce(tensor)
    torch.cuda.synchronize()
    print("libnccl", torch.cuda.nccl.version(), flush=True)
    dist.destroy_process_group()


def main():
    if sys.argv[1] == "--loop":
        loop()
        return
    got = subprocess.run([os.path.realpath(sys.argv[1]), "cuda", "--json", "--", sys.executable, os.path.abspath(__file__), "--loop"],
                         capture_output=True, text=True, timeout=120, check=False)
    rows = [json.loads(line) for line in got.stdout.splitlines() if line.startswith("{")]
    seen = {r["type"]: (r["count"], r["bytes"], len({r["communicator"]})) for r in rows
            if r.get("table") == "collectives" and r["function"] == "ncclAllReduce"}
    wanted = {"float32": (CALLS, CALLS * FLOATS * 4, 1), "bfloat16": (CALLS, CALLS * FLOATS * 2, 1)}
    print("".join(line + "\n" for line in got.stdout.splitlines() if line.startswith("libnccl")), end="")
    for row in rows:
        if row.get("table") == "collectives":
            print(json.dumps(row))
    is_right = all(seen.get(kind) == figures for kind, figures in wanted.items())
    print("ok" if is_right else "WRONG", "ncclAllReduce by type: calls, bytes, communicators:", seen, "wanted:", wanted)
    if not is_right:
        print("\n".join(got.stderr.splitlines()[-12:]))
    sys.exit(not is_right)


main()

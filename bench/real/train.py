#!/usr/bin/env python3
"""A training loop as people have it: a DataLoader with worker processes feeds a small model on the GPU. Prints one line of
name=value pairs: steps a second and how long steps took, by this program's own clock; and on stderr when the slowest steps
ended, by the monotonic clock, each with its length in ms.
Usage: train.py SECONDS SKIP_S [WORKERS]"""
import sys
import time

import numpy
import torch

seconds, skip_s = float(sys.argv[1]), float(sys.argv[2])
workers = int(sys.argv[3]) if len(sys.argv) > 3 else 4


class Pictures(torch.utils.data.IterableDataset):
    """What a worker does for a batch: some 5 ms of array work."""

    def __iter__(self):
        random = numpy.random.default_rng(torch.utils.data.get_worker_info().id if workers else 0)
        while True:
            picture = random.random((96, 96), dtype=numpy.float32)
            for _ in range(6):
                picture = numpy.sqrt(picture * picture.T + 0.01)
            yield torch.from_numpy(numpy.tile(picture.reshape(1, -1)[:, :1024], (64, 1))), torch.zeros(64, dtype=torch.long)


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(),
                                torch.nn.Linear(1024, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loader = torch.utils.data.DataLoader(Pictures(), batch_size=None, num_workers=workers, pin_memory=device.type == "cuda",
                                         prefetch_factor=2 if workers else None)
    begun = time.monotonic()
    counted_from, end = begun + skip_s, begun + skip_s + seconds
    steps, before = [], time.monotonic()
    for data, target in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data.to(device, non_blocking=True)), target.to(device, non_blocking=True))
        loss.backward()
        optimizer.step()
        loss.item()  # waits for the GPU
        now = time.monotonic()
        if now >= end:
            break
        if before >= counted_from:
            steps.append((now, now - before))
        before = now
    slowest = sorted(steps, key=lambda step: -step[1])[:5]
    steps = sorted(took for _, took in steps)

    def at(percent):
        return steps[min(len(steps) - 1, int(len(steps) * percent / 100))] * 1000

    print(f"steps_s={len(steps) / seconds:.1f} p50_ms={at(50):.2f} p99_ms={at(99):.2f} p999_ms={at(99.9):.2f} "
          f"max_ms={steps[-1] * 1000:.2f}", flush=True)
    print("slowest " + " ".join(f"{end:.6f}:{took * 1000:.2f}" for end, took in slowest), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A minute of a busy machine with 16 CPUs, 10 million events, under another policy: speed.py FOLDER [ROUNDS [SECONDS]].
Prints CPU time, events a second and the most memory of each round."""
import os
import re
import subprocess
import sys

sys.path[:0] = ["bench", "tests"]
import export  # noqa: E402

TACTUS = os.environ.get("TACTUS", "build/tactus")


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    path = os.path.join(sys.argv[1], "minute.tactus")
    made = subprocess.run(["build/bench/minute", path, *sys.argv[3:4]], capture_output=True, text=True, check=True)
    events = int(re.search(r"events=(\d+)", made.stdout)[1])
    print(f"{events} events, {os.stat(path).st_size / 1e6:.0f} MB", flush=True)
    for policy in ("tactus", "eevdf"):
        export.measure(rounds, events, path, "simulate", "-i", path, "--policy", policy)
    os.remove(path)


if __name__ == "__main__":
    main()

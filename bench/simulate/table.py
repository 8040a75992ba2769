#!/usr/bin/env python3
"""Predicts each scheduler from each, and prints how far that is from what was recorded: table.py FOLDER 'SCHEDULER...' LOAD...
FOLDER has recordings LOAD-SCHEDULER.tactus. The first columns of a row are the recorded policy, simulated again; where that is beyond the
bound the program refuses, and what follows is what it would have said."""
import json
import os
import re
import subprocess
import sys

TACTUS = os.environ.get("TACTUS", "build/tactus")


def simulate(path, recorded, policy, real):
    """Of the recorded policy again and of the prediction: octaves, shares; and whether it is refused."""
    def rows(*more):
        done = subprocess.run([TACTUS, "simulate", "-i", path, "--recorded", recorded, "--policy", policy, "--json", *more],
                              capture_output=True, text=True, check=False)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done
    found, done = rows("--against", real)
    refused = re.search(r"nothing is predicted: (.*?) under", done.stderr)
    refused = refused[1] if refused else ""
    if refused:
        found, done = rows("--against", real, "--bound", "64")
    again = next((row for row in found if row["record"] == "fidelity"), None)
    against = next((row for row in found if row["record"] == "against"), None)
    waits = {row["role"]: row for row in found if row["record"] == "against_waits"}
    return again, against, waits, refused


def ms(value):
    return f"{value / 1e6:.1f}"


def row_of(load, recorded, policy, folder):
    path, real = (os.path.join(folder, f"{load}-{name}.tactus") for name in (recorded, policy))
    if not os.path.exists(path) or not os.path.exists(real):
        return None
    again, against, waits, refused = simulate(path, recorded, policy, real)
    if not again or not against:
        return f"| {load} | {recorded} | {again['waits_octaves']:.2f}, {again['cpu_share'] * 100:.1f} % | {policy} | **refused**: {refused} | | | | |"
    everything = waits["all"]
    middle, tail = (f"{ms(everything[f'real_{name}'])}, {ms(everything[f'predicted_{name}'])}" for name in ("p50_ns", "p99_ns"))
    frames = f"{against['real_late']} of {against['real_frames']}, {against['predicted_late']} of {against['predicted_frames']}" if against["real_frames"] else ""
    return (f"| {load} | {recorded} | {again['waits_octaves']:.2f}, {again['cpu_share'] * 100:.1f} %{f', **refused**: {refused}' if refused else ''} | {policy} "
            f"| {against['waits_octaves']:.2f} ({everything['octaves']:.2f}) | {middle} | {tail} | {against['cpu_share'] * 100:.1f} % | {frames} |")


def main():
    folder, schedulers, loads = sys.argv[1], sys.argv[2].split(), sys.argv[3:]
    print("| load | recorded under | again: octaves, shares | predicted | octaves by role (all waits) | p50, ms: real, predicted | p99, ms: real, predicted | CPU shares | late frames: real, predicted |")
    print("|---|---|---|---|---|---|---|---|---|")
    for load in loads:
        for recorded in schedulers:
            for policy in schedulers:
                row = row_of(load, recorded, policy, folder) if policy != recorded else None
                if row:
                    print(row, flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Predicts each scheduler from each, and prints how far that is from what was recorded: table.py FOLDER 'SCHEDULER...' LOAD...
FOLDER has recordings LOAD-SCHEDULER.tactus. The first columns of a row are the recorded policy, simulated again; where that is beyond the
bound the program refuses, and what it would have said is in brackets."""
import json
import os
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
    refused = done.returncode != 0
    if refused:
        found, done = rows("--against", real, "--bound", "64")
    again = next((row for row in found if row["record"] == "fidelity"), None)
    against = next((row for row in found if row["record"] == "against"), None)
    waits = {row["role"]: row for row in found if row["record"] == "against_waits"}
    return again, against, waits, refused


def ms(value):
    return f"{value / 1e6:.2f}"


def main():
    folder, schedulers, loads = sys.argv[1], sys.argv[2].split(), sys.argv[3:]
    print("| load | recorded under | again: octaves | shares | predicted | octaves | the middle wait of all by role, ms: real / predicted | p99 | late frames: real / predicted |")
    print("|---|---|---|---|---|---|---|---|---|")
    for load in loads:
        for recorded in schedulers:
            for policy in schedulers:
                path, real = (os.path.join(folder, f"{load}-{name}.tactus") for name in (recorded, policy))
                if not os.path.exists(path) or not os.path.exists(real) or policy == recorded:
                    continue
                again, against, waits, refused = simulate(path, recorded, policy, real)
                left, right = ("[", "]") if refused else ("", "")
                if not again or not against:
                    print(f"| {load} | {recorded} | {again['waits_octaves'] if again else '-':.2f} | {again['cpu_share'] * 100 if again else 0:.1f} % | {policy} | refused | | | |")
                    continue
                middle = ", ".join(f"{role} {ms(row['real_p50_ns'])} / {ms(row['predicted_p50_ns'])}" for role, row in waits.items() if row["real_waits"] >= 30)
                tail = ", ".join(f"{role} {ms(row['real_p99_ns'])} / {ms(row['predicted_p99_ns'])}" for role, row in waits.items() if row["real_waits"] >= 30)
                frames = f"{against['real_late']} of {against['real_frames']} / {against['predicted_late']} of {against['predicted_frames']}" if against["real_frames"] else ""
                print(f"| {load} | {recorded} | {again['waits_octaves']:.2f} | {again['cpu_share'] * 100:.1f} % | {policy} | {left}{against['waits_octaves']:.2f}{right} | {middle} | {tail} | {frames} |",
                      flush=True)


if __name__ == "__main__":
    main()

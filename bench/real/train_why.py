#!/usr/bin/env python3
"""Why the slowest steps of bench/real/train.py were slow: which threads of the loop waited for a CPU meanwhile, for how long,
with which nice value and behind whom, and whose nice value changed shortly before. From a recording that was made beside it.
Usage: train_why.py TACTUS RECORDING TRAIN_STDERR FOLDER   FOLDER gets the parts of the recording around these steps."""
import json
import os
import re
import subprocess
import sys

tactus, recording, said, folder = sys.argv[1:5]
STEPS, BEFORE_S, WAIT_MS, LINES = 3, 1.5, 3.0, 14
TIME = re.compile(r'"time_ns":(\d+)')
TIERS = ("batch", "interactive", "urgent")


def slowest():
    for line in open(said):
        if line.startswith("slowest "):
            return [(float(end) * 1e9, float(took) * 1e6) for end, took in (word.split(":") for word in line.split()[1:1 + STEPS])]
    return []


def read(steps):
    """The events before and in the steps, and of every thread its name and process."""
    spans = [(end - took - BEFORE_S * 1e9, end + 2e7) for end, took in steps]
    names, pids, events, first = {}, {}, [], None
    lines = subprocess.Popen([tactus, "events", "-i", recording, "--json"], stdout=subprocess.PIPE, text=True).stdout
    for line in lines:
        found = TIME.search(line)
        if not found:
            continue
        time = int(found.group(1))
        first = time if first is None else first
        if '"event":"thread"' in line or '"event":"rename"' in line:
            event = json.loads(line)
            names[event["tid"]] = event["comm"]
            pids[event["tid"]] = event.get("pid", pids.get(event["tid"]))
        elif any(begin <= time <= end for begin, end in spans) and ('"event":"switch"' in line or '"event":"role"' in line or
                                                                    '"event":"effect"' in line):
            events.append(json.loads(line))
    return names, pids, events, first


def tell(number, end, took, names, events):
    begin = end - took
    print(f"# step {number}: {took / 1e6:.1f} ms")
    waits, nice, changes = [], {}, []
    for event in events:
        time = event["time_ns"]
        if not begin - BEFORE_S * 1e9 <= time <= end + 2e7:
            continue
        ago = (time - begin) / 1e6
        if event["event"] == "effect":
            changes.append(f"#   {ago:8.1f} ms: {json.dumps(event)}")
        elif event["event"] == "role":
            if event["tier"] != event["was_tier"]:
                changes.append(f"#   {ago:8.1f} ms: {names.get(event['tid'])} [{event['tid']}] is {TIERS[event['tier']]}, was "
                               f"{TIERS[event['was_tier']]}, sure {event['confidence']}, has {event['has']}")
        else:
            for tid, prio in ((event["tid"], event["prev_prio"]), (event["next_tid"], event["next_prio"])):
                if tid and tid in nice and nice[tid] != prio:
                    changes.append(f"#   {ago:8.1f} ms: {names.get(tid)} [{tid}] has nice {prio - 120}, had {nice[tid] - 120}")
                nice[tid] = prio
            waited = event.get("waited_ns") or 0
            if event["next_tid"] and waited >= WAIT_MS * 1e6 and time >= begin and time - waited <= end:
                waits.append((waited, f"#   {ago:8.1f} ms: {event['next_comm']} [{event['next_tid']}] nice {event['next_prio'] - 120} waited "
                              f"{waited / 1e6:.1f} ms on CPU {event['cpu']}, last behind {event['prev_comm']} nice {event['prev_prio'] - 120}"))
    waits = [line for _, line in sorted(waits, reverse=True) if "] nice" in line and "sh [" not in line and "timeout [" not in line]
    print("#  waits:", *waits[:LINES], sep="\n")
    print("#  changes before and in it:", *changes[-LINES:], sep="\n")


def main():
    steps = slowest()
    if not steps:
        print("# no slowest steps were said:", open(said).read()[-300:])
        return
    names, _, events, first = read(steps)
    os.makedirs(folder, exist_ok=True)
    for number, (end, took) in enumerate(steps):
        tell(number, end, took, names, events)
        begin_s = max(0, (end - took - first) / 1e9 - 0.4)
        subprocess.run([tactus, "cut", "-i", recording, "-o", f"{folder}/step{number}.tactus", "--from", f"{begin_s:.3f}s", "--to",
                        f"{(end - first) / 1e9 + 0.1:.3f}s"], stdout=subprocess.DEVNULL, check=False)


main()

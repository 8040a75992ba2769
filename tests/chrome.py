#!/usr/bin/env python3
"""Reads a trace for chrome://tracing and says what is wrong with it: `chrome.py TRACE FOLDER`. The format's description is all that it shares with what wrote it.
Leaves errors, cpu (a thread's CPU time a line), slices, instants, flows and names in the folder."""
import collections
import json
import os
import sys

trace, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
errors = []


def nanoseconds(text):
    """Of microseconds with three decimals, exactly."""
    if text[-4] != ".":
        errors.append(f"{text} has not three decimals")
    return int(text.replace(".", ""))


with open(trace, encoding="utf-8") as file:
    events = json.load(file, parse_float=nanoseconds)["traceEvents"]
rows, names, cpu, flows, instants = collections.defaultdict(list), {}, collections.Counter(), collections.defaultdict(list), []
for event in events:
    kind, row = event["ph"], (event["pid"], event["tid"])
    if kind == "M":
        names[(event["name"], *row)] = event["args"]["name"]
    elif kind == "X":
        begin, span = event["ts"], event["dur"]
        rows[row].append((begin, begin + span, event))
        if event["cat"] == "run":
            cpu[event["args"]["tid"]] += span
    elif kind in "st":
        flows[event["id"]].append((event["ts"], kind, row))
    elif kind == "i":
        instants.append(event)
    elif kind != "C":
        errors.append(f"phase {kind}")
for row, slices in rows.items():
    if ("thread_name", *row) not in names:
        errors.append(f"row {row} has no name")
    ends = []  # of slices that go on
    for begin, end, event in sorted(slices, key=lambda one: (one[0], -one[1])):
        while ends and ends[-1] <= begin:
            ends.pop()
        if ends and end > ends[-1]:
            errors.append(f"row {row}: {event['name']} at {begin} crosses the end of one around it")
        if ends and row[0] == 0 and row[1] < 4096:
            errors.append(f"CPU {row[1]}: two threads run at {begin}")
        ends.append(end)
for flow, ends in flows.items():
    if [kind for _, kind, _ in ends].count("s") != 1 or ends[0][1] != "s":
        errors.append(f"arrow {flow} does not begin once, and first")
    if min(at for at, _, _ in ends) != ends[0][0]:
        errors.append(f"arrow {flow} goes back in time")
    for at, _, row in ends:
        if not any(begin <= at < end for begin, end, _ in rows[row]):
            errors.append(f"arrow {flow} is fixed to nothing at {at}")


def leave(name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines)


leave("errors", errors)
leave("cpu", (f"{tid} {span}" for tid, span in sorted(cpu.items())))
leave("slices", (json.dumps({"row": names.get(("thread_name", *row), "?"), "at": begin, "dur": end - begin, "name": event["name"], "cat": event["cat"], "args": event["args"]})
                 for row, slices in rows.items() for begin, end, event in slices))
leave("instants", (json.dumps({"at": event["ts"], "name": event["name"], "cat": event["cat"], "args": event["args"]}) for event in instants))
leave("flows", (json.dumps({"flow": flow, "rows": [names.get(("thread_name", *row), "?") for _, _, row in ends]}) for flow, ends in flows.items()))
leave("names", (json.dumps([*key, name]) for key, name in names.items()))
print(f"{len(events)} events, {sum(map(len, rows.values()))} slices, {len(flows)} arrows")

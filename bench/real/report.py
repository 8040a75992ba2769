#!/usr/bin/env python3
"""The tables of bench/real/run.sh: report.py [--json] FOLDER VERSION. In the folder: marks, a line a measurement (program, load, way,
round, and what moment.py said at its begin and at its end), and stamps-PROGRAM-LOAD, pairs of 64-bit numbers (end and duration in ns).
Ends with 1 if a budget is missed."""
import datetime
import json
import math
import os
import platform
import struct
import sys

as_json = "--json" in sys.argv
folder, version = [word for word in sys.argv[1:] if word != "--json"]
LATE = 1.5  # times the program's own median when it is alone
LEAST_OF_LOAD = 0.95
WAYS = ("alone", "without", "with")


def stamps(program, load):
    with open(os.path.join(folder, f"stamps-{program}-{load}"), "rb") as file:
        data = file.read()
    return list(struct.iter_unpack("qq", data[: len(data) // 16 * 16]))


def at(values, percent):
    return values[min(len(values) - 1, int(len(values) * percent / 100))] / 1e6 if values else float("nan")


class Span:
    """One measurement: what took how long in it."""

    def __init__(self, began, ended, times):
        begin, end = began[0], ended[0]
        self.seconds, self.done = (end - begin) / 1e9, ended[1] - began[1]
        busy, ours = ended[2] - began[2], ended[3] - began[3]
        self.others_s = max(0, busy - ours) / os.sysconf("SC_CLK_TCK")
        # By its middle, so that one which outlasts the end is counted where most of it was.
        self.times = sorted(took for ended, took in times if begin <= ended - took / 2 <= end)


def read():
    """{(program, load): {way: [Span of each round]}}, where alone is beside none"""
    found, times = {}, {}
    with open(os.path.join(folder, "marks"), encoding="utf-8") as file:
        for program, load, way, _, *moments in map(str.split, file):
            moments = list(map(int, moments))
            if (program, load) not in times:
                times[program, load] = stamps(program, load)
            span = Span(moments[:4], moments[4:], times[program, load])
            found.setdefault((program, load), {}).setdefault("alone" if load == "none" else way, []).append(span)
    return found


def figures(spans, late_over_ms):
    every = sorted(took for span in spans for took in span.times)
    seconds = sum(span.seconds for span in spans)
    return {"rounds": len(spans), "seconds": round(seconds, 1), "samples": len(every), "per_second": len(every) / seconds,
            "p50_ms": at(every, 50), "p99_ms": at(every, 99), "p99_9_ms": at(every, 99.9), "longest_ms": at(every, 100),
            "late": sum(took / 1e6 > late_over_ms for took in every), "late_over_ms": late_over_ms,
            "others_percent": 100 * sum(span.others_s for span in spans) / seconds / os.cpu_count(),
            "load_per_second": sum(span.done for span in spans) / seconds,
            "rounds_p99_ms": [at(span.times, 99) for span in spans], "rounds_longest_ms": [at(span.times, 100) for span in spans]}


def rows(found):
    for (program, load), ways in found.items():
        alone = found.get((program, "none"), {}).get("alone")
        bound = LATE * figures(alone, 0)["p50_ms"] if alone else float("inf")
        without = figures(ways["without"], bound)["load_per_second"] if "without" in ways else 0
        for way in WAYS:
            if way in ways:
                row = figures(ways[way], bound)
                row["load_ratio"] = row["load_per_second"] / without if without else None
                yield program, load, way, row


def plain_number(value):
    """As JSON has it: three digits are enough, and what is not known is null"""
    if isinstance(value, list):
        return [plain_number(one) for one in value]
    if isinstance(value, float):
        return round(value, 3) if math.isfinite(value) else None
    return value


def budgets(table):
    """(kept, text): with tactus nothing may be worse than without it, at the far end of the times least of all"""
    for (program, load, way), row in table.items():
        plain = table.get((program, load, "without"))
        if way != "with" or not plain:
            continue
        for name, what in (("p99_9_ms", "p99.9"), ("longest_ms", "longest")):
            yield row[name] <= plain[name], f"{program} beside {load}: {what} {row[name]:.1f} ms, without tactus {plain[name]:.1f} ms"
        if row["load_ratio"] is not None:
            yield row["load_ratio"] >= LEAST_OF_LOAD, f"{program} beside {load}: the load gets {row['load_ratio']:.3f} of what it gets without (at least {LEAST_OF_LOAD})"


def show(table):
    head = ("PROGRAM", "BESIDE", "TACTUS", "A SECOND", "P50 ms", "P99 ms", "P99.9 ms", "LONGEST ms", "LATE", "LOAD/s", "RATIO", "OTHERS", "P99 ms, EACH ROUND")
    lines = [head]
    for (program, load, way), row in table.items():
        ratio = row["load_ratio"]
        lines.append((program, "nothing" if load == "none" else load, "-" if way == "alone" else way, f"{row['per_second']:.1f}", *(
            f"{row[name]:.2f}" for name in ("p50_ms", "p99_ms", "p99_9_ms", "longest_ms")), f"{row['late']} of {row['samples']}",
            f"{row['load_per_second']:.1f}" if row["load_per_second"] else "", f"{ratio:.3f}" if ratio is not None else "",
            f"{row['others_percent']:.0f} %", " ".join(f"{value:.1f}" for value in row["rounds_p99_ms"])))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(cell.ljust(width) if i < 3 or i == 12 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))).rstrip())


table = {(program, load, way): row for program, load, way, row in rows(read())}
verdicts = list(budgets(table))
if as_json:
    for (program, load, way), row in table.items():
        print(json.dumps({"program": program, "load": load, "tactus": way == "with", "version": version, "kernel": platform.release(),
                          "cpus": os.cpu_count(), "date": datetime.date.today().isoformat(), **{name: plain_number(value) for name, value in row.items()}}))
else:
    print(f"{version}, Linux {platform.release()}, {os.cpu_count()} CPUs, {datetime.date.today()}; late: longer than {LATE} times the median alone;\n"
          "others: how much of the CPUs went to other programs meanwhile, which spoils the figures\n")
    show(table)
    print("\nbudgets" if verdicts else "")
    for kept, text in verdicts:
        print("kept  " if kept else "MISSED", text)
sys.exit(0 if all(kept for kept, _ in verdicts) else 1)

#!/usr/bin/env python3
# Matches what tactus said with what threads are known to be, and says how often it was right.
# Usage: score.py LABELS FOLDER [-u] [-w]: FOLDER has SCENARIO.WAY.rows.json and .census.json; -u also lists threads without a label;
# -w: these are all scenarios, so that each role has to have its threads.
"""Status 0 only where every target is met in every way of watching that the targets are for."""

import fnmatch
import json
import os
import sys

ROLES = ["render", "input", "audio", "network", "compositor", "background", "cpu-bound"]
GOT = ROLES + ["unknown", "none"]
BUSY_SWITCHES = 40  # in the seconds of a scenario; a thread with fewer did next to nothing
TARGETS = [("in all", None, 95), ("frames", "frames", 100), ("Wine sound", "wine-audio", 99)]
ROLE_LEAST = 90  # percent of the threads of each role
ROLE_THREADS = 20  # as many a role has to have for its share to say something, where all scenarios were played
TARGET_WAYS = ("open", "hidden", "renamed")
YOUNG_S = 1.0  # a thread that appeared so shortly before the end can't be known yet by how it runs
SCHED_FIFO, SCHED_RR = 1, 2


class Label:
    def __init__(self, line, number):
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 6:
            sys.exit(f"tactus: labels: line {number}: {len(fields)} fields, not 6")
        self.scenarios, program, thread, self.role, self.must, self.why = fields
        if self.role not in ROLES or self.must not in ("frames", "wine-audio", "-") or not self.why:
            sys.exit(f"tactus: labels: line {number}: a role, what it must meet, and a reason are needed")
        self.key, _, self.command = program.partition("/")
        self.tests = thread.split()
        self.number = number
        self.name = f"{program} {thread}"

    def fits(self, scenario, thread):
        if scenario not in self.scenarios.split(",") and self.scenarios != "*":
            return False
        if thread["key"] != self.key or (self.command and not fnmatch.fnmatchcase(thread["command"], f"*{self.command}*")):
            return False
        return all(test_holds(test, thread) for test in self.tests)


def test_holds(test, thread):
    if test.startswith("="):
        return fnmatch.fnmatchcase(thread["name"], test[1:])
    return {
        "any": True,
        "first": thread["tid"] == thread["pid"],
        "other": thread["tid"] != thread["pid"],
        "child": thread["child"],
        "parent": not thread["child"],
        "unnamed": thread["name"] == "",
        "realtime": thread["policy"] in (SCHED_FIFO, SCHED_RR),
        "fair": thread["policy"] not in (SCHED_FIFO, SCHED_RR),
        "busy": thread["switches"] >= BUSY_SWITCHES,
        "quiet": thread["switches"] < BUSY_SWITCHES,
    }[test]


def read_labels(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [Label(line, n + 1) for n, line in enumerate(lines) if line and not line.startswith("#")]


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def rows_by_thread(rows):
    found = {}
    for row in rows:
        found.setdefault((row["tid"], row["pid"]), []).append(row)
    return found


def row_of(rows, thread):
    """Where a machine starts many threads, numbers come again: the row is that of the thread that lived while the census saw it."""

    def lived_together_s(row):
        end = row["time_ns"] / 1e9
        return min(end, thread["seen"]) - max(end - row["age_ns"] / 1e9, thread["born"])

    return max(rows.get((thread["tid"], thread["pid"]), []), key=lived_together_s, default=None)


def judge(folder, labels, unlabelled):
    """One verdict for each labelled thread of each run."""
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".rows.json"):
            continue
        scenario, way = file.split(".")[:2]
        rows = rows_by_thread(read_json(os.path.join(folder, file)))
        threads = read_json(os.path.join(folder, f"{scenario}.{way}.census.json"))
        end = max(thread["seen"] for thread in threads)
        for thread in threads:
            if thread["born"] > end - YOUNG_S and thread["seen"] > end - 0.3:
                continue
            label = next((one for one in labels if one.fits(scenario, thread)), None)
            row = row_of(rows, thread)
            if not label:
                if thread["key"] != "kernel":
                    unlabelled.append((scenario, way, thread, row))
                continue
            # A thread that hardly ran, of which nothing is said, is rightly left alone.
            if not row and label.role == "background" and thread["switches"] < BUSY_SWITCHES:
                continue
            yield {
                "scenario": scenario,
                "way": way,
                "label": label,
                "thread": thread,
                "got": row["role"] if row else "none",
                "row": row,
            }


def share(verdicts):
    """Right ones, all, and the percentage."""
    right = sum(v["got"] == v["label"].role for v in verdicts)
    return right, len(verdicts), 100.0 * right / len(verdicts) if verdicts else 100.0


def kinds_share(verdicts):
    """The same with every line of the labels counting once in each scenario, however many threads it has."""
    kinds = {}
    for v in verdicts:
        kinds.setdefault((v["label"].number, v["scenario"]), []).append(v)
    return len(kinds), sum(share(k)[2] for k in kinds.values()) / len(kinds) if kinds else 100.0


def print_confusion(verdicts):
    print("  " + "label \\ found".ljust(16) + "".join(got.rjust(11) for got in GOT) + "    right")
    for role in ROLES:
        of_role = [v for v in verdicts if v["label"].role == role]
        if of_role:
            counts = [sum(v["got"] == got for v in of_role) for got in GOT]
            cells = "".join((str(count) if count else ".").rjust(11) for count in counts)
            right, total, percent = share(of_role)
            print("  " + role.ljust(16) + cells + f"{right:5} of {total}, {percent:.1f} %")


def missed_by_role(way, verdicts, whole):
    """Roles that are found too seldom, or of which too few threads were seen to tell."""
    missed = []
    for role in ROLES:
        right, total, percent = share([v for v in verdicts if v["label"].role == role])
        if total >= ROLE_THREADS and percent < ROLE_LEAST:
            missed.append(f"{way}: {role}: {percent:.1f} % ({right} of {total}), not {ROLE_LEAST} %")
        if whole and total < ROLE_THREADS:
            missed.append(f"{way}: {role}: {total} threads, not {ROLE_THREADS}")
    return missed


def print_way(way, verdicts, whole):
    """What one way of watching gave; returns the targets that it missed."""
    missed = []
    right, total, percent = share(verdicts)
    kinds, kinds_percent = kinds_share(verdicts)
    scenarios = len({v["scenario"] for v in verdicts})
    print(f"\n{way}: {right} of {total} threads right ({percent:.1f} %); {kinds} kinds in {scenarios} scenarios: {kinds_percent:.1f} %")
    print_confusion(verdicts)
    for name, must, least in TARGETS:
        group = [v for v in verdicts if not must or v["label"].must == must]
        reached = min(share(group)[2], kinds_share(group)[1]) if not must else share(group)[2]
        print(f"  {name}: {reached:.1f} % of {len(group)}, at least {least} % is asked for")
        if reached < least and way in TARGET_WAYS:
            missed.append(f"{way}: {name}: {reached:.1f} %, not {least} %")
    if way in TARGET_WAYS:
        missed += missed_by_role(way, verdicts, whole)
    for v in verdicts:
        if v["got"] != v["label"].role:
            row = v["row"] or {"confidence": 0, "evidence": "no row"}
            print(
                f"  wrong: {v['scenario']}: {v['label'].name} (tid {v['thread']['tid']}, {v['thread']['comm']}): "
                f"{v['got']} {row['confidence']} ({row['evidence']}), known as {v['label'].role}"
            )
    return missed


def print_left_out(way, verdicts):
    """One line for what is reported when a kind of evidence is left out; nothing is asked of it but an answer."""
    cells = []
    for role in ROLES:
        of_role = [v for v in verdicts if v["label"].role == role]
        if of_role:
            cells.append(f"{role} {share(of_role)[0]} of {len(of_role)}")
    right, total, percent = share(verdicts)
    print(f"  without {way[3:]:8} {percent:5.1f} % of {total}: " + ", ".join(cells))


def main():
    labels = read_labels(sys.argv[1])
    unlabelled, missed, left_out = [], [], False
    verdicts = list(judge(sys.argv[2], labels, unlabelled))
    if not verdicts:
        sys.exit("tactus: bench-roles: no labelled thread was seen")
    for way in sorted({v["way"] for v in verdicts}, key=lambda w: (w not in TARGET_WAYS, TARGET_WAYS.index(w) if w in TARGET_WAYS else 0, w)):
        of_way = [v for v in verdicts if v["way"] == way]
        if way.startswith("no-"):
            if not left_out:
                print("\nwith evidence left out:")
            left_out = True
            print_left_out(way, of_way)
        else:
            missed += print_way(way, of_way, "-w" in sys.argv)
    played = {v["scenario"] for v in verdicts}
    for label in labels:
        wanted = played if label.scenarios == "*" else played & set(label.scenarios.split(","))
        for scenario in sorted(wanted - {v["scenario"] for v in verdicts if v["label"] is label}):
            print(f"  no thread fits: line {label.number}: {scenario}: {label.name}")
    if "-u" in sys.argv:
        for scenario, way, t, row in unlabelled:
            got = f"{row['role']} {row['confidence']} {row['evidence']}" if row else "none"
            print(f"  no label: {scenario} {way} {t['key']} {'first' if t['tid'] == t['pid'] else 'other'} ={t['name']} "
                  f"switches {t['switches']} policy {t['policy']} [{t['command'][:40]}]: {got}")
    for line in missed:
        print(f"tactus: bench-roles: {line}", file=sys.stderr)
    sys.exit(1 if missed else 0)


main()

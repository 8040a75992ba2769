#!/usr/bin/env python3
"""docs/json.md against what the program prints: `json_check.py [--elsewhere RECORD,...] FILE...`, files of JSON lines;
records that another test looks at need not be in them. Prints one line a difference: a record or field
that the page does not have, one that it has and nothing printed, an object without its record, schema or clock."""
import json
import re
import sys

EVERYWHERE = {"record", "schema", "clock", "file"}
# Points in time, which need a clock; spans of time have other names.
MOMENT = re.compile(r"^(time|expected|actual|since|start|\w*_at)_ns$")


def sections():
    """Of each section that has records: these, its text, and the fields that its tables list."""
    text = open("docs/json.md", encoding="utf-8").read()
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        named = re.search(r"^Records: ([^.;]*)[.;]", section, re.M)
        if not named:
            continue
        fields, in_fields = set(), False
        for line in section.splitlines():
            in_fields = line.startswith("| field") or (in_fields and line.startswith("|"))
            if in_fields:
                fields |= set(re.findall(r"`([\w-]+)`", line.split("|")[1]))
        kinds = {}
        for kind, rest in re.findall(r"^\| `(\w+)` \|((?:.*\|)+)$", section, re.M):
            kinds[kind] = set(re.findall(r"`([\w-]+)`", rest))
        yield re.findall(r"`([\w-]+)`", named.group(1)), set(re.findall(r"`([\w-]+)`", section)), fields, kinds


def keys_of(value):
    """Of an object and of those in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def main():
    described, wrong, seen, printed = {}, set(), set(), {}
    files, elsewhere = sys.argv[1:], set()
    if files and files[0] == "--elsewhere":
        elsewhere, files = set(files[1].split(",")), files[2:]
    parts = [part for part in sections() if not elsewhere & set(part[0])]
    for part in parts:
        for record in part[0]:
            described[record] = part
    for path in files:
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            record = row.get("record")
            if list(row)[:2] != ["record", "schema"] or row["schema"] != 1:
                wrong.add(f"{path}: an object does not begin with record and schema: {line[:60]}")
            if any(MOMENT.match(key) for key in row) and row.get("clock") != "monotonic":
                wrong.add(f"{record}: it has a point in time and names no clock")
            if record not in described:
                wrong.add(f"{record}: the page has no such record")
                continue
            seen.add(record)
            names, words, _, kinds = described[record]
            if record == "event":
                words = kinds.get(row["event"], set()) | {"event", "time_ns", "cpu", "tid"}
                record = f"event {row['event']}"
            keys = set(keys_of(row)) - EVERYWHERE
            printed.setdefault(names[0], set()).update(keys)
            wrong |= {f"{record}: the page does not have its field {key}" for key in keys - words}
    wrong |= {f"{record}: the page has it, and nothing printed it" for record in set(described) - seen}
    for names, _, fields, _ in parts:
        wrong |= {f"{names[0]}: the page has its field {field}, and nothing printed it" for field in fields - printed.get(names[0], set())}
    print("\n".join(sorted(wrong)), end="\n" if wrong else "")


main()

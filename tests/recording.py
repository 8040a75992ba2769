#!/usr/bin/env python3
"""Recordings made by hand, for tests that need events which this machine does not give: `recording.py FILE [CPUS [WALL_NS]] <LINES`, one event a line,
"KIND time_us tid cpu field=value ..." (~ for a blank); WALL_NS is what the clock on the wall says at the beginning. Kinds and fields are those of core/event.h; a line '# ...' is skipped."""
import re
import struct
import sys
import zlib

TYPES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s16": "h", "s32": "i", "struct comm": "16s", "struct tail": "48s",
         "struct long_name": "184s"}
START_NS = 1_000_000_000
EVENTS_PER_BLOCK = 256


def kinds():
    """Of each kind its number, bytes and fields, from the table."""
    text = open("core/event.h", encoding="utf-8").read()
    rows = re.findall(r"^\s*EVENT\((\w+), (\w+), \w+, \w+, (\d+)\)", text, re.M)
    found = {}
    for number, (_, name, size) in enumerate(rows, 1):
        body = re.search(r"#define EVENT_FIELDS_%s\(FIELD, E\)((?:.*\\\n)*.*\n)" % name, text).group(1)
        fields = re.findall(r"FIELD\(E, ([\w ]+), (\w+), (\w+)\)", body)
        found[name] = (number, int(size), fields)
    return found


def packed(line, table):
    name, time_us, tid, cpu, *rest = line.split()
    number, size, fields = table[name]
    given = dict(word.split("=", 1) for word in rest)
    flags = int(given.pop("flags", "0"), 0)
    data = struct.pack("<QIHBB", START_NS + int(float(time_us) * 1000), int(tid), int(cpu), number, flags)
    for kind, field, _ in fields:
        value = given.pop(field, "0" if TYPES[kind][-1] != "s" else "")
        code = TYPES[kind]
        data += struct.pack("<" + code, value.replace("~", " ").encode() if code[-1] == "s" else int(value, 0))
    assert not given, f"{name} has no field {given}"
    assert len(data) == size, f"{name}: {len(data)} bytes, not {size}"
    return data


def block_of(events, table):
    times = [struct.unpack_from("<Q", event)[0] for event in events]
    payload = b"".join(events)
    lost = sum(struct.unpack_from("<I", event, 16)[0] for event in events if event[14] == table["lost"][0])
    block = [0x4B4C4254, len(payload), len(events), 0, lost, min(times), max(times)]
    block[3] = zlib.crc32(struct.pack("<IIIIQQQ", *block) + payload)
    return struct.pack("<IIIIQQQ", *block) + payload


def main():
    table, cpus = kinds(), int(sys.argv[2]) if len(sys.argv) > 2 else 2
    wall_ns = int(sys.argv[3]) if len(sys.argv) > 3 else START_NS
    suspended_ns = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    places = struct.pack("<HHHH", 0, 0, 0, 0) * cpus
    header = struct.pack("<8sIIQQ56sQI", b"TACTUSR\n", 3, 104 + len(places), wall_ns, START_NS, b"made by hand", suspended_ns, cpus)
    header += struct.pack("<I", zlib.crc32(header + bytes(4) + places))
    events = [packed(line, table) for line in sys.stdin if line.strip() and not line.startswith("#")]
    with open(sys.argv[1], "wb") as out:
        out.write(header + places)
        for first in range(0, len(events), EVENTS_PER_BLOCK):
            out.write(block_of(events[first:first + EVENTS_PER_BLOCK], table))


main()

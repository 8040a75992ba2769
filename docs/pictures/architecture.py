#!/usr/bin/env python3
"""Prints the drawing of ARCHITECTURE.md as SVG, from the text below: python3 docs/pictures/architecture.py >docs/pictures/architecture.svg"""
from html import escape

# name | column | row | columns wide | title | a line of what it holds, and perhaps another
BOXES = """
traced   | 0 | 0 | 1 | detour/ in a traced program | counts and reports its CUDA calls | ring in shared memory
bpf      | 1 | 0 | 2 | bpf/: one object a sensor | tracepoints, fentry, kprobes, uprobes, iterators | accounts, roles and tiers in task storage, by core/
scx      | 3 | 0 | 1 | bpf/scx | the sched_ext scheduler, | decisions by core/tier.h
stream   | 0 | 1 | 2 | src/stream/ | every source of events, merged by time (k-way) | one tap for the recorder
sensor   | 2 | 1 | 1 | src/sensor/ | finds, loads, attaches, | falls back, says why
sched    | 3 | 1 | 1 | src/sched/ | scx; hints, journal, keeper |
file     | 0 | 2 | 1 | a recording | -i FILE, -o FILE |
capture  | 1 | 2 | 2 | src/capture/ | request: groups of events, filter, how long, accounts | -> the sensors, one loop, one result with all losses
store    | 0 | 3 | 1 | src/store/ | files that are kept: | database, rules
model    | 1 | 3 | 2 | src/model/ | what is known: threads, roles, waits, frames, | CUDA calls, submits, inputs, moves
sink     | 0 | 4 | 1 | src/sink/ | tables, JSON lines, traces, | Parquet, pages, safe text
view     | 1 | 4 | 3 | src/view/ | one file a command; tactus run is the one that acts |
"""

# from side x% -> to side x% | label. Sides: t, b, l, r; the number is where on that side, in percent.
ARROWS = """
traced b 50 -> stream t 24 | its own ring
bpf b 25 -> stream t 78 | rings, one a CPU
bpf r 50 -> scx l 50 |
sensor t 50 -> bpf b 76 | load, attach
file t 50 -> stream b 24 | replay; the tap writes it
stream b 78 -> capture t 25 | events
capture t 76 -> sensor b 50 | start, stop
capture b 50 -> model t 50 | events, accounts
store r 50 -> model l 50 |
model b 50 -> view t 33 | answers
view l 50 -> sink r 50 |
view t 85 -> sched b 50 | tiers that threads get
sched t 50 -> scx b 50 | load, settings
"""

WIDTH, HEIGHT, GAP_X, GAP_Y, LEFT, TOP = 210, 74, 26, 46, 20, 40
FILL = {"bpf": "#dbeafe", "scx": "#dbeafe", "traced": "#fef3c7", "file": "#f3f4f6", "sched": "#dcfce7"}


def cells(line, count):
    parts = [part.strip() for part in line.split("|")]
    return parts + [""] * (count - len(parts))


boxes = {}
for line in BOXES.strip().splitlines():
    name, column, row, wide, title, first, second = cells(line, 7)
    boxes[name] = (LEFT + int(column) * (WIDTH + GAP_X), TOP + int(row) * (HEIGHT + GAP_Y),
                   int(wide) * WIDTH + (int(wide) - 1) * GAP_X, HEIGHT, title, [first, second])


def spot(name, side, percent):
    x, y, width, height = boxes[name][:4]
    share = int(percent) / 100
    return {"t": (x + width * share, y), "b": (x + width * share, y + height),
            "l": (x, y + height * share), "r": (x + width, y + height * share)}[side]


width = LEFT * 2 + 4 * WIDTH + 3 * GAP_X
height = TOP + 5 * HEIGHT + 4 * GAP_Y + 20
out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
       '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#374151"/></marker></defs>',
       f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>',
       f'<text x="{LEFT}" y="24" fill="#6b7280">kernel and traced programs</text>',
       f'<line x1="{LEFT}" x2="{width - LEFT}" y1="{TOP + HEIGHT + GAP_Y - 8}" y2="{TOP + HEIGHT + GAP_Y - 8}" stroke="#d1d5db" stroke-dasharray="4 4"/>',
       f'<text x="{LEFT}" y="{TOP + HEIGHT + GAP_Y - 12}" fill="#6b7280">the program</text>']
for name, (x, y, w, h, title, lines) in boxes.items():
    out.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="{FILL.get(name, "#ede9fe")}" stroke="#6b7280"/>')
    out.append(f'<text x="{x + w / 2}" y="{y + 24}" font-weight="bold" text-anchor="middle" fill="#111827">{escape(title)}</text>')
    for i, text in enumerate(lines):
        out.append(f'<text x="{x + w / 2}" y="{y + 43 + 16 * i}" font-size="11" text-anchor="middle" fill="#374151">{escape(text)}</text>')
for line in ARROWS.strip().splitlines():
    ends, label = cells(line, 2)[:2]
    start, end = (part.split() for part in ends.split("->"))
    (x1, y1), (x2, y2) = spot(*start), spot(*end)
    out.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#374151" stroke-width="1.4" marker-end="url(#tip)"/>')
    if label:
        middle = (x1 + x2) / 2
        beyond = middle + 6 + 6 * len(label) > width - LEFT
        at = f'x="{middle - 6:g}" text-anchor="end"' if beyond else f'x="{middle + 6:g}"'
        out.append(f'<text {at} y="{(y1 + y2) / 2 + 4:g}" font-size="11" fill="#1d4ed8">{escape(label)}</text>')
out.append("</svg>")
print("\n".join(out))

#!/usr/bin/env python3
"""Draws the threads on the path of one late frame of examples/late-frames.tactus as SVG: python3 docs/pictures/late-frame.py >docs/pictures/late-frame.svg
From the records of 'tactus report --json'; the page of 'tactus report' draws every late frame like that."""
import json
import os
import subprocess
from html import escape

tactus = os.environ.get("TACTUS", "build/tactus")
done = subprocess.run([tactus, "report", "--json", "-i", "examples/late-frames.tactus"], check=True, capture_output=True, text=True)
records = [json.loads(line) for line in done.stdout.splitlines()]
names = next(record for record in records if record["record"] == "report_names")["names"]
late = [record for record in records if record["record"] == "report_late"]
# The one whose path goes through most threads, and of these the latest.
frame = max(late, key=lambda one: (len({step[3] for step in one["steps"]}), one["late_ns"]))

COLOURS = {"ran": "#3f8f5a", "waited": "#cf222e", "slept": "#8591a0", "unknown": "#e5e8ec"}
WORDS = {"ran": "ran", "waited": "could run and waited for a CPU", "slept": "slept"}
lanes = list(dict.fromkeys((step[3], step[4]) for step in frame["steps"]))
TALL = {"waited": 22, "ran": 13, "slept": 6}
LEFT, TOP, WIDTH, ROW = 170, 66, 790, 30
span, deep = frame["interval_ns"] / 1000, len(lanes) * ROW


def x_of(us):
    return LEFT + us / span * WIDTH


out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {TOP + deep + 62}" font-family="sans-serif" font-size="12">',
       '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>',
       f'<text x="20" y="24" font-size="14" font-weight="bold" fill="#111827">Frame {frame["frame"]}: {frame["interval_ns"] / 1e6:.1f} ms, {frame["late_ns"] / 1e6:.1f} ms late</text>',
       f'<text x="20" y="43" fill="#6b7280">{escape(frame["why"])}</text>']
step_us = next(step for step in (1000, 2000, 5000, 10000, 20000, 50000) if span / step <= 10)
for at in range(0, int(span) + 1, step_us):
    out.append(f'<line x1="{x_of(at):.1f}" x2="{x_of(at):.1f}" y1="{TOP}" y2="{TOP + deep}" stroke="#e5e7eb"/>')
    out.append(f'<text x="{x_of(at):.1f}" y="{TOP + deep + 16}" text-anchor="middle" fill="#6b7280">{at // 1000} ms</text>')
for i, (tid, name) in enumerate(lanes):
    out.append(f'<text x="{LEFT - 10}" y="{TOP + i * ROW + 20}" text-anchor="end" fill="#111827">{escape(names[name])} [{tid}]</text>')
for begin, end, kind, tid, name, cpu, other, other_name in frame["steps"]:
    i, tall = lanes.index((tid, name)), TALL.get(kind, 6)
    wide = max(1, x_of(end) - x_of(begin))
    words = f'{names[name]} {kind} {(end - begin) / 1000:.2f} ms' + (f' on CPU {cpu} behind {names[other_name]} [{other}]' if kind == "waited" and other else "")
    out.append(f'<rect x="{x_of(begin):.1f}" y="{TOP + i * ROW + (ROW - tall) / 2:.1f}" width="{wide:.1f}" height="{tall}" rx="{2 if wide > 4 else 0}" fill="{COLOURS[kind]}"><title>{escape(words)}</title></rect>')
    label = f"behind {names[other_name]}"
    if kind == "waited" and other and wide > 7 * len(label):
        out.append(f'<text x="{x_of(begin) + 6:.1f}" y="{TOP + i * ROW + 19}" fill="#ffffff" font-size="11" font-weight="bold">{escape(label)}</text>')
due = frame["target_ns"] / 1000
if 0 < due < span:
    out.append(f'<line x1="{x_of(due):.1f}" x2="{x_of(due):.1f}" y1="{TOP - 4}" y2="{TOP + deep + 4}" stroke="#7a4fd0" stroke-width="1.5" stroke-dasharray="4 3"/>')
    out.append(f'<text x="{x_of(due) + 4:.1f}" y="{TOP - 6}" fill="#7a4fd0" font-size="11">due</text>')
at = LEFT
for kind, words in WORDS.items():
    out.append(f'<rect x="{at}" y="{TOP + deep + 39.5 - TALL[kind] / 4:g}" width="11" height="{TALL[kind] / 2:g}" rx="{min(2, TALL[kind] / 6):g}" fill="{COLOURS[kind]}"/><text x="{at + 17}" y="{TOP + deep + 44}" fill="#374151">{words}</text>')
    at += 60 + 6.5 * len(words)
out.append("</svg>")
print("\n".join(out))

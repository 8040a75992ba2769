#!/usr/bin/env python3
"""Draws examples/late-frames.tactus as SVG: python3 docs/pictures/late-frames.py [TACTUS] >docs/pictures/late-frames.svg
Each bar is a frame of a real game (Doom) beside a compile, as 'tactus events' and 'tactus frames --why' print them."""
import json
import os
import subprocess
import sys
from html import escape

top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
tactus = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TACTUS", os.path.join(top, "build", "tactus"))
recording = os.path.join(top, "examples", "late-frames.tactus")


def lines_of(*words):
    done = subprocess.run([tactus, *words, "--json", "-i", recording], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


frames = [f for f in lines_of("events", "--only", "frame") if f.get("event") == "frame" and f["interval_ns"]]
judged = {f["frame"] for f in lines_of("frames", "--each") if f.get("record") == "frame" and f["late_ns"] is not None}
late = {f["late_frame"]: f for f in lines_of("frames", "--why") if "late_frame" in f}
SHOWN = 5  # of the late ones, the longest are named
named = sorted(late, key=lambda n: -late[n]["interval_ns"])[:SHOWN]

LEFT, TOP, WIDTH, HEIGHT, MOST_MS = 60, 54, 900, 200, 160
step = WIDTH / len(frames)
out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {TOP + HEIGHT + 40 + 18 * SHOWN + 12}" font-family="sans-serif" font-size="12">',
       '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>',
       f'<text x="{LEFT}" y="22" font-size="14" font-weight="bold" fill="#111827">Frame times of a game (Doom); its last three seconds beside a compile of three jobs</text>',
       f'<text x="{LEFT}" y="40" fill="#6b7280">{len(frames)} frames, {len(late)} late (red), the first too early to judge (grey): tactus frames --why -i examples/late-frames.tactus</text>']


def height_of(ns):
    return min(ns / 1e6, MOST_MS) / MOST_MS * HEIGHT


for ms in (0, 40, 80, 120, 160):
    y = TOP + HEIGHT - ms / MOST_MS * HEIGHT
    out.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:g}" y2="{y:g}" stroke="#e5e7eb"/>')
    out.append(f'<text x="{LEFT - 8}" y="{y + 4:g}" text-anchor="end" fill="#6b7280">{ms} ms</text>')
for i, frame in enumerate(frames):
    tall = height_of(frame["interval_ns"])
    colour = "#dc2626" if frame["number"] in late else "#60a5fa" if frame["number"] in judged else "#9ca3af"
    out.append(f'<rect x="{LEFT + i * step:.1f}" y="{TOP + HEIGHT - tall:.1f}" width="{max(step - 1, 1):.1f}" height="{tall:.1f}" fill="{colour}"/>')
    if frame["number"] in named:
        mark = named.index(frame["number"]) + 1
        out.append(f'<text x="{LEFT + (i + 0.5) * step:.1f}" y="{TOP + HEIGHT - tall - 4:.1f}" text-anchor="middle" font-weight="bold" fill="#991b1b">{mark}</text>')
y = TOP + HEIGHT + 18
out.append(f'<text x="{LEFT}" y="{y}" fill="#6b7280">frame {frames[0]["number"]}</text>')
out.append(f'<text x="{LEFT + WIDTH}" y="{y}" fill="#6b7280" text-anchor="end">frame {frames[-1]["number"]}; taller ones are cut at {MOST_MS} ms</text>')
names = {t["tid"]: t["comm"] for t in lines_of("tasks", "-n", "all")}
for mark, number in enumerate(named, 1):
    f = late[number]
    what = f'{names.get(f["cause_tid"], f["cause_tid"])} {f["cause"]} {f["cause_ns"] / 1e6:.1f} ms'
    if f["cause"] == "waited":
        what += f' for CPU {f["cause_cpu"]} behind {f["other_comm"]}'
    elif f["other_comm"]:
        what += f' until a timer, a device or {f["other_comm"]} woke it'
    y += 18
    out.append(f'<text x="{LEFT}" y="{y + 6}" fill="#111827"><tspan font-weight="bold" fill="#991b1b">{mark}</tspan>  frame {number}, {f["interval_ns"] / 1e6:.1f} ms: {escape(what)}</text>')
out.append("</svg>")
print("\n".join(out))

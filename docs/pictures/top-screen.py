#!/usr/bin/env python3
"""Draws a screen of 'tactus top' over examples/late-frames.tactus as SVG: python3 docs/pictures/top-screen.py >docs/pictures/top-screen.svg
What it prints with --once, with the colours of a terminal for what the words mean."""
import os
import re
import subprocess
from html import escape

tactus = os.environ.get("TACTUS", "build/tactus")
settings = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "108", "LINES": "24"}
done = subprocess.run([tactus, "top", "-i", "examples/late-frames.tactus", "--once", "--at", "6.5"], env={**os.environ, **settings}, check=True,
                      capture_output=True, text=True)
lines = done.stdout.rstrip().splitlines()
COLOURS = [(re.compile(r"\brender\b|\burgent\b"), "#7aa7ff"), (re.compile(r"\b\d+ late\b|\bbehind \S+ \[\d+\]"), "#ff7b72"), (re.compile(r"\bcpu\b|\bbatch\b"), "#e3a857"),
           (re.compile("[▁▂▃▄▅▆▇█]+"), "#58b57a")]
WIDE, TALL, LEFT, TOP = 8.4, 19, 20, 46
width, height = LEFT * 2 + WIDE * 108, TOP + TALL * len(lines) + 12


def pieces(line, head):
    """The line in pieces of one colour each."""
    marks = ["#c9d1d9"] * len(line)
    for pattern, colour in [] if head else COLOURS:
        for found in pattern.finditer(line):
            marks[found.start():found.end()] = [colour] * (found.end() - found.start())
    begin = 0
    for at in range(1, len(line) + 1):
        if at == len(line) or marks[at] != marks[begin]:
            if line[begin:at].strip():
                yield begin, line[begin:at], marks[begin]
            begin = at


out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">',
       f'<rect width="{width:g}" height="{height}" rx="10" fill="#0d1117"/>',
       *(f'<circle cx="{22 + 20 * i}" cy="20" r="6" fill="{colour}"/>' for i, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")))]
for number, line in enumerate(lines):
    y, head = TOP + TALL * (number + 0.75), line.startswith("NAME ")
    if head:
        out.append(f'<rect x="{LEFT - 6}" y="{TOP + TALL * number:g}" width="{width - 2 * LEFT + 12:g}" height="{TALL}" fill="#21262d"/>')
    for at, text, colour in pieces(line, head):
        stripped = text.lstrip()
        at += len(text) - len(stripped)
        stripped = stripped.rstrip()
        out.append(f'<text x="{LEFT + WIDE * at:g}" y="{y:g}" fill="{colour}" textLength="{WIDE * len(stripped):g}" xml:space="preserve">{escape(stripped)}</text>')
out.append("</svg>")
print("\n".join(out))

#!/usr/bin/env python3
"""Draws how late threads wake without tactus and with it as SVG, from the boots in docs/benchmarks.md that README.md's table is of:
python3 docs/pictures/before-after.py >docs/pictures/before-after.svg"""
import math
import pathlib
import re
import statistics
from html import escape

text = pathlib.Path("docs/benchmarks.md").read_text(encoding="utf-8")
when, part = re.search(r"^### Since the scheduler changed on ([-\d]+)\n(.*?)^### ", text, re.M | re.S).groups()
title, heads, body = re.search(r"^\| (Linux [^|]*) \|(.*)\|\n\|[-|]*\n((?:\|.*\n)+)", part, re.M).groups()
heads = [head.strip() for head in heads.split("|")]
WAYS = [("EEVDF", "the kernel's scheduler", "#6b7280"), ("tactus, sched_ext", "tactus, sched_ext", "#2457c5"), ("tactus, hints", "tactus, hints", "#0f9d58")]


def numbers(cell):
    """Of a cell with a figure of each boot, and the longest of all in brackets: the middle, the best and the worst."""
    found = [int(number.replace(",", "")) for number in re.sub(r"\(.*?\)|\*", "", cell).split(", ")]
    return statistics.median(found), min(found), max(found)


rows, beside = [], ""
for line in body.splitlines():
    name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
    name, is_p99, _ = name.partition(": p99")
    beside = name.split(",")[0] if name.startswith(("frames", "a click")) else beside
    if is_p99:
        name = f"sound of {beside}" if name == "their sound" else f"{beside}, {name}" if name.startswith("until") else name
        rows.append((name, [numbers(cells[heads.index(way)]) for way, _, _ in WAYS]))

LEFT, TOP, WIDTH, ROW = 300, 84, 640, 46
low, high = 10, 10 ** math.ceil(math.log10(max(value[2] for _, values in rows for value in values)))


def x_of(us):
    return LEFT + math.log(us / low) / math.log(high / low) * WIDTH


deep = len(rows) * ROW
out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 40} {TOP + deep + 40}" font-family="sans-serif" font-size="12">',
       '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>',
       '<text x="20" y="24" font-size="14" font-weight="bold" fill="#111827">How late a thread runs beside a load that wants the same CPU: 99 of 100 times less than this</text>',
       f'<text x="20" y="43" fill="#6b7280">{escape(title.replace(",", ", one virtual CPU,"))} on {when}, as in README.md. A dot is the median of the boots, the line goes from the best to the worst.</text>']
at = LEFT
for _, words, colour in WAYS:
    out.append(f'<circle cx="{at + 5}" cy="60" r="5" fill="{colour}"/><text x="{at + 16}" y="64" fill="#374151">{escape(words)}</text>')
    at += 50 + 7 * len(words)
us = low
while us <= high:
    label = f"{us} us" if us < 1000 else f"{us // 1000} ms"
    out.append(f'<line x1="{x_of(us):.1f}" x2="{x_of(us):.1f}" y1="{TOP}" y2="{TOP + deep}" stroke="#e5e7eb"/><text x="{x_of(us):.1f}" y="{TOP + deep + 20}" text-anchor="middle" fill="#6b7280">{label}</text>')
    us *= 10
for i, (name, values) in enumerate(rows):
    middle = TOP + i * ROW + ROW / 2
    out.append(f'<text x="{LEFT - 14}" y="{middle + 4}" text-anchor="end" fill="#111827">{escape(name)}</text>')
    for k, (value, (_, _, colour)) in enumerate(zip(values, WAYS)):
        if not value:
            continue
        y = middle + (k - 1) * 11
        out.append(f'<line x1="{x_of(value[1]):.1f}" x2="{x_of(value[2]):.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3" stroke-linecap="round" opacity="0.45"/>')
        out.append(f'<circle cx="{x_of(value[0]):.1f}" cy="{y}" r="5" fill="{colour}"><title>{escape(name)}: {value[0]:,.0f} us</title></circle>')
    if i:
        out.append(f'<line x1="20" x2="{LEFT + WIDTH}" y1="{TOP + i * ROW}" y2="{TOP + i * ROW}" stroke="#f3f4f6"/>')
out.append("</svg>")
print("\n".join(out))

# SPDX-License-Identifier: GPL-2.0
"""The table of bench/frames/run.sh: CPU time of glxgears' frames, and frames a second, beside a tool against those without it.
Every ten frames are a sample; compared is the best twentieth of all samples, when nothing else was in the way. In brackets the
same of the odd and of the even rounds, which shows what the figure is worth."""
import glob
import os
import sys

work, ticks_a_second = sys.argv[1], int(sys.argv[2])
AT = 20


def samples(name, begin=0, end=1 << 63):
    """(CPU ns of a frame, wall ns of a frame) of every ten frames between two times; of a program's own the first second not"""
    rows = [tuple(map(int, line.split())) for line in open(os.path.join(work, name)) if line.count(" ") == 2 and line.endswith("\n")]
    begin = begin or (rows[0][0] + 10**9 if rows else 0)
    rows = [r for r in rows if begin <= r[0] <= end]
    return [((b[1] - a[1]) / (b[2] - a[2]), (b[0] - a[0]) / (b[2] - a[2])) for a, b in zip(rows, rows[1:])]


def best(rounds, which):
    values = sorted(s[which] for r in rounds for s in r)
    return values[len(values) // AT]


def percent(with_it, without, turn, which):
    ratios = []
    for part in (slice(None), slice(0, None, 2), slice(1, None, 2)):
        if len(with_it) > 1 or part == slice(None):
            ratio = best(with_it[part], which) / best(without[part], which)
            ratios.append("%+.1f %%" % (100 * ((1 / ratio if turn else ratio) - 1)))
    return ratios[0] + (f" ({ratios[1]}, {ratios[2]})" if len(ratios) == 3 else "")


def row(name, with_it, without, own):
    pairs = [(a, b) for a, b in zip(with_it, without) if a and b]
    if not pairs:
        print(f"| {name} | did not run | | | 0 |")
        return
    with_it, without = zip(*pairs)
    print(f"| {name} | {percent(with_it, without, False, 0)} | {percent(with_it, without, True, 1)} | {own} | {len(pairs)} |")


spans = {}
for mark in open(os.path.join(work, "marks")):
    word, name, time, *rest = mark.split()
    if word == "begin":
        begin = int(time)
    else:
        spans.setdefault(name, []).append((samples("alone", begin, int(time)), int(rest[0]) / ticks_a_second, (int(time) - begin) / 1e9))

plain = [s[0] for s in spans["none"]]
print(f"glxgears alone: {best(plain, 0) / 1000:.0f} us of CPU time a frame, {1e9 / best(plain, 1):.0f} frames a second\n")
print("| beside | CPU time of a frame | frames a second | its own CPU time | rounds |\n|---|---|---|---|---|")
for at, name in enumerate(n for n in spans if n != "none"):
    own = sum(s[1] for s in spans[name]) / sum(s[2] for s in spans[name])
    # Each round of it was followed by one without.
    row("tactus " + name.replace("--", " --"), [s[0] for s in spans[name]], plain[1 + at :: len(spans) - 1], f"{100 * own:.1f} % of a CPU")
for kind, name in (("overlay", "MangoHud, its overlay"), ("silent", "MangoHud, `no_display`")):
    runs = sorted(glob.glob(os.path.join(work, f"hud-{kind}-*")))
    if runs:
        row(name, *([samples(os.path.basename(r).replace(kind, k)) for r in runs] for k in (kind, "none")), "in glxgears")

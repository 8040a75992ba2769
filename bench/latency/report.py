#!/usr/bin/env python3
"""Lines "result SCHEDULER LOAD name=value..." in, a table and what became of the budgets out; ends with 1 if one is missed."""
import statistics
import sys

NAMES = {"fifo": "FIFO, the bed's floor", "into": "tactus, started into the load", "soon": "the same, 3 s after its start", "eevdf": "EEVDF", "tactus": "tactus", "simple": "scx_simple", "plain": "EEVDF", "hints": "tactus hints", "idle": "idle machine",
         "tactus-none": "raise nobody", "tactus-input": "raise by input", "tactus-both": "and by frames"}
TITLES = {
    "periodic": "every 5 ms, 3 hogs", "sessions": "the same, in sessions of their own", "frames60": "frames of 16.7 ms, fork storm", "frames144": "frames of 6.9 ms, fork storm",
    "input": "1000 times a second, 3 hogs", "host-periodic-hogs": "every 5 ms, 3 hogs", "host-frames-hogs": "frames of 16.7 ms, 3 hogs",
    "host-periodic-compile": "every 5 ms, a compile", "host-frames-compile": "frames of 16.7 ms, a compile",
    "clicks": "a click handed on, 3 hogs", "clicks-storm": "a click handed on, fork storm",
    "presents60": "frames of 16.7 ms, fork storm", "presents144": "frames of 6.9 ms, fork storm",
    "locks": "a mutex, taken every 5 ms, 3 hogs", "wakers": "a thread a CPU every 5 ms, 2 hogs a CPU", "equal": "four equal hogs", "nice": "nice -5, 0, 5", "liars": "two liars, two hogs"}
SHARES = {"equal", "nice", "liars"}
SPEEDS = {"hackbench", "messaging", "virtual-hackbench"}
SHAPES = {"caches": "two caches", "smt": "SMT pairs"}

rounds = {}  # (load, scheduler) -> a dictionary a round
for line in sys.stdin:
    words = line.split()
    if len(words) < 4 or words[0] != "result":
        continue
    scheduler, load = words[1], words[2]
    if load.startswith("idle-"):
        scheduler, load = "idle", load[5:]
    elif load.endswith("-idle"):
        scheduler, loads = "idle", [load[:-5] + "-hogs", load[:-5] + "-compile"]
    values = dict(word.split("=", 1) for word in words[3:] if "=" in word)
    for name in loads if load.endswith("-idle") else [load]:
        rounds.setdefault((name, scheduler), []).append(values)

verdicts = []
beds = list(dict.fromkeys(load.split("@")[1] for load, _ in rounds if "@" in load))


def plain_name(load):
    return load.split("@")[0]


def bed_words(bed):
    cpus, _, shape = bed.partition("-")
    return f"{cpus} CPUs" + (f", {SHAPES[shape]}" if shape else "")


def budget(what, got, most, least=None):
    """Within `most`, or at least `least`."""
    good = got >= least if least is not None else got <= most
    bound = f"at least {least:g}" if least is not None else f"at most {most:g}"
    verdicts.append((good, f"{what}: {got:.3g} ({bound})"))


def each(load, scheduler, name):
    return [float(r[name]) for r in rounds.get((load, scheduler), []) if name in r]


def middle(load, scheduler, name):
    values = each(load, scheduler, name)
    return statistics.median(values) if values else float("nan")


def us(value):
    return f"{value:,.0f}"


def latency_rows(load):
    for scheduler in ("idle", "fifo", "eevdf", "plain", "tactus", "into", "soon", "hints", "simple", "tactus-none", "tactus-input", "tactus-both"):
        if (load, scheduler) not in rounds:
            continue
        for prefix, title in (("", TITLES[plain_name(load)]), ("done_", "  until it is handled"), ("worker_", "  its worker"), ("audio_", "  its sound, every 5.3 ms")):
            if not each(load, scheduler, prefix + "p99_us"):
                continue
            late, turns = sum(each(load, scheduler, prefix + "late")), sum(each(load, scheduler, prefix + "turns"))
            came = f", {middle(load, scheduler, 'enabled_s'):.0f} s until it was there" if scheduler in ("into", "soon") else ""
            yield (title, NAMES[scheduler] + came, us(middle(load, scheduler, prefix + "p50_us")), us(middle(load, scheduler, prefix + "p99_us")),
                   us(middle(load, scheduler, prefix + "p999_us")) if each(load, scheduler, prefix + "p999_us") else "", us(max(each(load, scheduler, prefix + "max_us"))), f"{late:.0f} of {turns:.0f}" if turns else "")


KINDS = {"seldom": "seldom, for next to nothing", "worker": "a worker of a pool", "busy": "half of a CPU", "newborn": "a script's commands"}


def unknown_rows():
    for load, beside in (("unknown", "3 hogs"), ("unknown-urgent", "3 hogs and an urgent thread")):
        for kind, title in KINDS.items():
            for scheduler in ("eevdf", "tactus", "hints"):
                if each(load, scheduler, kind + "_late_p99_us"):
                    yield (f"{title}, {beside}", NAMES[scheduler], *(us(middle(load, scheduler, f"{kind}_late_{what}_us")) for what in ("p50", "p99", "max")),
                           *(us(middle(load, scheduler, f"{kind}_kept_{what}_us")) for what in ("p99", "max")))


def show(title, head, rows):
    rows = list(rows)
    if not rows:
        return
    widths = [max(len(str(row[i])) for row in [head] + rows) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head] + rows:
        print("  ".join(str(c).ljust(w) if i < 2 else str(c).rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip())


def lists(load, scheduler, name):
    return [[float(v) for v in r[name].split(",")] for r in rounds.get((load, scheduler), []) if r.get(name)]


def spread(values):
    """How far the one furthest from the mean is from it, in percent."""
    mean = sum(values) / len(values)
    return max(abs(v - mean) for v in values) / mean * 100


def share_rows():
    for load in ("equal", "nice", "liars"):
        for scheduler in ("eevdf", "tactus", "hints", "simple"):
            for hogs, liars in zip(lists(load, scheduler, "hog_ms"), lists(load, scheduler, "liar_ms") or [[]] * 99):
                got = "/".join(f"{v:.0f}" for v in hogs)
                note = ""
                if load == "equal":
                    note = f"furthest from equal {spread(hogs):.1f} %"
                elif load == "nice":
                    note = f"ratios {hogs[0] / hogs[1]:.1f} and {hogs[1] / hogs[2]:.1f}"
                elif liars:
                    note = f"hogs' share {sum(hogs) / sum(hogs + liars) * 100:.0f} %"
                    got += " beside " + "/".join(f"{v:.0f}" for v in liars)
                yield (TITLES[load], NAMES[scheduler], got, note)


def speed_rows(loads):
    for load in loads:
        base = middle(load, "eevdf", "seconds")
        for scheduler in ("eevdf", "tactus", "hints", "simple"):
            if (load, scheduler) in rounds:
                got = middle(load, scheduler, "seconds")
                yield (plain_name(load), NAMES[scheduler], f"{got:.3f} s", f"{min(each(load, scheduler, 'seconds')):.3f} s", f"{base / got:.3f}")


def cost_rows():
    for scheduler in ("tactus", "simple"):
        for r in [r for r in rounds.get(("cost", scheduler), []) if "switches" in r][:1]:
            single = [f"{n} {v.replace('x', ' ns x ')}" for n, v in r.items() if "x" in v]
            yield (NAMES[scheduler], r["switches"], r["scheduler_ns"], r["sensors_ns"], "; ".join(single[:6]))


head = ("LOAD", "SCHEDULER", "P50 us", "P99 us", "P99.9 us", "MAX us", "LATE")
show("VM, one CPU, virtual clock: how late threads wake, and how often their work is not done in time", head,
     (row for load in ("periodic", "sessions", "input", "frames60", "frames144", "locks") for row in latency_rows(load)))
show("VM, one CPU, virtual clock: threads that input events and frames raise for a moment", head,
     (row for load in ("clicks", "clicks-storm", "presents60", "presents144") for row in latency_rows(load)))
show("VM, one CPU, virtual clock: threads that nothing is known of: how late they wake, and how long they are kept from their work in all",
     ("LOAD", "SCHEDULER", "P50 us", "P99 us", "MAX us", "KEPT P99", "KEPT MAX"), unknown_rows())
show("VM, one CPU, virtual clock: who gets how much of it", ("LOAD", "SCHEDULER", "ms", ""), share_rows())
show("VM: throughput, medians and ratios to EEVDF", ("LOAD", "SCHEDULER", "MEDIAN", "LEAST", "RATIO"), speed_rows(("hackbench", "messaging", "virtual-hackbench")))
for bed in beds:
    show(f"VM, {bed_words(bed)}, virtual clock: how late threads wake", head, (row for load in ("wakers", "frames60") for row in latency_rows(f"{load}@{bed}")))
    show(f"VM, {bed_words(bed)}, virtual clock: throughput", ("LOAD", "SCHEDULER", "MEDIAN", "LEAST", "RATIO"), speed_rows([f"virtual-hackbench@{bed}"]))
show("VM, virtual clock: what BPF programs take a switch, in ns of 2 an instruction", ("SCHEDULER", "SWITCHES", "SCHEDULER'S", "SENSORS'", "EACH, TIMES A SWITCH"), cost_rows())
show("this machine, one CPU, from 3 s after the load began", head,
     (row for load in ("host-periodic-hogs", "host-frames-hogs", "host-periodic-compile", "host-frames-compile") for row in latency_rows(load)))

for load in ("periodic", "input", "frames60", "frames144"):
    if (load, "tactus") not in rounds or (load, "eevdf") not in rounds:
        continue
    for prefix in ("", "audio_"):
        idle, eevdf, tactus = (middle(load, s, prefix + "p99_us") for s in ("idle", "eevdf", "tactus"))
        if tactus != tactus:
            continue
        # Where such threads are in each other's way on the idle machine too, a tenth can't be had.
        if idle <= eevdf / 20:
            budget(f"{load} {prefix}p99 to EEVDF's", tactus / eevdf, 0.1)
        budget(f"{load} {prefix}p99 to the idle machine's", tactus / idle, 2)
        budget(f"{load} {prefix}late turns", sum(each(load, "tactus", prefix + "late")), 0)
for kind in KINDS:
    for scheduler in ("tactus", "hints"):
        if ("unknown", scheduler) in rounds and ("unknown", "eevdf") in rounds:
            budget(f"unknown threads ({kind}), {NAMES[scheduler]}: longest wait to EEVDF's", middle("unknown", scheduler, f"{kind}_late_max_us") / middle("unknown", "eevdf", f"{kind}_late_max_us"), 1.25)
for hogs in lists("equal", "tactus", "hog_ms"):
    budget("equal hogs, furthest from the mean in %", spread(hogs), 5)
for hogs, plain in zip(lists("liars", "tactus", "hog_ms"), lists("liars", "eevdf", "hog_ms")):
    budget("what hogs get beside as many liars, to what EEVDF gives them", sum(hogs) / sum(plain), 0, least=0.95)
for bed in beds:
    for load in (f"wakers@{bed}", f"frames60@{bed}"):
        floor, eevdf = middle(load, "fifo", "p99_us"), middle(load, "eevdf", "p99_us")
        for scheduler in ("tactus", "into", "soon", "hints"):
            if (load, scheduler) in rounds and eevdf == eevdf:
                budget(f"{plain_name(load)} on {bed_words(bed)}, {NAMES[scheduler]}: p99 to EEVDF's", middle(load, scheduler, "p99_us") / eevdf, 1)
                budget(f"{plain_name(load)} on {bed_words(bed)}, {NAMES[scheduler]}: longest to EEVDF's", max(each(load, scheduler, "max_us")) / max(each(load, "eevdf", "max_us")), 1)
        if (load, "tactus") in rounds and floor == floor:
            budget(f"{plain_name(load)} on {bed_words(bed)}: p99 to the bed's floor", middle(load, "tactus", "p99_us") / floor, 2)
for load in sorted({l for l, _ in rounds if plain_name(l) in SPEEDS}):
    where = f" on {bed_words(load.split('@')[1])}" if "@" in load else ""
    budget(f"{plain_name(load)}{where} throughput to EEVDF's", middle(load, "eevdf", "seconds") / middle(load, "tactus", "seconds"), 0, least=0.98)
for load in sorted({l for l, _ in rounds if l.startswith("host-")}):
    if (load, "hints") in rounds and (load, "plain") in rounds:
        budget(f"{load} p99 to plain EEVDF's", middle(load, "hints", "p99_us") / middle(load, "plain", "p99_us"), 0.05)

if verdicts:
    print("\nbudgets")
for good, text in verdicts:
    print("kept  " if good else "MISSED", text)
sys.exit(0 if all(good for good, _ in verdicts) else 1)

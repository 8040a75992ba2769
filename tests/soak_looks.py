#!/usr/bin/env python3
"""What a process takes, a line of JSON a look: memory, CPU time, and its descriptors by kind, those of probes in libraries by library. Usage:
soak_looks.py look PID SECONDS >>FILE, soak_looks.py verdict FILE OWN, where OWN is in the path of each library that comes and goes by a clock."""
import collections
import json
import os
import sys
import time

# A library that is installed nowhere keeps its probes for ten minutes after the last who mapped it, and is looked for each half minute at the least. To look at all
# processes takes long on a machine whose CPUs others want, and is not done again before twenty times as long.
RESTS_S, LOOKS_S, PARTS, LOOKS = 600, 30, 20, 2
PERF_EVENT = "anon_inode:[perf_event]"
BY_PERF = "by perf"


def text_of(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def kind_of(link, info):
    """(kind, library): of what a descriptor is."""
    fields = dict(line.split(":", 1) for line in info.split("\n") if ":" in line)
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    if "bpf_link" in link or "bpf-link" in link:
        of = fields.get("link_type", "?")
        # One by perf does not say in which file it is: that was named by a descriptor which is closed again.
        by_perf = fields.get("event_type", "").startswith("u")
        return f"link {of}", BY_PERF if by_perf else fields.get("path", "").split(" ")[0]
    if "bpf-map" in link:
        return f"map {fields.get('map_type', '?')}", None
    if "bpf-prog" in link:
        return f"program {fields.get('prog_type', '?')}", None
    if link.startswith("/"):
        name = link.removesuffix(" (deleted)")
        return ("library", name) if ".so" in os.path.basename(name) else (f"file {name}" if name.count("/") < 3 else "file", None)
    return link if link.startswith("anon_inode:") else link.split(":[")[0], None


def look(pid, passed):
    kinds, libraries = collections.Counter(), collections.Counter()
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            link = os.readlink(f"/proc/{pid}/fd/{number}")
        except OSError:
            continue
        kind, library = kind_of(link, text_of(f"/proc/{pid}/fdinfo/{number}"))
        if library:
            libraries[library] += 1
            # It has a descriptor of its own beside the link.
            if library == BY_PERF:
                libraries[library] += 1
                kinds[PERF_EVENT] -= 1
        else:
            kinds[kind] += 1
    status = dict(line.split(":", 1) for line in text_of(f"/proc/{pid}/status").split("\n") if ":" in line)
    stat = text_of(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()
    began = time.monotonic()
    held = mapped(libraries)
    return {"s": passed, "took": round(time.monotonic() - began, 3), "kb": int(status["VmRSS"].split()[0]), "cpu": int(stat[11]) + int(stat[12]), "kinds": kinds, "libraries": libraries,
            "mapped": held, "threads": int(text_of("/proc/loadavg").split()[3].split("/")[1])}


def mapped(libraries):
    """Of these, those that lie in this machine's root or that somebody maps."""
    here = [path for path in libraries if os.path.exists(path)]
    missing = {path for path in libraries if path not in here}
    for pid in filter(str.isdigit, os.listdir("/proc")) if missing else ():
        maps = text_of(f"/proc/{pid}/maps")
        here += [path for path in missing if path in maps]
    return sorted(set(here))


def middle(values):
    return sorted(values)[len(values) // 2]


def counts(part, of, names):
    return {name: middle([row[of].get(name, 0) for row in part]) for name in names}


def verdict(path, own):
    rows = [json.loads(line) for line in open(path)]
    quarter = len(rows) // 4
    early, late = rows[quarter : 2 * quarter], rows[3 * quarter :]
    kinds = sorted({name for row in rows for name in row["kinds"]})
    before, after = counts(early, "kinds", kinds), counts(late, "kinds", kinds)
    total = lambda row, of: sum(row[of].values())
    rate = lambda part: (part[-1]["cpu"] - part[0]["cpu"]) / max(1, part[-1]["s"] - part[0]["s"])
    fact = lambda name, *values: print(name, *values, sep="\t")
    fact("looks", len(rows))
    fact("kb", middle([r["kb"] for r in early]), middle([r["kb"] for r in late]), rows[0]["kb"], rows[-1]["kb"])
    # What is kept of each thread is memory for as many as were there at once.
    crowd = lambda part: max(r.get("threads", 0) for r in part)
    fact("threads", crowd(rows[: quarter or 1]), crowd(early), crowd(rows[2 * quarter : 3 * quarter] or late), crowd(late))
    fact("cpu", f"{rate(early):.2f}", f"{rate(late):.2f}")
    maps = lambda row: sum(count for kind, count in row["kinds"].items() if kind.startswith("map "))
    fact("maps", middle([maps(r) for r in early]), middle([maps(r) for r in late]))
    fact("descriptors", middle([total(r, "kinds") for r in early]), middle([total(r, "kinds") for r in late]))
    fact("changed", "; ".join(f"{name} {before[name]} and {after[name]}" for name in kinds if before[name] != after[name]))
    fact("kinds", "; ".join(f"{name} {after[name]}" for name in kinds if after[name]))
    of_own = lambda row: sum(count for library, count in row["libraries"].items() if own in library)
    fact("own", max(map(of_own, early)), max(map(of_own, late)))
    others = sorted({name for row in early + late for name in row["libraries"] if own not in name})
    first = {}
    for row in rows:
        for name in row["libraries"]:
            first.setdefault(name, row["s"])
    most = lambda part, name: max(row["libraries"].get(name, 0) for row in part)
    fact("others", "; ".join(f"{name} {most(early, name)} and {most(late, name)}, since {first[name]} s" for name in others))
    fact("grown", "; ".join(name for name in others if most(early, name) < most(late, name)))
    # What nobody maps any more and lies nowhere has had its probes for so long at most.
    slowest = max(row.get("took", 0) for row in rows)
    bound = RESTS_S + LOOKS * (LOOKS_S + PARTS * slowest)
    seen, kept = {}, {}
    for row in rows:
        seen = {name: since for name, since in seen.items() if name in row["libraries"]}
        for name in row["libraries"]:
            if name in row["mapped"] or name not in seen or name == BY_PERF:
                seen[name] = row["s"]
            else:
                kept[name] = row["s"] - seen[name]
    fact("kept", f"{max(kept.values(), default=0)} of {bound:.0f} s allowed, where a look at all processes took {slowest:.2f} s at most")
    fact("stale", "; ".join(f"{name} {s} s" for name, s in sorted(kept.items()) if s > bound))


if sys.argv[1] == "look":
    print(json.dumps(look(sys.argv[2], int(sys.argv[3]))))
else:
    verdict(sys.argv[2], sys.argv[3])

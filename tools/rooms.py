#!/usr/bin/env python3
"""Checks of the rooms: who may include what, as ARCHITECTURE.md says it. One breach a line; without arguments."""
import pathlib
import re

# Each room, and what of ours its files may include besides their own: rooms, or single headers of one.
ROOMS = {
    "core": [],
    "bpf": ["core"],
    "detour": ["core"],
    "src": ["src/base", "src/view"],  # main: the table of commands
    "src/base": ["core"],
    "src/model": ["core", "src/base"],
    "src/sim": ["core", "src/base", "src/sched/scx_places.h"],
    "src/store": ["core", "src/base", "src/model"],
    "src/stream": ["core", "src/base"],
    "src/sink": ["core", "src/base"],
    "src/sensor": ["core", "src/base", "src/model", "src/store", "src/stream", "src/sink/text.h"],
    "src/sched": ["core", "src/base", "src/sensor"],
    "src/capture": ["core", "src/base", "src/model", "src/sensor", "src/stream", "src/store",
                    "src/sink/event.h"],
    "src/view": ["core", "src/base", "src/model", "src/sensor", "src/stream", "src/store", "src/capture", "src/sched",
                 "src/sim", "src/sink"],
    "vm": [],
}

# Rooms that may include nothing else of the system: the beginnings of what they may.
OUTSIDE = {
    "core": (),
    "bpf": ("linux/bpf.h", "linux/ptrace.h", "stdbool.h", "bpf/"),
    "detour": ("asm/", "linux/", "link.h", "stddef.h"),
}

# Headers of the system that only some may include, by the beginnings of files' paths, and those that some may not.
LIBBPF = ("bpf/", "src/sensor/", "src/sched/", "src/stream/rings.c")
SKELETONS = ("src/sensor/", "src/sched/")
NEITHER_PRINTS_NOR_OPENS = ("src/model/", "src/sim/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def room_of(path):
    """The innermost room that a file lies in: vm/module/ is a part of vm/; below src/ each folder is a room."""
    folder = path.parent.as_posix()
    return folder if folder.startswith("src") else folder.split("/")[0]


def resolved(path, name):
    """What a name in quotes means in this file, as a path from the top."""
    parts = list(path.parent.parts)
    for part in name.split("/"):
        if part == "..":
            if not parts:
                return pathlib.Path(name)
            parts.pop()
        else:
            parts.append(part)
    return pathlib.Path(*parts)


def refusal(path, room, sign, name):
    """Why this file may not include that, or None."""
    at = path.as_posix()
    if name.endswith(".skel.h"):
        return None if at.startswith(SKELETONS) else "only sensor and sched see skeletons"
    if sign == '"':
        wanted = resolved(path, name)
        if room_of(wanted) in [room, *ROOMS[room]] or wanted.as_posix() in ROOMS[room]:
            return None
        return f"{room} may include: {', '.join(ROOMS[room]) or 'only itself'}"
    if name.startswith("bpf/") and not at.startswith(LIBBPF):
        return "only sensor, sched and stream/rings.c see libbpf"
    if name in ("stdio.h", "fcntl.h") and at.startswith(NEITHER_PRINTS_NOR_OPENS):
        return "the model neither prints nor opens files"
    if room in OUTSIDE and not name.startswith(OUTSIDE[room]):
        return f"of the system {room} may include: {', '.join(OUTSIDE[room]) or 'nothing'}"
    return None


def main():
    tops = [top for top in map(pathlib.Path, ("core", "bpf", "detour", "src", "vm")) if top.is_dir()]
    for path in sorted(file for top in tops for file in top.rglob("*.[ch]")):
        room = room_of(path)
        if room not in ROOMS:
            print(f"{path}: {room}/ has no rule in tools/rooms.py")
            continue
        text = path.read_text(encoding="utf-8")
        for found in INCLUDE.finditer(text):
            why = refusal(path, room, found.group(1), found.group(2))
            if why:
                print(f"{path}:{text.count(chr(10), 0, found.start(2)) + 1}: {found.group(2)}: {why}")


main()

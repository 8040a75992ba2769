#!/usr/bin/env python3
# Which threads there really were while a scenario ran, as /proc alone shows them, never tactus.
# Usage: census.py TAG OUT [NAMES]: looks four times a second until SIGTERM, then writes OUT, one JSON object a thread.
"""Processes belong to a scenario when TAG/pids lists them, or when their environment, or that of a parent, has
ROLES_TAG=TAG:KEY. NAMES is a folder
with the true names of programs and threads that run under others (see conceal.c), or nothing."""

import json
import os
import signal
import sys
import time

PF_KTHREAD = 0x00200000


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


class Census:
    def __init__(self, tag, names):
        self.tag = tag.encode()
        self.names = names
        self.keys = {}  # (pid, start) -> key, or None for a process of somebody else's
        self.threads = {}  # (tid, start) -> what is known

    def started(self):
        """Some programs overwrite their environment, so those that were started by hand are listed."""
        lines = read(self.tag.decode() + "/pids").decode().splitlines()
        return {int(line.split()[0]): line.split()[1] for line in lines}

    def key_of(self, pid, start, parent):
        """The scenario's word for a process, from its environment or from its parent's."""
        if (pid, start) not in self.keys:
            key = self.started().get(pid)
            for entry in read(f"/proc/{pid}/environ").split(b"\0"):
                if entry.startswith(b"ROLES_TAG=" + self.tag + b":"):
                    key = entry.rsplit(b":", 1)[1].decode()
            if not key:
                key = next((k for (p, _), k in self.keys.items() if p == parent and k != "kernel"), None)
            self.keys[(pid, start)] = key
        return self.keys[(pid, start)]

    def see_thread(self, pid, tid, key, child):
        stat = read(f"/proc/{pid}/task/{tid}/stat")
        status = read(f"/proc/{pid}/task/{tid}/status").decode("utf-8", "replace")
        if not stat or not status:
            return
        fields = stat.rsplit(b")", 1)[1].split()
        switches = sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches" in line)
        seen = self.threads.setdefault((tid, fields[19]), {"tid": tid, "pid": pid, "key": key, "from": switches})
        seen.setdefault("born", time.monotonic())
        seen["seen"] = time.monotonic()
        seen["child"] = child or seen.get("child", False)
        command = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()
        seen.update(
            comm=read(f"/proc/{pid}/task/{tid}/comm").decode("utf-8", "replace").strip(),
            command=command or seen.get("command", ""),
            policy=int(fields[38]),
            switches=switches - seen["from"],
            ticks=int(fields[11]) + int(fields[12]),
        )

    def look(self):
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            stat = read(f"/proc/{name}/stat")
            if not stat:
                continue
            fields = stat.rsplit(b")", 1)[1].split()
            pid, parent, flags, start = int(name), int(fields[1]), int(fields[6]), fields[19]
            key = "kernel" if flags & PF_KTHREAD else self.key_of(pid, start, parent)
            child = not flags & PF_KTHREAD and any(p == parent and k == key for (p, _), k in self.keys.items())
            if not key:
                continue
            try:
                tids = os.listdir(f"/proc/{pid}/task")
            except OSError:
                continue
            for tid in tids:
                self.see_thread(pid, int(tid), key, child)

    def true_names(self):
        """Of programs that run as copies, and of threads whose own names were withheld."""
        programs, threads = {}, {}
        for line in read(f"{self.names}/programs").decode().splitlines():
            copy, program = line.split(" ", 1)
            programs[copy] = program
        for line in read(f"{self.names}/threads").decode("utf-8", "replace").splitlines():
            tid, name = line.split(" ", 1)
            threads[int(tid)] = name
        return programs, threads

    def write(self, out):
        programs, names = self.true_names() if self.names else ({}, {})
        firsts = {t["pid"]: t["comm"] for t in self.threads.values() if t["tid"] == t["pid"]}
        with open(out, "w", encoding="utf-8") as file:
            for thread in self.threads.values():
                first, _, rest = thread["command"].partition(" ")
                copy = first.rsplit("/", 1)[-1]
                if copy in programs:
                    thread["command"] = f"{programs[copy]} {rest}"
                own = "" if thread["key"] != "kernel" and thread["comm"] == firsts.get(thread["pid"]) else thread["comm"]
                thread["name"] = names.get(thread["tid"], own)
                json.dump(thread, file)
                file.write("\n")


def main():
    census = Census(sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None)
    going = True

    def stop(*_):
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, stop)
    while going:
        census.look()
        time.sleep(0.25)
    census.look()
    census.write(sys.argv[2])


main()

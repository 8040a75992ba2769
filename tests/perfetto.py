#!/usr/bin/env python3
"""Reads a Perfetto trace by the wire format alone, and makes of it what trace_processor would: `perfetto.py FILE FOLDER` writes to the folder
errors (one a line, each of what trace_processor counts as one), cpu (tid ns), switches (ns cpu tid), and as JSON lines slices, counts, threads, wakeups, clocks, sizes."""
import collections
import json
import os
import struct
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7


def fields(data):
    """Every (number, value) of a message; a value is a number, or bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            length, at = varint(data, at)
            if at + length > end:
                raise ValueError(f"field {number} is longer than its message")
            value, at = data[at:at + length], at + length
        elif wire == 5:
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            raise ValueError(f"wire type {wire}")
        yield number, value


def message(data):
    """Field number to the list of its values."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def one(found, number, default=None):
    return found[number][-1] if number in found else default


def text(value):
    return value.decode("utf-8")  # strict: a reader must not choke on it


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Trace:
    """As trace_processor reads it: in the file's order what names and declares, by time all that happens."""

    def __init__(self, data):
        self.errors, self.tracks, self.threads, self.processes = [], {}, {}, {}
        self.clocks, self.info, self.events = {}, {}, []
        self.names = {1: {}, 2: {}, 3: {}}
        self.valid = False
        self.cleared = self.lost = 0
        self.kinds = collections.Counter()
        for number, packet in fields(data):
            if number != 1:
                self.errors.append(f"field {number} is no packet")
                continue
            self.packet(message(packet))
        self.events.sort(key=lambda event: event[0])  # stable, as trace_processor's
        self.end = self.events[-1][0] if self.events else 0

    def packet(self, found):
        sequence, flags = one(found, 10, 0), one(found, 13, 0)
        if not sequence:
            self.errors.append("a packet without a sequence")
        if flags & 1:
            self.valid, self.names = True, {1: {}, 2: {}, 3: {}}
            self.cleared += 1
        if flags & 2 and not self.valid:
            self.errors.append("tokenizer_skipped_packets: state is needed before it was cleared")
        for data in found[12]:
            for kind, entry in fields(data):
                entry = message(entry)
                if not one(entry, 1):
                    self.errors.append("interned_data_tokenizer_errors: no iid")
                if one(entry, 1) in self.names[kind]:
                    self.errors.append(f"iid {one(entry, 1)} of kind {kind} is given twice")
                self.names[kind][one(entry, 1)] = text(one(entry, 2))
        at = one(found, 8)
        for number, take in ((1, self.bundle), (2, self.tree), (6, self.snapshot), (11, self.track_event), (45, self.system), (60, self.descriptor)):
            for data in found[number]:
                self.kinds[number] += 1
                take(data, at, flags)

    def snapshot(self, data, _at, _flags):
        for clock in message(data)[1]:
            clock = message(clock)
            self.clocks[one(clock, 1)] = one(clock, 2)
        self.clocks["primary"] = one(message(data), 2)

    def system(self, data, _at, _flags):
        if self.events:
            self.errors.append("the kernel's version comes after events")
        found = message(data)
        self.info = {"release": text(one(message(one(found, 1)), 3)), "cpus": one(found, 8), "machine": text(one(found, 17, b""))}

    def tree(self, data, at, _flags):
        if at is None:
            self.errors.append("a process tree without a time")
        found = message(data)
        for process in map(message, found[1]):
            self.processes[one(process, 1)] = (one(process, 2, 0), text(one(process, 3, b"")))
        for thread in map(message, found[2]):
            tid, name, tgid = one(thread, 1), text(one(thread, 2, b"")), one(thread, 3)
            if not tid or not tgid:
                self.errors.append("a thread of tid 0, or of no process")
            self.threads[tid] = (tgid, name)

    def descriptor(self, data, _at, _flags):
        found = message(data)
        uuid, parent = one(found, 1, 0), one(found, 5, 0)
        if not uuid or uuid in self.tracks:
            self.errors.append(f"track_event_tokenizer_errors: track {uuid} has no number, or is declared twice")
        if parent and parent not in self.tracks:
            self.errors.append(f"the parent {parent} of a track is not known")
        track = {"parent": parent, "name": text(one(found, 2, b"")), "kind": "lane"}
        for number, kind in ((3, "process"), (4, "thread"), (8, "counter")):
            if number in found:
                inner = message(one(found, number))
                track["kind"] = kind
                if kind != "counter":
                    track["pid"], track["tid"] = one(inner, 1, 0), one(inner, 2, 0)
                    if not track["pid"] or (kind == "thread" and not track["tid"]):
                        self.errors.append("track_event_tokenizer_errors: a thread or process without a number")
        self.tracks[uuid] = track

    def track_event(self, data, at, flags):
        found = message(data)
        kind, uuid = one(found, 9), one(found, 11)
        if at is None:
            self.errors.append("track_event_tokenizer_errors: an event without a time")
        if uuid not in self.tracks:
            self.errors.append(f"an event on track {uuid}, which is not declared")
            return
        if (self.tracks[uuid]["kind"] == "counter") != (kind == 4) or (kind == 4 and 30 not in found):
            self.errors.append("track_event_tokenizer_errors: a counter without a value, or a value on what is none")
        event = {"type": kind, "track": uuid, "flows": found[47], "args": {}, "value": one(found, 30)}
        if (10 in found or 3 in found or found[4]) and not flags & 2:
            self.errors.append("names by number without the flag that they are needed")
        if kind in (1, 3):
            event["name"] = text(one(found, 23)) if 23 in found else self.named(2, one(found, 10))
            event["category"] = self.named(1, one(found, 3))
            for annotation in map(message, found[4]):
                event["args"][self.named(3, one(annotation, 1))] = next(
                    (signed(value[0]) if number == 4 else text(value[0]) if number == 6 else value[0]) for number, value in annotation.items() if number != 1)
        self.events.append((at, "track", event))

    def named(self, kind, iid):
        if iid not in self.names[kind]:
            self.errors.append(f"iid {iid} of kind {kind} is not known")
        return self.names[kind].get(iid, "?")

    def bundle(self, data, _at, _flags):
        found = message(data)
        cpu = one(found, 1)
        if cpu is None or cpu >= 1024:
            self.errors.append("ftrace_bundle_tokenizer_errors: no CPU, or one that readers refuse")
        if one(found, 3):
            self.lost += 1
        for compact in map(message, found[4]):
            self.compact(cpu, compact)
        for event in map(message, found[2]):
            self.ftrace(cpu, event)

    def compact(self, cpu, found):
        table = [text(name) for name in found[5]]
        columns = {number: packed(one(found, number, b"")) for number in (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12)}
        for group in ((1, 2, 3, 4, 6), (7, 8, 9, 10, 11)):
            if len({len(columns[number]) for number in group}) != 1:
                self.errors.append("compact_sched_has_parse_errors: columns of several lengths")
        if columns[12] and len(columns[12]) != len(columns[7]):
            self.errors.append("flags of some wake-ups only")
        at = 0
        for delta, state, tid, prio, comm in zip(*(columns[n] for n in (1, 2, 3, 4, 6))):
            at += delta
            self.events.append((at, "compact_switch", (cpu, signed(state), tid, signed(prio), self.entry(table, comm))))
        at = 0
        for i, (delta, tid, target, _prio, comm) in enumerate(zip(*(columns[n] for n in (7, 8, 9, 10, 11)))):
            at += delta
            self.events.append((at, "compact_waking", (cpu, tid, target, self.entry(table, comm), columns[12][i] if columns[12] else None)))

    def entry(self, table, index):
        if index >= len(table):
            self.errors.append("compact_sched_has_parse_errors: a name that is not in the table")
            return "?"
        return table[index]

    def ftrace(self, cpu, found):
        at, pid = one(found, 1), one(found, 2, 0)
        if at is None:
            self.errors.append("ftrace_bundle_tokenizer_errors: no time")
        for number, kind in ((4, "switch"), (20, "waking"), (114, "wakeup_new"), (236, "rename"), (240, "free")):
            for data in found[number]:
                self.events.append((at, kind, (cpu, pid, message(data), one(found, 5))))

    def play(self):
        """What is on each track and CPU, by the rules of trace_processor's trackers."""
        self.cpu_ns, self.slices, self.counts, self.wakeups = collections.Counter(), [], [], []
        self.switches = []
        batched = {(at, what[0]) for at, kind, what in self.events if kind == "compact_switch"}
        stacks, flows, running = collections.defaultdict(list), collections.Counter(), {}
        for at, kind, what in self.events:
            if kind == "track":
                self.on_track(at, what, stacks, flows)
            elif kind == "compact_switch":
                cpu, state, tid, _prio, comm = what
                if cpu not in running:
                    self.errors.append("compact_sched_switch_skipped: the first switch of a CPU is a compact one")
                self.switched(running, cpu, at, state, tid, comm)
            elif kind == "switch":
                cpu, _pid, event, _flags = what
                if (at, cpu) in batched:
                    self.errors.append("mismatched_sched_switch_tids: a switch written out whole at the moment of one in a batch, which a reader may take first")
                if cpu in running and running[cpu][0] != one(event, 2):
                    self.errors.append(f"mismatched_sched_switch_tids: {one(event, 2)} leaves, {running[cpu][0]} was there")
                self.switched(running, cpu, at, one(event, 4), one(event, 6), text(one(event, 5)))
            elif kind == "compact_waking":
                cpu, tid, target, comm, flags = what
                if cpu not in running:
                    self.errors.append("compact_sched_waking_skipped: nobody is known to run there")
                self.wakeups.append((at, tid, running.get(cpu, (0,))[0], target, flags))
            elif kind in ("waking", "wakeup_new"):
                _cpu, pid, event, flags = what
                self.wakeups.append((at, one(event, 2), pid, one(event, 5), flags))
            elif kind == "rename":
                tid = one(what[2], 1)
                # A name of the tree stays, whatever this says.
                if tid not in self.threads:
                    self.threads[tid] = (0, text(one(what[2], 3)))
        for tid, since in running.values():
            self.cpu_ns[tid] += self.end - since
        for track, stack in stacks.items():
            for begun in stack:
                self.errors.append(f"a slice of track {self.tracks[track]['name']} does not end: {begun['name']}")
        self.flows = flows
        for flow, times in flows.items():
            if times < 2:
                self.errors.append(f"flow {flow} leads nowhere")

    def switched(self, running, cpu, at, state, tid, comm):
        if state not in (0, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100):
            self.errors.append(f"task_state_invalid: {state}")
        if tid == 0 and not comm.startswith("swapper"):
            self.errors.append(f"tid 0 is called {comm}")
        if cpu in running:
            self.cpu_ns[running[cpu][0]] += at - running[cpu][1]
        running[cpu] = (tid, at)
        self.switches.append((at, cpu, tid))

    def on_track(self, at, event, stacks, flows):
        track, stack = self.tracks[event["track"]], stacks[event["track"]]
        if event["type"] == 4:
            self.counts.append({"at": at, "value": event["value"], **self.place(event["track"])})
        elif event["type"] == 2:
            if not stack:
                self.errors.append(f"track_event_thread_invalid_end: nothing to end on {track['name']}")
            else:
                begun = stack.pop()
                begun["dur"] = at - begun["at"]
        else:
            if event["type"] == 1 and stack:
                self.errors.append(f"a slice of {track['name']} begins before the last one ended")
            made = {"at": at, "dur": 0, "name": event["name"], "category": event["category"], "args": event["args"], "flows": event["flows"],
                    "instant": event["type"] == 3, **self.place(event["track"])}
            for flow in event["flows"]:
                flows[flow] += 1
            self.slices.append(made)
            if event["type"] == 1:
                stack.append(made)

    def place(self, uuid):
        track = self.tracks[uuid]
        parent = self.tracks.get(track["parent"], {})
        return {"track": track["name"], "tid": parent.get("tid", 0), "pid": parent.get("pid", 0)}


def lines(trace):
    """Of each file that is written, its lines."""
    yield "errors", trace.errors[:20]
    yield "cpu", [f"{tid} {ns}" for tid, ns in sorted(trace.cpu_ns.items()) if ns and tid]
    yield "switches", [f"{at} {cpu} {tid}" for at, cpu, tid in trace.switches]
    yield "slices", map(json.dumps, trace.slices)
    yield "counts", map(json.dumps, trace.counts)
    yield "threads", [json.dumps({"tid": tid, "pid": pid, "name": name, "parent": trace.processes.get(tid, (0, ""))[0], "program": trace.processes.get(tid, (0, ""))[1]})
                      for tid, (pid, name) in sorted(trace.threads.items())]
    yield "wakeups", [json.dumps({"at": at, "tid": tid, "waker": waker, "target": target, "flags": flags}) for at, tid, waker, target, flags in trace.wakeups]
    yield "clocks", [json.dumps({**{str(key): value for key, value in trace.clocks.items()}, **trace.info})]
    yield "sizes", [json.dumps({"switches": len(trace.switches), "wakeups": len(trace.wakeups), "slices": len(trace.slices), "tracks": len(trace.tracks),
                                "flows": len(trace.flows), "lost": trace.lost, "cleared": trace.cleared, "end": trace.end})]


def main():
    trace = Trace(open(sys.argv[1], "rb").read())
    trace.play()
    os.makedirs(sys.argv[2], exist_ok=True)
    for name, rows in lines(trace):
        with open(os.path.join(sys.argv[2], name), "w", encoding="utf-8") as out:
            out.writelines(f"{row}\n" for row in rows)


if __name__ == "__main__":
    main()

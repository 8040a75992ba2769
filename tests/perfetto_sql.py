#!/usr/bin/env python3
"""Perfetto's own trace_processor is asked what it makes of traces: `perfetto_sql.py WASM SCRATCH`, where tests/replay/45-trace-processor.sh has put traces, and
what the views say of the same recordings. Prints "ok<tab>NAME" or "no<tab>NAME<tab>WHAT WAS SEEN"."""
import collections
import json
import os
import subprocess
import sys

from browser import check, same

wasm, scratch = sys.argv[1:]
FAULTS = "select name, idx, value from stats where severity in ('error', 'data_loss') and value > 0"
# Who ran, up to the end of the trace.
RUNS = "select ts, cpu, tid, iif(dur < 0, trace_end() - ts, dur) from sched join thread using (utid) order by ts"
WAKEUPS = "select s.ts, t.tid, w.tid from thread_state s join thread t using (utid) join thread w on s.waker_utid = w.utid where s.state = 'R'"
COUNTS = "select name, count(*) from ftrace_event group by name"
SLICES = ("select s.id, s.name, s.ts, s.dur, t.name, th.tid, s.category from slice s join thread_track t on s.track_id = t.id join thread th using (utid) "
          "order by s.ts, s.id")
FLOWS = "select slice_out, slice_in from flow"
ARGS = "select s.id, replace(a.key, 'debug.', ''), a.display_value from slice s join args a using (arg_set_id)"
THREADS = "select t.tid, t.name, p.pid from thread t left join process p using (upid)"
MACHINES = "select m.raw_id, t.tid, t.name, count(*), min(s.ts), max(s.ts) from sched s join thread t using (utid) join machine m on t.machine_id = m.id where tid <> 0 group by 1, 2, 3 order by 1, 2, 3"
MARKS = ("select m.raw_id, s.name, s.ts, s.dur from slice s join track t on s.track_id = t.id join machine m on t.machine_id = m.id order by 1, s.ts, s.id")
TWICE = "select tid, count(*) from thread group by tid having count(*) > 1 and tid <> 0"
EVERYTHING = (FAULTS, RUNS, WAKEUPS, COUNTS, SLICES, FLOWS, ARGS, THREADS, TWICE, "select to_realtime(trace_start()), trace_start()")
ASKED = {"example": EVERYTHING, "part": (FAULTS, RUNS), "torn": (FAULTS,), "chrome": (FAULTS, SLICES), "steps": (FAULTS, SLICES, FLOWS),
         "every-kind": (FAULTS, SLICES), "fork": (FAULTS, RUNS, TWICE), "machines": (FAULTS, MACHINES, MARKS)}


def ask():
    """Of each trace the answer to each question."""
    lines, asked = [], []
    for name, queries in ASKED.items():
        path = os.path.join(scratch, name + {"chrome": ".json", "machines": ".tar"}.get(name, ".pftrace"))
        if os.path.exists(path):
            lines += ["open " + path, *queries]
            asked += [(name, query) for query in queries]
    done = subprocess.run(["node", "tests/traceprocessor.mjs", wasm], input="\n".join(lines), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"no\ttrace_processor reads the traces\t{done.stderr[-500:]!r}")
    return {key: json.loads(line) for key, line in zip(asked, done.stdout.splitlines())}


def view(name):
    with open(os.path.join(scratch, name), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def check_faults(answers):
    words = {"example": "the example's trace", "part": "a part's trace", "torn": "the trace of a torn recording", "chrome": "the example as JSON for chrome://tracing", "steps": "a trace of training steps", "fork": "a trace of processes whose first thread ends first"}
    for name, subject in words.items():
        if (name, FAULTS) in answers:
            same(f"{subject} has nothing that trace_processor counts as an error or a loss", answers[name, FAULTS], [])
    same("of a trace of every kind of event trace_processor counts the loss that it tells of, and no error", answers["every-kind", FAULTS], [["ftrace_cpu_has_data_loss", 1, 1]])


def cpu_times(runs):
    spent = collections.Counter()
    for _, _, tid, ns in runs:
        spent[tid] += ns
    return spent


def check_runs(answers):
    switches = [row for row in view("events") if row["event"] == "switch"]
    # A switch whose thread did not come by one that was seen: somebody let it come since.
    unseen, running = 0, {}
    for row in switches:
        unseen += row["cpu"] in running and running[row["cpu"]] != row["tid"]
        running[row["cpu"]] = row["next_tid"]
    runs = answers["example", RUNS]
    same("trace_processor has a slice for every switch of the recording, and for each that must have been", len(runs), len(switches) + unseen)
    shown = collections.Counter((ts, cpu, tid) for ts, cpu, tid, _ in runs)
    same("who comes with each switch, where and when, is the same there", sum(((row["time_ns"], row["cpu"], row["next_tid"]) not in shown) for row in switches), 0)
    for name, tasks in (("example", "tasks"), ("part", "part-tasks")):
        spent = cpu_times(answers[name, RUNS])
        wanted = {row["tid"]: row["cpu_ns"] for row in view(tasks) if row.get("cpu_ns")}
        same(f"trace_processor's running time of each thread is that of 'tactus tasks -i' to the nanosecond ({name})", {tid: spent[tid] for tid in wanted}, wanted)
        print(f"# measured: {name}: {len(wanted)} threads, {sum(wanted.values())} ns in the accounts, {sum(spent[tid] for tid in wanted)} by trace_processor")


def check_wakeups(answers):
    wanted = collections.Counter((row["time_ns"], row["tid"], row["waker_tid"]) for row in view("events") if row["event"] == "wakeup")
    counts = dict(answers["example", COUNTS])
    same("trace_processor has every wake-up of the recording", counts["sched_waking"] + counts["sched_wakeup_new"], wanted.total())
    shown = answers["example", WAKEUPS]
    same("who woke whom and when is the same there", [row for row in shown if not wanted[tuple(row)]], [])
    check("of nearly every wake-up trace_processor says who waited for it and who woke it", len(shown) > 0.95 * wanted.total(), (len(shown), wanted.total()))
    print(f"# measured: {len(shown)} waits after wake-ups, of {wanted.total()} wake-ups")


def check_frames(answers):
    slices = answers["example", SLICES]
    frames = [row for row in slices if row[4] == "frames" and row[6] in ("frame", "late")]
    late = [row for row in view("why") if row["record"] == "late_frame"]
    wanted = [row for row in view("frames") if row["record"] == "frames"][0]
    same("trace_processor has a slice for every frame of 'tactus frames'", len(frames), wanted["frames"])
    args = collections.defaultdict(dict)
    for number, key, value in answers["example", ARGS]:
        args[number][key] = value
    seen = [row for row in frames if row[6] == "late"]
    same("late frames there, how long they took, their cause and who was in the way are those of 'tactus frames --why'",
         [(row[1], row[3], args[row[0]]["late_ns"], args[row[0]]["cause"], args[row[0]]["behind_tid"]) for row in seen],
         [(f"late frame {row['late_frame']}", row["interval_ns"], str(row["late_ns"]), row["cause"], str(row["other_tid"] or 0)) for row in late])
    leads, by_id = collections.defaultdict(list), {row[0]: row for row in slices}
    for begins, ends in answers["example", FLOWS]:
        leads[begins].append(ends)
    # Of a frame, whose slices its arrows come to in the end.
    ends = []
    for row in seen:
        reached, ahead = set(), [row[0]]
        while ahead:
            at = ahead.pop()
            ahead += leads[at]
            reached |= {by_id[at][5]} if by_id[at][4] == "in the way" else set()
        ends.append(reached)
    same("the arrow from each late frame leads there to the thread that was in the way", [row["other_tid"] in reached for row, reached in zip(late, ends)], [True] * len(late))
    waits = [row for row in view("latency") if row["record"] == "wait"]
    same("long waits there are those of 'tactus latency --over'", sorted((row[5], row[3]) for row in slices if row[4] == "waits"), sorted((row["tid"], row["wait_ns"]) for row in waits))
    same("an arrow leads from each long wait behind somebody to that thread, and none comes from nowhere",
         len(answers["example", FLOWS]), sum(bool(leads[row[0]]) for row in slices if row[4] in ("waits", "frames")))
    print(f"# measured: {len(frames)} frames, {len(seen)} of them late, {len(waits)} long waits, {len(answers['example', FLOWS])} flows")


def check_threads(answers):
    shown = {tid: (name, pid) for tid, name, pid in answers["example", THREADS] if tid}
    rows = view("tasks")
    same("trace_processor calls threads and their processes what 'tactus tasks' does", {row["tid"]: shown.get(row["tid"]) for row in rows}, {row["tid"]: (row["comm"], row["pid"]) for row in rows})
    for name, subject in (("example", "the example"), ("fork", "a process whose first thread ends first")):
        same(f"every thread of {subject} is one thread to trace_processor", answers[name, TWICE], [])
    same("a thread that outlives the first of its process keeps its time there", cpu_times(answers["fork", RUNS])[8], 45000000)
    realtime, began = answers["example", "select to_realtime(trace_start()), trace_start()"][0]
    read = view("clock")[0]
    same("trace_processor knows what the clock on the wall said", int(realtime), read["realtime_ns"] + began - read["monotonic_ns"])


def check_others(answers):
    slices = answers["steps", SLICES]
    slow = [row for row in view("steps") if row["record"] == "cuda_slow_step"]
    same("slow training steps there are those of 'tactus cuda --steps'", [(row[1], row[3]) for row in slices if row[4] == "steps" and row[6] == "slow"],
         [(f"slow step {row['step']}", row["wall_ns"]) for row in slow])
    copies = [(row[1], row[3]) for row in answers["every-kind", SLICES] if row[6] == "copy"]
    same("a copy of CUDA is a slice there as long as the call took", copies, [("cuMemcpyHtoD_v2", 7000)])
    frames = [row for row in answers["chrome", SLICES] if row[6] == "late" and row[3]]
    same("JSON for chrome://tracing has the same late frames there", [(row[1], row[3]) for row in frames],
         [(row[1], row[3]) for row in answers["example", SLICES] if row[4] == "frames" and row[6] == "late"])


def check_machines(answers):
    same("two machines' traces together have no error to trace_processor", [row for row in answers["machines", FAULTS] if row[0] != "ftrace_cpu_has_data_loss"], [])
    for query, what in ((MACHINES, "runs of threads"), (MARKS, "slices")):
        by_machine = collections.defaultdict(list)
        for machine, *row in answers["machines", query]:
            by_machine[machine].append([int(one) if isinstance(one, str) and one.isdigit() else one for one in row])
        same(f"trace_processor keeps {what} of two machines apart that have the same tids", len(by_machine), 2)
        one, two = sorted(by_machine.values(), key=lambda rows: rows[0][-1])
        # The second machine's clock on the wall was 2.5 s ahead as it began, whatever its other clocks said.
        later = [[value + 2500000000 if isinstance(value, int) and value > 1e18 else value for value in row] for row in one]
        same(f"trace_processor lines {what} of two machines up by the clock on the wall", two, later)
        first = min(value for row in one for value in row if isinstance(value, int) and value > 1e18)
        check(f"trace_processor has {what} of two machines at the time that the clock on the wall said", 0 <= first - 1800000000000000000 < 1000000, first)
        print(f"# measured: {what}: {len(one)} rows of each machine, 2.5 s apart to the nanosecond")


found = ask()
check_faults(found)
check_runs(found)
check_wakeups(found)
check_frames(found)
check_threads(found)
check_others(found)
check_machines(found)

# SPDX-License-Identifier: GPL-2.0
"""Runs the small CUDA programs under 'tactus cuda' and compares what it says with what they say of themselves.
Usage: compare.py TACTUS FOLDER-WITH-PROGRAMS OUT. Prints 'ok' or 'not ok' a line, in TAP."""
import json
import re
import subprocess
import sys

tactus, folder, out = sys.argv[1:4]
checks = failures = 0


def check(name, got, want):
    global checks, failures
    checks += 1
    good = want(got) if callable(want) else got == want
    failures += not good
    print(f"{'ok' if good else 'not ok'} {checks} - {name}: {got}" + ("" if good or callable(want) else f", want {want}"),
          flush=True)


def run(build, what, times="", options=()):
    """What the program says, and tactus's rows by table."""
    command = [tactus, "cuda", "--json", *options, "--", f"{folder}/programs-{build}", what] + ([str(times)] if times else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode or done.stderr:
        print(f"# {' '.join(command)}: status {done.returncode}: {done.stderr}", flush=True)
    said, tables = {}, {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            tables.setdefault(row["table"], []).append(row)
        else:
            said.update(re.findall(r"(\w+)=(\S+)", line))
    print(f"# {build} {what}: {said}", flush=True)
    said["untrapped"] = int((re.findall(r"(\d+) calls were counted without a trap", done.stderr) or [0])[0])
    return said, tables


def total(tables, table, field, **where):
    return sum(row[field] for row in tables.get(table, []) if all(row[k] == v for k, v in where.items()))


def calls(tables, pattern, field="calls"):
    return sum(row[field] for row in tables.get("calls", []) if re.fullmatch(pattern, row["function"]))


def errors(tables):
    return sorted((row["function"], row["name"]) for row in tables.get("errors", []))


LAUNCH = r"cuLaunch(Kernel|KernelEx|CooperativeKernel)(_ptsz)?"
for build in ("static", "shared"):
    said, tables = run(build, "launches", 20000)
    check(f"{build}: launches", calls(tables, LAUNCH), int(said.get("launches", -1)))
    print("# kernels:", [(row["kernel"], row["launches"]) for row in tables.get("launches", [])])
    check(f"{build}: launches by kernel name", total(tables, "launches", "launches"), int(said.get("launches", -1)))
    check(f"{build}: the kernel has its name", str([row["kernel"] for row in tables.get("launches", [])]),
          lambda names: "small_kernel" in names)
    # The program counts its launches itself, or reports them.
    for options, seen in ((("--sample", "100"), 200), (("-v",), 20000), (("--api", "all", "--sample", "100"), 200)):
        said, tables = run(build, "launches", 20000, options)
        check(f"{build} {' '.join(options)}: launches", calls(tables, LAUNCH), int(said.get("launches", -1)))
        check(f"{build} {' '.join(options)}: seen", calls(tables, LAUNCH, "seen"), lambda n: seen <= n <= seen + 64)
        check(f"{build} {' '.join(options)}: calls counted without a trap", said["untrapped"], lambda n: n >= 20000)
    said, tables = run(build, "leak")
    print("# memory:", tables.get("memory"), tables.get("never_freed"))
    check(f"{build}: bytes allocated", total(tables, "memory", "total_bytes", memory="device"),
          int(said.get("device_bytes", -1)))
    check(f"{build}: bytes never freed", total(tables, "never_freed", "bytes", memory="device"),
          int(said.get("leaked_bytes", -1)))
    said, tables = run(build, "waits", 20)
    ratio = calls(tables, "cuStreamSynchronize(_ptsz)?", "total_ns") / float(said.get("waited_ns", 1))
    check(f"{build}: time in cuStreamSynchronize by the program's clock", round(ratio, 4), lambda r: 0.95 < r < 1.05)
    check(f"{build}: its calls", calls(tables, "cuStreamSynchronize(_ptsz)?"), int(said.get("stream_syncs", -1)))

said, tables = run("static", "streams", 1000)
check("streams: launches", calls(tables, LAUNCH), 1000)
said, tables = run("static", "graphs", 500)
check("graphs: launched", calls(tables, "cuGraphLaunch(_ptsz)?"), 500)
check("graphs: captured launches", calls(tables, LAUNCH), 10)
said, tables = run("static", "managed")
check("managed: bytes", total(tables, "memory", "total_bytes", memory="managed"), int(said.get("managed_bytes", -1)))
said, tables = run("static", "copies", 5)
for row in tables.get("copies", []):
    print("#", row)
for kind, returns in (("host to device", "when done"), ("device to host", "when done"), ("device to device", "before"),
                      ("host to device", "before"), ("set", "before")):
    check(f"copies: {kind}, bytes", total(tables, "copies", "bytes", kind=kind, returns=returns), 5 << 26)
said, tables = run("static", "failures", options=("--api", "all"))
check("failures by name", errors(tables), lambda e: ("cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY") in e)
check("a failed launch by name", str(errors(tables)), lambda e: "cuLaunchKernel" in e and "CUDA_ERROR_INVALID_VALUE" in e)
said, tables = run("static", "threads", 5000)
check("two threads: launches", calls(tables, LAUNCH), 10000)
for options in (("--sample", "100"), ("--no-detour",)):
    said, tables = run("static", "threads", 5000, options)
    check(f"two threads, {' '.join(options)}: launches", calls(tables, LAUNCH), 10000)
    said, tables = run("static", "graphs", 500, options)
    check(f"graphs, {' '.join(options)}: launched", calls(tables, "cuGraphLaunch(_ptsz)?"), 500)
said, tables = run("static", "fork", 100)
check("fork: launches of the parent", calls(tables, LAUNCH), 100)
print("# fork: errors", errors(tables))

said, tables = run("static", "fault")
check("a fault on the GPU is an error by name", str(errors(tables)), lambda e: "CUDA_ERROR_ILLEGAL_ADDRESS" in e)
print("# fault:", tables.get("xids"))
check("and an Xid", sum(row["xid"] == 31 for row in tables.get("xids", [])), lambda n: n >= 1)
said, tables = run("static", "copies", 1, options=("--count", "cuM*"))
check("counted alone", calls(tables, "cuMemAlloc_v2"), 2)

said, tables = run("static", "launches", 1, options=("-o", f"{out}/startup.tac"))
inside, count = total(tables, "ioctls", "inside"), total(tables, "ioctls", "count")
check("ioctls at start-up", count, lambda n: n > 50)
print(f"# {inside} of {count} ioctls inside calls")
unnamed = sorted({row["name"] for row in tables.get("ioctls", []) if re.search(r"0x[0-9a-f]+$", row["name"])})
print("# without a name:", unnamed)
again = subprocess.run([tactus, "cuda", "--json", "-i", f"{out}/startup.tac"], capture_output=True, text=True)
live = [json.dumps(row) for rows in tables.values() for row in rows]
check("the recording says the same", sorted(live) == sorted(json.dumps(json.loads(l)) for l in again.stdout.splitlines()),
      True)
print(f"1..{checks}\n# {failures} failed")
sys.exit(failures > 0)

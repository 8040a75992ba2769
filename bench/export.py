#!/usr/bin/env python3
"""What files and pages of a recording take: CPU time, events a second, bytes, memory; and how quickly a browser draws a page of 100,000 frames.
The recording is examples/late-frames.tactus many times over: bench/export.py [--times 440] [--rounds 3] [--only csv,json,...] [--no-browser]
With --live (as root): what a trace costs that is recorded as it happens, beside hackbench, and a recording for comparison."""
import argparse
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, "tests")
from browser import Browser  # noqa: E402

TACTUS, EXAMPLE = os.environ.get("TACTUS", "build/tactus"), "examples/late-frames.tactus"
HEADER, BLOCK = "<8sIIQQ64sII", "<IIIIQQQ"
FORMATS = ["pftrace", "parquet", "csv", "json"]
SCREENS = 300  # that are drawn anew, each with another part of the time


def blocks_of(data):
    """Of each block its head, its payload, and where in it events begin, by the lengths in core/event.h."""
    with open("core/event.h", encoding="utf-8") as table:
        sizes = [int(size) for size in re.findall(r"^\s*EVENT\(\w+, \w+, \w+, \w+, (\d+)\)", table.read(), re.M)]
    at = struct.unpack_from("<I", data, 12)[0]
    while at < len(data):
        head = struct.unpack_from(BLOCK, data, at)
        payload = data[at + struct.calcsize(BLOCK):at + struct.calcsize(BLOCK) + head[1]]
        begins, next_one = [], 0
        while next_one < len(payload):
            begins.append(next_one)
            next_one += sizes[payload[next_one + 14] - 1]
        yield head, payload, begins
        at += struct.calcsize(BLOCK) + head[1]


def repeat(path, times):
    """The example so often, one behind another. Returns how many events that are."""
    with open(EXAMPLE, "rb") as file:
        data = file.read()
    blocks = list(blocks_of(data))
    start, span = struct.unpack_from("<Q", data, 24)[0], max(head[6] for head, _, _ in blocks) + 1
    with open(path, "wb") as out:
        out.write(data[:struct.unpack_from("<I", data, 12)[0]])
        for number in range(times):
            by = number * (span - start)
            for head, payload, begins in blocks:
                later = bytearray(payload)
                for at in begins:
                    struct.pack_into("<Q", later, at, struct.unpack_from("<Q", payload, at)[0] + by)
                fields = [*head[:3], 0, head[4], head[5] + by, head[6] + by]
                fields[3] = zlib.crc32(bytes(later), zlib.crc32(struct.pack(BLOCK, *fields)))
                out.write(struct.pack(BLOCK, *fields) + later)
    return times * sum(len(begins) for _, _, begins in blocks)


def memory_kb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        found = re.search(r"VmHWM:\s*(\d+)", status.read())
    return int(found[1]) if found else 0


def measure(rounds, events, path, *words):
    """CPU time of one round in the middle, and of the worst."""
    spent, most_kb = [], 0
    for _ in range(rounds):
        pid = os.posix_spawn(TACTUS, [TACTUS, *words], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)])
        ended = 0
        while not ended:
            # What wait4 tells of memory counts what was there before the program was loaded.
            most_kb = max(most_kb, memory_kb(pid))
            time.sleep(0.01)
            ended, status, usage = os.wait4(pid, os.WNOHANG)
        assert status == 0, f"{words} ended with {status}"
        spent.append(usage.ru_utime + usage.ru_stime)
    middle, size = sorted(spent)[len(spent) // 2], os.stat(path).st_size
    print(f"{words[0]} to .{path.rsplit('.', 1)[1]}: {middle:.2f} s of CPU time (at most {max(spent):.2f}), {events / middle / 1e6:.2f} million events a second, "
          f"{size / 1e6:.2f} MB, {size / events:.1f} bytes an event, {most_kb / 1024:.1f} MB of memory", flush=True)


# Every picture of the screen shows another part of the time, in and out between all of it and a fiftieth.
ZOOM = """const most = arguments[0], took = [], gaps = [], real = Chart.prototype.draw;
let spent = 0, last = 0, left = most;
Chart.prototype.draw = function () { const from = performance.now(); real.call(this); spent += performance.now() - from; };
return new Promise((done) => {
  const next = (now) => {
    if (last) { gaps.push(now - last); took.push(spent); }
    last = now; spent = 0;
    if (!left--) { Chart.prototype.draw = real; done([frameGraph.series.len, took.sort((a, b) => a - b), gaps.sort((a, b) => a - b)]); return; }
    const part = 0.51 + 0.49 * Math.cos(left / 20), at = whole * (0.5 + 0.4 * Math.sin(left / 33));
    setView(at - whole * part / 2, at + whole * part / 2);
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})"""


# How often a page with nothing on it gets a picture of the screen: what this machine allows at that moment.
EMPTY = """const gaps = []; let last = 0, left = arguments[0];
return new Promise((done) => {
  const next = (now) => { if (last) gaps.push(now - last); last = now; if (left--) requestAnimationFrame(next); else done(gaps.sort((a, b) => a - b)); };
  requestAnimationFrame(next);
})"""


# Every chart of the page, all of the time: the best of ten, by the clock.
CHARTS = """showAll(); let all = 0;
for (const chart of charts) { let best = Infinity; for (let i = 0; i < 10; i++) { const from = performance.now(); chart.draw(); best = Math.min(best, performance.now() - from); } all += best; }
return [all, charts.length]"""


def empty_page(browser, folder):
    with open(os.path.join(folder, "empty.html"), "w", encoding="utf-8") as page:
        page.write("<!DOCTYPE html><title>nothing</title>")
    browser.open("file://" + os.path.join(folder, "empty.html"))
    return browser.run(EMPTY, SCREENS)


def measure_page(folder, path):
    with Browser(folder) as browser:
        empty = empty_page(browser, folder)
        browser.open("file://" + path)
        browser.wait('document.documentElement.dataset.ready === "yes"')
        ready = browser.run("return performance.getEntriesByName('ready')[0].startTime")
        browser.run("frameGraph.chart.canvas.scrollIntoView({ block: 'center', behavior: 'instant' })")
        before_ms = browser.spent_ms()
        frames, took, gaps = browser.run(ZOOM, SCREENS)
        spent_ms = (browser.spent_ms() - before_ms) / SCREENS
        charts = browser.run(CHARTS)
        empty = sorted(empty + empty_page(browser, folder))

    def at(values, share):
        return values[min(len(values) - 1, int(len(values) * share))]
    print(f"page of {frames} frames: ready after {ready:.0f} ms; zoomed {SCREENS} times, the page's thread took {spent_ms:.1f} ms of CPU time a picture, drawing itself {at(took, 0.5):.1f} ms by the clock (p99 {at(took, 0.99):.1f}, at most {took[-1]:.1f}), "
          f"pictures came every {at(gaps, 0.5):.1f} ms (p99 {at(gaps, 0.99):.1f}, at most {gaps[-1]:.1f}), those of an empty page before and after it every {at(empty, 0.5):.1f} (p99 {at(empty, 0.99):.1f}, at most {empty[-1]:.1f}); all {charts[1]} charts of all of the time take {charts[0]:.1f} ms at best", flush=True)


def recorded(path, span):
    """Events, and CPU time of the recorder alone: not of its probes, which run in the threads that are watched."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([TACTUS, "record", "-d", span, "--force", "-o", path], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    events, lost = re.search(r": (\d+) events", said.stdout + said.stderr), re.search(r"(\d+) lost", said.stdout + said.stderr)
    return int(events[1]), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, int(lost[1])


def measure_live(folder, rounds):
    """What loading and ending takes is taken off: that of a recording of a fifth of a second."""
    for _ in range(rounds):
        for form in ("pftrace", "tactus"):
            path = os.path.join(folder, "live." + form)
            few, short, _ = recorded(path, "200ms")
            with subprocess.Popen(["hackbench", "-p", "-g", "1", "-l", "15000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as load:
                events, spent, lost = recorded(path, "4")
                load.terminate()
            print(f"record -o x.{form}: {events} events, {lost} lost, {spent:.2f} s of CPU time, {short:.2f} of them for loading: {(events - few) / (spent - short) / 1e6:.2f} million events a second", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=440)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join([*FORMATS, "html"]))
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--live", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        long, minute = os.path.join(folder, "long.tactus"), os.path.join(folder, "minute.tactus")
        if chosen.live:
            measure_live(folder, chosen.rounds)
            return
        events, of_minute = repeat(long, chosen.times), repeat(minute, 6)
        print(f"{EXAMPLE} {chosen.times} times over: {events} events, {os.stat(long).st_size / 1e6:.0f} MB", flush=True)
        for form in chosen.only.split(","):
            path = os.path.join(folder, "out." + form)
            if form == "html":
                measure(chosen.rounds, of_minute, os.path.join(folder, "minute.html"), "report", "-i", minute, "-o", os.path.join(folder, "minute.html"))
                measure(chosen.rounds, events, path, "report", "-i", long, "-o", path)
                if not chosen.no_browser:
                    measure_page(folder, os.path.join(folder, "minute.html"))
                    measure_page(folder, path)
            else:
                measure(chosen.rounds, events, path, "export", "-i", long, "-o", path)
            os.remove(path)


if __name__ == "__main__":
    main()

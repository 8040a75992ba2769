#!/usr/bin/env python3
"""What a scrape of 10,000 threads takes, all of which ran since the one before: CPU time of 'tactus serve' by its own figures, and the time from the request to the end of the answer.
Needs root, and build/workloads. Usage: bench/scrape.py [THREADS [SCRAPES]]"""
import os, re, subprocess, sys, tempfile, time, urllib.request


def scrape(url):
    """How long it took, and its lines."""
    began = time.monotonic()
    with urllib.request.urlopen(url, timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return time.monotonic() - began, [line for line in lines if line and line[0] != "#"]


def value(lines, name):
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if re.match(name + r"[ {]", line))


def begin(folder, threads):
    """The server beside so many threads, and where its figures are."""
    with open(folder + "/err", "w") as err:
        server = subprocess.Popen(["build/tactus", "serve", "--metrics", "127.0.0.1:0", "--without", "all", "--", "build/workloads/crowd", "wake", str(threads), "400"],
                                  stdout=subprocess.DEVNULL, stderr=err)
    for _ in range(600):
        with open(folder + "/err") as err:
            found = re.search(r"figures are at (\S+)", err.read())
        if found:
            return server, found[1]
        time.sleep(0.1)
    sys.exit("tactus serve did not begin")


def main(threads, scrapes):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    cpu, clock = [], []
    with tempfile.TemporaryDirectory() as folder:
        server, url = begin(folder, threads)
        for _ in range(120):
            before = scrape(url)[1]
            if value(before, "tactus_active_threads") >= threads:
                break
            time.sleep(1)
        for _ in range(scrapes):
            time.sleep(1.2)  # what is served is at most a second old
            took, lines = scrape(url)
            clock.append(took * 1000)
            cpu.append((value(lines, "tactus_self_reading_seconds_total") - value(before, "tactus_self_reading_seconds_total")) * 1000)
            before = lines
        server.terminate()
        server.wait()
    for name, times in (("CPU time", sorted(cpu)), ("from the request to the end of the answer", sorted(clock))):
        print(f"{name}: {times[len(times) // 2]:.1f} ms ({times[0]:.1f} to {times[-1]:.1f}), {len(times)} scrapes of {value(before, 'tactus_active_threads'):.0f} threads in {len(before)} series")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 10000, int(sys.argv[2]) if len(sys.argv) > 2 else 15)

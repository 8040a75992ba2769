#!/usr/bin/env python3
"""What a scrape of 10,000 threads takes: CPU time of 'tactus serve' by its own figures, and the time from the request to the end of the answer, also without what those who take part in
it waited for a CPU that others had (by the kernel's count: the second number of schedstat). Of threads all of which ran since the one before and sleep now, of such that slept all the
while, and of such that run all the while and want the same CPUs. Needs root, and build/workloads. Usage: bench/scrape.py [THREADS [SCRAPES]]"""
import os, re, subprocess, sys, tempfile, time, urllib.request


def scrape(url):
    """Its lines."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return [line for line in lines if line and line[0] != "#"]


def value(lines, name):
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if re.match(name + r"[ {]", line))


def begin(folder, crowd):
    """The server beside so many threads, and where its figures are."""
    with open(folder + "/err", "w") as err:
        server = subprocess.Popen(["build/tactus", "serve", "--metrics", "127.0.0.1:0", "--without", "all", "--", "build/workloads/crowd", *crowd],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, bufsize=0)
    for _ in range(600):
        with open(folder + "/err") as err:
            found = re.search(r"figures are at (\S+)", err.read())
        if found:
            return server, found[1]
        time.sleep(0.1)
    sys.exit("tactus serve did not begin")


def waited_ms(server):
    """For a CPU, so far: the one that reads, those that answer, and this one."""
    pids = [server.pid, "self"] + open(f"/proc/{server.pid}/task/{server.pid}/children").read().split()
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/comm") as comm, open(f"/proc/{pid}/schedstat") as file:
            if comm.read().strip() != "crowd":
                total += int(file.read().split()[1])
    return total / 1e6


def measure(name, crowd, threads, scrapes, has_turns):
    cpu, clock, alone = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        server, url = begin(folder, crowd)
        if crowd[0] == "turn":
            server.stdout.readline()
        for _ in range(120):
            before = scrape(url)
            if value(before, "tactus_active_threads") >= threads or crowd[0] == "turn":
                break
            time.sleep(1)
        for _ in range(scrapes):
            if has_turns:
                server.stdin.write(b"\n")
                server.stdout.readline()
            time.sleep(1.2)  # what is served is at most a second old
            waited, began = waited_ms(server), time.monotonic()
            lines = scrape(url)
            clock.append((time.monotonic() - began) * 1000)
            alone.append(max(0, clock[-1] - (waited_ms(server) - waited)))
            cpu.append((value(lines, "tactus_self_reading_seconds_total") - value(before, "tactus_self_reading_seconds_total")) * 1000)
            before = lines
        server.terminate()
        server.stdin.close()
        server.wait()
    for what, times in (("CPU time", sorted(cpu)), ("by the clock", sorted(clock)), ("by the clock without waits for a CPU", sorted(alone))):
        print(f"{name}, {what}: {times[len(times) // 2]:.1f} ms ({times[0]:.1f} to {times[-1]:.1f}), {len(times)} scrapes, {value(before, 'tactus_active_threads'):.0f} threads of {threads} "
              f"active, {len(before)} series", flush=True)


def main(threads, scrapes):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    measure("ran and sleep", ["turn", str(threads), "0"], threads, scrapes, True)
    measure("slept", ["turn", str(threads), "0"], threads, scrapes, False)
    measure("run", ["wake", str(threads), "400"], threads, scrapes, False)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 10000, int(sys.argv[2]) if len(sys.argv) > 2 else 15)

#!/usr/bin/env python3
"""What figures for Prometheus cost in a 'tactus run': CPU time of its processes, CPU time of its programs in the kernel (kernel.bpf_stats_enabled), and of these the mean time of the
program at each switch; without --metrics, with it, scraped every second, beside somebody who presents 60 frames a second, and with --cuda, in turns, so that the machine's load is the same
for all. Without frames nobody's are watched, so that those of others have no say. The run decides and changes nothing. Needs root; sets the kernel's switch back. Usage: bench/metrics.py [ROUNDS [SECONDS]]"""
import os, re, subprocess, sys, tempfile, threading, time, urllib.request

SWITCH = "/proc/sys/kernel/bpf_stats_enabled"
METRICS = ["--metrics", "127.0.0.1:0"]
# Name, options, whether it is scraped, whether frames are presented.
KINDS = [("run", [], False, False), ("run, frames", [], False, True), ("--metrics", METRICS, False, False), ("--metrics, scraped", METRICS, True, False),
         ("--metrics, frames", METRICS, True, True), ("--metrics --cuda", METRICS + ["--cuda"], True, False)]


def programs(pid):
    """By number: nanoseconds and runs."""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            if "bpf-prog" not in os.readlink(f"/proc/{pid}/fd/{fd}"):
                continue
            with open(f"/proc/{pid}/fdinfo/{fd}") as file:
                facts = dict(re.findall(r"^(\w+):\s*(\S+)", file.read(), re.M))
        except OSError:
            continue
        found[facts["prog_id"]] = (int(facts.get("run_time_ns", 0)), int(facts.get("run_cnt", 0)))
    return found


def cpu_of(pid):
    """Seconds of CPU time of the process and of its children, which live as long."""
    total = 0
    for task in [pid] + [int(word) for word in open(f"/proc/{pid}/task/{pid}/children").read().split()]:
        with open(f"/proc/{task}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
        total += int(words[11]) + int(words[12])
    return total / os.sysconf("SC_CLK_TCK")


class Ticking(threading.Thread):
    """Calls what it is given so often, until it is told to end."""

    def __init__(self, every, what):
        super().__init__(daemon=True)
        self.every, self.what, self.over = every, what, threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(self.every):
            self.what()


def begin(folder, options, has_frames):
    """The run, and where its figures are, if it gives any."""
    without = "launch,gpu,wine,input,socket,sound,names,learned" + ("" if has_frames else ",frame,display")
    with open(folder + "/err", "w") as err:
        run = subprocess.Popen(["build/tactus", "run", "--dry-run", "--without", without, *options], stdout=subprocess.DEVNULL,
                               stderr=err, env=dict(os.environ, TACTUS_FEED=folder + "/feed"))
    for _ in range(1200):
        with open(folder + "/err") as err:
            said = err.read()
        if "watching" in said:
            found = re.search(r"figures are at (\S+)", said)
            return run, found and found[1]
        time.sleep(0.1)
    sys.exit("tactus run did not begin")


def measure(options, is_scraped, has_frames, seconds):
    """Percent of a CPU of its processes and of its programs; mean ns of the program that ran most, which is the one at each switch, and of all programs for each of its runs."""
    tickers = []
    with tempfile.TemporaryDirectory() as folder:
        run, url = begin(folder, options, has_frames)
        presenter = subprocess.Popen(["build/workloads/present", "call", "libEGL.so.1", "eglSwapBuffers", "1", "wait"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0)
        if has_frames:
            tickers.append(Ticking(1 / 60, lambda: presenter.stdin.write(b"\n")))
        if is_scraped:
            tickers.append(Ticking(1, lambda: urllib.request.urlopen(url, timeout=60).read()))
        time.sleep(3)
        before, own, began = programs(run.pid), cpu_of(run.pid), time.monotonic()
        time.sleep(seconds)
        after, own, took = programs(run.pid), cpu_of(run.pid) - own, time.monotonic() - began
        for ticker in tickers:
            ticker.over.set()
            ticker.join()
        presenter.stdin.close()
        presenter.wait()
        run.terminate()
        run.wait()
    spent = [(after[n][0] - before[n][0], after[n][1] - before[n][1]) for n in after if n in before]
    most, whole = max(spent, key=lambda one: one[1]), sum(one[0] for one in spent)
    return 100 * own / took, whole / took / 1e7, most[0] / most[1], whole / most[1], most[1] / took


def main(rounds, seconds):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with open(SWITCH) as file:
        old = file.read()
    results = {kind[0]: [] for kind in KINDS}
    try:
        with open(SWITCH, "w") as file:
            file.write("1")
        for _ in range(rounds):
            for name, *how in KINDS:
                results[name].append(measure(*how, seconds))
    finally:
        with open(SWITCH, "w") as file:
            file.write(old)
    for which, (what, places) in enumerate((("its processes, % of a CPU", 2), ("its programs in the kernel, % of a CPU", 2), ("the program at a switch, ns", 0), ("all programs, ns a switch", 0),
                                            ("switches a second", 0))):
        for name, rows in results.items():
            values = sorted(row[which] for row in rows)
            print(f"{what:40} {name:20} median {values[len(values) // 2]:.{places}f} ({values[0]:.{places}f} to {values[-1]:.{places}f})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, float(sys.argv[2]) if len(sys.argv) > 2 else 10)

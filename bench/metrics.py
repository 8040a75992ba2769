#!/usr/bin/env python3
"""What figures for Prometheus cost a switch: the mean time of the kernel half's programs (kernel.bpf_stats_enabled) in a 'tactus run' with and without --metrics, in turns,
so that the machine's load is the same for both. The run decides and changes nothing. Needs root; sets the kernel's switch back. Usage: bench/metrics.py [ROUNDS]"""
import os, re, subprocess, sys, tempfile, time

SWITCH = "/proc/sys/kernel/bpf_stats_enabled"


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


def measure(options):
    """Mean ns of the program that ran most, which is the one at each switch, and of all programs for each of its runs."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/err", "w") as err:
            run = subprocess.Popen(["build/tactus", "run", "--dry-run", "--without", "all", *options], stdout=subprocess.DEVNULL, stderr=err,
                                   env=dict(os.environ, TACTUS_FEED=folder + "/feed"))
        for _ in range(600):
            with open(folder + "/err") as err:
                if "watching" in err.read():
                    break
            time.sleep(0.1)
        time.sleep(1)
        before = programs(run.pid)
        time.sleep(5)
        after = programs(run.pid)
        run.terminate()
        run.wait()
    spent = [(after[n][0] - before[n][0], after[n][1] - before[n][1]) for n in after if n in before]
    most = max(spent, key=lambda one: one[1])
    return most[0] / most[1], sum(one[0] for one in spent) / most[1]


def main(rounds):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    with open(SWITCH) as file:
        old = file.read()
    results = {"run": [], "run --metrics": []}
    try:
        with open(SWITCH, "w") as file:
            file.write("1")
        for _ in range(rounds):
            results["run"].append(measure([]))
            results["run --metrics"].append(measure(["--metrics", "127.0.0.1:0"]))
    finally:
        with open(SWITCH, "w") as file:
            file.write(old)
    for name, pairs in results.items():
        for which, what in enumerate(("the program at a switch", "all programs a switch")):
            values = sorted(pair[which] for pair in pairs)
            print(f"{name:14} {what:24} median {values[len(values) // 2]:6.0f} ns, {values[0]:.0f} to {values[-1]:.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)

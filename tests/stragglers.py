#!/usr/bin/env python3
"""Jobs of eight ranks of which it is known who is late and by what, as figures: tests of the rules for promtool, and what a
Prometheus has of six minutes, which the rules and 'tactus fleet' are asked about.

stragglers.py promtool | openmetrics END-SECONDS | wanted | jobs
"""
import random
import sys

PARTS = ["cpu_wait", "data", "lock", "sync", "copy", "collective", "ran", "slept", "unknown"]
RANKS = 8
LATE = 5
STEP_S = 15  # of steps, each scrape


def job(waited, more, noise=0.04, usual=0.05, waits=None, everybody=None):
    """All but LATE wait `waited` of a step for it; it does `more` meanwhile."""
    ranks = []
    for rank in range(RANKS):
        own = noise * (rank * 7 % RANKS) / RANKS
        parts = {part: usual + own for part in PARTS if part != "unknown"}
        parts.update(everybody or {})
        parts["collective"] = waits if rank == LATE and waits is not None else 0.01 if rank == LATE else waited + own
        if rank == LATE:
            for part, share in more.items():
                parts[part] += share
        else:
            parts["slept"] += waited  # in the calls in which it waits for the others
        ranks.append(parts)
    return ranks


def crowded(more, cpu_wait):
    """Steps of 88 ms on a full machine: each has 5 ms to do and waits 30 ms for CPUs meanwhile."""
    ranks = []
    for rank in range(RANKS):
        parts = {"cpu_wait": 0.34, "sync": 0.045, "data": 0.01, "collective": 0.6}
        if rank == LATE:
            parts["collective"] = 0
            parts["cpu_wait"] += cpu_wait
            for part, share in more.items():
                parts[part] = parts.get(part, 0) + share
        ranks.append(parts)
    return ranks


def chance(longer):
    """All are equal, but one waited longer for CPUs on a full machine."""
    return [{"cpu_wait": 0.6 + (longer if rank == LATE else 0), "sync": 0.15, "collective": 0.25 - (longer if rank == LATE else 0)} for rank in range(RANKS)]


def little():
    ranks = [{"cpu_wait": 0.45, "data": 0.075, "lock": 0.075, "collective": 0.4} for _ in range(RANKS)]
    ranks[LATE] = {"cpu_wait": 0.675, "data": 0.115, "lock": 0.11, "collective": 0.1}
    return ranks


def noisy():
    """As seen at a load of 25 on two CPUs: others are late at times as well."""
    waits = [0.608, 0.528, 0.516, 0.507, 0.590, 0.286, 0.506, 0.599]
    return [{"collective": waits[rank], "cpu_wait": 0.04 if rank == LATE else 0.22, "data": 0.6 if rank == LATE else 0.15} for rank in range(RANKS)]


# Name, what is so of it, the cause of LATE or None, and the ranks.
JOBS = [
    ("cpu", "One whose CPU somebody has.", "cpu", job(0.4, {"cpu_wait": 0.4})),
    ("data", "One whose DataLoader is slow.", "data", job(0.4, {"data": 0.4})),
    ("lock", "One that waits for a lock.", "lock", job(0.4, {"lock": 0.4})),
    ("sync", "One whose GPU is slow.", "gpu", job(0.4, {"sync": 0.4})),
    ("copy", "One that copies for longer.", "gpu", job(0.4, {"copy": 0.4})),
    ("gpu", "One whose GPU and copies together are slow, and neither by itself half of what it is late.", "gpu", job(0.4, {"sync": 0.18, "copy": 0.18})),
    ("gpu-runs", "One that runs in calls that wait for the GPU: that is the GPU's, not its own work.", "gpu", job(0.4, {"sync": 0.4, "ran": 0.4})),
    ("work", "One that works longer itself.", "work", job(0.4, {"ran": 0.4})),
    ("slept", "One that sleeps: nothing that it does is longer.", "not_it", job(0.4, {"slept": 0.4})),
    ("mixed", "One that does a little more of everything, nothing of it half of what it is late.", "not_it", job(0.4, {"data": 0.13, "lock": 0.13, "ran": 0.13})),
    ("equal", "All are equal.", None, job(0.0, {}, waits=0.0)),
    ("twentieth", "One that is late by a twentieth of a step.", None, job(0.05, {"data": 0.05}, noise=0)),
    ("little", "One that waits a tenth of a step less where all wait for half of one.", None, job(0.5, {"data": 0.12}, waits=0.38)),
    ("spread", "One that waits less, where ranks differ by as much anyway.", None, job(0.2, {"data": 0.2}, noise=0.6)),
    ("full-lock", "A full machine: all wait for CPUs, and who also waits for a lock waits for CPUs oftener.", "lock", crowded({"lock": 0.28}, 0.32)),
    ("full-data", "The same by its DataLoader.", "data", crowded({"data": 0.28}, 0.32)),
    ("full-cpu", "A full machine, and somebody has the CPU of one.", "cpu", crowded({}, 0.6)),
    ("full-chance", "A full machine where one waited for CPUs a little longer by chance.", None, chance(0.15)),
    ("full-little", "A full machine, and one that does a twenty-fifth of a step more of two things, for which it waits for CPUs as all do.", None, little()),
    ("full-noisy", "A full machine where others are late at times too.", "data", noisy()),
]


def random_jobs():
    """What nobody has thought of: the rules and the program must agree about them, whatever they say."""
    chosen = random.Random(7)
    for number in range(30):
        ranks = []
        crowd, noise = chosen.choice([0, 0.2, 0.5]), chosen.choice([0.01, 0.05, 0.15])
        late, by, much = chosen.randrange(RANKS), chosen.choice(PARTS), chosen.choice([0, 0.1, 0.2, 0.4])
        second, more = chosen.choice(PARTS), chosen.choice([0, 0.1, 0.2])
        for rank in range(RANKS):
            parts = {part: chosen.random() * noise for part in PARTS}
            parts["cpu_wait"] += crowd * (0.8 + 0.4 * chosen.random())
            if rank == late:
                parts[by] += much
                parts[second] += more
            parts["collective"] += 0.0 if rank == late else much + more
            ranks.append(parts)
        yield f"random-{number}", ranks


def few():
    """Two ranks are not compared; nor is one that has ended hardly any steps."""
    ranks = job(0.4, {"data": 0.4})
    yield "two", [ranks[0], ranks[LATE]], 1
    yield "begun", ranks, 0.001


def series(name, ranks, steps):
    for rank, parts in enumerate(ranks):
        labels = f'instance="{"a" if rank < RANKS / 2 else "b"}",training_job="{name}",rank="{rank}"'
        yield f"tactus_rank_steps_total{{{labels}}}", 100 * steps
        yield f'tactus_rank_step_seconds_total{{{labels},part="all"}}', STEP_S
        for part in PARTS:
            yield f'tactus_rank_step_seconds_total{{{labels},part="{part}"}}', round(parts.get(part, 0) * STEP_S, 6)


def promtool():
    print("rule_files:\n  - tactus.rules.yml\n  - tactus.alerts.yml\nevaluation_interval: 1m\ntests:")
    for name, about, cause, ranks in JOBS:
        print(f"  # {about}\n  - interval: 15s\n    input_series:")
        for labels, grows in series(name, ranks, 1):
            print(f"      - {{series: '{labels}', values: '0+{grows:g}x40'}}")
        print("    promql_expr_test:\n      - expr: count by (training_job, rank, instance, cause) (tactus:straggler_cause:ratio_5m)\n        eval_time: 10m")
        if cause:
            print(f"        exp_samples:\n          - {{labels: '{{training_job=\"{name}\",rank=\"{LATE}\",instance=\"b\",cause=\"{cause}\"}}', value: 1}}")
        else:
            print("        exp_samples: []")
        if not cause:
            print("    alert_rule_test:\n      - {eval_time: 10m, alertname: TactusStraggler, exp_alerts: []}")


def openmetrics(end):
    every = [(name, ranks, 1) for name, _, _, ranks in JOBS] + [(name, ranks, 1) for name, ranks in random_jobs()] + list(few())
    for family in ("tactus_rank_steps", "tactus_rank_step_seconds"):
        print(f"# TYPE {family} counter")
        for name, ranks, steps in every:
            for labels, grows in series(name, ranks, steps):
                if labels.startswith(family + "_total{"):
                    for i in range(25):
                        print(f"{labels} {grows * i:.6f} {end - (24 - i) * 15}")
    print("# EOF")


def main():
    if sys.argv[1] == "promtool":
        promtool()
    elif sys.argv[1] == "openmetrics":
        openmetrics(int(sys.argv[2]))
    elif sys.argv[1] == "wanted":
        for name, _, cause, _ in JOBS:
            print(name, [(str(LATE), cause)] if cause else [], sep="\t")
    else:
        print("\n".join([job[0] for job in JOBS] + [name for name, _ in random_jobs()] + ["two"]))


main()

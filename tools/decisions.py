#!/usr/bin/env python3
"""Checks that the simulator decides as the scheduler does: each function of core/ that bpf/scx* calls is called by src/sim/ too, each input of
how urgent a thread is has its counterpart there, or it is named here with the reason why not. One breach a line; without arguments."""
import pathlib
import re

# What a simulated machine has no use for, and why.
NOT_SIMULATED = {
    "bpf/scx*": {
        "group_*": "recordings do not have control groups' weights",
        "quota_*": "recordings do not have control groups' quotas",
        "power_*": "the simulated machine runs at one speed",
        "lock_hurries": "recordings do not say who holds a lock",
        "tier_misses_deadline": "only for an event; misses are counted from what is simulated",
        "urgent_watch_is_over": "only for looking who the thread's user is now; there is one user",
        "tier_slice_ns": "only of threads whose group had used up its quota",
        "vtime_owed": "the same",
    },
}
INPUTS_NOT_SIMULATED = {
    "lock_until_ns": "recordings do not say who holds a lock",
    "is_idle_policy": "recordings do not have threads' policies",
    "is_batch_policy": "recordings do not have threads' policies",
    "is_own": "a recording does not say which process ran the scheduler",
    "is_neutral": "the scheduler is neutral only while a trial compares it with the kernel's own",
}

DEFINED = re.compile(r"^core_(?:fn|step) [^;{]*?\b(\w+)\(", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def text_of(paths):
    return "\n".join(COMMENT.sub("", path.read_text(encoding="utf-8")) for path in paths)


def called(paths, names):
    found = set(re.findall(r"\b(\w+)\(", text_of(paths)))
    return {name for name in names if name in found}


def matches(name, pattern):
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def inputs_of(path):
    """The fields of struct tier_inputs that are filled in there."""
    filled = re.search(r"struct tier_inputs \w+ = \{(.*?)\};", text_of([path]), re.S)
    return set(re.findall(r"^\s*\.(\w+) =", filled[1], re.M)) if filled else set()


def check_inputs(top):
    scheduler, simulator = top / "bpf/scx_urgency.h", top / "src/sim/tactus_urgency.c"
    missing = inputs_of(scheduler) - inputs_of(simulator)
    if not inputs_of(scheduler) or not inputs_of(simulator):
        print(f"{scheduler}, {simulator}: no struct tier_inputs is filled in there: this check does not see it")
    for name in sorted(missing - INPUTS_NOT_SIMULATED.keys()):
        print(f"{scheduler} fills in {name}, and {simulator} does not: simulate it, or say in tools/decisions.py why not")
    for name in sorted(INPUTS_NOT_SIMULATED.keys() - missing):
        print(f"tools/decisions.py: {name} is simulated, or no input any more, so that it needs no reason why not")


def main():
    top = pathlib.Path()
    names = set(DEFINED.findall(text_of(sorted(top.glob("core/*.h")))))
    simulated = called([*sorted(top.glob("src/sim/*.[ch]")), top / "src/sched/scx_places.c"], names)
    for scheduler, reasons in NOT_SIMULATED.items():
        decides = called(sorted(top.glob(scheduler)), names)
        if len(decides) < 20:
            print(f"{scheduler}: only {len(decides)} functions of core/ are called: this check does not see them")
        for name in sorted(decides - simulated):
            if not any(matches(name, pattern) for pattern in reasons):
                print(f"{scheduler} decides by {name}() of core/, and src/sim/ does not: simulate it, or say in tools/decisions.py why not")
        for pattern in reasons:
            if not any(matches(name, pattern) for name in decides):
                print(f"tools/decisions.py: {pattern} is no function of core/ that {scheduler} calls any more")
            elif any(matches(name, pattern) for name in decides & simulated):
                print(f"tools/decisions.py: {pattern} is simulated, so that it needs no reason why not")
    check_inputs(top)


main()

#!/usr/bin/env bash
# How it grows: replay of 10 million events, memory for 100,000 threads, cost with 2 to 16 CPUs (in the VM).
# Usage: bench/scale.sh [--no-vm]
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

tactus=build/tactus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# COMMAND...: seconds and megabytes of memory at most
measured() { python3 - "$@" <<'END'
import os, resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(f"{time.monotonic() - start:.2f} s, {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")
END
}

say "recording until there are 10 million events (some minutes)"
$tactus record -o "$work/ten.rec" --json -- sh -c '
	while [ "$(stat -c %s "$1")" -lt 245000000 ]; do hackbench -g 4 -l 2000 >/dev/null; done' - "$work/ten.rec" 2>/dev/null |
	grep '^{' >"$work/ten.json"
python3 -c "import json; d = json.load(open('$work/ten.json')); print(f\"recording: {d['events']} events, {d['bytes']/1e6:.0f} MB, {d['lost']} lost\")"
for view in "tasks" "latency" "affinity" "inversions"; do
	echo "replay by $view: $(measured taskset -c 0 $tactus $view -i "$work/ten.rec")"
done
rm -f "$work/ten.rec"

say "100,000 threads, one after another"
echo "tasks, 100,000 threads live: $(measured $tactus tasks --json -n all -- build/workloads/threads 100000)"

[ "${1:-}" != --no-vm ] || exit 0
for cpus in 2 4 8 16; do
	say "a VM with $cpus CPUs"
	printf 'VM with %2d CPUs: ' "$cpus"
	CMD='time_of() { for i in 1 2 3 4 5; do "$@" | awk "/^Time/ {print \$2}"; done | sort -n | sed -n 3p; }
		hackbench -g 2 -l 100 >/dev/null
		a=$(time_of hackbench -g 2 -l 100)
		b=$(time_of build/tactus tasks --json -- hackbench -g 2 -l 100)
		c=$(time_of build/tactus record -o /tmp/r --json -- hackbench -g 2 -l 100)
		build/tactus record -o /tmp/r --json -- hackbench -g 2 -l 100 >/tmp/o
		echo "hackbench alone $a s, accounted $b s, recorded $c s (medians of 5)," $(grep -o "\"lost\":[0-9]*" /tmp/o | head -n 1)' \
		KERNEL=scx CPUS=$cpus LIMIT=300 vm/run.sh
done

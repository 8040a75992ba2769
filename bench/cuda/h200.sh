#!/usr/bin/env bash
# Everything of 'tactus cuda' that needs a real GPU, in one go: needs root, nvcc, PyTorch and build/tactus-static.
# Usage: bench/cuda/h200.sh OUT [PROGRAM]. Results and a small recording go to the folder OUT, the report to stdout too.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
tactus=$(realpath "${2:-$here/../../build/tactus-static}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exec > >(tee "$out/report.txt") 2>&1
step() { printf '\n=== %s (after %s s)\n' "$*" "$SECONDS"; }

step "machine"
uname -r
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
grep -m1 'model name' /proc/cpuinfo
nproc
grep -i nvidia /proc/devices
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing || echo "no tracefs"
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
"$tactus" --version
"$tactus" doctor | grep -E 'SENSOR|sched|cuda'
"$tactus" cuda --list 2>"$work/list.err" >"$work/list"; cat "$work/list.err"
awk '{print $1}' "$work/list" | sort | uniq -c
ls -l /dev/nvidia*

step "how functions begin: bytes, how many of those that are exported"
library=$(ldconfig -p | awk '/libcuda.so.1 .*x86-64/ {print $NF; exit}')
ls -lL "$library"
python3 - "$library" <<'END' || true
import collections, re, subprocess, sys
try:
    table = subprocess.run(["readelf", "-W", "--dyn-syms", sys.argv[1]], capture_output=True, text=True).stdout
except FileNotFoundError:
    sys.exit("no readelf")
begin = collections.Counter()
with open(sys.argv[1], "rb") as file:
    for offset in {int(f[1], 16) for f in map(str.split, table.splitlines()) if len(f) > 7 and re.match("cu[A-Z]", f[7]) and f[3] == "FUNC"}:
        file.seek(offset)
        code = file.read(6)
        begin["push" if code[0] & 0xf8 == 0x50 or code[:1] == b"A" else code.hex(" ")] += 1
for code, count in begin.most_common(12):
    print(count, code)
END

step "what one hit of a probe costs"
timeout 180 python3 "$here/hits.py" "$tactus" 200000 "${HIT_ROUNDS:-5}" | tee "$out/hits.jsonl"

step "programs"
nvcc -O2 -cudart static -o "$work/programs-static" "$here/programs.cu" || echo "nvcc failed"
nvcc -O2 -cudart shared -o "$work/programs-shared" "$here/programs.cu" || echo "nvcc failed"
"$work/programs-static" launches 100000
"$work/programs-static" launches 100000

step "counts, sums and names against the programs' own word"
python3 "$here/compare.py" "$tactus" "$work" "$out"

step "a start-up as a table"
"$tactus" cuda -n all -o "$out/startup.jsonl" -- "$work/programs-static" launches 10 2>&1 | tee "$out/startup.txt"
"$tactus" cuda -o "$out/startup.json" -- "$work/programs-static" launches 10 >/dev/null
wc -lc "$out/startup.jsonl" "$out/startup.json"
python3 -c 'import json,sys; print(len(json.load(open(sys.argv[1]))["traceEvents"]), "trace events")' "$out/startup.json"

step "PyTorch: launches in turns, untraced, traced, profiled"
PYTHONUNBUFFERED=1 timeout 300 python3 "$here/launches.py" "$tactus" "${LAUNCHES:-20000}" "${ROUNDS:-12}" | tee "$out/torch.jsonl"

step "PyTorch: started by tactus, in turns with the same process untraced"
timeout 400 python3 "$here/started.py" "$tactus" "${LAUNCHES:-20000}" "${START_ROUNDS:-4}" | tee "$out/started.jsonl"

step "PyTorch: where a step goes, with known delays"
PYTHONUNBUFFERED=1 timeout 300 python3 "$here/steps.py" "$tactus" "$out" | tee "$out/steps.txt"

step "PyTorch: calls of NCCL, one rank"
timeout 150 python3 "$here/nccl.py" "$tactus" | tee "$out/nccl.txt"

step "PyTorch: from its start"
timeout 60 "$tactus" cuda -n 15 -- python3 -c '
import torch
x = torch.zeros(64, device="cuda")
for _ in range(10000): x.add_(1)
torch.cuda.synchronize()
print("launches=10000 of add_, and one of zeros")' | tee "$out/torch.txt"
rm -f "$out/startup.json"
step "done"

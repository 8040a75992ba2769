#!/usr/bin/env bash
# What of 'tactus cuda' ranges of NVTX and calls of NCCL are, on a real GPU, in three minutes at most: needs root, PyTorch and build/tactus-static.
# Usage: bench/cuda/seeds.sh OUT [PROGRAM]. Ends with status 1 if a figure is not the program's own.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
tactus=$(realpath "${2:-$here/../../build/tactus-static}")
exec > >(tee "$out/seeds.txt") 2>&1
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing || echo "no tracefs"
status=0
uname -r
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
python3 -c 'import torch; print("PyTorch", torch.__version__)'
PYTHONUNBUFFERED=1 timeout 100 python3 "$here/steps.py" "$tactus" "$out" none ranges || status=1
timeout 100 python3 "$here/nccl.py" "$tactus" || status=1
exit $status

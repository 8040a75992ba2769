#!/usr/bin/env bash
# Makes examples/train.tactus anew: two loops that launch kernels and wait for the GPU each step as training does, by a double of libcuda
# (tests/fakes/libcuda.c), so that no GPU is needed. Of 150 steps the hundredth is slow on purpose: the first loop's waits 60 ms for its
# loader, the second's copies 59 MB. Needs root and 'make test-workloads'.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/train" <<'TRAIN'
for delay in data copy; do
	build/workloads/steps build/workloads/libcuda.so.1 150 100 60 $delay
done
TRAIN
rm -f examples/train.tactus
TACTUS_DB=$scratch/procdb.bin TACTUS_NVIDIA_MAJORS=1,5 build/tactus record --cuda --library "$PWD/build/workloads/libcuda.so.1" -o examples/train.tactus -- sh "$scratch/train"

#!/usr/bin/env bash
# The oldest kernel: every sensor that needs no device, against the truth: accounts, recordings, moves, frames, CUDA, Wine.
# kernel: debian-6.1
. tests/tap.sh
. tests/kernel.sh

CPUS=2 on_kernel debian-6.1 host/10-cpus host/20-doctor host/50-tasks host/51-record host/52-truth host/77-migrations guest/hotplug guest/wakers guest/cuda_calls host/64-wine-fake
done_testing

#!/usr/bin/env bash
# The newest kernel: every sensor that needs no device, against the truth: accounts, recordings, moves, frames, CUDA, Wine.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=2 on_kernel debian-7.2 host/10-cpus host/20-doctor host/50-tasks host/51-record host/52-truth host/77-migrations guest/hotplug guest/wakers guest/cuda_calls host/64-wine-fake
done_testing

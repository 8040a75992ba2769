#!/usr/bin/env bash
# A kernel between the oldest and the newest, without sched_ext: what works, threads' accounts and recordings, times and learning.
# kernel: debian-6.12
. tests/tap.sh
. tests/kernel.sh

CPUS=2 on_kernel debian-6.12 host/20-doctor host/50-tasks guest/cuda_calls
CLOCK=virtual on_kernel debian-6.12 host/52-truth
done_testing

#!/usr/bin/env bash
# A kernel between the oldest and the newest, with sched_ext: the scheduler comes and goes, and what may happen to it.
# kernel: debian-6.18
. tests/tap.sh
. tests/kernel.sh

CPUS=2 on_kernel debian-6.18 host/20-doctor guest/faults:10
done_testing

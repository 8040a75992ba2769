#!/usr/bin/env bash
# A kernel between the oldest and the newest, with sched_ext: the scheduler comes and goes, work gets done, every end gives the CPUs back;
# hints; and jobs of the kernel's scheduler for GPUs.
# kernel: debian-6.18
. tests/tap.sh
. tests/kernel.sh

# One CPU: two that are emulated in turns take half as long again, and the newest kernel has them.
CPUS=1 LIMIT=800 on_kernel debian-6.18 guest/run:quick guest/hints guest/jobs
done_testing

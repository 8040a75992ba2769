#!/usr/bin/env bash
# The oldest kernel: what doctor says, accounts and recordings, against the truth; and jobs of the kernel's scheduler for GPUs.
# kernel: debian-6.1
. tests/tap.sh
. tests/kernel.sh

CPUS=1 LIMIT=400 on_kernel debian-6.1 host/20-doctor host/50-tasks guest/wakers guest/jobs
done_testing

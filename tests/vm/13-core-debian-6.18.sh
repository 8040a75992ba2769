#!/usr/bin/env bash
# A stock kernel with sched_ext: what works, threads' accounts and recordings; the scheduler comes, goes and survives its faults.
# kernel: debian-6.18
. tests/tap.sh
. tests/kernel.sh

CPUS=2 on_kernel debian-6.18 host/20-doctor host/50-tasks guest/wakers guest/run guest/faults
done_testing

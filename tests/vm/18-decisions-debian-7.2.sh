#!/usr/bin/env bash
# What the scheduler decides and says, on two CPUs of the newest kernel by the virtual clock: deadline misses, and the limit on moves.
# kernel: debian-7.2
# early: it is one of those that take longest
. tests/tap.sh
. tests/kernel.sh

CPUS=2 CLOCK=virtual LIMIT=900 on_kernel debian-7.2 guest/decisions:quick
done_testing

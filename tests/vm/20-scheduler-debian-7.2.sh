#!/usr/bin/env bash
# The scheduler on the newest kernel: it takes over, work gets done, every end gives the CPUs back; no CPU is idle beside
# a thread that may run there.
# kernel: debian-7.2
# early: it is one of those that take longest
. tests/tap.sh
. tests/kernel.sh

CPUS=2 LIMIT=600 on_kernel debian-7.2 guest/run
# Masks of two CPUs that are not all of them; by the virtual clock, where the kernel's watchdog sees no time pass that this machine kept
# the guest from.
CLOCK=virtual CPUS=4 LIMIT=1500 on_kernel debian-7.2 guest/masks
done_testing

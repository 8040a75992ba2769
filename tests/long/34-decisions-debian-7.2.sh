#!/usr/bin/env bash
# Deadline misses and the limit on moves, on the newest kernel, by the virtual clock.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=2 CLOCK=virtual LIMIT=2400 on_kernel debian-7.2 guest/decisions
done_testing

#!/usr/bin/env bash
# The scheduler on the newest kernel: it takes over, work gets done, every end gives the CPUs back.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=2 LIMIT=600 on_kernel debian-7.2 guest/run
done_testing

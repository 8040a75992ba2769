#!/usr/bin/env bash
# The virtual clock on two CPUs counts right: busy CPUs get all of the time that passes, and timers are on time.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual CPUS=2 on_kernel debian-7.2 guest/clock
done_testing

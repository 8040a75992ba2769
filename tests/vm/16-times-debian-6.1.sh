#!/usr/bin/env bash
# Times by the virtual clock on the oldest kernel: what CPUs and threads did against the kernel's own figures, and learning.
# kernel: debian-6.1
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel debian-6.1 host/10-cpus host/52-truth guest/learned
done_testing

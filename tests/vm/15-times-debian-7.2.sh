#!/usr/bin/env bash
# Times on the newest kernel, by the virtual clock: CPU time and waits against the kernel's own counts.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel debian-7.2 host/10-cpus host/52-truth
done_testing

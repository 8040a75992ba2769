#!/usr/bin/env bash
# Times on the oldest kernel, by the virtual clock: CPU time and waits against the kernel's own counts.
# kernel: debian-6.1
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel debian-6.1 host/52-truth
done_testing

#!/usr/bin/env bash
# Times on the newest kernel, by the virtual clock: CPU time and waits against the kernel's own counts; a mouse at 8 kHz; a sound card
# known by its clock and its open files; how soon an urgent thread has a mutex that somebody else holds.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel debian-7.2 host/10-cpus host/52-truth guest/input guest/sound:files guest/locks
done_testing

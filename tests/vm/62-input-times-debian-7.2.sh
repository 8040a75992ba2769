#!/usr/bin/env bash
# A mouse at 8 kHz, and a sound card known by its clock and its open files, by the virtual clock.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel debian-7.2 guest/input guest/sound:files
done_testing

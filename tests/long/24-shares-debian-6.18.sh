#!/usr/bin/env bash
# How late an urgent thread is under the scheduler, by the virtual clock, on a stock kernel that is not the newest.
# kernel: debian-6.18
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel debian-6.18 guest/share:late
done_testing

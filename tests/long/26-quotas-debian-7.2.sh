#!/usr/bin/env bash
# Control groups' quotas under the scheduler on the newest kernel, by the virtual clock.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel debian-7.2 guest/quota
done_testing

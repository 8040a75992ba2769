#!/usr/bin/env bash
# A hostile user beside an honest urgent thread under the scheduler, by the virtual clock: tests/guest/hostile.sh.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=1 CLOCK=virtual on_kernel debian-7.2 guest/hostile
done_testing

#!/usr/bin/env bash
# Ten minutes of a hostile user beside an honest urgent thread under the scheduler, by the virtual clock: tests/guest/hostile.sh.
# HOSTILE_SECONDS: another time.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=1 CLOCK=virtual LIMIT=7200 on_kernel debian-7.2 "guest/hostile:${HOSTILE_SECONDS:-600}"
done_testing

#!/usr/bin/env bash
# Whether a trial says of three programs what is so, and of twenty in which nothing acts nothing, by the virtual clock.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual CPUS=1 LIMIT=3600 on_kernel debian-7.2 guest/trial
done_testing

#!/usr/bin/env bash
# Whether a trial says of three programs what is so, by the virtual clock, and nothing of five in which nothing acts; tests/long/35-empty-trials.sh has
# twenty of these on this machine, where they take seconds instead of minutes.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual CPUS=1 LIMIT=3600 on_kernel debian-7.2 guest/trial
done_testing

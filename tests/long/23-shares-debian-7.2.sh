#!/usr/bin/env bash
# Who gets how much of one CPU under the scheduler, and how soon, by the virtual clock: threads, and control groups by weight.
# Of two: what urgent threads of a user and of a group may run together. And of eight: what an urgent thread gets that never sleeps.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel debian-7.2 guest/share guest/groups
CLOCK=virtual CPUS=2 on_kernel debian-7.2 guest/budget
CLOCK=virtual CPUS=8 LIMIT=3600 on_kernel debian-7.2 guest/burn
done_testing

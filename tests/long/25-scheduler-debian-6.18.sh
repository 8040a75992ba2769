#!/usr/bin/env bash
# The scheduler on a kernel between the oldest and the newest that have it, as on the newest.
# kernel: debian-6.18
. tests/tap.sh
. tests/kernel.sh

CPUS=2 LIMIT=900 on_kernel debian-6.18 guest/run
done_testing

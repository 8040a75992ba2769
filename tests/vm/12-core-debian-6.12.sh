#!/usr/bin/env bash
# A kernel between the oldest and the newest: what doctor says, and accounts.
# kernel: debian-6.12
. tests/tap.sh
. tests/kernel.sh

CPUS=1 LIMIT=400 on_kernel debian-6.12 host/20-doctor host/50-tasks
done_testing

#!/usr/bin/env bash
# A kernel between the oldest and the newest: what doctor says, and hints.
# kernel: debian-6.12
. tests/tap.sh
. tests/kernel.sh

CPUS=1 LIMIT=600 on_kernel debian-6.12 host/20-doctor guest/hints
done_testing

#!/usr/bin/env bash
# The oldest kernel: what doctor says, accounts and recordings, against the truth.
# kernel: debian-6.1
. tests/tap.sh
. tests/kernel.sh

CPUS=1 LIMIT=400 on_kernel debian-6.1 host/20-doctor host/50-tasks guest/wakers
done_testing

#!/usr/bin/env bash
# Six hours of mixed load beside a run, in a guest whose clock jumps: memory, descriptors, maps and CPU time stay flat.
# SOAK_SECONDS= for another time.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

soak=${SOAK_SECONDS:-21600}
CPUS=2 LIMIT=$((soak * 2 + 1800)) IN_TURNS=${IN_TURNS:-no} on_kernel debian-7.2 "guest/soak:$soak"
done_testing

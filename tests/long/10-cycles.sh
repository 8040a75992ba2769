#!/usr/bin/env bash
# The scheduler comes and goes a thousand times under load.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=2 LIMIT=3600 on_kernel debian-7.2 guest/faults:1000
done_testing

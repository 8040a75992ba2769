#!/usr/bin/env bash
# Many threads and changing rules under the scheduler on the newest kernel.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

# Here CPUs really run at once.
CPUS=2 IN_TURNS=no on_kernel debian-7.2 guest/crowds
done_testing

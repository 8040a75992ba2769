#!/usr/bin/env bash
# A stock kernel that is locked down for integrity, which takes less away than what tests/kernels/25-kernel-faults.sh boots.
# kernel: debian-6.18
. tests/tap.sh

APPEND=lockdown=integrity KERNEL=debian-6.18 CPUS=1 LIMIT=500 CMD="tests/guest/kernel-faults.sh integrity" guest
is "every check passed with lockdown=integrity" $? 0
done_testing

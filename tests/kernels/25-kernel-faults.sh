#!/usr/bin/env bash
# A stock kernel that keeps something back, by its settings or its command line: tests/guest/kernel-faults.sh, a boot each.
# kernel: debian-6.18
. tests/tap.sh

# One CPU: with two, emulated side by side, a kernel that changes its own code can die of it on a busy machine.
export KERNEL=debian-6.18 CPUS=1 LIMIT=500
CMD="tests/guest/kernel-faults.sh hardened" guest
is "every check passed with hardened settings, without sched_ext and without BTF" $? 0
APPEND=lockdown=confidentiality CMD="tests/guest/kernel-faults.sh confidentiality" guest
is "every check passed with lockdown=confidentiality" $? 0
done_testing

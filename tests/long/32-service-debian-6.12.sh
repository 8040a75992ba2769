#!/usr/bin/env bash
# tactus as a service where the kernel has no sched_ext, as after a boot of another kernel: it gives hints.
# kernel: debian-6.12
. tests/tap.sh
. tests/kernel.sh
. tests/systemd.sh

service_on debian-6.12
done_testing

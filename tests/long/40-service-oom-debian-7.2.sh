#!/usr/bin/env bash
# The kernel's own OOM killer takes a run, its group, and the service of a real systemd, on a kernel with control groups of version 2.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh
. tests/systemd.sh

systemd_in_guest
CPUS=1 LIMIT=1500 on_kernel debian-7.2 hostile/39-oom guest/service_oom
done_testing

#!/usr/bin/env bash
# The GPU sensor on the newest kernel, with a driver that needs no hardware (vgem): by its best hook and by its last.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=1 on_kernel debian-7.2 guest/gpu:image:quick
done_testing

#!/usr/bin/env bash
# Sensors of devices on the newest kernel: a GPU (vgem) that comes as a module, input by uinput, a sound card, launches by LSM.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=1 on_kernel debian-7.2 guest/gpu:image guest/launch guest/sound
CPUS=2 on_kernel debian-7.2 guest/input
done_testing

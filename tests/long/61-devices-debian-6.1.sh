#!/usr/bin/env bash
# Sensors of devices on the oldest kernel: a GPU (vgem) that comes as a module, launches by each hook, sockets by fexit and kprobe.
# kernel: debian-6.1
. tests/tap.sh
. tests/kernel.sh

CPUS=1 on_kernel debian-6.1 guest/gpu:image guest/launch
# The server and who asks it side by side: on one CPU it would hardly ever have to wait.
CPUS=2 on_kernel debian-6.1 host/65-socket
done_testing

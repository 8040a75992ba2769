#!/usr/bin/env bash
# The newest kernel: what doctor says, accounts, recordings, who wakes whom, hints and frames, and a GPU's driver that needs no
# hardware (vgem), against the truth; and jobs of the kernel's scheduler for GPUs. What a driver function gets, and who is in it. Last, a
# virtual machine's own GPU (virtio_gpu).
# kernel: debian-7.2
# early: it is one of those that take longest
. tests/tap.sh
. tests/kernel.sh

CPUS=1 GPU=virtio LIMIT=1500 on_kernel debian-7.2 host/20-doctor host/50-tasks host/51-record guest/wakers guest/hints guest/frames guest/gpu:image:quick guest/jobs guest/driver_calls guest/gpu:virtio:quick
done_testing

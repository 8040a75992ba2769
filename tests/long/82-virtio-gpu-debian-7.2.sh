#!/usr/bin/env bash
# The GPU that virtual machines have (virtio_gpu), on the newest kernel: where its host renders nothing, and where it does (virgl).
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CPUS=1 GPU=virtio on_kernel debian-7.2 guest/gpu:virtio
CPUS=1 GPU=virgl on_kernel debian-7.2 guest/gpu:virgl
done_testing

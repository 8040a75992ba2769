#!/usr/bin/env bash
# What only our own kernel has: displays that flip (vkms), and a double of NVIDIA's module, for the gpu sensor and tactus cuda.
# kernel: scx
. tests/tap.sh
. tests/kernel.sh

CPUS=1 on_kernel scx guest/gpu:image guest/cuda:image
done_testing

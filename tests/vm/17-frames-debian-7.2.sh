#!/usr/bin/env bash
# Frames on the newest kernel, by the virtual clock: flips of a display, and from clicks to them, on a virtual machine's own GPU
# (virtio_gpu); a trial that says of a program that presents beside hogs that it is helped.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual GPU=virtio on_kernel debian-7.2 guest/flips guest/trial:frames_by_hints
done_testing

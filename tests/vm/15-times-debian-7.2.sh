#!/usr/bin/env bash
# Times on the newest kernel, by the virtual clock: CPU time and waits against the kernel's own counts; a mouse at 8 kHz; a sound card
# known by its clock and its open files; how soon an urgent thread has a mutex that somebody else holds; flips of a display, and from
# clicks to them, on a virtual machine's own GPU (virtio_gpu); a trial that says of a program that presents beside hogs that it is
# helped. On two CPUs: deadline misses, and the limit on moves.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual GPU=virtio on_kernel debian-7.2 host/10-cpus host/52-truth guest/input guest/sound:files guest/locks guest/flips guest/trial:frames_by_hints
CPUS=2 CLOCK=virtual LIMIT=900 on_kernel debian-7.2 guest/decisions:quick
done_testing

#!/usr/bin/env bash
# Flips of a display by the virtual clock, and how soon a thread that submits to a GPU is known.
# kernel: scx
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual on_kernel scx guest/gpu:image
done_testing

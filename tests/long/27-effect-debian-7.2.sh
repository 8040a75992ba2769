#!/usr/bin/env bash
# A run finds out by itself whom it makes wait longer, and takes that back, by the virtual clock; and who waits beside a game.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

CLOCK=virtual CPUS=1 LIMIT=1500 on_kernel debian-7.2 guest/effect
done_testing

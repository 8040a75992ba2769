#!/usr/bin/env bash
# The input sensor on our own kernel, with devices made through uinput: tests/guest/input.sh in one boot, and in one by virtual
# time for a mouse at 8 kHz.
. tests/tap.sh

CMD=tests/guest/input.sh KERNEL=scx CPUS=2 LIMIT=400 guest
is "every test of the input sensor passed" $? 0
CMD="TACTUS_CLOCK=virtual tests/guest/input.sh" KERNEL=scx CLOCK=virtual LIMIT=400 guest
is "every check held at 8 kHz" $? 0
done_testing

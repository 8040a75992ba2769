#!/usr/bin/env bash
# The input sensor on our own kernel, with devices made through uinput: tests/guest/input.sh in one boot.
. tests/tap.sh

CMD=tests/guest/input.sh KERNEL=scx CPUS=2 LIMIT=400 guest
is "every test of the input sensor passed" $? 0
done_testing

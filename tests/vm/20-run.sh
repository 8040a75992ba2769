#!/usr/bin/env bash
# The scheduler on our own kernel: tests/guest/run.sh in one boot.
. tests/tap.sh

CMD=tests/guest/run.sh KERNEL=scx CPUS=2 LIMIT=240 guest
is "every test of the scheduler passed" $? 0
done_testing

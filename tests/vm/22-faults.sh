#!/usr/bin/env bash
# What may happen to the scheduler on our own kernel: tests/guest/faults.sh in one boot.
. tests/tap.sh

CMD=tests/guest/faults.sh KERNEL=scx CPUS=2 LIMIT=400 guest
is "every fault passed" $? 0
done_testing

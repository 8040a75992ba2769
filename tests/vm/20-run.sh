#!/usr/bin/env bash
# The scheduler on our own kernel: tests/guest/run.sh in one boot.
. tests/tap.sh

CMD=tests/guest/run.sh KERNEL=scx CPUS=2 LIMIT=400 guest
is "every test of the scheduler passed" $? 0
CMD=tests/guest/share.sh KERNEL=scx CPUS=1 CLOCK=virtual LIMIT=400 guest
is "and every one of its shares" $? 0
done_testing

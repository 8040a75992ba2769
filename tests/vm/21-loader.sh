#!/usr/bin/env bash
# Around the scheduler on our own kernel: tests/guest/loader.sh, and control groups by the virtual clock.
. tests/tap.sh

CMD=tests/guest/loader.sh KERNEL=scx CPUS=2 LIMIT=500 guest
is "every test of the loader passed" $? 0
CMD=tests/guest/groups.sh KERNEL=scx CPUS=1 CLOCK=virtual LIMIT=400 guest
is "and every one of control groups" $? 0
done_testing

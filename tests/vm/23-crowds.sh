#!/usr/bin/env bash
# Many threads and changing rules under the scheduler on our own kernel: tests/guest/crowds.sh in one boot.
. tests/tap.sh

CMD=tests/guest/crowds.sh KERNEL=scx CPUS=2 LIMIT=500 guest
is "every crowd passed" $? 0
done_testing

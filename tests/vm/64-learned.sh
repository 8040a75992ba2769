#!/usr/bin/env bash
# Learning on our own kernel and on Debian's oldest: tests/guest/learned.sh in one boot of each.
. tests/tap.sh

for kernel in scx debian-6.1; do
	CMD=tests/guest/learned.sh KERNEL=$kernel CPUS=2 LIMIT=400 guest
	is "learning works on $kernel" $? 0
done
done_testing

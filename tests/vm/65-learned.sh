#!/usr/bin/env bash
# Learning on our own kernel and on Debian's oldest: tests/guest/learned.sh in one boot of each, in virtual time.
. tests/tap.sh

for kernel in scx debian-6.1; do
	CMD=tests/guest/learned.sh KERNEL=$kernel CLOCK=virtual LIMIT=400 guest
	is "learning works on $kernel" $? 0
done
done_testing

#!/usr/bin/env bash
# The wine sensor's kernel half on each kernel that the VM has, with the double: Wine itself can't run there, since the
# emulated CPU faults in the wrong mode when Wine returns from its system calls, and the guest's kernel dies of it.
. tests/tap.sh

export CMD=tests/host/64-wine-fake.sh LIMIT=240 CPUS=1
for kernel in debian-6.1 debian-6.12 scx; do
	echo "# kernel $kernel"
	KERNEL=$kernel guest
	is "priorities of Windows programs on $kernel" $? 0
done
done_testing

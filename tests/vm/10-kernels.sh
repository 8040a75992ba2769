#!/usr/bin/env bash
# The host's tests of real hooks, once more on each kernel that the VM has: ours with sched_ext, Debian's 6.1 and 6.12.
# One boot a kernel; the guest's own results pass through.
. tests/tap.sh

tests="tests/host/10-cpus.sh tests/host/20-doctor.sh tests/host/50-tasks.sh tests/host/51-record.sh tests/host/52-truth.sh"
export CMD="status=0; for test in $tests; do \$test || status=1; done; exit \$status"

export LIMIT=300
for kernel in scx debian-6.1 debian-6.12; do
	echo "# kernel $kernel"
	KERNEL=$kernel guest
	is "every test passed on $kernel" $? 0
	echo "# kernel $kernel in virtual time"
	CMD="TACTUS_CLOCK=virtual tests/host/52-truth.sh" KERNEL=$kernel CLOCK=virtual guest
	is "times agree with the kernel's on $kernel" $? 0
done
done_testing

# shellcheck shell=bash
# The host's tests of real hooks, once more on a kernel that the VM has: sourced by tests/vm/1*-kernel-*.sh after tests/tap.sh.
# The guest's own results pass through.

on_kernel() {
	local tests="host/10-cpus host/20-doctor host/50-tasks host/51-record host/52-truth host/77-migrations guest/hotplug guest/cuda_calls"
	export KERNEL=$1 LIMIT=450
	# Debian's 6.12 keeps the count of interrupts where ours does.
	[ "$KERNEL" = debian-6.12 ] || tests="$tests guest/wakers"
	CMD="status=0; for test in $tests; do tests/\$test.sh || status=1; done; exit \$status" guest
	is "every test passed on $KERNEL" $? 0
	CMD="export TACTUS_CLOCK=virtual; tests/host/10-cpus.sh && tests/host/52-truth.sh" CLOCK=virtual guest
	is "times agree with the kernel's on $KERNEL, in virtual time" $? 0
}

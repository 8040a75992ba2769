# shellcheck shell=bash
# The host's tests of real hooks, once more on a kernel that the VM has: sourced by tests/vm/1*-kernel-*.sh after tests/tap.sh.
# The guest's own results pass through.

on_kernel() {
	local tests="10-cpus 20-doctor 50-tasks 51-record 52-truth 76-cuda 77-migrations"
	export KERNEL=$1 LIMIT=400
	CMD="status=0; for test in $tests; do tests/host/\$test.sh || status=1; done; tests/guest/hotplug.sh || status=1; exit \$status" guest
	is "every test passed on $KERNEL" $? 0
	CMD="TACTUS_CLOCK=virtual tests/host/52-truth.sh" CLOCK=virtual guest
	is "times agree with the kernel's on $KERNEL, in virtual time" $? 0
}

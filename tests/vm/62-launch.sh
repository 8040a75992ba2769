#!/usr/bin/env bash
# The launch sensor on each kernel that the VM has: with LSM programs on ours and wherever Debian's allow them, then by each
# of the other hooks. The test itself is the host's.
. tests/tap.sh

export CMD="EMULATED=yes tests/host/62-launch.sh"
export LIMIT=900
for kernel in scx debian-6.1 debian-6.12; do
	echo "# kernel $kernel"
	KERNEL=$kernel guest >"$scratch/seen"
	status=$?
	cat "$scratch/seen"
	is "every test passed on $kernel" $status 0
	[ $kernel != scx ] || like "and the best hook works there" "$(cat "$scratch/seen")" 'hooks tried: lsm/bprm_committed_creds;'
done
done_testing

#!/usr/bin/env bash
# The launch sensor on our own kernel, with LSM programs, and on Debian's oldest, then by each of the other hooks. The test
# itself is the host's.
. tests/tap.sh

export CMD="EMULATED=yes tests/host/62-launch.sh"
export LIMIT=900 CPUS=1
for kernel in scx debian-6.1; do
	echo "# kernel $kernel"
	KERNEL=$kernel guest >"$scratch/seen"
	status=$?
	cat "$scratch/seen"
	is "every test passed on $kernel" $status 0
	[ $kernel != scx ] || like "and the best hook works there" "$(cat "$scratch/seen")" 'hooks tried: lsm/bprm_committed_creds;'
done
done_testing

#!/usr/bin/env bash
# The launch sensor in a guest: the host's test of its hooks, and that the best of them is among those where the kernel has it.
# Runs in a VM.
. tests/tap.sh

EMULATED=yes tests/host/62-launch.sh >"$scratch/seen" 2>&1
status=$?
cat "$scratch/seen"
is "the host's test of the launch sensor ends well" $status 0
if grep -q bpf /sys/kernel/security/lsm; then
	like "the launch sensor tries LSM programs first" "$(cat "$scratch/seen")" 'hooks tried: lsm/bprm_committed_creds;'
else
	skip "the launch sensor tries LSM programs first" "this kernel runs no LSM programs"
fi
done_testing

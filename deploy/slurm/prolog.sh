#!/bin/sh
# SLURM's Prolog (as root, on each node before a job's first step): a node that serves jobs has tactus at work, unpaused.
# A job that asks for it (--comment=no-tactus) is left to the kernel's own scheduler. Never fails: a job does not wait for this.
if ! tactus status >/dev/null 2>&1; then
	systemctl start tactus >/dev/null 2>&1 || exit 0
fi
case ${SLURM_JOB_COMMENT:-} in
*no-tactus*) tactus pause >/dev/null 2>&1 ;;
*) tactus resume >/dev/null 2>&1 ;;
esac
exit 0

#!/bin/sh
# SLURM's Prolog (as root, on each node before a job's first step): a node that serves jobs has tactus at work, unpaused. Never fails: a job
# does not wait for this.
# JOBS_MAY_PAUSE=yes, in /etc/default/tactus-slurm, is for nodes that serve one user's jobs at a time: there a job that asks for it
# (--comment=no-tactus) is left to the kernel's own scheduler. Elsewhere that would be one user's order for all the others' jobs.
PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
JOBS_MAY_PAUSE=no
settings=/etc/default/tactus-slurm
[ ! -r "$settings" ] || . "$settings"
case $JOBS_MAY_PAUSE:${SLURM_JOB_COMMENT:-} in
yes:*no-tactus*)
	# A pause is asked of one that is there: this job waits until it is.
	tactus status >/dev/null 2>&1 || systemctl start tactus >/dev/null 2>&1 || exit 0
	tactus pause >/dev/null 2>&1
	;;
*)
	tactus resume >/dev/null 2>&1 || systemctl start --no-block tactus >/dev/null 2>&1
	;;
esac
exit 0

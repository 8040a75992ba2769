#!/usr/bin/env bash
# A real SLURM of one node, in a container whose files are thrown away and where systemd is the first process: its prolog and epilog are those of
# deploy/slurm. Usage: slurm.sh PACKAGE   Installs SLURM from Debian's archive.
. tests/tap.sh

# A folder of the container, by its name.
cd "$PWD" || exit 1
package=$1 here=$(pwd -P)
until_is() {
	local want=$1
	shift
	for _ in $(seq 300); do
		[ "$("$@" 2>/dev/null)" = "$want" ] && return 0
		sleep 0.2
	done
	echo "got '$("$@" 2>&1)', want '$want': $*"
	return 1
}
# Of its status line alone.
is_paused() { if tactus status 2>/dev/null | grep -q paused; then echo paused; else echo "at work"; fi; }

# The container's systemd knows none of these services: they are started by hand.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge >"$scratch/apt" 2>&1; then
	skip "SLURM's prolog and epilog do their work" "SLURM could not be installed: $(grep -m 1 '^E:' "$scratch/apt")"
	done_testing
fi
rm /usr/sbin/policy-rc.d
holds "the package installs" dpkg --force-unsafe-io --force-confold -i "$package"
printf '%s\n' '[options run]' 'compare = off' 'actuator = none' 'without = all' >/etc/tactus.conf
name=$(hostname -s)
mkdir -p /etc/slurm /var/spool/slurmctld /var/spool/slurmd /run/munge /var/log/munge
chown munge: /run/munge /var/log/munge
cat >/etc/slurm/slurm.conf <<END
ClusterName=test
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
Prolog=$here/deploy/slurm/prolog.sh
Epilog=$here/deploy/slurm/epilog.sh
NodeName=$name NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10
END
echo 'CgroupPlugin=cgroup/v1' >/etc/slurm/cgroup.conf
chown munge: /var/lib/munge 2>/dev/null
setpriv --reuid munge --regid munge --clear-groups munged --force >"$scratch/munged" 2>&1
slurmctld >"$scratch/ctld" 2>&1
slurmd >"$scratch/slurmd" 2>&1
node_state() { sinfo -h -o %T; }
holds "a SLURM of one node is ready" until_is idle node_state
[ "$failures" = 0 ] || tail -n 5 "$scratch/slurmctld.log" "$scratch/slurmd.log" 2>/dev/null | sed 's/^/# /'
is "tactus does not run before the first job" "$(systemctl is-active tactus)" inactive
# job NAME OPTIONS...: writes how tactus stands while the job runs, once it is no longer about to start, which the prolog does not wait for
job() {
	local out=$scratch/job-$1
	shift
	sbatch -W -o "$out" "$@" --wrap 'for _ in $(seq 600); do [ "$(systemctl is-active tactus)" = activating ] || break; sleep 0.1; done; systemctl is-active tactus; tactus status 2>&1 | grep -q paused && echo paused || echo "at work"; env | grep ^SLURM_JOB_COMMENT' >/dev/null 2>>"$scratch/sbatch" || sed "s/^/# /" "$scratch/sbatch" >&2
	head -n 2 "$out" 2>/dev/null | tr '\n' ' '
}
is "the prolog starts tactus for a job, and it is at work meanwhile" "$(job plain)" "active at work "
echo JOBS_MAY_PAUSE=yes >/etc/default/tactus-slurm
is "a job with --comment=no-tactus has tactus paused" "$(job left --comment=no-tactus)" "active paused "
holds "tactus is at work again after the epilog of a job that had it paused" until_is "at work" is_paused
is "a job after that one finds tactus at work" "$(job again)" "active at work "
is "no node was taken out of service by a prolog or epilog" "$(node_state)" idle
printf '%s\n' '[options run]' 'actuator = teapot' >/etc/tactus.conf
systemctl stop tactus
is "a job runs where tactus can't be started" "$(job without | cut -d ' ' -f 2-)" "at work "
is "the node stays in service where tactus can't be started" "$(node_state)" idle
kill "$(cat "$scratch/slurmctld.pid")" "$(cat "$scratch/slurmd.pid")" 2>/dev/null
done_testing

#!/usr/bin/env bash
# What deploy/ brings for hosts by ssh and for SLURM, tried where systemd is the first process, in a container whose files are thrown away.
# Usage: deploy.sh PACKAGE   ssh is a double that runs the command here for the host "here", and is refused by any other.
. tests/tap.sh

package=$1
cat >"$scratch/ssh" <<'END'
#!/bin/sh
[ "$1" = here ] || { echo "ssh: connect to host $1 port 22: No route to host" >&2; exit 255; }
shift
exec sh -c "$*"
END
chmod +x "$scratch/ssh"
export SSH=$scratch/ssh
installs() { deploy/install-hosts.sh "$@"; }
service() { systemctl show -P "$1" tactus; }
# becomes STATE: within a minute
becomes() {
	for _ in $(seq 600); do
		[ "$(service ActiveState)" = "$1" ] && return 0
		sleep 0.1
	done
	echo "got '$(service ActiveState)', want '$1'"
	return 1
}
mkdir -p /etc
printf '%s\n' '[options run]' 'compare = off' 'actuator = none' 'without = all' >/etc/tactus.conf
ends "install-hosts without a host is bad usage" 2 'no host was named' installs "$package"
ends "install-hosts of a package that is not there is bad usage" 2 'no such package' installs /nowhere.deb here
installs "$package" here nowhere >"$scratch/out" 2>&1
is "install-hosts fails if a host could not be reached" $? 1
like "install-hosts says how a host stands after it" "$(cat "$scratch/out")" '^here: tactus [0-9].*acts by none'
like "install-hosts says of a host that could not be reached why" "$(cat "$scratch/out")" '^nowhere: FAILED: ssh: connect to host nowhere'
is "the service runs on the host and starts with it" "$(service ActiveState)/$(systemctl is-enabled tactus)" active/enabled
printf '%s\n' here nowhere here elsewhere | xargs -n 1 -P 4 deploy/install-hosts.sh "$package" >"$scratch/many" 2>&1
is "of several hosts at a time each has its line, and a failure is one of the whole" "$? $(cut -d ' ' -f 1,2 "$scratch/many" | sort | tr '\n' ' ')" "123 elsewhere: FAILED: here: tactus here: tactus nowhere: FAILED: "
before=$(service MainPID)
installs "$package" here >"$scratch/again" 2>&1
is "install-hosts leaves a host that has the package as it is" "$?/$(service ActiveState)/$(service MainPID)" "0/active/$before"
like "install-hosts says of a host that has the package how it stands" "$(cat "$scratch/again")" '^here: tactus [0-9]'

# What docs/fleet.md has for /etc of every host.
etc=$scratch/etc
mkdir -p "$etc/tactus" "$etc/systemd/system/tactus.service.d"
(umask 077 && head -c 24 /dev/urandom | base64 >"$etc/tactus/token")
printf '%s\n' '[options run]' 'compare = off' 'actuator = none' 'without = all' 'metrics = 127.0.0.1:9783' 'token-file = /etc/tactus/token' >"$etc/tactus.conf"
printf '[Service]\nRestrictAddressFamilies=AF_INET AF_INET6\n' >"$etc/systemd/system/tactus.service.d/figures.conf"
with() { ETC=$1 installs "$package" here >"$scratch/with" 2>&1; }
ends "install-hosts with a folder for /etc that is not there is bad usage" 2 'no such folder' env ETC=/nowhere deploy/install-hosts.sh "$package" here
ip link set lo up 2>/dev/null
with "$etc"
is "install-hosts with files for /etc starts the service again" "$? $([ "$(service MainPID)" = "$before" ] || service ActiveState)" "0 active"
is "a file for /etc comes with its mode, as root's, and is what it is here" "$(stat -c '%a %U' /etc/tactus/token) $(cat /etc/tactus/token)" "600 root $(cat "$etc/tactus/token")"
like "a host with the files for figures gives them" "$(curl -s --max-time 60 -H "Authorization: Bearer $(cat "$etc/tactus/token")" http://127.0.0.1:9783/metrics)" 'tactus_run_up 1'
before=$(service MainPID)
with "$etc"
is "install-hosts leaves a host that has the files as it is" "$? $(service MainPID)" "0 $before"
cp /etc/tactus.conf "$scratch/good.conf"
echo 'metrics = 9784' >>"$etc/tactus.conf"
with "$etc"
is "install-hosts fails with a configuration that is wrong, which comes to no host" "$? $(cmp /etc/tactus.conf "$scratch/good.conf") $(service MainPID)" "1  $before"
like "install-hosts names the line of a configuration that is wrong" "$(cat "$scratch/with")" "^here: FAILED: tactus: /etc/tactus.conf:7: 'metrics' again"
sed -i '$d' "$etc/tactus.conf"
echo 'tls-cert = /etc/tactus/cert.pem' >>"$etc/tactus.conf"
echo 'tls-key = /etc/tactus/key.pem' >>"$etc/tactus.conf"
with "$etc"
is "install-hosts fails where the service can't start, which says why" "$? $(grep -c '^here: FAILED: .*/etc/tactus/.*No such file' "$scratch/with")" "1 1"
head -n -2 "$etc/tactus.conf" >"$scratch/conf" && cp "$scratch/conf" "$etc/tactus.conf"
with "$etc"
is "install-hosts mends a host with the files that are right" "$? $(service ActiveState)" "0 active"
# Broken off half-way: a package that is unpacked and not set up, and dpkg's own work that was not ended.
dpkg --force-unsafe-io --unpack "$package" >/dev/null 2>&1
mkdir -p /var/lib/dpkg/updates && dpkg -s tactus >/var/lib/dpkg/updates/0001
is "a package is not set up where its installation was broken off" "$(dpkg-query -W -f '${db:Status-Status}' tactus)" unpacked
with "$etc"
is "install-hosts ends an installation that was broken off" "$? $(dpkg-query -W -f '${db:Status-Status}' tactus) $(service ActiveState)" "0 installed active"
! grep -q FAILED "$scratch/with" || sed "s|^|# |" "$scratch/with"
rm -r /etc/systemd/system/tactus.service.d /etc/tactus
printf '%s\n' '[options run]' 'compare = off' 'actuator = none' 'without = all' >/etc/tactus.conf
systemctl daemon-reload
systemctl restart tactus

head -c 1000 "$package" >"$scratch/cut.deb"
installs "$scratch/cut.deb" here >"$scratch/cut" 2>&1
is "install-hosts fails with a package that is broken, and the service runs on" "$?/$(service ActiveState)" 1/active

paused() { tactus status --json | json 'd["paused"]'; }
SLURM_JOB_ID=7 SLURM_JOB_COMMENT=no-tactus deploy/slurm/prolog.sh
is "SLURM's prolog pauses tactus for no job's comment unless the node's settings allow it" "$?/$(paused)" 0/False
echo JOBS_MAY_PAUSE=yes >/etc/default/tactus-slurm
SLURM_JOB_ID=7 SLURM_JOB_COMMENT=no-tactus deploy/slurm/prolog.sh
is "SLURM's prolog pauses tactus for a job with the comment no-tactus where the node's settings allow it" "$?/$(paused)" 0/True
SLURM_JOB_ID=7 deploy/slurm/epilog.sh
is "SLURM's epilog has tactus at work again" "$?/$(paused)" 0/False
systemctl stop tactus
SLURM_JOB_ID=8 deploy/slurm/prolog.sh
is "SLURM's prolog does not fail where the service does not run" "$?" 0
holds "SLURM's prolog starts a service that does not run" becomes active
is "a service that SLURM's prolog started is not paused" "$(paused)" False
systemctl stop tactus
# It is not ready before this file is there.
mkdir -p /run/systemd/system/tactus.service.d
printf '[Service]\nExecStartPre=/bin/sh -c "until [ -e /run/may-start ]; do sleep 0.1; done"\n' >/run/systemd/system/tactus.service.d/slow.conf
systemctl daemon-reload
SLURM_JOB_ID=8 timeout 60 deploy/slurm/prolog.sh
is "SLURM's prolog does not wait for a service that takes long to start" "$?/$(service ActiveState)" 0/activating
touch /run/may-start
holds "a service that SLURM's prolog did not wait for comes up" becomes active
systemctl stop tactus
rm /run/may-start
(sleep 2 && touch /run/may-start) &
SLURM_JOB_ID=8 SLURM_JOB_COMMENT=no-tactus timeout 120 deploy/slurm/prolog.sh
is "SLURM's prolog waits for the service where the job may ask for a pause, and does" "$?/$(service ActiveState)/$(paused)" 0/active/True
wait
rm -r /run/systemd/system/tactus.service.d
systemctl daemon-reload
systemctl stop tactus
echo 'actuator = teapot' >>/etc/tactus.conf
SLURM_JOB_ID=9 deploy/slurm/prolog.sh
is "SLURM's prolog does not fail where the service can't be started" $? 0
holds "a service with a wrong configuration that SLURM's prolog started fails" becomes failed
SLURM_JOB_ID=9 deploy/slurm/epilog.sh
is "SLURM's epilog does not fail where the service does not run" $? 0
is "a service with a wrong configuration is not started again and again" "$(service ActiveState)/$(service NRestarts)" failed/0
systemctl reset-failed tactus
done_testing

#!/usr/bin/env bash
# tactus as a service of a real systemd, from its Debian package: readiness, the watchdog, reload, kills, CPUs that go, a sleep of the
# machine, an upgrade, a removal. Runs where systemd is the first process. Usage: service.sh PACKAGE NEWER-PACKAGE [observe]
# In a container (observe), where threads have other numbers than the kernel's, it only watches; in a VM, where a start takes a minute, it acts, and what needs
# no kernel of its own is left to the container.
. tests/tap.sh

package=$1 newer=$2 how=${3:-act}
unset TACTUS_DB
# An emulated machine loads programs for longer than a call of systemd's waits.
export SYSTEMD_PAGER='' SYSTEMD_COLORS=0 SYSTEMD_BUS_TIMEOUT=900
show() { systemctl show -P "$1" tactus; }
# 0 is no process, and to kill all that is near.
main_pid() { show MainPID | grep -vx 0; }
state() { /usr/sbin/tactus status --json 2>/dev/null | json "d[\"$1\"]" 2>/dev/null; }
# until_is WORD COMMAND...: within three minutes of looks
until_is() {
	local want=$1
	shift
	for _ in $(seq 900); do
		[ "$("$@" 2>/dev/null)" = "$want" ] && return 0
		sleep 0.2
	done
	echo "got '$("$@" 2>&1)', want '$want': $*"
	return 1
}
# restarted FROM: another main process than that, and ready
restarted() { [ "$(main_pid)" != "$1" ] && [ "$(show ActiveState)" = active ] && echo yes; }

for _ in $(seq 600); do
	systemctl list-units >/dev/null 2>&1 && [ -S /run/systemd/journal/socket ] && break
	sleep 0.2
done
is "the machine's first process is systemd" "$(cat /proc/1/comm)" systemd
# A guest has this machine's files, and where that is a container's image they forbid packages to start, restart or stop services.
! grep -q tactus_init /proc/cmdline || rm -f /usr/sbin/policy-rc.d
holds "the package installs" dpkg --force-unsafe-io -i "$package"
is "an installation starts nothing" "$(show ActiveState)" inactive
like "an installation brings a configuration of comments" "$(grep -c '^#' /etc/tactus.conf)" '^[1-9][0-9]'
holds "the unit is sound" systemd-analyze verify --man=no tactus.service
# With every sensor that has something to watch here, it takes minutes to load.
printf '%s\n' '[options run]' 'compare = off' 'without = wine,sound,socket,frame,feed,display' >/etc/tactus.conf
if [ "$how" = act ]; then
	# And for longer than the unit allows. What is watched beside the scheduler is for other tests.
	sed -i 's/^without.*/without = launch,gpu,feed,wine,input,frame,socket,sound,display,names/' /etc/tactus.conf
	mkdir -p /run/systemd/system/tactus.service.d
	printf '[Service]\nTimeoutStartSec=900\nWatchdogSec=300\n' >/run/systemd/system/tactus.service.d/emulated.conf
	systemctl daemon-reload
else
	echo 'actuator = none' >>/etc/tactus.conf
fi
SECONDS=0
holds "the service starts" systemctl start tactus
say_measured "from 'systemctl start' to ready: $SECONDS s of the guest's time"
is "the service is active when 'systemctl start' returns" "$(show ActiveState)/$(show SubState)" active/running
is "the service answers on its socket when 'systemctl start' returns" "$(state pid)" "$(main_pid)"
actuator=$(state actuator)
if [ "$how" = observe ]; then
	is "the service observes where its configuration says so" "$actuator" none
	is "systemctl tells how the service acts" "$(show StatusText)" 'Observing only'
elif [ -e /sys/kernel/sched_ext ]; then
	is "the service schedules where the kernel has sched_ext" "$actuator/$(cat /sys/kernel/sched_ext/root/ops)" scx/tactus
	like "systemctl tells how the service acts" "$(show StatusText)" 'sched_ext'
else
	is "the service gives hints where the kernel has no sched_ext" "$actuator" hints
	like "systemctl tells how the service acts" "$(show StatusText)" 'hints'
fi
# The sandbox takes no hook away: 'tactus doctor' outside of it finds the same.
journalctl -u tactus -o cat >"$scratch/said"
is "the sandbox lets the service load all of its programs" "$(grep -ciE 'permission denied|operation not permitted|EPERM|read-only file' "$scratch/said")" 0
say_measured "the service said: $(tr '\n' ';' <"$scratch/said")"
is "the service has given up for good the capabilities that it no longer needs" "$(awk '/^CapBnd/ { print $2 }' "/proc/$(main_pid)/status")" \
	"$(awk '/^CapPrm/ { print $2 }' "/proc/$(main_pid)/status")"
holds "the service may not write to /etc" test ! -w "/proc/$(main_pid)/root/etc/hostname" -o -n "$(grep ' /etc \| / ro' "/proc/$(main_pid)/mounts")"

/usr/sbin/tactus pause >/dev/null
like "the journal has a message's topic as a field" "$(journalctl -u tactus TACTUS_TOPIC=control -o cat)" 'paused'
is "the journal has a message's priority" "$(journalctl -u tactus TACTUS_TOPIC=control -o json | json 'd["PRIORITY"]')" 6
# By its sender alone the journal does not know it any more where the message was the sender's last.
like "a message in the journal names its unit itself" "$(journalctl OBJECT_SYSTEMD_UNIT=tactus.service TACTUS_TOPIC=control -o cat)" 'paused'
is "a paused service says so to systemctl" "$(show StatusText | cut -d: -f1)" Paused
/usr/sbin/tactus resume >/dev/null

before=$(main_pid)
holds "the service reloads" systemctl reload tactus
is "a reload is no restart" "$(main_pid)/$(state reloads)" "$before/1"
cp /etc/tactus.conf "$scratch/conf"
sed -i 's/^compare.*/compare = teapot/' /etc/tactus.conf
holds "a reload of a wrong file fails" bash -c '! systemctl reload tactus'
# What the run says of the file is for who asked, and not for its own journal alone.
like "a reload of a wrong file names the file, the line and what is wrong" "$(/usr/sbin/tactus reload 2>&1)" "not reloaded: /etc/tactus.conf:[0-9]+: .*teapot"
like "systemctl's reload of a wrong file leaves its line in the journal" "$(journalctl -u tactus -o cat)" 'not reloaded: /etc/tactus.conf:[0-9]+: .*teapot'
sed -i '1s/.*/[options run/' /etc/tactus.conf
like "a reload of a file whose section has no end names the line" "$(/usr/sbin/tactus reload 2>&1)" "not reloaded: /etc/tactus.conf:1: no '\]'"
is "the service goes on after a reload of a wrong file" "$(show ActiveState)/$(main_pid)" "active/$before"
cp "$scratch/conf" /etc/tactus.conf

if (echo -500 >/proc/self/oom_score_adj) 2>/dev/null; then
	is "when memory is short the kernel takes others before the service" "$(cat "/proc/$before/oom_score_adj")" -500
else
	skip "when memory is short the kernel takes others before the service" "here nobody may be made less likely to be taken"
fi
if [ "$how" = observe ]; then
	# By systemd's own count of what the unit leaves open, 0 to 10.
	systemd-analyze security --no-pager --threshold=45 tactus.service >"$scratch/security" 2>&1
	is "systemd's count of what the sandbox leaves open is 4.5 at most" $? 0
	say_measured "$(tail -n 1 "$scratch/security")"
	# The command that asked says that it failed, and the run that it goes on.
	is "messages of a reload that failed are an error and a warning in the journal" "$(journalctl -u tactus -o json | json 'sorted({r["PRIORITY"] for r in rows if "not reloaded" in str(r.get("MESSAGE"))})')" "['3', '4']"
	# One that fails at once, by the limits of the unit itself.
	systemctl stop tactus
	mkdir -p /run/systemd/system/tactus.service.d
	printf '[Service]\nType=simple\nExecStart=\nExecStart=/bin/sh -c "echo start >>/run/tactus/starts; exit 1"\n' >/run/systemd/system/tactus.service.d/fails.conf
	systemctl daemon-reload
	systemctl reset-failed tactus
	systemctl start tactus
	holds "a service that fails again and again is given up" until_is failed show ActiveState
	like "the journal says that it was for failing again and again" "$(journalctl -u tactus -o cat)" 'Start request repeated too quickly'
	is "a service that fails again and again was started five times" "$(wc -l </run/tactus/starts)" 5
	rm /run/systemd/system/tactus.service.d/fails.conf /run/tactus/starts
	systemctl daemon-reload
	systemctl reset-failed tactus
	systemctl start tactus
	before=$(main_pid)
	kill -KILL "${before:-none}"
	holds "a killed service is started again" until_is yes restarted "$before"
	mkdir -p /run/systemd/system/tactus.service.d
	printf '[Service]\nWatchdogSec=5\n' >/run/systemd/system/tactus.service.d/quick.conf
	systemctl daemon-reload
	systemctl reset-failed tactus
	systemctl restart tactus
	before=$(main_pid)
	kill -STOP "${before:-none}"
	holds "a service that stands still is started again by the watchdog" until_is yes restarted "$before"
	like "the journal tells of the watchdog" "$(journalctl -u tactus -o cat)" 'Watchdog timeout|watchdog'
	rm -r /run/systemd/system/tactus.service.d
	systemctl daemon-reload
	systemctl reset-failed tactus
	systemctl restart tactus
	# Figures: by the configuration, and by a drop-in that allows the address families, as docs/fleet.md says.
	echo 'metrics = 127.0.0.1:9783' >>/etc/tactus.conf
	systemctl reset-failed tactus
	holds "the service does not start with figures that its sandbox has no address for" bash -c '! systemctl restart tactus'
	like "the journal tells what to add to the unit for figures" "$(journalctl -u tactus -o cat)" 'RestrictAddressFamilies'
	mkdir -p /run/systemd/system/tactus.service.d
	printf '[Service]\nRestrictAddressFamilies=AF_INET AF_INET6\n' >/run/systemd/system/tactus.service.d/figures.conf
	systemctl daemon-reload
	systemctl reset-failed tactus
	holds "the service starts with figures where the unit allows it" systemctl restart tactus
	ip link set lo up 2>/dev/null
	like "the service gives its figures" "$(curl -s --max-time 60 http://127.0.0.1:9783/metrics)" 'tactus_run_up 1'
	rm -r /run/systemd/system/tactus.service.d
	cp "$scratch/conf" /etc/tactus.conf
	systemctl daemon-reload
	systemctl reset-failed tactus
	systemctl restart tactus
fi

if [ "$how" = act ] && [ -e /sys/devices/system/cpu/cpu1/online ]; then
	before=$(main_pid)
	echo 0 >/sys/devices/system/cpu/cpu1/online
	sleep 1
	echo 1 >/sys/devices/system/cpu/cpu1/online
	holds "the service acts again after a CPU went and came" until_is "$actuator" state actuator
	is "the service is the same after a CPU went and came" "$(main_pid)" "$before"
fi
if [ "$how" = act ] && [ -e /sys/power/pm_test ]; then
	echo freezer >/sys/power/pm_test
	before=$(main_pid)
	echo freeze >/sys/power/state 2>"$scratch/sleep" || echo mem >/sys/power/state 2>>"$scratch/sleep"
	echo none >/sys/power/pm_test
	holds "the service acts again after the machine slept" until_is "$actuator" state actuator
	is "the service is the same after the machine slept" "$(main_pid)" "$before"
elif [ "$how" = act ]; then
	skip "the service acts again after the machine slept" "this kernel has no /sys/power/pm_test"
fi

before=$(main_pid)
# A test starts it oftener than the unit allows.
systemctl reset-failed tactus
SECONDS=0
holds "the package is upgraded while the service runs" dpkg --force-unsafe-io --force-confold -i "$newer"
say_measured "the upgrade took $SECONDS s of the guest's time"
holds "an upgrade starts a service that runs again" until_is yes restarted "$before"
say_measured "from the upgrade until the service is ready again: $SECONDS s of the guest's time; $(show ActiveState)/$(show SubState)/$(show Result), $(show NRestarts) restarts"
[ "$(show ActiveState)" = active ] || journalctl -u tactus -o short-monotonic -n 30 | sed 's/^/# /'
is "an upgrade keeps the configuration" "$(cat /etc/tactus.conf)" "$(cat "$scratch/conf")"
holds "an upgrade keeps what was learned" test -s /var/lib/tactus/procdb.bin
systemctl stop tactus
is "a service that is stopped ends well" "$(show Result)/$(show ExecMainStatus)" success/0
[ "$how" = observe ] || [ ! -e /sys/kernel/sched_ext ] || is "the kernel's own scheduler is back when the service is stopped" "$(cat /sys/kernel/sched_ext/state)" disabled
slice_of() { build/workloads/attr "$1" | cut -d' ' -f3; }
# has_hint TID: its slice is another than it was
has_hint() { [ "$(slice_of "$1")" != "$usual" ] && echo yes; }
usual=$(slice_of $$)
urgent=
if [ "$how" = act ]; then
	build/workloads/pace 20000 200 1000000 >/dev/null &
	urgent=$!
	# Hints, whatever the kernel has; and what is taken back is not given again by a restart.
	sed -i '/^actuator/d' /etc/tactus.conf
	echo 'actuator = hints' >>/etc/tactus.conf
	printf '[Service]\nRestart=no\n' >/run/systemd/system/tactus.service.d/once.conf
	systemctl daemon-reload
	for whom in main all; do
		systemctl reset-failed tactus
		systemctl start tactus
		holds "an urgent thread has a hint before a kill of the service ($whom)" until_is yes has_hint $urgent
		systemctl kill --kill-whom=$whom --signal=KILL tactus
		holds "a service that was killed has failed ($whom)" until_is failed show ActiveState
		is "an urgent thread has the slice that it had when the service was killed ($whom)" "$(slice_of $urgent)" "$usual"
		is "no process of a service that was killed is left ($whom)" "$(pgrep '^tactus')" ""
		say_measured "after a kill ($whom): $(journalctl -u tactus -o cat -n 6 | tr '\n' ';')"
	done
	# What it is that takes them back: without it they stay, until somebody does.
	printf '[Service]\nRestart=no\nExecStopPost=\n' >/run/systemd/system/tactus.service.d/once.conf
	systemctl daemon-reload
	systemctl reset-failed tactus
	systemctl start tactus
	holds "an urgent thread has a hint before a kill of a service without ExecStopPost" until_is yes has_hint $urgent
	systemctl kill --kill-whom=all --signal=KILL tactus
	holds "a service without ExecStopPost that was killed has failed" until_is failed show ActiveState
	is "hints of a service that was killed with its keeper stay if there is no ExecStopPost" "$(has_hint $urgent)" yes
	like "tactus undo takes such hints back" "$(/usr/sbin/tactus undo)" 'put back'
	is "an urgent thread has the slice that it had after tactus undo" "$(slice_of $urgent)" "$usual"
	rm /run/systemd/system/tactus.service.d/once.conf
	cp "$scratch/conf" /etc/tactus.conf
	systemctl daemon-reload
fi
systemctl reset-failed tactus
holds "the service starts once more" systemctl start tactus
if [ "$how" = act ] && [ ! -e /sys/kernel/sched_ext ]; then
	holds "an urgent thread has a hint before the package is removed" until_is yes has_hint $urgent
fi
holds "the package is removed while the service runs" dpkg -r tactus
is "a removal ends the service" "$(pgrep -x tactus)" ""
[ -z "$urgent" ] || is "an urgent thread has the slice that it had when the package is removed" "$(slice_of $urgent)" "$usual"
[ -z "$urgent" ] || kill $urgent
[ "$how" = observe ] || [ ! -e /sys/kernel/sched_ext ] || is "the kernel's own scheduler is back after a removal" "$(cat /sys/kernel/sched_ext/state)" disabled
is "a removal leaves the configuration and what was learned, and nothing else" "$(find /usr/sbin/tactus /lib/systemd/system/tactus.service /etc/tactus.conf /var/lib/tactus -maxdepth 0 2>/dev/null | tr '\n' ' ')" \
	"/etc/tactus.conf /var/lib/tactus "
holds "the package is purged" dpkg -P tactus
is "a purge leaves nothing" "$(ls -d /etc/tactus.conf /var/lib/tactus /run/tactus 2>/dev/null)" ""
done_testing

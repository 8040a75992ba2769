#!/usr/bin/env bash
# One machine, two boots: reboot.sh before PACKAGE installs and enables the service where the kernel has sched_ext, lets it act and learn, and prints what then lies on the disk,
# as after a loss of power; reboot.sh after looks at a boot of that disk with a kernel that has none. systemd is the first process in both.
. tests/tap.sh

unset TACTUS_DB
# An emulated machine loads programs for longer than a call of systemd's waits.
export SYSTEMD_PAGER='' SYSTEMD_COLORS=0 SYSTEMD_BUS_TIMEOUT=900
show() { systemctl show -P "$1" tactus; }
state() { /usr/sbin/tactus status --json 2>/dev/null | json "d[\"$1\"]" 2>/dev/null; }
# until_holds COMMAND...: within ten minutes of looks
until_holds() {
	for _ in $(seq 3000); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	echo "not within ten minutes: $*"
	return 1
}
is_active() { [ "$(show ActiveState)" = active ]; }
for _ in $(seq 600); do
	systemctl list-units >/dev/null 2>&1 && [ -S /run/systemd/journal/socket ] && break
	sleep 0.2
done
is "the machine's first process is systemd" "$(cat /proc/1/comm)" systemd
known() { /usr/sbin/tactus db list --json 2>/dev/null | json '[r for r in rows if r.get("comm") == "pace"] and "known"' 2>/dev/null; }
knows() { [ "$(known)" = known ]; }

before() {
	# The guest sees this machine's files.
	rm -rf /var/lib/tactus /etc/tactus.conf /run/tactus
	holds "the package installs" dpkg --force-unsafe-io -i "$1"
	printf '%s\n' '[options run]' 'compare = off' 'without = launch,gpu,feed,wine,input,frame,socket,sound,display,names' >/etc/tactus.conf
	mkdir -p /etc/systemd/system/tactus.service.d
	printf '[Service]\nTimeoutStartSec=900\nWatchdogSec=300\n' >/etc/systemd/system/tactus.service.d/emulated.conf
	systemctl daemon-reload
	# As it is without a test's own path for units.
	holds "the service is enabled" systemctl --root=/ enable tactus
	systemctl daemon-reload
	holds "the service starts" systemctl start tactus
	is "the service schedules where the kernel has sched_ext" "$(state actuator)/$(cat /sys/kernel/sched_ext/root/ops)" scx/tactus
	build/workloads/pace 20000 200 1000000 >/dev/null &
	holds "what the service learns is on the disk while it runs" until_holds knows
	sync
	# Without warning: it is at work, as when the power goes.
	is "the service is at work when the power goes" "$(show ActiveState)/$(cat /sys/kernel/sched_ext/state)" active/enabled
	echo '# state begins'
	{ dpkg -L tactus | while read -r file; do [ -d "$file" ] || echo "$file"; done; find /etc/systemd/system /var/lib/tactus ! -type d; printf '%s\n' /etc/tactus.conf /var/lib/dpkg/status /var/lib/dpkg/info/tactus.*; } |
		sort -u | sed 's|^/||' | tar -C / --no-recursion -czf - -T - | base64 | sed 's/^/# /'
	echo '# state ends'
}

after() {
	holds "this kernel has no sched_ext" test ! -e /sys/kernel/sched_ext
	is "the package is installed as before the boot" "$(dpkg-query -W -f '${db:Status-Status}' tactus)" installed
	holds "the boot starts the service, which nobody asks for" until_holds is_active
	is "the service has started once, and was not restarted" "$(show NRestarts)/$(show Result)" 0/success
	is "the service gives hints where the kernel has no sched_ext" "$(state actuator)" hints
	like "systemctl tells how the service acts" "$(show StatusText)" 'hints'
	is "what was learned under sched_ext is known after the boot" "$(known)" known
	journalctl -u tactus -o cat >"$scratch/said"
	like "the journal tells why the service does not schedule" "$(cat "$scratch/said")" 'sched_ext'
	is "the service complains of nothing else" "$(journalctl -u tactus -p warning -o cat | grep -v sched_ext)" ""
	say_measured "the service said: $(tr '\n' ';' <"$scratch/said")"
	build/workloads/pace 20000 200 1000000 >/dev/null &
	urgent=$!
	slice_of() { build/workloads/attr "$1" | cut -d ' ' -f 3; }
	usual=$(slice_of $$)
	has_hint() { [ "$(slice_of "$urgent")" != "$usual" ]; }
	holds "an urgent thread has a hint after the boot" until_holds has_hint
	holds "the package is removed after the boot" dpkg -r tactus
	is "a removal after the boot ends the service" "$(pgrep -x tactus)" ""
	is "an urgent thread has the slice that it had when the package is removed" "$(slice_of "$urgent")" "$usual"
	kill "$urgent"
	holds "the package is purged" dpkg -P tactus
	is "a purge leaves nothing, not even that the service was enabled" "$(ls -d /etc/tactus.conf /var/lib/tactus /run/tactus /etc/systemd/system/multi-user.target.wants/tactus.service 2>/dev/null)" ""
}

"$@"
done_testing

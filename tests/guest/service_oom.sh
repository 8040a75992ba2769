#!/usr/bin/env bash
# The service's main process is taken by the kernel's OOM killer, alone (OOMPolicy=stop) or with all of its group (OOMPolicy=kill): systemd ends
# what is left, the keeper with it, and an urgent thread has what it had all the same. Runs where systemd is the first process.
. tests/tap.sh

unset TACTUS_DB
export SYSTEMD_PAGER='' SYSTEMD_COLORS=0 SYSTEMD_BUS_TIMEOUT=900
show() { systemctl show -P "$1" tactus; }
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
slice_of() { build/workloads/attr "$1" | cut -d' ' -f3; }
has_hint() { [ "$(slice_of "$1")" != "$usual" ] && echo yes; }
for _ in $(seq 600); do
	systemctl list-units >/dev/null 2>&1 && [ -S /run/systemd/journal/socket ] && break
	sleep 0.2
done
is "the machine's first process is systemd" "$(cat /proc/1/comm)" systemd
rm -f /usr/sbin/policy-rc.d
install -m 755 build/tactus /usr/sbin/tactus
install -D -m 644 packaging/systemd/tactus.service /lib/systemd/system/tactus.service
printf '%s\n' '[options run]' 'compare = off' 'actuator = hints' 'without = launch,gpu,feed,wine,input,frame,socket,sound,display,names' >/etc/tactus.conf
mkdir -p /run/systemd/system/tactus.service.d
usual=$(slice_of $$)
build/workloads/pace 20000 200 1000000 >/dev/null &
urgent=$!

# Until the main process is dead, or what it takes is too much.
cat >"$scratch/fill.py" <<'END_OF_PYTHON'
import mmap, os, select, sys
end = os.pidfd_open(int(sys.argv[1]))
open(sys.argv[2] + "/cgroup.procs", "w").write("0")
held = []
while not select.select([end], [], [], 0.002)[0] and len(held) < 200:
    room = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, 1 << 20, 4096): room[at] = 1
    held.append(room)
select.select([], [], [], 600)
END_OF_PYTHON
for policy in stop kill; do
	# In emulation it loads for longer than the unit allows.
	printf '[Service]\nTimeoutStartSec=900\nWatchdogSec=300\nRestart=no\nOOMPolicy=%s\n' $policy >/run/systemd/system/tactus.service.d/oom.conf
	systemctl daemon-reload
	systemctl reset-failed tactus 2>/dev/null
	holds "the service starts (OOMPolicy=$policy)" systemctl start tactus
	holds "an urgent thread has a hint before memory is short (OOMPolicy=$policy)" until_is yes has_hint $urgent
	main=$(show MainPID)
	group=/sys/fs/cgroup$(show ControlGroup)
	kills_before=$(awk '$1 == "oom_kill" { print $2 }' "$group/memory.events")
	keeper_protected=$(cat "/proc/$(pgrep -P "$main" tactus-keeper)/oom_score_adj")
	is "the service's keeper is the last that the kernel takes (OOMPolicy=$policy)" "$keeper_protected" -1000
	echo 1000 >"/proc/$main/oom_score_adj"
	whole=$(cat "$group/memory.oom.group")
	used=$(cat "$group/memory.current")
	systemctl set-property --runtime tactus MemoryMax=$((used + (16 << 20)))
	python3 "$scratch/fill.py" "$main" "$group" &
	filler=$!
	holds "a service whose main process the OOM killer took has failed (OOMPolicy=$policy)" until_is failed show ActiveState
	is "systemd says that it was for want of memory (OOMPolicy=$policy)" "$(show Result)" oom-kill
	is "the group is taken whole where the unit says so (OOMPolicy=$policy)" "$whole" "$([ $policy = kill ] && echo 1 || echo 0)"
	is "an urgent thread has the slice that it had when the OOM killer took the service (OOMPolicy=$policy)" "$(slice_of $urgent)" "$usual"
	is "an urgent thread has the nice value that it had when the OOM killer took the service (OOMPolicy=$policy)" "$(build/workloads/attr $urgent | cut -d' ' -f2)" 0
	is "no process of a service that the OOM killer took is left (OOMPolicy=$policy)" "$(pgrep '^tactus')" ""
	is "no journal of a service that the OOM killer took is left (OOMPolicy=$policy)" "$(ls /run/tactus/hints.journal 2>/dev/null)" ""
	say_measured "OOMPolicy=$policy: $((used >> 20)) MB used of $(((used >> 20) + 16)), $kills_before kills before; $(journalctl -u tactus -o cat -n 12 | tr '\n' ';')"
	kill -KILL $filler 2>/dev/null
	wait $filler 2>/dev/null
	systemctl set-property --runtime tactus MemoryMax=infinity
done
systemctl reset-failed tactus
holds "the service starts once more after the OOM killer took it" systemctl start tactus
holds "an urgent thread has a hint again" until_is yes has_hint $urgent
systemctl stop tactus
is "an urgent thread has the slice that it had when the service is stopped" "$(slice_of $urgent)" "$usual"
kill $urgent
done_testing

#!/usr/bin/env bash
# The packages on a fresh Debian, on which hardly anything else is installed, and where systemd is the first process: what an installation, an upgrade, a removal and a purge
# bring, need and leave. Usage: fresh.sh PACKAGE NEWER-PACKAGE NEWER-PACKAGE-FOR-GAMEMODE   Needs nothing but what is essential in Debian.
. tests/tap.sh

package=$1 newer=$2 gamemode=$3
unset TACTUS_DB
export SYSTEMD_PAGER='' SYSTEMD_COLORS=0 DEBIAN_FRONTEND=noninteractive
show() { systemctl show -P "$1" tactus; }
installed() { dpkg-query -W -f '${Package} ${db:Status-Status}\n' | awk '$2 == "installed" { print $1 }' | sort; }
# files: all that lie there, but for what packages' managers and the journal write about themselves, and tests
files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path "$PWD" -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache \
		-o -path /var/log -o -path /var/lib/systemd \) -prune -o -print | sort
}
is "the machine's first process is systemd" "$(cat /proc/1/comm)" systemd
# As deploy/README.md has it for hosts, by a double of ssh that runs the command here.
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$scratch/ssh"
chmod +x "$scratch/ssh"
is "a fresh Debian lacks libelf" "$(dpkg-query -W -f '${db:Status-Status}' 'libelf1*' 2>/dev/null)" ""
SSH=$scratch/ssh deploy/install-hosts.sh "$package" here >"$scratch/hosts" 2>&1
is "install-hosts brings the package and libelf to a fresh Debian" "$? $(dpkg-query -W -f '${Package} ${db:Status-Status} ' tactus 'libelf1*' 2>/dev/null)" "0 libelf1 installed tactus installed "
sed 's/^/# /' "$scratch/hosts"
apt-get -q purge -y --auto-remove tactus 'libelf1*' >"$scratch/apt" 2>&1
# By a test's own path for units systemd takes the unit for one that lies elsewhere, and links it.
rm -f /etc/systemd/system/tactus.service
systemctl daemon-reload
apt-get -q update >"$scratch/apt" 2>&1
# What the package needs is there before files are counted: it stays after a removal, as apt has it.
installed >"$scratch/before"
apt-get -q install -y --no-install-recommends "$package" >"$scratch/apt" 2>&1
is "apt installs the package on a fresh Debian" "$?" 0
[ "$failures" = 0 ] || tail -n 5 "$scratch/apt" | sed 's/^/# /'
installed >"$scratch/after"
say_measured "packages that came along: $(comm -13 "$scratch/before" "$scratch/after" | grep -vx tactus | tr '\n' ' ')"
is "nothing but libelf and what that needs comes along" "$(comm -13 "$scratch/before" "$scratch/after" | grep -vxE 'tactus|libelf1|libelf1t64|zlib1g')" ""
is "dpkg has nothing to say of the package's files" "$(dpkg -V tactus 2>&1)" ""
like "the program runs where nothing else is installed" "$(tactus version)" '^tactus [0-9]'
is "every library of the program is found" "$(ldd /usr/sbin/tactus | grep -c 'not found')" 0
is "an installation starts nothing" "$(show ActiveState)/$(show UnitFileState)" inactive/disabled
printf '%s\n' '[options run]' 'actuator = none' 'without = all' >/etc/tactus.conf
# As it is without a test's own path for units.
holds "the service is enabled" systemctl --root=/ enable tactus
systemctl daemon-reload
holds "the service starts" systemctl start tactus
is "the service is active when systemctl returns" "$(show ActiveState)/$(show SubState)" active/running
like "the service answers" "$(tactus status)" '^acts by +none'
before=$(show MainPID)
apt-get -q install -y --no-install-recommends -o Dpkg::Options::=--force-confold "$newer" >"$scratch/apt" 2>&1
is "apt upgrades the package" "$?" 0
# The restart is over when apt is: its script waits for it.
is "an upgrade has the new program at work" "$(show ActiveState)/$(test "$(show MainPID)" != "$before" && echo another)" active/another
is "an upgrade keeps what the owner wrote" "$(grep -c '^without = all' /etc/tactus.conf)" 1
is "an upgrade leaves the service enabled" "$(show UnitFileState)" enabled
apt-get -q install -y --no-install-recommends "$gamemode" >"$scratch/apt" 2>&1
is "apt installs the package for GameMode" "$?" 0
like "the session bus knows who answers for GameMode" "$(cat /usr/share/dbus-1/services/com.feralinteractive.GameMode.service)" '^Exec=/usr/sbin/tactus gamemode'
is "the package for GameMode stands in for its daemon" "$(apt-get -q -s install --no-install-recommends gamemode 2>/dev/null | grep -c '^Inst gamemode-daemon')" 0
apt-get -q remove -y tactus >"$scratch/apt" 2>&1
is "apt removes the package" "$?" 0
is "a removal ends the service" "$(pgrep -x tactus 2>/dev/null || grep -lx tactus /proc/[0-9]*/comm 2>/dev/null)" ""
is "a removal leaves the configuration, what was learned, and nothing else" "$(find / -xdev -path "$PWD" -prune -o -path '*/proc/*' -prune -o -name '*tactus*' -print 2>/dev/null | grep -vE '^/(tmp|root|run|sys|dev|var/lib/dpkg|var/log|var/cache|var/lib/apt)' | tr '\n' ' ')" \
	"/etc/systemd/system/multi-user.target.wants/tactus.service /etc/tactus.conf /var/lib/tactus "
apt-get -q purge -y tactus >"$scratch/apt" 2>&1
is "apt purges the package" "$?" 0
files >"$scratch/left"
apt-get -q install -y --no-install-recommends "$package" >"$scratch/apt" 2>&1
apt-get -q purge -y tactus >"$scratch/apt" 2>&1
is "a purge leaves no file of the package" "$(grep -i tactus "$scratch/left" | grep -v "^$PWD")" ""
files >"$scratch/again"
is "an installation and its purge leave the files as they were" "$(diff "$scratch/left" "$scratch/again")" ""
is "systemd knows the service no longer" "$(show LoadState)" not-found
is "dpkg has nothing unfinished" "$(dpkg --audit)" ""
done_testing

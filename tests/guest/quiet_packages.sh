#!/usr/bin/env bash
# Runs where systemd is the first process, in a container whose files are thrown away: packages with a service come from an archive of our own, by apt.
. tests/tap.sh
. tools/lib.sh

cache=$scratch/cache
# Nothing is installed as far as dpkg knows here: what the machine's own is doing meanwhile has no say.
mount -t tmpfs tmpfs /var/lib/dpkg
mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates /var/lib/dpkg/triggers
touch /var/lib/dpkg/status /var/lib/dpkg/available
policy_file=/usr/sbin/policy-rc.d
archive=$scratch/archive
mkdir -p "$archive"
# make_package NAME VERSION: with a service, and what Debian's tools write into its scripts to start it
make_package() {
	local top=$scratch/$1-$2
	mkdir -p "$top/DEBIAN" "$top/lib/systemd/system"
	printf '%s\n' "Package: $1" "Version: $2" 'Architecture: all' 'Priority: optional' 'Section: misc' 'Maintainer: nobody <nobody@localhost>' 'Description: a service' >"$top/DEBIAN/control"
	printf '%s\n' '[Unit]' 'DefaultDependencies=no' '[Service]' 'ExecStart=/bin/sleep 1000' '[Install]' 'WantedBy=multi-user.target' >"$top/lib/systemd/system/$1.service"
	cat >"$top/DEBIAN/postinst" <<-END
		#!/bin/sh
		set -e
		deb-systemd-helper unmask $1.service >/dev/null || true
		if deb-systemd-helper --quiet was-enabled $1.service; then deb-systemd-helper enable $1.service >/dev/null || true; fi
		systemctl --system daemon-reload >/dev/null || true
		deb-systemd-invoke \$([ -z "\$2" ] && echo start || echo restart) $1.service >/dev/null || true
	END
	chmod 755 "$top/DEBIAN/postinst"
	# The container's systemd reads few folders; this is one.
	mkdir -p /run/systemd/system && cp "$top/lib/systemd/system/$1.service" /run/systemd/system/
	dpkg-deb -b --root-owner-group "$top" "$archive/$1_$2_all.deb" >/dev/null
}
list_packages() {
	local deb
	: >"$archive/Packages"
	for deb in "$archive"/*.deb; do
		{ dpkg-deb -f "$deb"; printf '%s\n' "Filename: ./${deb##*/}" "Size: $(stat -c %s "$deb")" "SHA256: $(sha256sum <"$deb" | cut -d ' ' -f 1)" ''; } >>"$archive/Packages"
	done
	printf '%s\n' "Dir::Etc::SourceList \"$scratch/sources.list\";" 'Dir::Etc::SourceParts "/dev/null";' "Dir::State::Lists \"$scratch/lists\";" 'APT::Sandbox::User "root";' >/etc/apt/apt.conf.d/99test
	echo "deb [trusted=yes] file:$archive ./" >"$scratch/sources.list"
	mkdir -p "$scratch/lists/partial"
	apt-get update -qq
}
state_of() { echo "$(systemctl is-active "$1") $([ -e "/etc/systemd/system/multi-user.target.wants/$1.service" ] && echo enabled || echo off)"; }

is "the machine's first process is systemd" "$(cat /proc/1/comm)" systemd
for name in tactus-plain tactus-quiet tactus-busy tactus-other; do make_package $name 1; done
holds "an archive of packages with services is read by apt" list_packages
apt_install tactus-plain
is "Debian itself starts and enables the service of a package that is installed" "$(state_of tactus-plain)" "active enabled"
install_packages tactus-quiet 2>"$scratch/said"
is "the service of a package that is installed for the tests is neither started nor enabled" "$(have_package tactus-quiet && state_of tactus-quiet)" "inactive off"
like "the user is told which services stay off" "$(cat "$scratch/said")" 'neither started nor enabled: tactus-quiet.service'
holds "no answer to Debian's question stays behind" test ! -e $policy_file
before=$(systemctl show -P MainPID tactus-plain)
make_package tactus-plain 2
list_packages
with_lock packages install_quietly tactus-plain 2>/dev/null
is "a service that was there before is restarted by an upgrade and stays enabled" "$(state_of tactus-plain) $([ "$(systemctl show -P MainPID tactus-plain)" != "$before" ] && echo anew)" "active enabled anew"
echo 'exit 0' >$policy_file
chmod 755 $policy_file
install_packages tactus-busy 2>/dev/null
is "an answer of the machine's own stays as it is" "$(cat $policy_file)" 'exit 0'
is "the service of a package is stopped again where the machine's own answer let it start" "$(state_of tactus-busy)" "inactive off"
rm $policy_file
# Killed at once, by a signal that nobody can do anything about.
bash -c '. tools/lib.sh; keep_off "tactus-other"; kill -KILL $$'
is "an answer is there when who made it was killed" "$(test -e $policy_file && echo there)" there
apt_install tactus-other
is "the answer of one that was killed keeps nothing off and is gone" "$(state_of tactus-other) $(ls $policy_file 2>/dev/null)" "active enabled "
systemctl stop tactus-plain tactus-other
done_testing

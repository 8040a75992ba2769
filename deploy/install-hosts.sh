#!/bin/sh
# Installs the package on hosts and starts the service, one after another, and says of each how it stands. What is done already is left.
# Usage: [ETC=FOLDER] deploy/install-hosts.sh PACKAGE.deb HOST...   (SSH= names another program than ssh; it must get in as root)
# ETC: the files in FOLDER come to /etc of each host, as root's and with the modes that they have here: tactus.conf, tactus/token and what docs/fleet.md
# says. A tactus.conf that is wrong comes to none. Where a file is new, the service starts again; services that lie there (systemd/system) do too.
# Many at a time: xargs -n 10 -P 50 deploy/install-hosts.sh PACKAGE.deb <FILE-OF-HOSTS
set -u
ssh=${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10}
package=${1:?usage: install-hosts.sh PACKAGE.deb HOST...}
shift
[ -r "$package" ] || { echo "tactus: $package: no such package" >&2; exit 2; }
[ $# -gt 0 ] || { echo "tactus: install-hosts.sh: no host was named" >&2; exit 2; }
[ -z "${ETC:-}" ] || [ -d "$ETC" ] || { echo "tactus: $ETC: no such folder" >&2; exit 2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
mkdir "$work/etc"
cp "$package" "$work/package.deb" || exit 1
[ -z "${ETC:-}" ] || cp -R -p "$ETC/." "$work/etc" || exit 1
tar --owner=0 --group=0 -C "$work" -cf "$work/all.tar" package.deb etc || exit 1
sum=$(sha256sum "$work/package.deb" | cut -d ' ' -f 1)
version=$(dpkg-deb -f "$package" Version 2>/dev/null)
# It all goes over one connection; what arrived is compared before it is installed, with what it needs: a minimal host lacks libelf, and at times apt's lists
# too, and one where this was broken off has packages that are not set up.
# shellcheck disable=SC2016 # for there
there='set -e; umask 022; d=$(mktemp -d); trap "rm -rf $d" EXIT; tar -C $d -xpf -; chmod 755 $d; chmod 700 $d/etc; chmod 644 $d/package.deb
	echo "$sum  $d/package.deb" | sha256sum -c - >/dev/null
	export DEBIAN_FRONTEND=noninteractive
	put() { apt-get -y -q --allow-downgrades -o Dpkg::Options::=--force-confold install $d/package.deb; }
	[ "$(dpkg-query -W -f "\${db:Status-Status} \${Version}" tactus 2>/dev/null)" = "installed $version" ] || o=$(put 2>&1) ||
		o=$(dpkg --force-confold --configure -a 2>&1; put 2>&1) || o=$(apt-get -q update 2>&1 && put 2>&1) || { echo "$o"; exit 1; }
	cd $d/etc
	[ ! -e tactus.conf ] || o=$(tactus config --config $d/etc/tactus.conf 2>&1) || { echo "$o" | sed -n "1s|$d||p"; exit 1; }
	find . -type f | while read -r f; do
		! cmp -s "$f" "/etc/$f" || [ "$(stat -c %a "$f")" != "$(stat -c %a "/etc/$f")" ] || continue
		mkdir -p "/etc/${f%/*}"
		cp -p "$f" "/etc/$f.new"
		mv "/etc/$f.new" "/etc/$f"
		: >$d/changed
	done
	systemctl daemon-reload
	systemctl enable --quiet tactus
	systemctl reset-failed tactus 2>/dev/null || :
	w=start
	[ ! -e $d/changed ] || w=restart
	o=$(systemctl $w tactus 2>&1) || { echo "$o"; journalctl -t tactus -p err -o cat -n 1 --no-pager; exit 1; }
	for u in systemd/system/*.service; do
		[ ! -f "$u" ] || systemctl enable --quiet "${u##*/}"
		[ ! -f "$u" ] || o=$(systemctl $w "${u##*/}" 2>&1) || { echo "$o"; exit 1; }
	done
	tactus status | head -n 2'
failed=0
for host in "$@"; do
	# What begins with a dash is an option to ssh, and could be a command to run here.
	case $host in
	-*)
		echo "$host: FAILED: is no name of a host"
		failed=1
		continue
		;;
	esac
	# What a host says is text for a terminal here: other characters go.
	if said=$($ssh "$host" "sum=$sum version='$version'; $there" <"$work/all.tar" 2>&1); then
		printf '%s: %s\n' "$host" "$(printf '%s\n' "$said" | tr -s ' \n' ' ' | LC_ALL=C tr -cd ' -~')"
	else
		printf '%s: FAILED: %s\n' "$host" "$(printf '%s\n' "$said" | tail -n 1 | LC_ALL=C tr -cd ' -~')"
		failed=1
	fi
done
exit $failed

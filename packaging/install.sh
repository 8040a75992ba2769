#!/bin/sh
# Installs what lies beside it: a static tactus, its manual, completion, the service. Usage: install.sh [PREFIX]  (/usr/local)
# 'PREFIX/sbin/tactus undo' and removing the files that are listed at the end takes it out again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:-/usr/local}
case $prefix in
/*) ;;
*)
	echo "tactus: install.sh: '$prefix' is no folder from the root on; usage: install.sh [PREFIX]" >&2
	exit 2
	;;
esac
units=${DESTDIR:-}/etc/systemd/system
[ "$prefix" != /usr ] || units=${DESTDIR:-}/usr/lib/systemd/system

if [ "$(id -u)" != 0 ] && [ -z "${DESTDIR:-}" ]; then
	echo "tactus: install.sh: only root may write to $prefix: try sudo" >&2
	exit 1
fi
cd "$here"
find sbin share -type f | while read -r file; do
	mkdir -p "${DESTDIR:-}$prefix/$(dirname "$file")"
	# A new file, and not the old one's bytes: a tactus that runs goes on.
	cp "$file" "${DESTDIR:-}$prefix/$file.new"
	mv "${DESTDIR:-}$prefix/$file.new" "${DESTDIR:-}$prefix/$file"
	echo "${DESTDIR:-}$prefix/$file"
done
if [ -d /run/systemd/system ] || [ -n "${DESTDIR:-}" ]; then
	mkdir -p "$units"
	sed "s|=/sbin/|=$prefix/sbin/|" lib/systemd/system/tactus.service >"$units/tactus.service"
	echo "$units/tactus.service"
	[ -n "${DESTDIR:-}" ] || systemctl daemon-reload
fi

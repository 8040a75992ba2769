#!/usr/bin/env bash
# Unpacks a stock kernel of Debian: kernel-debian.sh META-PACKAGE IMAGE-FOLDER WORK-FOLDER; vm/kernel.sh calls it.
# Leaves in IMAGE-FOLDER: vmlinuz, config, release (what uname -r will say), lib/modules and a link to its only folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"

# The meta package is empty and depends on the one with the kernel, whose name has the version in it.
real_package() {
	local name
	name=$(apt-cache depends --important "$1" | awk '$1 == "Depends:" && $2 ~ /^linux-image-/ {print $2; exit}')
	[ -n "$name" ] || die "$1: apt-cache names no kernel that it depends on"
	printf '%s\n' "$name"
}

main() {
	local package=$1 image=$2 work=$3 deb release
	install_packages kmod
	deb=$(fetch_deb "$(real_package "$package")")
	say "unpacking $(basename "$deb")"
	dpkg-deb -x "$deb" "$work/deb"
	release=$(basename "$work"/deb/lib/modules/*)
	mkdir "$image/lib"
	mv "$work/deb/lib/modules" "$image/lib/modules"
	mv "$work/deb/boot/vmlinuz-$release" "$image/vmlinuz"
	mv "$work/deb/boot/config-$release" "$image/config"
	ln -s "lib/modules/$release" "$image/modules"
	printf '%s\n' "$release" >"$image/release"
	depmod -b "$image" "$release"
}

main "$@"

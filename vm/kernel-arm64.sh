#!/usr/bin/env bash
# Makes sure that Debian's arm64 kernel NAME can be booted, and prints the path of its folder: kernel-arm64.sh NAME;
# vm/kernel.sh calls it, and it calls itself to unpack a kernel and to make what boots it. In the folder, beside what kernel.sh says: root, a link to the folder of arm64 programs.
# A series that Debian's archive no longer has, or a machine without Debian's tools, ends with 3.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"
# shellcheck source=tools/foreign.sh
. "$here/../tools/foreign.sh"

gone=3
# How long a folder outlives its last use once a newer one is made.
keep_days=14

# Prints the newest package of the series. Until 6.18 one package has all of a kernel.
series_package() {
	foreign_names arm64 "$suite" "^linux-image-$series\\.[0-9]+([+-][a-z0-9]+)?-$flavour\$" | sort -V | tail -n 1
}

# Sets suite, series and flavour: the newest with sched_ext that has all in one package, with pages of 4 or 16 KB; an old one.
choose() {
	suite=trixie-backports series='6.18' flavour=arm64
	case $1 in
	debian-arm64-16k) flavour=arm64-16k ;;
	debian-6.1-arm64) suite=bookworm series='6.1' ;;
	esac
}

hash_of() { cat "$@" | sha256sum | cut -c 1-12; }

# make_folder FOLDER SCRIPT...: the script fills a new folder, its last word but one; it is moved in place when whole.
make_folder() (
	folder=$1 parent=$(dirname "$1")
	shift
	[ ! -e "$folder" ] || { touch "$folder" && exit 0; }
	mkdir -p "$parent"
	find "$parent" -maxdepth 1 -name "$(basename "${folder%-*}")-*" -mtime +"$keep_days" -exec rm -rf {} +
	work=$(mktemp -d "$parent/.arm64.XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/new" && "$@" "$work/new" "$work" && mv "$work/new" "$folder"
)

unpack_kernel() {
	local suite=$1 package=$2 image=$3 root=$4/deb release
	install_packages kmod
	say "downloading and unpacking $package (once: it stays in $cache)"
	foreign_merge_usr "$root"
	foreign_unpack arm64 "$suite" "$root" alone "$package"
	release=${package#linux-image-}
	mkdir "$image/lib"
	mv "$root/usr/lib/modules" "$image/lib/modules"
	ln -s "lib/modules/$release" "$image/modules"
	mv "$root/boot/vmlinuz-$release" "$image/vmlinuz"
	mv "$root/boot/config-$release" "$image/config"
	depmod -b "$image" "$release"
	printf '%s\n' "$release" >"$image/release"
}

make_boot() {
	local image=$1 root=$2 new=$3 work=$4
	install_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	GUEST_CC=aarch64-linux-gnu-gcc "$here/kernel-boot.sh" "$image" "$new" "$work"
	ln -s "$root" "$new/root"
}

# Where there is one already, nothing is asked of the network.
find_image() {
	local package
	image=$(find "$cache/kernel" -maxdepth 1 -name "$name-$series.*-1" 2>/dev/null | sort -V | tail -n 1)
	[ -z "$image" ] || return 0
	command -v apt-get >/dev/null || { printf 'tactus: KERNEL=%s: needs apt-get\n' "$name" >&2 && exit "$gone"; }
	package=$(series_package)
	[ -n "$package" ] || { printf 'tactus: KERNEL=%s: %s has no Linux %s for %s\n' "$name" "$suite" "$series" "$flavour" >&2 && exit "$gone"; }
	image=$cache/kernel/$name-${package#linux-image-}-1
	with_lock "kernel-$name" make_folder "$image" "$here/kernel-arm64.sh" unpack "$suite" "$package"
}

main() {
	local name=$1 suite series flavour image boot root
	choose "$name"
	find_image
	root=$cache/aarch64/root-$(foreign_own_suite)-$(hash_of "$here/root-arm64.sh")
	with_lock aarch64-root make_folder "$root" "$here/root-arm64.sh"
	boot=$cache/vm/$name-$(echo "$image $root" | hash_of - "$here"/{kernel-arm64.sh,kernel-boot.sh,init.c,attend.c,line.h})
	with_lock "vm-$name" make_folder "$boot" "$here/kernel-arm64.sh" boot "$image" "$root"
	printf '%s\n' "$boot"
}

case $1 in
unpack) shift && unpack_kernel "$@" ;;
boot) shift && make_boot "$@" ;;
*) main "$@" ;;
esac

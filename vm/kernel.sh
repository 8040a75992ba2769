#!/usr/bin/env bash
# Makes sure that the kernel NAME (scx, debian-6.1 or debian-6.12) can be booted, and prints the path of its folder.
# In the folder: vmlinuz, initramfs, attend (the host's end of the line) and image, a link to the kernel's own folder.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"

# How long a folder outlives its last use once a newer one of its kernel is made.
keep_days=14

refuse() { printf 'tactus: %s\n' "$*" >&2; exit 2; }

# Sets how a kernel is made: the script, the package whose version names the result, the files that change it.
choose() {
	case $1 in
	scx) recipe=$here/kernel-scx.sh package=linux-source-6.12 files=("$recipe" "$here/kernel.config" "$here/module/nvidia.c") ;;
	debian-6.1) recipe=$here/kernel-debian.sh package=linux-image-amd64 files=("$recipe") ;;
	debian-6.12) recipe=$here/kernel-debian.sh package=linux-image-6.12-amd64 files=("$recipe") ;;
	*) refuse "KERNEL=$1: not one of scx, debian-6.1, debian-6.12" ;;
	esac
}

hash_of() { cat "$@" | sha256sum | cut -c 1-12; }

# Makes a folder of the cache by running a script, which fills its last word but one; it is moved in place when whole.
# Called with the lock held, so what other builds of this name have left behind is the remains of killed ones.
make_folder() (
	name=$1 folder=$2
	shift 2
	[ ! -e "$folder" ] || exit 0
	rm -rf "$(dirname "$folder")/.$name".*
	work=$(mktemp -d "$(dirname "$folder")/.$name.XXXXXX") || exit 1
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/new" && "$@" "$work/new" "$work" && mv "$work/new" "$folder"
)

# need_folder NAME FOLDER SCRIPT...
need_folder() {
	local name=$1 folder=$2 parent
	parent=$(dirname "$folder")
	if [ ! -e "$folder" ]; then
		mkdir -p "$parent"
		find "$parent" -maxdepth 1 -name "$name-*" -mtime +"$keep_days" -exec rm -rf {} +
		with_lock "$(basename "$parent")-$name" make_folder "$@"
	fi
	touch "$folder"
}

main() {
	local name=${1:-} image boot version
	case $name in debian-arm64 | debian-6.1-arm64) exec "$here/kernel-arm64.sh" "$name" ;; esac
	choose "$name"
	version=$(need_package_version "$package")
	# Two folders, because the kernel is slow to make and a change to the guest's init must not make it anew.
	image=$cache/kernel/$name-${version//[^A-Za-z0-9.+~-]/_}-$(hash_of "${files[@]}")
	boot=$cache/vm/$name-$(echo "$image" | hash_of - "$here"/{kernel-boot.sh,init.c,attend.c,line.h})
	need_folder "$name" "$image" "$recipe" "$package"
	need_folder "$name" "$boot" "$here/kernel-boot.sh" "$image"
	printf '%s\n' "$boot"
}

main "$@"

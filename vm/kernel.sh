#!/usr/bin/env bash
# Makes sure that the kernel NAME can be booted, and prints the path of its folder: kernel.sh [--exact] NAME
# In the folder: vmlinuz, initramfs, attend (the host's end of the line) and image, a link to the kernel's own folder.
# A series that Debian's archive no longer has is replaced by the nearest newer one; with --exact, or where there is none, the
# exit status is 3. What is in the cache already is used as it is: nothing is asked of the network.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"

names=(debian-6.1 debian-6.12 debian-6.16 debian-6.17 debian-6.18 debian-7.2 debian-newest scx debian-arm64 debian-arm64-16k debian-6.1-arm64)
# How long a folder outlives its last use once a newer one of its kernel is made.
keep_days=14
# After so long the newest of all is looked for again.
newest_days=7
# To be changed when kernel-debian.sh leaves something else behind: the kernel is not downloaded anew for anything less.
debian_layout=1
not_downloaded=4

refuse() { printf 'tactus: %s\n' "$*" >&2; exit 2; }

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
		with_lock "$(basename "$parent")-$name" make_folder "$@" || return
	fi
	used "$folder"
}

# Another user's folder can't be touched, nor has to be.
used() { touch -c "$1" 2>/dev/null || true; }

# Sets image to the folder of the kernel built from kernel.config; a newer version of its source does not build it anew.
need_scx() {
	local recipe=$here/kernel-scx.sh package=linux-source-6.12 version hash
	hash=$(hash_of "$recipe" "$here/kernel.config" "$here/module/nvidia.c")
	image=$(find "$cache/kernel" -maxdepth 1 -name "scx-*-$hash" 2>/dev/null | sort -V | tail -n 1)
	if [ -z "$image" ]; then
		version=$(need_package_version "$package")
		image=$cache/kernel/scx-${version//[^A-Za-z0-9.+~-]/_}-$hash
	fi
	need_folder scx "$image" "$recipe" "$package"
}

# Sets image to where the name's link points, if that is there and still good: is_chosen NAME EXACT
is_chosen() {
	local link=$cache/kernel/$1
	[ -d "$link/" ] || return 1
	image=$(realpath "$link")
	case $image in *-"$debian_layout") ;; *) return 1 ;; esac
	[ "$2" = no ] || [ "$1" = debian-newest ] || [[ $(basename "$image") = "$1"-* ]]
}

# need_debian_folder NAME EXACT DAYS: looks for the kernel, unpacks it, and sets image and the name's link.
need_debian_folder() {
	local name=$1 found
	found=$("$here/kernel-debian.sh" find "${name#debian-}" "$2" "$3") || return
	# shellcheck disable=SC2086
	set -- $found
	image=$cache/kernel/debian-$1-$2-$debian_layout
	need_folder "debian-$1" "$image" "$here/kernel-debian.sh" unpack "${@:2}" || return
	ln -sfnT "$(basename "$image")" "$cache/kernel/$name"
}

is_newest_of_late() { [ "$1" != debian-newest ] || [ -n "$(find "$cache/kernel/$1" -mtime -"$newest_days" 2>/dev/null)" ]; }

need_debian() {
	local name=$1 exact=$2 status=0
	! { is_chosen "$name" "$exact" && is_newest_of_late "$name"; } || { used "$image" && return; }
	need_debian_folder "$name" "$exact" 1 || status=$?
	# Lists name packages that have moved on since.
	[ "$status" != "$not_downloaded" ] || { status=0 && need_debian_folder "$name" "$exact" 0 || status=$?; }
	[ "$status" != 0 ] || return 0
	is_chosen "$name" "$exact" || exit "$status"
	say "$name: taken from the cache"
	touch -h "$cache/kernel/$name"
}

main() {
	local exact=no name image='' boot
	[ "${1:-}" != --exact ] || { exact=yes && shift; }
	name=${1:-}
	case " ${names[*]} " in *" $name "*) ;; *) refuse "KERNEL=$name: not one of ${names[*]}" ;; esac
	case $name in *-arm64*) exec "$here/kernel-arm64.sh" "$name" ;; esac
	if [ "$name" = scx ]; then need_scx; else need_debian "$name" "$exact"; fi
	[ "$name" = scx ] || name=$(basename "$image" | cut -d - -f 1,2)
	# Two folders, because the kernel is slow to make and a change to the guest's init must not make it anew.
	boot=$cache/vm/$name-$(echo "$image" | hash_of - "$here"/{kernel-boot.sh,init.c,attend.c,line.h})
	need_folder "$name" "$boot" "$here/kernel-boot.sh" "$image"
	printf '%s\n' "$boot"
}

main "$@"

#!/usr/bin/env bash
# Builds the kernel of kernel.config: kernel-scx.sh SOURCE-PACKAGE IMAGE-FOLDER WORK-FOLDER; vm/kernel.sh calls it.
# Leaves in IMAGE-FOLDER: vmlinuz, config, System.map, release, nvidia.ko (vm/module) and build.log. Six minutes on two cores.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"

# Lines that make prints for this config, near enough for a percentage.
usual_steps=1960

unpack_source() {
	local deb=$1 package=$2 to=$3
	say "unpacking $package"
	mkdir "$to"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$package.tar.xz" | tar -xJ -C "$to" --strip-components=1
}

# A clean environment: the kernel's makefiles would take a caller's variables and job server for theirs.
kernel_make() {
	local work=$1
	shift
	env -i PATH="$PATH" HOME="$HOME" LC_ALL=C KBUILD_BUILD_USER=tactus KBUILD_BUILD_HOST=vm \
		KCONFIG_ALLCONFIG="$here/kernel.config" make -C "$work/source" O="$work/objects" "$@"
}

# The kernel drops without a word what its other options do not allow.
check_config() {
	local config=$1 line missing=''
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$config" || missing+=" ${line%%=*}" ;;
		esac
	done <"$here/kernel.config"
	[ -z "$missing" ] || die "vm/kernel.config: the kernel does not take$missing"
}

show_progress() {
	local log=$1 started=$2 steps percent
	steps=$(wc -l <"$log")
	percent=$((steps * 100 / usual_steps))
	say "building the kernel: $((percent < 99 ? percent : 99)) % ($steps steps, $((SECONDS - started)) s)"
}

# Shows a line every ten seconds while the process lives.
watch_build() {
	local pid=$1 log=$2 started=$SECONDS
	while kill -0 "$pid" 2>/dev/null; do
		(((SECONDS - started) % 10 != 0)) || show_progress "$log" "$started"
		sleep 1
	done
}

make_all() {
	local work=$1
	mkdir "$work/module"
	cp "$here/module/nvidia.c" "$work/module/"
	echo 'obj-m := nvidia.o' >"$work/module/Makefile"
	kernel_make "$work" -j"$(nproc)" bzImage modules && kernel_make "$work" M="$work/module" modules
}

build() {
	local work=$1 log=$2
	make_all "$work" >>"$log" 2>&1 &
	make_pid=$!
	trap 'kill "$make_pid" 2>/dev/null; wait "$make_pid"' EXIT
	trap 'exit 143' TERM INT HUP
	watch_build "$make_pid" "$log"
	trap - EXIT TERM INT HUP
	wait "$make_pid"
}

main() {
	local package=$1 image=$2 work=$3 deb log
	log=$image/build.log
	install_packages gcc make bc flex bison libelf-dev dwarves xz-utils
	deb=$(fetch_deb "$package")
	unpack_source "$deb" "$package" "$work/source"
	mkdir "$work/objects"
	kernel_make "$work" allnoconfig >"$log" 2>&1 || { tail -n 20 "$log" >&2; die "the kernel can't be configured"; }
	check_config "$work/objects/.config"
	say "building the kernel once; it stays in $cache"
	if ! build "$work" "$log"; then
		cp "$log" "$cache/kernel-scx.failed.log"
		tail -n 30 "$log" >&2
		die "the kernel does not build: the whole log is $cache/kernel-scx.failed.log"
	fi
	cp "$work/objects/arch/x86/boot/bzImage" "$image/vmlinuz"
	cp "$work/module/nvidia.ko" "$image/nvidia.ko"
	cp "$work/objects/System.map" "$image/System.map"
	cp "$work/objects/.config" "$image/config"
	cp "$work/objects/include/config/kernel.release" "$image/release"
}

main "$@"

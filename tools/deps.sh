#!/usr/bin/env bash
# Finds or makes what the build needs (packages, libbpf >= 1.4, bpftool) and writes where it is to build/deps.mk.
# Usage: tools/deps.sh build|test   ("test" also installs what the tests and benchmarks run)
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh

build_packages="gcc make clang llvm libelf-dev zlib1g-dev libinih-dev libiberty-dev pkg-config python3"
unit_packages="libclang-rt-14-dev"
# What guests run of this machine's files.
vm_packages="qemu-system-x86 kmod rt-tests stress-ng alsa-utils nginx-light wrk"
test_packages="procps util-linux linux-perf clang-format cppcheck shellcheck mandoc"
# 32-bit programs.
[ "$(uname -m)" != x86_64 ] || test_packages+=" gcc-multilib"
# Real programs whose threads' roles are known: games, frames, Windows programs, sound, servers.
role_packages="wine wine64 libwine gcc-mingw-w64-x86-64-win32 xvfb mesa-utils libgl1-mesa-dri vulkan-tools
	mesa-vulkan-drivers weston chocolate-doom freedoom glmark2-x11 libsdl2-tests jackd2 pipewire pipewire-bin
	wireplumber pipewire-pulse pulseaudio-utils alsa-utils mpv nginx-light wrk libdrm-tests libdrm-dev dbus"
libbpf_packages="xz-utils linux-libc-dev"
kernel_source=linux-source-6.12

distribution_libbpf_is_enough() {
	pkg-config --atleast-version=1.4 libbpf 2>/dev/null &&
		[ -e "$(pkg-config --variable=libdir libbpf)/libbpf.a" ] &&
		command -v bpftool >/dev/null &&
		bpftool version 2>/dev/null | head -n 1 | grep -qE 'v(7\.[4-9]|7\.[1-9][0-9]|[89]|[1-9][0-9])'
}

# $1: the folder to leave include/, lib/libbpf.a and bin/bpftool in
build_libbpf() {
	local target=$1 deb work
	deb=$(fetch_deb "$kernel_source")
	work=$(mktemp -d "$cache/libbpf.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$work'" EXIT
	say "unpacking libbpf and bpftool from $kernel_source"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$kernel_source.tar.xz" |
		tar -xJ -C "$work" --strip-components=1 --wildcards \
			"$kernel_source/tools/*" "$kernel_source/scripts/*" "$kernel_source/kernel/bpf/*" \
			"$kernel_source/include/uapi/*" "$kernel_source/arch/*/include/*"
	say "building libbpf"
	mkdir -p "$work/out-libbpf" "$work/out-bpftool"
	make -s -j"$(nproc)" -C "$work/tools/lib/bpf" OUTPUT="$work/out-libbpf/" prefix=/ libdir=/lib DESTDIR="$work/done" \
		install >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "libbpf did not build"; }
	say "building bpftool"
	make -s -j"$(nproc)" -C "$work/tools/bpf/bpftool" OUTPUT="$work/out-bpftool/" bootstrap \
		>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "bpftool did not build"; }
	install -D "$work/out-bpftool/bootstrap/bpftool" "$work/done/bin/bpftool"
	rm -rf "$target"
	mv "$work/done" "$target"
}

ensure_libbpf() { [ -x "$1/bin/bpftool" ] || build_libbpf "$1"; }

write_makefile_part() {
	mkdir -p build
	printf '%s\n' "# Written by tools/deps.sh; 'make deps' writes it anew." "$@" >build/deps.mk.new
	# An unchanged file keeps its time, so that nothing is built again for it.
	if cmp -s build/deps.mk.new build/deps.mk; then rm build/deps.mk.new; else mv build/deps.mk.new build/deps.mk; fi
}

# Without root nothing is installed; tests/run.sh leaves out what cannot run.
say_what_guests_lack() {
	local missing
	# shellcheck disable=SC2086
	missing=$(missing_packages $vm_packages)
	[ -z "$missing" ] || say "tests in VMs are skipped: as root run 'apt-get install ${missing% }'"
}

main() {
	local wanted=${1:-build} packages=$build_packages version home
	distribution_libbpf_is_enough || packages+=" $libbpf_packages"
	[ "$wanted" = build ] || packages+=" $unit_packages"
	if [ "$wanted" != build ] && [ "$(id -u)" = 0 ]; then
		packages+=" $vm_packages $test_packages $role_packages"
	elif [ "$wanted" != build ]; then
		say_what_guests_lack
	fi
	# shellcheck disable=SC2086
	install_packages $packages
	if distribution_libbpf_is_enough; then
		write_makefile_part "LIBBPF_CFLAGS := $(pkg-config --cflags libbpf)" \
			"LIBBPF_A := $(pkg-config --variable=libdir libbpf)/libbpf.a" "BPFTOOL := $(command -v bpftool)"
		return
	fi
	version=$(need_package_version "$kernel_source")
	home=$cache/libbpf-1.5-${version//[^A-Za-z0-9.+-]/_}
	with_lock libbpf ensure_libbpf "$home"
	write_makefile_part "LIBBPF_CFLAGS := -I$home/include" "LIBBPF_A := $home/lib/libbpf.a" "BPFTOOL := $home/bin/bpftool"
}

main "$@"

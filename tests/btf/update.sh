#!/usr/bin/env bash
# Saves anew what the BPF objects ask for out of the BTF of each kernel of the VM: update.sh [KERNEL...]
# Needed when an object asks for a type, a member or a function that it did not ask for before; btf_test says so.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib.sh

kernels=("$@")
[ $# -gt 0 ] || kernels=(scx debian-6.1 debian-6.12 debian-6.16 debian-6.17 debian-6.18 debian-7.2 debian-arm64 debian-arm64-16k)

# A kernel's file is a small program with the kernel packed behind it; the packer's mark says where that begins. A mark may
# also stand in the file by chance.
# unpack_kernel VMLINUZ TO
unpack_kernel() {
	local mark command offset
	# arm64's is not packed, and no ELF file: its BTF is found by how it begins, and what follows it is not looked at.
	if [ "$(head -c 60 "$1" | tail -c 4)" = ARMd ]; then
		offset=$(LC_ALL=C grep -m 1 -aboP '\x9f\xeb\x01\x00\x18\x00\x00\x00' "$1" | head -n 1 | cut -d: -f1)
		[ -n "$offset" ] || die "$1: no BTF was found in it"
		tail -c +$((offset + 1)) "$1" >"$2"
		return
	fi
	for mark in '\x28\xb5\x2f\xfd:zstd -qdc' '\xfd7zXZ\x00:xz -dcq' '\x1f\x8b\x08:gzip -dcq'; do
		command=${mark#*:} mark=${mark%%:*}
		while read -r offset; do
			# What follows the packed part makes unpackers complain after they are done.
			# shellcheck disable=SC2086
			tail -c +$((offset + 1)) "$1" | $command >"$2" 2>/dev/null || true
			[ "$(head -c 4 "$2" | tail -c 3)" != ELF ] || return 0
		done < <(LC_ALL=C grep -aboP "$mark" "$1" | cut -d: -f1)
	done
	die "$1: no kernel was found in it"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# For arm64 there may be other things to ask for: a kernel's file has what either build asks for.
sources=(bpf/*.bpf.c)
objects=("${sources[@]/%.c/.o}")
objects=("${objects[@]/#/build/}" "${objects[@]/#/build/aarch64/}")
make --no-print-directory -s build/tests/btf_trim "${objects[@]}" || die "objects for arm64 need its headers (libc6-dev-arm64-cross)"
build/tests/btf_trim --wanted "${objects[@]}" >tests/btf/wanted
for kernel in "${kernels[@]}"; do
	image=$(readlink -f "$(vm/kernel.sh "$kernel")/image")
	say "$kernel: $(cat "$image/release")"
	unpack_kernel "$image/vmlinuz" "$scratch/vmlinux"
	build/tests/btf_trim "$scratch/vmlinux" "tests/btf/$kernel.btf" "${objects[@]}"
done

#!/usr/bin/env bash
# Builds the kernel's own example of a sched_ext scheduler, scx_simple, from Debian's source of a kernel into the cache, once, and
# prints where it is: simple.sh [scx|debian-7.2]. The types it needs are that kernel's in the VM, which is asked for them.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. tools/lib.sh

kernel=${1:-scx}
case $kernel in
scx) package=linux-source-6.12 ;;
debian-7.2) package=linux-source-7.2 ;;
*) die "scx_simple: no source of KERNEL=$kernel is known: scx and debian-7.2 have one" ;;
esac
deps() { sed -n "s/^$1 := *//p" build/deps.mk; }

build() {
	local work=$1 deb tree flags
	deb=$(fetch_deb $package)
	tree=$work/source
	mkdir "$tree"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ -C "$tree" --strip-components=1 "$package"/tools/{sched_ext,include,arch/x86/include}
	# Clang forgets the type of a function whose name begins with two underscores, unless its address is asked for.
	sed -i 's/if (bpf_core_type_exists(struct scx_bpf_dsq_insert_vtime_args)) {/if (bpf_core_type_exists(struct scx_bpf_dsq_insert_vtime_args) \&\& bpf_ksym_exists(__scx_bpf_dsq_insert_vtime)) {/' \
		"$tree/tools/sched_ext/include/scx/compat.bpf.h"
	say "asking the VM's kernel for its types"
	CMD="$(deps BPFTOOL) btf dump file /sys/kernel/btf/vmlinux format c" KERNEL=$kernel CPUS=1 LIMIT=200 vm/run.sh >"$work/vmlinux.h"
	read -ra flags <<<"-I$tree/tools/sched_ext/include -I$work $(deps LIBBPF_CFLAGS) -I$tree/tools/include/uapi"
	clang -w -g -O2 -mcpu=v3 -target bpf -D__TARGET_ARCH_x86 "${flags[@]}" -idirafter /usr/include/x86_64-linux-gnu \
		-c "$tree/tools/sched_ext/scx_simple.bpf.c" -o "$work/scx_simple.o"
	"$(deps BPFTOOL)" gen skeleton "$work/scx_simple.o" name scx_simple >"$work/scx_simple.bpf.skel.h"
	gcc -O2 "${flags[@]}" -I"$tree/tools/include" "$tree/tools/sched_ext/scx_simple.c" "$(deps LIBBPF_A)" -lelf -lz -o "$work/scx_simple"
	mkdir -p "$folder"
	mv "$work/scx_simple" "$folder/scx_simple"
}

# One that is there is good: which version it came from is nothing to a bench.
folder=$(find "$cache" -maxdepth 1 -name "scx_simple-${package#linux-source-}*" 2>/dev/null | sort -V | tail -n 1)
if [ ! -x "$folder/scx_simple" ]; then
	folder=$cache/scx_simple-$(need_package_version $package)
	work=$(mktemp -d "${TMPDIR:-/tmp}/tactus-simple.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	build "$work"
fi
echo "$folder/scx_simple"

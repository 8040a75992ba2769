#!/usr/bin/env bash
# A container image of nothing but the static binary and its sample configuration: tactus:VERSION, in the OCI's layout. Needs no builder and no root.
# Usage: packaging/image.sh FOLDER [ARCH...]   (without, this machine's; x86_64 aarch64 for both)   Leaves one tar file there and prints its path.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh
. packaging/lib.sh

# image_root ARCH FOLDER
image_root() {
	local arch=$1 build=build strip=strip
	if [ "$arch" != "$(uname -m)" ]; then
		build=build/$arch strip=$arch-linux-gnu-strip
		tools/deps.sh build "$arch"
	fi
	make --no-print-directory -s ARCH="$arch" static
	install -D -m 755 "$build/tactus-static" "$2/usr/sbin/tactus"
	"$strip" --strip-unneeded "$2/usr/sbin/tactus"
	install -D -m 644 examples/tactus.conf "$2/etc/tactus.conf"
	install -D -m 644 LICENSE "$2/usr/share/doc/tactus/LICENSE"
	# Where a container's host mounts its own; the root may be read-only.
	mkdir -p "$2/proc" "$2/sys" "$2/dev" "$2/run/tactus" "$2/var/lib/tactus"
	install -d -m 1777 "$2/tmp"
	chmod -R u+w,go=u-w "$2/usr" "$2/etc" "$2/var" "$2/run" "$2/proc" "$2/sys" "$2/dev"
}

main() {
	local folder=${1:?} work arch roots=() out
	shift
	[ $# -gt 0 ] || set -- "$(uname -m)"
	mkdir -p "$folder"
	work=$(mktemp -d)
	# shellcheck disable=SC2064
	trap "rm -rf '$work'" EXIT
	for arch in "$@"; do
		image_root "$arch" "$work/$arch"
		case $arch in x86_64) roots+=("amd64=$work/$arch") ;; aarch64) roots+=("arm64=$work/$arch") ;; *) die "make image: $arch: not one of x86_64, aarch64" ;; esac
	done
	out=$folder/tactus-$version-image.tar
	packaging/oci.py "$out" "tactus:$version" "$SOURCE_DATE_EPOCH" "${roots[@]}"
	printf '%s\n' "$out"
}

main "$@"

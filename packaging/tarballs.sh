#!/usr/bin/env bash
# Static binaries with all that belongs to them, one tarball an architecture, and SHA256SUMS beside them and the source.
# Usage: packaging/tarballs.sh FOLDER [ARCH...]   (x86_64 and aarch64 without; the other one takes Debian's cross compiler)
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh
. packaging/lib.sh

# put_together ARCH FOLDER
put_together() {
	local arch=$1 name=tactus-$version-linux-$1 build=build strip=strip stage
	if [ "$arch" != "$(uname -m)" ]; then
		build=build/$arch strip=$arch-linux-gnu-strip
		tools/deps.sh build "$arch"
	fi
	make --no-print-directory -s WERROR= ARCH="$arch" static
	stage=$(mktemp -d)
	mkdir "$stage/$name"
	make --no-print-directory -s WERROR= ARCH="$arch" PROGRAM="$build/tactus-static" PREFIX= DESTDIR="$stage/$name" install >/dev/null
	"$strip" --strip-unneeded "$stage/$name/sbin/tactus"
	install -m 755 packaging/install.sh "$stage/$name/install.sh"
	install -m 644 LICENSE README.md CHANGELOG.md "$stage/$name/"
	pack_folder "$stage" "$name" "$2/$name.tar.gz"
	rm -rf "$stage"
	printf '%s\n' "$2/$name.tar.gz"
}

main() {
	local folder=${1:?} arch
	shift
	[ $# -gt 0 ] || set -- x86_64 aarch64
	mkdir -p "$folder"
	for arch in "$@"; do put_together "$arch" "$folder"; done
	(cd "$folder" && sha256sum tactus-"$version"*.tar.gz >SHA256SUMS)
	printf '%s\n' "$folder/SHA256SUMS"
}

main "$@"

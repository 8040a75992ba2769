#!/usr/bin/env bash
# A container image of nothing but the static binary and its sample configuration, by buildah or podman: tactus:VERSION.
# Usage: packaging/image.sh FOLDER   Leaves it there as an OCI archive, and prints the path.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh
. packaging/lib.sh

main() {
	local folder=${1:?} work builder
	for builder in buildah podman; do command -v $builder >/dev/null && break; builder=; done
	[ -n "$builder" ] || die "make image: neither buildah nor podman is here: apt-get install buildah"
	make --no-print-directory -s static
	mkdir -p "$folder"
	work=$(mktemp -d)
	install -m 755 build/tactus-static "$work/tactus"
	strip --strip-unneeded "$work/tactus"
	install -m 644 deploy/Dockerfile examples/tactus.conf "$work/"
	"$builder" build --timestamp "$SOURCE_DATE_EPOCH" -t "tactus:$version" -f "$work/Dockerfile" "$work" >&2
	rm -f "$folder/tactus-$version-image.tar"
	"$builder" push "tactus:$version" "oci-archive:$folder/tactus-$version-image.tar:tactus:$version" >&2
	rm -rf "$work"
	printf '%s\n' "$folder/tactus-$version-image.tar"
}

main "$@"

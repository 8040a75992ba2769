#!/usr/bin/env bash
# The release tarball of what is committed: the same bytes for the same commit, whoever makes it, where and when.
# Usage: packaging/dist.sh FOLDER   Prints the tarball's path.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh
. packaging/lib.sh

main() {
	local folder=${1:?} name=tactus-$version
	git rev-parse --git-dir >/dev/null 2>&1 || die "make dist: works in a clone of the repository, of what is committed"
	mkdir -p "$folder"
	# Neither the caller's umask nor his settings, and no time of packing.
	git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$folder/$name.tar.gz.part"
	mv "$folder/$name.tar.gz.part" "$folder/$name.tar.gz"
	printf '%s\n' "$folder/$name.tar.gz"
}

main "$@"

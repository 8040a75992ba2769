#!/usr/bin/env bash
# Makes a root folder of arm64 programs out of Debian's packages: root-arm64.sh NEW-FOLDER WORK-FOLDER; vm/kernel-arm64.sh calls
# it. The guest lays it over the machine's own root, so it holds only what must run there.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"
# shellcheck source=tools/foreign.sh
. "$here/../tools/foreign.sh"

programs="bash dash coreutils libc-bin gzip grep sed mawk findutils diffutils procps util-linux mount kmod hostname python3 stress-ng rt-tests
	libelf1 libinih1 zlib1g libncursesw6 libtinfo6"

main() {
	local root=$1
	say "unpacking a root of arm64 programs (once: it stays in $cache)"
	foreign_merge_usr "$root"
	# shellcheck disable=SC2086
	foreign_unpack arm64 "$(foreign_own_suite)" "$root" with-dependencies $programs
	# Nobody becomes root by what lies in a cache.
	find "$root" -type f -perm /6000 -exec chmod a-s {} +
	# What the packages' scripts would have linked.
	ln -sf mawk "$root/usr/bin/awk"
	ln -sf dash "$root/usr/bin/sh"
	rm -rf "${root:?}"/usr/share/{doc,man,locale,info} "${root:?}"/{dev,proc,sys,run,tmp}
}

main "$@"

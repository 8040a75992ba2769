#!/usr/bin/env bash
# Prints the words that begin a command line of a QEMU for x86-64 whose virtual clock is good for several CPUs: version 10 or
# newer, one word a line. The machine's own where that is new enough, else the one of its release's backports, unpacked in the
# cache and not installed. Ends with 1 and one line where there is none.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"

program=qemu-system-x86_64
least=10
packages=(qemu-system-x86 qemu-system-common qemu-system-data seabios)

# Prints the number before the first dot, or 0.
version_of() {
	local number
	number=$("$1" --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9]*\)\..*/\1/p') || true
	printf '%s\n' "${number:-0}"
}

backports_version() {
	local mark
	mark=~bpo$(. /etc/os-release && printf '%s' "${VERSION_ID:-}")+
	by_lists others apt-cache madison "$1" 2>/dev/null | awk -v mark="$mark" 'index($3, mark) { print $3; exit }' || true
}

# unpack FOLDER: called with the lock held
unpack() {
	local folder=$1 package version
	[ ! -e "$folder" ] || return 0
	rm -rf "$folder.new"
	mkdir -p "$folder.new"
	for package in "${packages[@]}"; do
		version=$(backports_version "$package")
		[ -n "$version" ] && download_deb others "$package" "$version" || return 1
		dpkg-deb -x "$(deb_file "$package" "$version")" "$folder.new"
		rm "$(deb_file "$package" "$version")"
	done
	mv "$folder.new" "$folder"
}

main() {
	local own version folder
	own=$(version_of "$program")
	if ((own >= least)); then
		printf '%s\n' "$program"
		return
	fi
	mkdir -p "$cache/qemu"
	folder=$(find "$cache/qemu" -maxdepth 1 -name "$least-*" ! -name '*.new' | sort -V | tail -n 1)
	if [ -z "$folder" ]; then
		need_other_lists 7
		version=$(backports_version "${packages[0]}")
		[ -n "$version" ] ||
			die "QEMU here has version $own, and this release's backports have no newer one: several CPUs on the virtual clock need $least"
		folder=$cache/qemu/$least-${version//[^A-Za-z0-9.+~-]/_}
		with_lock qemu unpack "$folder" || die "QEMU $version: could not download it from Debian's backports"
	fi
	(($(version_of "$folder/usr/bin/$program") >= least)) ||
		die "$folder/usr/bin/$program does not run: $("$folder/usr/bin/$program" --version 2>&1 | head -n 1)"
	printf '%s\n' "$folder/usr/bin/$program" -L "$folder/usr/share/qemu" -L "$folder/usr/share/seabios"
}

main "$@"

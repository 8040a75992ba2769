#!/usr/bin/env bash
# Debian's own kernels; vm/kernel.sh calls it.
# kernel-debian.sh find X.Y|newest EXACT DAYS: prints SERIES RELEASE LISTS PACKAGE=VERSION... of the newest kernel of the series
#   that can be had whole, unless EXACT is yes else that of the nearest newer series. Lists older than DAYS are read anew.
#   Ends with 3 where there is none.
# kernel-debian.sh unpack RELEASE LISTS PACKAGE=VERSION... IMAGE-FOLDER WORK-FOLDER: leaves in IMAGE-FOLDER vmlinuz, config,
#   release (what uname -r will say), lib/modules and a link to its only folder. Ends with 4 where a package can't be downloaded.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"
# Where modprobe and depmod are, which an ordinary user's shell need not know.
PATH=$PATH:/usr/sbin:/sbin

# Drivers of what no guest has are two fifths of a kernel.
useless=(drivers/{infiniband,iio,media,scsi} drivers/net/{ethernet,wireless} drivers/gpu/drm/{amd,i915,nouveau,radeon,xe} sound/soc)

gone=3
not_downloaded=4
version_in_name='[0-9]+\.[0-9]+\.[0-9]+[+~.0-9a-z]*(-[0-9][.0-9a-z]*)?-amd64'

kernel_packages() {
	by_lists "$1" apt-cache search --names-only "^linux-(image|base|binary|modules)-$version_in_name\$" 2>/dev/null |
		awk -v wanted="^linux-(image|base|binary|modules)-$version_in_name\$" '$1 ~ wanted {print $1}' || true
}

# Prints a line for every kernel whose packages are all there, the oldest first: SERIES RELEASE LISTS PACKAGE=VERSION...
# From 6.19 on the image package is empty and needs three others; of kernels that moved on, the archive keeps only some.
whole_kernels() {
	local lists=$1 names
	names=$(kernel_packages "$lists")
	[ -n "$names" ] || return 0
	# shellcheck disable=SC2086
	by_lists "$lists" apt-cache show --no-all-versions $names 2>/dev/null | awk -v lists="$lists" '
		$1 == "Package:" { name = $2 }
		$1 == "Version:" { version[name] = $2 }
		$1 == "Size:" { size[name] = $2 }
		function word(kind, release) { return "linux-" kind "-" release "=" version["linux-" kind "-" release] }
		function has(kind, release) { return "linux-" kind "-" release in version }
		END {
			for (name in version) {
				if (name !~ /^linux-(image|binary)-/)
					continue
				release = name
				sub(/^linux-[a-z]*-/, "", release)
				split(release, part, ".")
				head = part[1] "." part[2] " " release " " lists " "
				if (name ~ /^linux-image-/ && size[name] > 5000000)
					print head word("image", release)
				else if (name ~ /^linux-binary-/ && has("base", release) && has("modules", release))
					print head word("base", release), word("binary", release), word("modules", release)
			}
		}' | sort -V
}

# choose SERIES|newest EXACT <KERNELS, the oldest first: prints the line of choice, or nothing.
choose() {
	awk -v wanted="$1" -v exact="$2" '
		function number(series, part) { split(series, part, "."); return part[1] * 1000 + part[2] }
		wanted == "newest" || $1 == wanted { best = $0; next }
		number($1) > number(wanted) && (nearest == "" || $1 == nearest) { nearest = $1; newer = $0 }
		END { if (best == "" && exact != "yes") best = newer; if (best != "") print best }'
}

# The machine's own lists are asked first, for the series itself: what they have beside it need not be the nearest.
find_kernel() {
	local wanted=$1 exact=$2 days=$3 found=''
	[ "$wanted" = newest ] || [ "$days" = 0 ] || found=$(whole_kernels machine | choose "$wanted" yes)
	if [ -z "$found" ]; then
		need_other_lists "$days"
		found=$(whole_kernels others | choose "$wanted" "$exact")
	fi
	if [ -z "$found" ]; then
		[ -n "$(whole_kernels others)" ] || die "KERNEL=debian-$wanted: not in the cache, and Debian's archive can't be read: check the network"
		printf 'tactus: KERNEL=debian-%s: Debian'\''s archive has no whole kernel of it any more\n' "$wanted" >&2
		exit "$gone"
	fi
	case $wanted in
	newest | "${found%% *}") ;;
	*) say "debian-$wanted: no longer in Debian's archive; the nearest newer one is taken: debian-${found%% *}" ;;
	esac
	printf '%s\n' "$found"
}

# Packages until 6.18 have modules in /lib and the rest in /boot, later ones everything in /usr/lib/modules.
unpack_kernel() {
	local release=$1 lists=$2 package deb root modules image work
	shift 2
	image=${*: -2:1} work=${*: -1}
	install_packages kmod
	root=$work/deb
	mkdir "$root"
	for package in "${@:1:$#-2}"; do
		if ! with_lock "deb-${package%%=*}" download_deb "$lists" "${package%%=*}" "${package#*=}"; then
			printf 'tactus: could not download %s\n' "${package/=/ }" >&2
			exit "$not_downloaded"
		fi
		deb=$(deb_file "${package%%=*}" "${package#*=}")
		say "unpacking $(basename "$deb")"
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" "${useless[@]/#/--exclude=*/kernel/}"
	done
	modules=$root/usr/lib/modules/$release
	[ -d "$modules" ] || modules=$root/lib/modules/$release
	mkdir -p "$image/lib/modules" "$image/usr"
	mv "$modules" "$image/lib/modules/$release"
	# kmod looks in either place, as the distribution likes it.
	ln -s ../lib "$image/usr/lib"
	ln -s "lib/modules/$release" "$image/modules"
	take "$image/vmlinuz" "$root/boot/vmlinuz-$release" "$image/modules/vmlinuz"
	take "$image/config" "$root/boot/config-$release" "$image/modules/config"
	depmod -b "$image" "$release"
	printf '%s\n' "$release" >"$image/release"
	# Unpacked it needs no less room, and nothing else asks for it.
	for package in "${@:1:$#-2}"; do
		rm "$(deb_file "${package%%=*}" "${package#*=}")"
	done
}

# take TO FROM...: moves the first that is there
take() {
	local to=$1 from
	shift
	for from in "$@"; do
		[ ! -e "$from" ] || { mv "$from" "$to" && return 0; }
	done
	die "$(basename "$to"): not in the kernel's packages"
}

case $1 in
find) find_kernel "$2" "$3" "$4" ;;
unpack) shift && unpack_kernel "$@" ;;
esac

#!/usr/bin/env bash
# Debian packages of what is built: tactus, and tactus-gamemode, which takes gamemoded's place on the session bus.
# Usage: packaging/deb.sh FOLDER [REVISION]   Prints the packages' paths. The same bytes for the same commit on the same release.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh
. packaging/lib.sh

revision=${2:-1}
full=$version-$revision
arch=$(dpkg --print-architecture)
stage=build/deb
maintainer=${DEBFULLNAME:-tactus maintainers}\ \<${DEBEMAIL:-maintainers@tactus.example}\>

# changelog PACKAGE: Debian's own, of one entry: what changed in tactus itself is in its CHANGELOG.md
changelog() {
	printf '%s (%s) unstable; urgency=medium\n\n  * Version %s of tactus: see changelog.gz.\n\n -- %s  %s\n' "tactus" "$full" "$version" \
		"$maintainer" "$(LC_ALL=C date -R -u -d "@$SOURCE_DATE_EPOCH")"
}

# What dpkg-shlibdeps finds in the program; anything but the C library and libelf is a fault.
needs() {
	local work found
	work=$(mktemp -d)
	mkdir "$work/debian"
	printf 'Source: tactus\nPackage: tactus\nArchitecture: any\n' >"$work/debian/control"
	found=$(cd "$work" && dpkg-shlibdeps -O "$OLDPWD/$1" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
	rm -rf "$work"
	[[ ${found//, /$'\n'} != *$'\n'*$'\n'* ]] || die "make deb: needs more than libc and libelf: $found"
	printf '%s\n' "$found"
}

# Fills FOLDER with what the package brings.
fill() {
	local root=$1 doc=$1/usr/share/doc/tactus
	make --no-print-directory -s WERROR= PROGRAM=build/tactus-packaged PREFIX=/usr DESTDIR="$root" install >/dev/null
	strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/sbin/tactus"
	mkdir -p "$root/usr/share/zsh/vendor-completions" "$root/lib/systemd" "$root/etc"
	mv "$root/usr/share/zsh/site-functions/_tactus" "$root/usr/share/zsh/vendor-completions/"
	rmdir "$root/usr/share/zsh/site-functions"
	# Where this release's packages have their units.
	mv "$root/usr/lib/systemd/system" "$root/lib/systemd/"
	rm -r "$root/usr/lib"
	install -m 644 examples/tactus.conf "$root/etc/tactus.conf"
	install -m 644 packaging/debian/copyright "$doc/copyright"
	install -m 644 README.md SECURITY.md "$doc/"
	gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
	changelog | gzip -9n >"$doc/changelog.Debian.gz"
	gzip -9n "$root/usr/share/man/man8/tactus.8"
	mkdir -p "$root/usr/share/lintian/overrides"
	install -m 644 packaging/debian/lintian-overrides "$root/usr/share/lintian/overrides/tactus"
}

# control_of NAME ARCH ROOT FIELDS...: the description comes from packaging/debian/NAME.description
control_of() {
	local name=$1 for_arch=$2 root=$3
	shift 3
	mkdir -p "$root/DEBIAN"
	{
		printf '%s\n' "Package: $name" "Source: tactus" "Version: $full" "Architecture: $for_arch" "Maintainer: $maintainer" \
			"Installed-Size: $(du -k --apparent-size --exclude=DEBIAN -s "$root" | cut -f 1)" "$@" "Section: admin" "Priority: optional"
		cat "packaging/debian/$name.description"
	} >"$root/DEBIAN/control"
	(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | LC_ALL=C sort -z | xargs -0r md5sum >DEBIAN/md5sums)
}

# finish NAME ARCH ROOT FOLDER
finish() {
	local file=$4/$1_${full}_$2.deb
	find "$3" -type d -exec chmod 755 {} +
	dpkg-deb --root-owner-group -Zxz --build "$3" "$file" >/dev/null
	printf '%s\n' "$file"
}

# Two at once would have one stage.
mkdir -p build
exec 9>build/deb.lock
flock 9

main() {
	local folder=${1:?} root=$stage/tactus game=$stage/tactus-gamemode
	mkdir -p "$folder"
	make --no-print-directory -s WERROR= build/tactus-packaged >&2
	rm -rf "$stage"
	umask 022
	fill "$root"
	control_of tactus "$arch" "$root" "Depends: $(needs "$root/usr/sbin/tactus")" "Suggests: tactus-gamemode"
	echo /etc/tactus.conf >"$root/DEBIAN/conffiles"
	install -m 755 packaging/debian/{postinst,prerm,postrm} "$root/DEBIAN/"
	finish tactus "$arch" "$root" "$folder"

	install -D -m 644 packaging/dbus/com.feralinteractive.GameMode.service "$game/usr/share/dbus-1/services/com.feralinteractive.GameMode.service"
	mkdir -p "$game/usr/share/doc" "$game/usr/share/lintian/overrides"
	sed -n 's/^tactus: bogus-mail-host /tactus-gamemode: bogus-mail-host /p' packaging/debian/lintian-overrides >"$game/usr/share/lintian/overrides/tactus-gamemode"
	ln -s tactus "$game/usr/share/doc/tactus-gamemode"
	control_of tactus-gamemode all "$game" "Depends: tactus (= $full)" "Provides: gamemode-daemon" "Conflicts: gamemode-daemon" "Replaces: gamemode-daemon"
	finish tactus-gamemode all "$game" "$folder"
}

main "$@"

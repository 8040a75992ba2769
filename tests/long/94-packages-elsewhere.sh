#!/usr/bin/env bash
# The spec for RPMs and the PKGBUILD build packages from the tarball of 'make dist', by Debian's rpmbuild and makepkg, and what is in these runs. What they need to build is Debian's
# here, so their lists of needs have no say.
. tests/tap.sh

trap 'rm -rf "$scratch"' EXIT
value() { sed -n "s/^$1 := //p" build/deps.mk; }
version=$(sed -n 's/^VERSION := //p' Makefile)
tarball=$(packaging/dist.sh "$scratch/dist")
# brings FOLDER PROGRAM: what every package of tactus has
brings() {
	local file missing=
	for file in "$2" etc/tactus.conf usr/lib/systemd/system/tactus.service usr/share/man/man8/tactus.8 usr/share/bash-completion/completions/tactus usr/share/doc/tactus/tactus.conf; do
		[ -n "$(compgen -G "$1/$file*")" ] || missing+=" $file"
	done
	echo "$missing"
}
if command -v rpmbuild >/dev/null && command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
	rpmbuild -ta --nodeps --define "_topdir $scratch/rpm" --define "libbpf_cflags $(value LIBBPF_CFLAGS)" --define "libbpf_archive $(value LIBBPF_A)" --define "bpftool $(value BPFTOOL)" \
		--define 'systemd_post() true %1' --define 'systemd_preun() true %1' --define 'systemd_postun_with_restart() true %1' "$tarball" >"$scratch/rpmbuild" 2>&1
	is "rpmbuild makes a package of the tarball" "$?" 0
	grep -iE 'error:' "$scratch/rpmbuild" | head -n 5 | sed 's/^/# /'
	rpm=$(find "$scratch/rpm/RPMS" -name "tactus-$version-*.rpm" 2>/dev/null | grep -v debug | head -n 1)
	mkdir "$scratch/of-rpm"
	(cd "$scratch/of-rpm" && rpm2cpio "$rpm" | cpio -id --quiet) 2>"$scratch/err"
	is "the RPM brings what belongs to it" "$(brings "$scratch/of-rpm" usr/sbin/tactus)" ""
	like "the RPM's program runs" "$("$scratch/of-rpm/usr/sbin/tactus" version)" "^tactus $version"
	is "the RPM marks its configuration as one that is kept" "$(rpm -qpc "$rpm" 2>/dev/null)" /etc/tactus.conf
	like "the RPM takes hints back before it is removed" "$(rpm -qp --scripts "$rpm" 2>/dev/null)" 'tactus undo'
	if command -v rpmlint >/dev/null; then
		rpmlint "$rpm" >"$scratch/rpmlint" 2>&1
		say_measured "rpmlint of the RPM: $(tail -n 1 "$scratch/rpmlint")"
		# Who publishes it signs it, and says who he is.
		is "rpmlint finds no error in the RPM" "$(grep ': E: ' "$scratch/rpmlint" | grep -vE 'E: (no-signature|no-packager-tag|no-group-tag)$')" ""
	fi
else
	skip "rpmbuild makes a package of the tarball" "rpm and cpio are not installed"
fi
# makepkg asks pacman what is installed.
if command -v makepkg >/dev/null && command -v pacman >/dev/null && command -v bsdtar >/dev/null; then
	mkdir "$scratch/arch"
	cp packaging/PKGBUILD packaging/tactus.install "$tarball" "$scratch/arch"
	# It builds as no root, who may see neither this folder nor the cache.
	flags=$(value LIBBPF_CFLAGS)
	mkdir "$scratch/libbpf"
	cp "$(value LIBBPF_A)" "$(value BPFTOOL)" "$scratch/libbpf"
	[ "${flags#-I}" = "$flags" ] || { cp -r "${flags#-I}" "$scratch/libbpf/include" && flags=-I$scratch/libbpf/include; }
	chown -R 65534:65534 "$scratch/arch" "$scratch/libbpf"
	chmod 711 "$scratch"
	(cd "$scratch/arch" && HOME=$scratch/arch LIBBPF_CFLAGS=$flags LIBBPF_A=$scratch/libbpf/libbpf.a BPFTOOL=$scratch/libbpf/bpftool \
		setpriv --reuid 65534 --regid 65534 --clear-groups makepkg -f --nodeps --noconfirm) >"$scratch/makepkg" 2>&1
	is "makepkg makes a package of the tarball" "$?" 0
	grep -E 'ERROR|: (fatal )?error:' "$scratch/makepkg" | head -n 5 | sed 's/^/# /'
	mkdir "$scratch/of-arch"
	bsdtar -C "$scratch/of-arch" -xf "$(find "$scratch/arch" -maxdepth 1 -name "tactus-$version-*.pkg.tar*" | head -n 1)" 2>"$scratch/err"
	is "the package for Arch brings what belongs to it" "$(brings "$scratch/of-arch" usr/bin/tactus)" ""
	like "the program of the package for Arch runs" "$("$scratch/of-arch/usr/bin/tactus" version)" "^tactus $version"
	unit=$(cat "$scratch/of-arch/usr/lib/systemd/system/tactus.service" 2>/dev/null || echo 'Exec: no unit in /usr/sbin')
	like "the unit of the package for Arch starts the program where Arch has it" "$unit" '^ExecStart=/usr/bin/tactus run'
	is "no path of a program that Arch does not have is left in the unit" "$(grep '^Exec.*/usr/sbin' <<<"$unit")" ""
	like "the package for Arch marks its configuration as one that is kept" "$(cat "$scratch/of-arch/.PKGINFO" 2>/dev/null)" '^backup = etc/tactus.conf'
	like "the package for Arch takes hints back before it is removed" "$(cat "$scratch/of-arch/.INSTALL" 2>/dev/null)" 'tactus undo'
else
	skip "makepkg makes a package of the tarball" "makepkg, pacman and bsdtar are not installed (makepkg, pacman-package-manager, libarchive-tools)"
fi
done_testing

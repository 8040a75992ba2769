# The Wine of a newer Debian than the machine's, unpacked in the cache with the libraries that it needs and not installed: it runs
# with that folder as its root, as in a container. Source it after tests/wine.sh.

. tools/foreign.sh

# The first that has one: packages come and go in the first two.
apart_suites="testing unstable trixie"
apart_packages=(libwine wine64 libz-mingw-w64 libc6 libgcc-s1 libunwind8 liblzma5)
apart_wine=usr/lib/x86_64-linux-gnu/wine
# Of Wine's thousand libraries those that a program without windows takes in: the others are a gigabyte.
apart_libraries="advapi32 apisetschema combase coml2 gdi32 imm32 kernel32 kernelbase msvcrt ntdll ole32 rpcrt4 sechost setupapi shcore shell32 shlwapi ucrtbase user32
	userenv version win32u wow64 wow64cpu wow64win ws2_32 zlib1"
apart_programs="conhost explorer plugplay rpcss services start svchost wineboot winedevice"

# unpack_apart ROOT FOLDER-WITH-DEBS
unpack_apart() {
	local root=$1 deb name only=()
	for name in $apart_libraries; do only+=("*/$name.dll"); done
	for name in $apart_programs; do only+=("*/$name.exe"); done
	for name in bin sbin lib lib64; do
		mkdir -p "$root/usr/$name"
		ln -s "usr/$name" "$root/$name"
	done
	for deb in "$2"/*.deb; do
		case ${deb##*/} in
		# A pattern that nothing fits is no failure.
		libwine_*) dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --wildcards '*/ntdll.so' '*/win32u.so' '*/ws2_32.so' '*/wineserver*' '*/share/wine/*' "${only[@]}" 2>/dev/null ;;
		*) dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" --exclude='*/gconv/*' --exclude='*/share/doc/*' || return 1 ;;
		esac
	done
	cp "$root"/usr/x86_64-w64-mingw32/lib/zlib1.dll "$root/$apart_wine/x86_64-windows/"
	mkdir -p "$root"/{proc,dev,tmp,prefix,programs}
	[ -x "$(apart_loader "$root")" ] && [ -e "$root/$apart_wine/x86_64-unix/ntdll.so" ]
}

make_wine_apart() {
	local target=$1 debs packages=("${apart_packages[@]}")
	[ ! -e "$target" ] || return 0
	say "unpacking Debian's newest Wine (200 MB to download, once: it stays in $cache)"
	mkdir -p "$cache/foreign"
	rm -rf "$target.new"
	mkdir -p "$target.new"
	# Where tables of characters are apart from the rest.
	[ -z "$(foreign_version amd64 "$apart_suite" wine-common)" ] || packages+=(wine-common)
	debs=$(mktemp -d "$cache/foreign/debs.XXXXXX")
	if foreign_fetch "$debs" amd64 "$apart_suite" - alone "${packages[@]}" && unpack_apart "$target.new" "$debs"; then
		mv "$target.new" "$target"
	fi
	rm -rf "$debs" "$target.new"
	[ -e "$target" ]
}

# Where the program is differs from version to version.
apart_loader() { find "$1/$apart_wine/wine" "$1/usr/lib/wine/wine64" -maxdepth 0 -type f 2>/dev/null | head -n 1; }

# Sets apart to the words that run a program of the folder build/workloads or $scratch/programs. Fails where there is no such Wine.
wine_apart_begin() {
	local version root
	: >"$scratch/apart-err"
	[ "$(uname -m)" = x86_64 ] && command -v x86_64-w64-mingw32-gcc apt-get >/dev/null || return 1
	for apart_suite in $apart_suites; do
		version=$(foreign_version amd64 "$apart_suite" libwine 2>"$scratch/apart-err") || version=
		[ -z "$version" ] || break
	done
	[ -n "$version" ] || return 1
	root=$cache/wine-root-${version//[^A-Za-z0-9.+-]/_}
	with_lock wine-root make_wine_apart "$root" || return 1
	mkdir -p "$scratch/programs" "$scratch/apart/dosdevices" "$scratch/apart/drive_c/windows"
	ln -s ../drive_c "$scratch/apart/dosdevices/c:"
	ln -s / "$scratch/apart/dosdevices/z:"
	ln -s "/$apart_wine/x86_64-windows" "$scratch/apart/drive_c/windows/system32"
	ln -s "/$apart_wine/i386-windows" "$scratch/apart/drive_c/windows/syswow64"
	echo disable >"$scratch/apart/.update-timestamp"
	cat >"$scratch/in-apart" <<END2
#!/bin/sh
mount --rbind /proc '$root/proc' && mount --rbind /dev '$root/dev' && mount -t tmpfs none '$root/tmp' &&
	mount --bind '$scratch/apart' '$root/prefix' && mount --bind '$scratch/programs' '$root/programs' &&
	exec env WINEPREFIX=/prefix WINEDEBUG=-all HOME=/prefix $(command -v chroot || echo /usr/sbin/chroot) '$root' "\$@"
END2
	apart_root=$root
	apart_program=/$(realpath --relative-to="$root" "$(apart_loader "$root")")
	unshare -m --propagation private sh "$scratch/in-apart" "$apart_program" --version >"$scratch/apart-version" 2>"$scratch/apart-err" || return 1
	apart=(unshare -m --propagation private sh "$scratch/in-apart" "$apart_program")
	say_measured "$(cat "$scratch/apart-version"), of Debian's $apart_suite"
}

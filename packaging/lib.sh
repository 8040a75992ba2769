# What the packaging scripts share: the version, and the time that everything in a package has.
# Source it from the top of the checkout.

version=$(sed -n 's/^VERSION := //p' Makefile)

# The time of the last commit, or of the changelog where there is no repository: the same for everybody.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
	SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH

# pack_folder PARENT NAME FILE: a .tar.gz of a folder in which nothing depends on who packs it, or when
pack_folder() {
	tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode='u+rw,go=rX' \
		--format=gnu -cf - "$2" | gzip -9n >"$3.part"
	mv "$3.part" "$3"
}

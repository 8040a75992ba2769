#!/usr/bin/env bash
# The packages on a fresh Debian (debootstrap's smallest, with systemd): they install with libelf alone, upgrade, and are gone without a trace after a purge; piuparts finds nothing.
. tests/tap.sh
. tests/systemd.sh

trap 'container_end; rm -rf "$scratch"' EXIT
if ! command -v debootstrap >/dev/null; then
	skip "the packages work on a fresh Debian" "debootstrap is not installed"
	done_testing
fi
here=$(pwd -P)
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tactus/debootstrap-$suite
if [ ! -e "$cache" ]; then
	if ! debootstrap --variant=minbase --include=systemd,dbus "$suite" "$cache.new" http://deb.debian.org/debian >"$scratch/debootstrap" 2>&1; then
		rm -rf "$cache.new"
		skip "the packages work on a fresh Debian" "debootstrap: $(grep -m 1 '^E:' "$scratch/debootstrap")"
		done_testing
	fi
	mv "$cache.new" "$cache"
fi
if ! packaging/deb.sh "$here/build/packages/fresh-old" 1 >"$scratch/old" 2>"$scratch/err" || ! packaging/deb.sh "$here/build/packages/fresh-new" 2 >"$scratch/new" 2>"$scratch/err"; then
	flunk "the packages are built" "$(tail -n 20 "$scratch/err")"
	done_testing
fi
old=$(head -n 1 "$scratch/old") new=$(head -n 1 "$scratch/new")
container_root=$cache container_boot tactus-test.target || done_testing
container_test tests/guest/fresh.sh "$old" "$new"
container_end
if command -v piuparts >/dev/null; then
	tar -C "$cache" -czf "$scratch/base.tgz" .
	piuparts --basetgz="$scratch/base.tgz" --distribution="$suite" --mirror=http://deb.debian.org/debian --skip-logrotatefiles-test --warn-on-usr-move=disabled "$old" "$new" >"$scratch/piuparts" 2>&1
	is "piuparts finds nothing after installations, an upgrade, removals and purges" "$? $(grep -E 'ERROR|FAIL' "$scratch/piuparts")" "0 "
	say_measured "piuparts: $(tail -n 1 "$scratch/piuparts")"
else
	skip "piuparts finds nothing after installations, an upgrade, removals and purges" "piuparts is not installed"
fi
done_testing

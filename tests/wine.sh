# A Wine of a test's own: source it after tap.sh. The first use makes a prefix and keeps it in the cache; each test has a
# folder of its own that shares the prefix's files and has its own registry, so its own wineserver too.

. tools/lib.sh

make_wine_prefix() {
	local target=$1
	[ ! -e "$target/ready" ] || return 0
	say "making a Wine prefix"
	rm -rf "$target" "$target.new"
	mkdir -p "$target.new"
	WINEPREFIX=$target.new/prefix WINEDEBUG=-all timeout 300 wine wineboot -i >/dev/null 2>&1 || return 1
	WINEPREFIX=$target.new/prefix timeout 60 wineserver -w || return 1
	touch "$target.new/ready"
	mv "$target.new" "$target"
}

# Sets up WINEPREFIX below the test's scratch folder. Fails where there is no Wine.
wine_begin() {
	local version kept
	command -v wine wineserver x86_64-w64-mingw32-gcc >/dev/null || return 1
	version=$(WINEDEBUG=-all wine --version 2>/dev/null) || return 1
	kept=$cache/wine-prefix-${version//[^A-Za-z0-9.+-]/_}
	mkdir -p "$cache"
	with_lock wine-prefix make_wine_prefix "$kept" || return 1
	export WINEPREFIX=$scratch/wine-prefix WINEDEBUG=-all
	mkdir -p "$WINEPREFIX"
	cp -a "$kept"/prefix/*.reg "$kept"/prefix/.update-timestamp "$kept"/prefix/dosdevices "$WINEPREFIX"
	ln -s "$kept/prefix/drive_c" "$WINEPREFIX/drive_c"
}

wine_end() { timeout 30 wineserver -k || true; }

# Shell functions that the build, the VM and the tests share: messages, the cache, Debian packages.
# Source it; it changes nothing by itself.

cache=${TACTUS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tactus}

say() { printf '==> %s\n' "$*" >&2; }
die() { printf 'tactus: %s\n' "$*" >&2; exit 1; }

# Runs the rest of its words while holding a lock, so that two builds at once do not spoil each other.
# with_lock NAME COMMAND...
with_lock() {
	local name=$1 lock_fd rc=0
	shift
	mkdir -p "$cache/lock"
	exec {lock_fd}>"$cache/lock/$name"
	if ! flock -n "$lock_fd"; then
		say "waiting for another build of $name to end"
		flock "$lock_fd"
	fi
	"$@" {lock_fd}>&- || rc=$?
	exec {lock_fd}>&-
	return $rc
}

have_package() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

# Prints those of its words that are Debian packages not installed here.
missing_packages() {
	local name
	for name in "$@"; do
		have_package "$name" || printf '%s ' "$name"
	done
}

refresh_package_lists() {
	[ "$(id -u)" = 0 ] || die "package lists are out of date: run 'apt-get update' as root"
	say "refreshing Debian's package lists"
	apt-get update -qq >&2 || die "apt-get update failed: check the network and /etc/apt/sources.list"
}

# The package manager is often busy on a machine that has just started, with the day's updates.
apt_install() {
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Progress-Fancy=0 \
		-o Dpkg::Use-Pty=0 --no-install-recommends "$@" >&2
}

install_packages() {
	local missing
	missing=$(missing_packages "$@")
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null || die "missing packages: ${missing% }: install them with your distribution's tool"
	[ "$(id -u)" = 0 ] || die "missing packages: as root run 'apt-get install ${missing% }', then try again"
	say "installing Debian packages: ${missing% }"
	# shellcheck disable=SC2086
	apt_install $missing || { refresh_package_lists && apt_install $missing; } ||
		die "could not install ${missing% }"
}

package_version() { apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" {print $2}'; }

# Prints the version of a package that can be downloaded, asking for fresh lists if none is known.
need_package_version() {
	local version
	version=$(package_version "$1")
	if [ -z "$version" ]; then
		refresh_package_lists
		version=$(package_version "$1")
	fi
	[ -n "$version" ] || die "$1: no such Debian package in the configured sources"
	printf '%s\n' "$version"
}

# Prints the path of a package's .deb in the cache, downloading it (not installing it) when it is not there.
fetch_deb() {
	local name=$1 version file
	version=$(need_package_version "$name")
	file=$(deb_file "$name" "$version")
	if [ -z "$file" ]; then
		say "downloading $name $version"
		mkdir -p "$cache/deb"
		if ! (cd "$cache/deb" && apt-get download -qq "$name=$version" >&2); then
			refresh_package_lists
			version=$(need_package_version "$name")
			(cd "$cache/deb" && apt-get download -qq "$name=$version" >&2) || die "could not download $name $version"
		fi
		file=$(deb_file "$name" "$version")
		[ -n "$file" ] || die "$name $version was downloaded but is not in $cache/deb"
	fi
	printf '%s\n' "$file"
}

# apt-get writes a version's colon as %3a in file names.
deb_file() { find "$cache/deb" -maxdepth 1 -name "$1_${2//:/%3a}_*.deb" 2>/dev/null | head -n 1; }

# with_own_shared_memory SCRIPT ARGS...: goes on as the same script with an empty /dev/shm: what JACK's servers leave there when
# they are killed keeps later ones from starting.
with_own_shared_memory() {
	[ -z "${OWN_SHARED_MEMORY:-}" ] || return 0
	OWN_SHARED_MEMORY=1 exec unshare -m bash -c 'mount -t tmpfs tmpfs /dev/shm && exec bash "$@"' - "$@"
}

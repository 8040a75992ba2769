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
	say "refreshing Debian's package lists"
	apt-get update -qq >&2 || die "apt-get update failed: check the network and /etc/apt/sources.list"
}

# The package manager is often busy on a machine that has just started, with the day's updates.
apt_install() {
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Progress-Fancy=0 \
		-o Dpkg::Use-Pty=0 --no-install-recommends "$@" >&2
}

# Debian starts what a package has to serve, at once and with each boot. Who builds or tests has not asked for that: services of packages that come new stay
# off. Those of packages that are here already, or that belong to any Debian, are left as they are.
# Prints those packages: quiet_packages NAME...
quiet_packages() {
	apt-get install -s -qq --no-install-recommends "$@" 2>/dev/null | awk '$1 == "Inst" && $3 !~ /^\[/ { print $2 }' |
		xargs -r apt-cache show --no-all-versions 2>/dev/null |
		awk '$1 == "Package:" { name = $2 } $1 == "Priority:" && $2 !~ /^(required|important|standard)$/ { print name }' | tr '\n' ' '
}

# What Debian asks before it starts a service. An answer of the machine's own is left in place. One whose maker is gone takes itself away.
# keep_off PACKAGES: succeeds if the answer is ours, which let_go then takes away
policy=/usr/sbin/policy-rc.d
keep_off() {
	local new status=0
	new=$(mktemp "$policy.XXXXXX") || return 1
	cat >"$new" <<-END
		#!/bin/sh
		# Of tactus (tools/lib.sh), while it installs packages: theirs is not to start. Not of use when process $$ is gone.
		[ "\$(sed 's/.*) //' /proc/$$/stat 2>/dev/null | cut -d ' ' -f 20)" = $(sed 's/.*) //' /proc/$$/stat | cut -d ' ' -f 20) ] || { rm -f "\$0"; exit 0; }
		case " $1 " in *" \${DPKG_MAINTSCRIPT_PACKAGE:-none} "*) exit 101 ;; esac
	END
	chmod 755 "$new"
	ln "$new" "$policy" 2>/dev/null || status=1
	rm -f "$new"
	return $status
}
let_go() { ! grep -q "Of tactus .* process $$ is gone" "$policy" 2>/dev/null || rm -f "$policy"; }

# Names of services, timers and so on that a package brings for the machine or for each user: units_of NAME
units_of() { dpkg -L "$1" 2>/dev/null | sed -n 's#.*/lib/systemd/\(system\|user\)/\([^/]*\.[a-z]*\)$#\2#p' | sort -u; }

# turn_off PACKAGES...: takes away what would start them with a boot or a login, and stops what was started all the same
turn_off() {
	local name unit links off=''
	for name in "$@"; do
		for unit in $(units_of "$name"); do
			links=$(find /etc/systemd/system /etc/systemd/user -type l -path '*.[wr]*s/*' -name "$unit" 2>/dev/null)
			[ -z "$links" ] || { xargs -d '\n' rm -f <<<"$links" && off+="$unit "; }
			[ ! -d /run/systemd/system ] || ! systemctl is-active -q "$unit" 2>/dev/null || systemctl stop "$unit" >&2 || true
		done
		for unit in $(dpkg -L "$name" 2>/dev/null | sed -n 's|^/etc/init.d/||p'); do update-rc.d "$unit" disable >/dev/null 2>&1 || true; done
	done
	[ -z "$off" ] || say "installed, neither started nor enabled: ${off% }"
}

install_quietly() (
	quiet=$(quiet_packages "$@")
	trap let_go EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	keep_off "$quiet" || true
	apt_install "$@" || exit 1
	# shellcheck disable=SC2086
	turn_off $quiet
)

install_packages() {
	local missing
	missing=$(missing_packages "$@")
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null || die "missing packages: ${missing% }: install them with your distribution's tool"
	[ "$(id -u)" = 0 ] || die "missing packages: as root run 'apt-get install ${missing% }', then try again"
	say "installing Debian packages: ${missing% }"
	# shellcheck disable=SC2086
	with_lock packages install_quietly $missing || { refresh_package_lists && with_lock packages install_quietly $missing; } ||
		die "could not install ${missing% }"
}

# Two sets of package lists: the machine's own, and others in the cache with suites that the machine need not know, for
# which nobody has to be root and the machine's own sources stay as they are.
# by_lists machine|others apt-get|apt-cache WORDS...
by_lists() {
	local lists=$1 tool=$2
	shift 2
	if [ "$lists" = machine ]; then "$tool" "$@"; else "$tool" -c "$cache/apt/apt.conf" "$@"; fi
}

# Prints the address that this machine has Debian's archive ("debian") or its security updates ("debian-security") from.
mirror_of() {
	local known
	known=$(apt-get update --print-uris -o Dir::State::Lists=/dev/null 2>/dev/null |
		sed -n "s|^'\\(.*\\)/dists/[^/]*/InRelease'.*|\\1|p" | grep -E "[/.]$1(\\.list)?\$" | head -n 1) || true
	printf '%s\n' "${known:-http://deb.debian.org/$1}"
}

other_suites() {
	local uri=$1 keyring=$2
	shift 2
	printf '%s\n' 'Types: deb' "URIs: $uri" "Suites: $*" 'Components: main' 'Architectures: amd64' 'Targets: Packages' \
		"Signed-By: $keyring" ''
}

# A machine's own hooks after an update want to be root; apt's own user may not see into the cache.
other_settings() {
	cat <<-END
		Dir::Etc { SourceList "$1/debian.sources"; SourceParts "/dev/null"; Preferences "/dev/null"; PreferencesParts "/dev/null"; };
		Dir::State { Lists "$1/lists"; status "/dev/null"; };
		Dir::Cache "$1/cache";
		APT::Architecture "amd64";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	END
}

# A suite that is gone, or a mirror without one, must not take the others along.
refresh_other_lists() {
	local folder=$cache/apt keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	command -v apt-get >/dev/null || die "Debian's kernels are fetched by apt-get, which is not here: install the package apt"
	[ -e "$keyring" ] || die "$keyring is not here: install the package debian-archive-keyring"
	say "reading the lists of Debian's other kernels (1.4 MB)"
	mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
	{
		other_suites "$(mirror_of debian)" "$keyring" bookworm-backports trixie-backports
		other_suites "$(mirror_of debian-security)" "$keyring" bookworm-security
	} >"$folder/debian.sources"
	other_settings "$folder" >"$folder/apt.conf"
	if by_lists others apt-get update -qq -o APT::Update::Error-Mode=any >"$folder/log" 2>&1; then
		touch "$folder/asked"
	else
		say "not all of these lists could be read: $(grep -m 1 '^[EW]:' "$folder/log")"
	fi
}

# Reads the other lists unless that was done within so many days: need_other_lists DAYS
need_other_lists() {
	[ -z "$(find "$cache/apt/asked" -mmin -$(($1 * 1440)) 2>/dev/null)" ] || return 0
	with_lock apt refresh_other_lists
}

# package_version LISTS NAME
package_version() { by_lists "$1" apt-cache policy "$2" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" {print $2}'; }

# Sets lists and version to where a package can be had from.
find_package() {
	lists=machine
	version=$(package_version machine "$1")
	[ -z "$version" ] || return 0
	if [ "$(id -u)" = 0 ]; then
		refresh_package_lists
		version=$(package_version machine "$1")
		[ -z "$version" ] || return 0
	fi
	lists=others
	need_other_lists 1
	version=$(package_version others "$1")
	[ -n "$version" ] || die "$1: no such Debian package in the configured sources"
}

# Prints the version of a package that can be downloaded, asking for fresh lists if none is known.
need_package_version() {
	local lists version
	find_package "$1"
	printf '%s\n' "$version"
}

# Prints the path of a package's .deb in the cache, downloading it (not installing it) when it is not there.
fetch_deb() {
	local lists version
	find_package "$1"
	if [ -z "$(deb_file "$1" "$version")" ] && ! with_lock "deb-$1" download_deb "$lists" "$1" "$version"; then
		need_other_lists 0
		lists=others
		version=$(package_version others "$1")
		[ -n "$version" ] || die "$1: no such Debian package"
		with_lock "deb-$1" download_deb others "$1" "$version" || die "could not download $1"
	fi
	deb_file "$1" "$version"
}

# apt-get writes a version's colon as %3a in file names.
deb_file() { find "$cache/deb" -maxdepth 1 -name "$1_${2//:/%3a}_*.deb" 2>/dev/null | head -n 1; }

# download_deb LISTS NAME VERSION: called with the lock held. apt-get writes to the final name from the first byte on, so it
# does that elsewhere, goes on there with what was broken off, and compares checksums at the end.
download_deb() {
	local lists=$1 name=$2 version=$3 part=$cache/deb/part-$2 size quiet=-qq
	[ -z "$(deb_file "$name" "$version")" ] || return 0
	size=$(by_lists "$lists" apt-cache show "$name=$version" 2>/dev/null | awk '$1 == "Size:" {print $2; exit}')
	say "downloading $name $version, $(((${size:-0} + 500000) / 1000000)) MB (once: it stays in $cache)"
	[ ! -t 2 ] || quiet=-q=0
	mkdir -p "$part" && (cd "$part" && by_lists "$lists" apt-get download "$quiet" -o APT::Sandbox::User=root "$name=$version" >&2) || return 1
	mv "$part/${name}_${version//:/%3a}_"*.deb "$cache/deb/" && rm -rf "$part"
}

# with_own_shared_memory SCRIPT ARGS...: goes on as the same script with an empty /dev/shm: what JACK's servers leave there when
# they are killed keeps later ones from starting.
with_own_shared_memory() {
	[ -z "${OWN_SHARED_MEMORY:-}" ] || return 0
	OWN_SHARED_MEMORY=1 exec unshare -m bash -c 'mount -t tmpfs tmpfs /dev/shm && exec bash "$@"' - "$@"
}

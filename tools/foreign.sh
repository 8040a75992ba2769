# shellcheck shell=bash
# Debian packages of another architecture or release than the machine's, for unpacking: the machine's own sources, lists and
# packages stay as they are. Source it after tools/lib.sh.

# The release that the machine runs.
foreign_own_suite() { (. /etc/os-release && printf '%s\n' "$VERSION_CODENAME"); }

# A machine's own hooks after an update want to be root; apt's own user may not see into the cache.
foreign_settings() {
	cat <<-END
		Dir::Etc { SourceList "$2/sources.list"; SourceParts "/dev/null"; Preferences "/dev/null"; PreferencesParts "/dev/null"; };
		Dir::State "$2";
		Dir::State::status "$2/status";
		Dir::Cache "$2";
		Dir::Cache { pkgcache ""; srcpkgcache ""; };
		APT { Architecture "$1"; Architectures "$1"; Sandbox::User "root"; };
		Debug::NoLocking "true";
		Acquire::Languages "none";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	END
}

# foreign_prepare ARCHITECTURE SUITE FOLDER
foreign_prepare() {
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -e "$3/apt.conf" ] || return 0
	mkdir -p "$3/lists/partial" "$3/archives/partial"
	touch "$3/status"
	printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$(mirror_of debian)" "$2" >"$3/sources.list"
	foreign_settings "$1" "$3" >"$3/apt.conf"
}

# foreign_apt ARCHITECTURE SUITE apt-get|apt-cache WORDS...
foreign_apt() {
	local tool=$3 home
	home=$(realpath -m "$cache/foreign/$1-$2")
	foreign_prepare "$1" "$2" "$home"
	shift 3
	"$tool" -qq -c "$home/apt.conf" "$@"
}

foreign_refresh() {
	say "refreshing the list of Debian's packages for $1 in $2"
	with_lock "foreign-$1-$2" foreign_apt "$1" "$2" apt-get update >&2 || die "Debian's packages for $1 in $2 can't be listed: check the network"
}

# foreign_version ARCHITECTURE SUITE NAME: nothing if there is no such package. Lists are fetched the first time.
foreign_version() {
	compgen -G "$cache/foreign/$1-$2/lists/*Packages*" >/dev/null || foreign_refresh "$1" "$2"
	foreign_apt "$1" "$2" apt-cache policy "$3" | awk '$1 == "Candidate:" && $2 != "(none)" {print $2}'
}

# foreign_names ARCHITECTURE SUITE PATTERN: packages whose names match.
foreign_names() {
	foreign_version "$1" "$2" base-files >/dev/null
	foreign_apt "$1" "$2" apt-cache search --names-only "$3" | awk '{print $1}'
}

# Packages have files below /lib of which others expect that they are below /usr/lib.
foreign_merge_usr() {
	local folder
	for folder in bin sbin lib; do
		mkdir -p "$1/usr/$folder"
		ln -s "usr/$folder" "$1/$folder"
	done
}

# foreign_unpack ARCHITECTURE SUITE FOLDER alone|with-dependencies PACKAGES...: no script of a package is run. Links to folders
# that are there already, as /bin is one to /usr/bin, stay.
foreign_unpack() {
	local folder=$3 debs deb
	debs=$(mktemp -d "$cache/foreign/debs.XXXXXX")
	foreign_fetch "$debs" "$@" || { foreign_refresh "$1" "$2" && foreign_fetch "$debs" "$@"; } || {
		rm -rf "$debs"
		die "could not download for $1: ${*:5}"
	}
	for deb in "$debs"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$folder"
	done
	rm -rf "$debs"
}

# foreign_fetch FOLDER-FOR-DEBS and the words of foreign_unpack
foreign_fetch() {
	local debs=$1 architecture=$2 suite=$3 how=$5
	shift 5
	foreign_version "$architecture" "$suite" base-files >/dev/null
	case $how in
	alone) (cd "$debs" && foreign_apt "$architecture" "$suite" apt-get download "$@" >&2) ;;
	with-dependencies)
		mkdir -p "$debs/partial"
		foreign_apt "$architecture" "$suite" apt-get install -y --download-only --no-install-recommends \
			-o Dir::Cache::archives="$debs" "$@" >&2 ;;
	esac
}

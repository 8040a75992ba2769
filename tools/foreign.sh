# shellcheck shell=bash
# Debian packages of another architecture or release than the machine's, for unpacking: the machine's own sources, lists and
# packages stay as they are. Source it after tools/lib.sh.

# The mirror that the machine itself uses, and the release that it runs.
foreign_site() {
	local site
	site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null | grep -m 1 '/debian$' || true)
	printf '%s\n' "${site:-http://deb.debian.org/debian}"
}
foreign_own_suite() { (. /etc/os-release && printf '%s\n' "$VERSION_CODENAME"); }

# foreign_apt ARCHITECTURE SUITE apt-get|apt-cache WORDS...
foreign_apt() {
	local architecture=$1 suite=$2 tool=$3 home
	home=$(realpath -m "$cache/foreign/$architecture-$suite")
	shift 3
	mkdir -p "$home/lists/partial" "$home/archives/partial"
	[ -e "$home/sources.list" ] || printf 'deb [signed-by=%s] %s %s main\n' \
		/usr/share/keyrings/debian-archive-keyring.gpg "$(foreign_site)" "$suite" >"$home/sources.list"
	touch "$home/status"
	"$tool" -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o APT::Sandbox::User=root \
		-o Debug::NoLocking=true -o Dir::Etc::sourcelist="$home/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State="$home" -o Dir::State::status="$home/status" -o Dir::Cache="$home" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Acquire::Languages=none "$@"
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

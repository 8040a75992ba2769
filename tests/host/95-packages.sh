#!/usr/bin/env bash
# What is released: Debian packages without a complaint of lintian's, the same bytes each time; the source tarball and the static one; the
# files for clusters. That the package works is tested in host/96-service, in VMs and on a fresh Debian (tests/long/33 and 95).
. tests/tap.sh

out=$scratch/packages
holds "make deb makes packages" packaging/deb.sh "$out" 1
deb=$(echo "$out"/tactus_*.deb) gamemode=$(echo "$out"/tactus-gamemode_*.deb)
is "the package needs the C library and libelf alone" "$(dpkg-deb -f "$deb" Depends | sed 's/ ([^)]*)//g; s/t64//g')" "libc6, libelf1"
is "the program of the package needs no other library" "$(objdump -p build/tactus-packaged | awk '/NEEDED/ { print $2 }' | grep -vE '^(libc|libm|libelf|ld-linux[-a-z0-9]*)\.so' | tr '\n' ' ')" ""
for file in ./usr/sbin/tactus ./lib/systemd/system/tactus.service ./etc/tactus.conf ./usr/share/man/man8/tactus.8.gz \
	./usr/share/bash-completion/completions/tactus ./usr/share/zsh/vendor-completions/_tactus ./usr/share/fish/vendor_completions.d/tactus.fish ./usr/share/doc/tactus/tactus.conf; do
	holds "the package brings $file" bash -c 'dpkg-deb -c "$1" | grep -q " $2\$"' - "$deb" "$file"
done
is "the package's files are root's" "$(dpkg-deb -c "$deb" "$gamemode" 2>/dev/null | awk '$2 != "root/root"' | wc -l)" 0
like "the package for GameMode takes the place of its daemon" "$(dpkg-deb -f "$gamemode" Provides Conflicts Replaces | tr '\n' ' ')" 'Provides: gamemode-daemon.*Conflicts: gamemode-daemon'
if command -v lintian >/dev/null; then
	lintian --fail-on error,warning --profile debian "$deb" "$gamemode" >"$scratch/lintian" 2>&1
	is "lintian has no complaint" "$?/$(grep -c '^[EW]:' "$scratch/lintian")" 0/0
	grep '^[EW]:' "$scratch/lintian" | sed 's/^/# /'
else
	skip "lintian has no complaint" "lintian is not installed here"
fi
packaging/deb.sh "$scratch/again" 1 >/dev/null
is "the packages have the same bytes when they are made again" "$(cd "$out" && sha256sum -- *.deb)" "$(cd "$scratch/again" && sha256sum -- *.deb)"

if git rev-parse HEAD >/dev/null 2>&1; then
	holds "make dist makes a tarball" packaging/dist.sh "$out"
	# In a clone, whose files have other times and modes than these.
	git clone -q "$PWD" "$scratch/clone"
	find "$scratch/clone" -name .git -prune -o -type f -exec touch -d '1999-12-31 23:59:59' {} +
	chmod -R go-rwx "$scratch/clone"
	(umask 077 && cd "$scratch/clone" && TZ=Asia/Tokyo LC_ALL=C packaging/dist.sh "$scratch/again" >/dev/null)
	is "the tarball has the same bytes by another umask and time zone, from a clone whose files have other times and modes" "$(cd "$out" && sha256sum tactus-*.tar.gz)" "$(cd "$scratch/again" && sha256sum tactus-*.tar.gz)"
	tar -C "$scratch" -xzf "$out"/tactus-*.tar.gz
	is "the tarball holds what is committed" "$(cd "$scratch"/tactus-*/ && find . -type f -o -type l | wc -l)" "$(git ls-tree -r HEAD | wc -l)"
else
	skip "make dist makes a tarball" "this is no clone of the repository"
fi

holds "the static tarball is made" packaging/tarballs.sh "$out" "$(uname -m)"
holds "the checksums are right" bash -c 'cd "$1" && sha256sum -c --quiet SHA256SUMS' - "$out"
packaging/tarballs.sh "$scratch/again" "$(uname -m)" >/dev/null
is "the static tarball has the same bytes when it is made again" "$(cd "$out" && sha256sum tactus-*-linux-*.tar.gz)" "$(cd "$scratch/again" && sha256sum tactus-*-linux-*.tar.gz)"
tar -C "$scratch" -xzf "$(echo "$out"/tactus-*-linux-*.tar.gz)"
installer=$(echo "$scratch"/tactus-*-linux-*/install.sh)
for word in --help opt; do
	ends "the static tarball's install.sh with '$word' for a prefix is bad usage" 2 'is no folder from the root on; usage:' env DESTDIR="$scratch/root" "$installer" $word
done
DESTDIR=$scratch/root "$installer" /opt/tactus >/dev/null
like "the static tarball's program runs where it was installed" "$("$scratch/root/opt/tactus/sbin/tactus" version)" '^tactus [0-9]'
like "the static tarball's unit starts the program where it was installed" "$(cat "$scratch/root/etc/systemd/system/tactus.service")" '^ExecStart=/opt/tactus/sbin/tactus run'

# What distributions build: where they have programs, and with a compiler whose warnings are not ours.
make --no-print-directory -s PREFIX=/usr SBINDIR=/usr/bin DESTDIR="$scratch/one-folder" install >/dev/null
is "where a distribution has one folder for programs, the program is installed there" "$(cd "$scratch/one-folder" && find . -name tactus -perm -100 -type f)" ./usr/bin/tactus
is "where a distribution has one folder for programs, the unit names no other" "$(grep '^Exec' "$scratch/one-folder/usr/lib/systemd/system/tactus.service" | cut -d= -f2 | cut -d' ' -f1 | sort -u)" /usr/bin/tactus
# flags_of WORDS...: what the compiler would be given for one file
flags_of() { make --no-print-directory -n -W src/main.c "$@" build/src/main.o | grep -oE -- '-(Wall|Werror)\b' | tr '\n' ' '; }
is "a warning is an error in the tree" "$(flags_of)" "-Wall -Werror "
is "a warning is no error where somebody builds a package" "$(flags_of WERROR=)" "-Wall "
is "packages are all built without -Werror" "$(grep -LE 'WERROR=( |$)' packaging/tactus.spec packaging/PKGBUILD packaging/deb.sh packaging/tarballs.sh)" ""
is "the PKGBUILD takes no -flto, which does not see what is embedded" "$(bash -c '. packaging/PKGBUILD && echo "${options[*]}"')" '!lto'
# Doubles of what the scripts of packages call.
mkdir "$scratch/doubles"
printf '#!/bin/sh\necho "$*" >>%s/systemctl-said\n' "$scratch" >"$scratch/doubles/systemctl"
printf '#!/bin/sh\necho "nothing to undo"\necho "tactus: undo: another is running" >&2\nexit 1\n' >"$scratch/doubles/tactus"
cp "$scratch/doubles/systemctl" "$scratch/doubles/deb-systemd-invoke"
chmod +x "$scratch"/doubles/*
is "a removal beside a run by hand says that it takes its hints back itself, and goes on" "$(PATH=$scratch/doubles:$PATH sh packaging/debian/prerm remove 2>&1) $?" "tactus: undo: another is running 0"
is "pacman's removal beside a run by hand says so too" "$(PATH=$scratch/doubles:$PATH sh -ec '. packaging/tactus.install; pre_remove' 2>&1) $?" "tactus: undo: another is running 0"
if [ -d /run/systemd/system ]; then
	: >"$scratch/systemctl-said"
	PATH=$scratch/doubles:$PATH sh -c '. packaging/tactus.install; post_upgrade'
	is "pacman's upgrade has the new unit read before the service starts again" "$(tr '\n' ';' <"$scratch/systemctl-said")" "daemon-reload;try-restart tactus.service;"
else
	skip "pacman's upgrade has the new unit read before the service starts again" "this machine has no systemd"
fi
if ! command -v rpmspec >/dev/null; then
	skip "the spec for RPMs can be read" "rpmspec is not installed (rpm)"
else
	is "the spec has the program where the distribution has programs" "$(for folder in /usr/sbin /usr/bin; do rpmspec -P --define "_sourcedir $scratch" --define "_sbindir $folder" packaging/tactus.spec | grep -oE "SBINDIR=[^ ]+|^/usr/s?bin/tactus\$"; done | tr '\n' ' ')" \
		"SBINDIR=/usr/sbin /usr/sbin/tactus SBINDIR=/usr/bin /usr/bin/tactus "
	holds "the spec for RPMs can be read" rpmspec -q --define "_sourcedir $scratch" packaging/tactus.spec
	is "the spec for RPMs is of this version" "$(rpmspec -q --qf '%{version}\n' packaging/tactus.spec 2>/dev/null | head -n 1)" "$(sed -n 's/^VERSION := //p' Makefile)"
fi
if ! command -v rpmlint >/dev/null; then
	skip "rpmlint has no complaint" "rpmlint is not installed"
else
	rpmlint packaging/tactus.spec >"$scratch/rpmlint" 2>&1
	like "rpmlint has no complaint" "$(tail -n 2 "$scratch/rpmlint")" '0 errors, 0 warnings'
	grep -E ': [EW]: ' "$scratch/rpmlint" | sed 's/^/# /'
fi
is "the PKGBUILD is of this version" "$(bash -c '. packaging/PKGBUILD && echo $pkgver')" "$(sed -n 's/^VERSION := //p' Makefile)"
holds "the files for Kubernetes are sound YAML" python3 -c 'import sys, yaml
for path in sys.argv[1:]: list(yaml.safe_load_all(open(path)))' deploy/kubernetes/*.yaml deploy/prometheus/kubernetes*.yml
is "the DaemonSet is for nodes with Linux alone" "$(python3 -c 'import yaml; print(yaml.safe_load(open("deploy/kubernetes/daemonset.yaml"))["spec"]["template"]["spec"]["nodeSelector"])')" "{'kubernetes.io/os': 'linux'}"
# What Prometheus looks for in the cluster is what its role lets it see.
cat >"$scratch/role.py" <<'END'
import yaml
(where,) = yaml.safe_load(open("deploy/prometheus/kubernetes.yml"))["scrape_configs"][0]["kubernetes_sd_configs"]
role, binding = yaml.safe_load_all(open("deploy/prometheus/kubernetes-rbac.yml"))
(rule,) = role["rules"]
print(where["role"] + "s" in rule["resources"], where["namespaces"]["names"] == [role["metadata"]["namespace"]] == [binding["metadata"]["namespace"]], sorted(rule["verbs"]), binding["roleRef"]["name"] == role["metadata"]["name"])
END
is "the role for Prometheus lets it list the pods that it is configured to look for, and nothing else" "$(python3 "$scratch/role.py")" "True True ['get', 'list', 'watch'] True"
is "the DaemonSet is not privileged" "$(python3 -c 'import yaml; d = yaml.safe_load(open("deploy/kubernetes/daemonset.yaml")); c = d["spec"]["template"]["spec"]["containers"][0]["securityContext"]; print(c["privileged"], c["capabilities"]["drop"])')" "False ['ALL']"
done_testing

#!/bin/sh
# Installs the package on hosts and starts the service, one after another, and says of each how it stands. What is done already is left.
# Usage: deploy/install-hosts.sh PACKAGE.deb HOST...   (SSH= names another program than ssh; it must get in as root)
# Many at a time: xargs -n 10 -P 50 deploy/install-hosts.sh PACKAGE.deb <FILE-OF-HOSTS
set -u
ssh=${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10}
package=${1:?usage: install-hosts.sh PACKAGE.deb HOST...}
shift
[ -r "$package" ] || { echo "tactus: $package: no such package" >&2; exit 2; }
[ $# -gt 0 ] || { echo "tactus: install-hosts.sh: no host was named" >&2; exit 2; }
sum=$(sha256sum "$package" | cut -d ' ' -f 1)
version=$(dpkg-deb -f "$package" Version 2>/dev/null)
failed=0
for host in "$@"; do
	# What begins with a dash is an option to ssh, and could be a command to run here.
	case $host in
	-*)
		echo "$host: FAILED: is no name of a host"
		failed=1
		continue
		;;
	esac
	# The package goes over the same connection; what arrived is compared before it is installed, with what it needs: a minimal host lacks libelf, and at
	# times apt's lists too. What a host says is text for a terminal here: other characters go.
	if said=$($ssh "$host" "set -e; f=\$(mktemp --suffix=.deb); trap 'rm -f \$f' EXIT; cat >\$f; echo '$sum '\$f | sha256sum -c - >/dev/null
		put() { DEBIAN_FRONTEND=noninteractive apt-get -y -q --allow-downgrades -o Dpkg::Options::=--force-confold install \$f; }
		chmod 644 \$f
		[ \"\$(dpkg-query -W -f '\${db:Status-Status} \${Version}' tactus 2>/dev/null)\" = 'installed $version' ] || o=\$(put 2>&1) || o=\$(apt-get -q update 2>&1 && put 2>&1) || { echo \"\$o\"; exit 1; }
		systemctl enable --quiet --now tactus; tactus status | head -n 2" <"$package" 2>&1); then
		printf '%s: %s\n' "$host" "$(printf '%s\n' "$said" | tr -s ' \n' ' ' | LC_ALL=C tr -cd ' -~')"
	else
		printf '%s: FAILED: %s\n' "$host" "$(printf '%s\n' "$said" | tail -n 1 | LC_ALL=C tr -cd ' -~')"
		failed=1
	fi
done
exit $failed

#!/bin/sh
# Installs the package on hosts and starts the service, one after another, and says of each how it stands. What is done already is left.
# Usage: deploy/install-hosts.sh PACKAGE.deb HOST...   (SSH= names another program than ssh; it must get in as root)
set -u
ssh=${SSH:-ssh -o BatchMode=yes}
package=${1:?usage: install-hosts.sh PACKAGE.deb HOST...}
shift
[ -r "$package" ] || { echo "tactus: $package: no such package" >&2; exit 2; }
[ $# -gt 0 ] || { echo "tactus: install-hosts.sh: no host was named" >&2; exit 2; }
sum=$(sha256sum "$package" | cut -d ' ' -f 1)
failed=0
for host in "$@"; do
	# The package goes over the same connection; what arrived is compared before it is installed.
	if $ssh "$host" "set -e; f=\$(mktemp --suffix=.deb); trap 'rm -f \$f' EXIT; cat >\$f; echo '$sum '\$f | sha256sum -c - >/dev/null
		dpkg -i \$f >/dev/null; systemctl enable --now tactus >/dev/null 2>&1; tactus status | head -n 2" <"$package" >"/tmp/tactus-install.$$" 2>&1; then
		echo "$host: $(tr -s ' \n' ' ' <"/tmp/tactus-install.$$")"
	else
		echo "$host: FAILED: $(tail -n 1 "/tmp/tactus-install.$$")"
		failed=1
	fi
	rm -f "/tmp/tactus-install.$$"
done
exit $failed

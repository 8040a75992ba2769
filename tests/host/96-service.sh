#!/usr/bin/env bash
# tactus as a service of a real systemd, which boots in a container of this machine's files: from its package, with its sandbox, as deploy/ brings it to hosts,
# and by what docs/fleet.md has for one machine and for many.
# That it acts there is tested in a VM (tests/long/33-service-debian-7.2.sh).
. tests/tap.sh
. tests/systemd.sh

trap 'container_end; rm -rf "$scratch"' EXIT
here=$(pwd -P)
if ! packaging/deb.sh "$here/build/packages/old" 1 >"$scratch/old" 2>"$scratch/err" || ! packaging/deb.sh "$here/build/packages/new" 2 >"$scratch/new" 2>"$scratch/err"; then
	flunk "the packages are built" "$(tail -n 20 "$scratch/err")"
	done_testing
fi
container_boot tactus-test.target || done_testing
container_test tests/guest/deploy.sh "$(head -n 1 "$scratch/old")"
in_container dpkg -P tactus >/dev/null 2>&1
container_test tests/guest/fleet_begin.sh "$(head -n 1 "$scratch/old")"
container_test tests/guest/service.sh "$(head -n 1 "$scratch/old")" "$(head -n 1 "$scratch/new")" observe
container_end
holds "nothing of the container is left" test ! -e "$container_group"
done_testing

#!/usr/bin/env bash
# tactus as a service: a guest boots a real systemd, which starts it from its package, watches it, reloads, upgrades and removes it.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh

service_on() {
	local here
	here=$(pwd -P)
	export APPEND="tactus_init=/lib/systemd/systemd SYSTEMD_UNIT_PATH=$here/tests/guest/systemd:/run/systemd/system systemd.unit=tactus-test.target systemd.show_status=0"
	if ! packaging/deb.sh "$here/build/packages/old" 1 >"$scratch/old" 2>"$scratch/err" || ! packaging/deb.sh "$here/build/packages/new" 2 >"$scratch/new" 2>"$scratch/err"; then
		flunk "the packages are built" "$(tail -n 20 "$scratch/err")"
		return
	fi
	CPUS=2 LIMIT=1800 on_kernel "$1" "guest/service:$(head -n 1 "$scratch/old"):$(head -n 1 "$scratch/new")"
}
service_on debian-7.2
done_testing

#!/usr/bin/env bash
# Packages that are installed for the build and the tests start no service, now or with the next boot: a real systemd in a container, where 'install_packages'
# of tools/lib.sh installs a package that brings one.
. tests/tap.sh
. tests/systemd.sh

trap 'container_end; rm -rf "$scratch"' EXIT
container_boot tactus-test.target || done_testing
container_test tests/guest/quiet_packages.sh
done_testing

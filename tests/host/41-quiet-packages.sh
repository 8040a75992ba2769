#!/usr/bin/env bash
# Packages that are installed for the build and the tests start no service, now or with the next boot: a real systemd in a container, where 'install_packages'
# of tools/lib.sh installs a package that brings one.
. tests/tap.sh
. tests/systemd.sh

trap 'container_end; rm -rf "$scratch"' EXIT
container_boot tactus-test.target || done_testing
in_container bash tests/guest/quiet_packages.sh >"$scratch/results" 2>"$scratch/err"
status=$?
# The container's own results pass through.
grep -E '^(ok|not ok|#)' "$scratch/results"
checks=$(grep -cE '^(ok|not ok)' "$scratch/results") failures=$(grep -c '^not ok' "$scratch/results")
is "the test of packages in the container comes to its end" "$status $(tail -n 1 "$scratch/results" | cut -c 1-3)" "0 1.."
[ "$status" = 0 ] || tail -n 20 "$scratch/err" | sed 's/^/# /'
done_testing

#!/usr/bin/env bash
# A real SLURM, from Debian's archive, in a container of this machine's files: deploy/slurm's prolog and epilog start, pause and resume tactus around jobs.
. tests/tap.sh
. tests/systemd.sh

trap 'container_end; rm -rf "$scratch"' EXIT
here=$(pwd -P)
if ! packaging/deb.sh "$here/build/packages/old" 1 >"$scratch/old" 2>"$scratch/err"; then
	flunk "the package is built" "$(tail -n 20 "$scratch/err")"
	done_testing
fi
container_boot tactus-test.target || done_testing
container_test tests/guest/slurm.sh "$(head -n 1 "$scratch/old")"
done_testing

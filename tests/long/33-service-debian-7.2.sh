#!/usr/bin/env bash
# tactus as a service: a guest boots a real systemd, which starts it from its package, watches it, reloads, upgrades and removes it.
# kernel: debian-7.2
. tests/tap.sh
. tests/kernel.sh
. tests/systemd.sh

service_on debian-7.2
done_testing

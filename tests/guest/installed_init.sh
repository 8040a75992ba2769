#!/bin/bash
# The first process of a guest that boots the state that another guest left on its disk: $tactus_state, a tar file, from the kernel's parameters. Then the real systemd.
# What the machine itself has enabled is not started.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
rm -rf /usr/sbin/policy-rc.d /etc/systemd/system/*
[ -z "${tactus_state:-}" ] || tar -C / -xf "$tactus_state" || echo "tactus: init: cannot unpack $tactus_state" >&2
exec /lib/systemd/systemd

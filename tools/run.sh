#!/usr/bin/env bash
# Runs the main job, 'tactus run', where this machine allows it. Where it does not (no root, a container), says what is missing
# and runs the same command in a VM instead. Called by 'make run'.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

if build/tactus doctor >/dev/null 2>&1; then
	say "tactus run (Ctrl-C ends it)"
	exec build/tactus run
fi
say "'tactus run' can't watch threads here: $(build/tactus run -d 0.01 2>&1 >/dev/null | sed -n '1s/^tactus: //p')"
[ "$(id -u)" = 0 ] || say "it needs root: 'sudo make run' runs it on this machine"
say "so it runs in a VM here, beside a small load, with the kernel's own scheduler before it and tactus after"
exec tools/demo.sh

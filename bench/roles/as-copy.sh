#!/usr/bin/env bash
# Runs a part of the compiler under a name that says nothing: gcc -wrapper as-copy.sh. Uses $ROLES_NAMES and $ROLES_COPIES.
set -euo pipefail
program=$1
shift
known=$ROLES_COPIES/${program##*/}.copy
(
	flock 9
	[ -s "$known" ] && exit
	copy=app$$
	cp "$program" "$ROLES_COPIES/$copy"
	printf '%s %s\n' "$copy" "${program##*/}" >>"$ROLES_NAMES/programs"
	printf '%s' "$copy" >"$known"
) 9>"$known.lock"
exec "$ROLES_COPIES/$(cat "$known")" "$@"

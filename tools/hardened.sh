#!/usr/bin/env bash
# What the Makefile asks of compiler and linker must have arrived in what is built.
# Prints each breach; exit status 1 if there is one. Usage: tools/hardened.sh BINARY...
set -uo pipefail
breaches=0
breach() { printf '%s\n' "$*"; breaches=$((breaches + 1)); }
seen=$(mktemp)
trap 'rm -f "$seen"' EXIT
for binary; do
	readelf -hldsW "$binary" >"$seen" 2>/dev/null || breach "$binary: is no binary"
	while IFS='|' read -r what pattern; do
		grep -qE -- "$pattern" "$seen" || breach "$binary: $what is missing"
	done <<-'WANTED'
		PIE|Type: +DYN
		RELRO|GNU_RELRO
		BIND_NOW|FLAGS_1.*NOW
		a stack that is not executable|GNU_STACK.* RW +0x
		the stack protector| __stack_chk_fail
		FORTIFY| __(mem|str|v?[fs]?n?printf|p?read)[a-z0-9]*_chk([^_a-z]|$)
	WANTED
	! grep -q TEXTREL "$seen" || breach "$binary: has text that is relocated"
done
[ $breaches = 0 ]

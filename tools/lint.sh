#!/usr/bin/env bash
# Formatting, static analysis, shell scripts, sizes, and the rules of the rooms: who may include what.
# Prints each breach; exit status 1 if there is one.
set -uo pipefail
case ${*:-whole} in
whole | quick) ;;
-h | --help) echo "Usage: tools/lint.sh [quick]   (quick: without cppcheck, which takes minutes)"; exit 0 ;;
*) echo "tactus: tools/lint.sh: '$*' is not 'quick'; see --help" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

breaches=0
breach() { printf '%s\n' "$*"; breaches=$((breaches + 1)); }

mapfile -t c_files < <(git ls-files --cached --others --exclude-standard '*.c' '*.h')
mapfile -t shell_files < <(git ls-files --cached --others --exclude-standard '*.sh' '*.bash' .ci/run)

check_expected() {
	say "expected errors of predictions"
	tools/expected.py --check || breach "src/model/expected.c: not what docs/simulate.md has: run 'tools/expected.py --write' and 'make format'"
}

check_format() {
	say "clang-format"
	clang-format --dry-run -Werror "${c_files[@]}" || breach "format: run 'make format'"
}

check_analysis() {
	say "cppcheck"
	mkdir -p "$cache/cppcheck" # what it found of files that did not change
	with_lock cppcheck cppcheck -j "$(nproc)" --cppcheck-build-dir="$cache/cppcheck" --quiet --error-exitcode=1 --enable=warning,performance,portability --inline-suppr --std=c11 \
		--suppress=missingIncludeSystem --suppress=unknownMacro --suppress=ctuuninitvar -D_GNU_SOURCE -DTACTUS_VERSION='""' \
		core src tests/unit bench/*.c || breach "cppcheck: see above"
}

# It takes two minutes of CPU time for all: files that were clean as they are now are not read again, unless one that is sourced
# somewhere has changed.
check_shell() {
	local hash file sourced dirty=()
	local ignored=SC1090,SC1091,SC2154,SC2034,SC2016,SC2317 clean_before
	local check=(shellcheck -x -s bash -e "$ignored")
	say "shellcheck"
	mapfile -t sourced < <(sed -nE 's/^[[:space:]]*(\.|source) ([A-Za-z0-9_./-]+\.sh).*/\2/p' "${shell_files[@]}" | sort -u)
	clean_before=$cache/shellcheck-$({ printf '%s ' "${check[@]}" "$(shellcheck --version)"; cat "${sourced[@]}" 2>/dev/null; } | sha256sum | cut -c1-16)
	mkdir -p "$cache"
	touch "$clean_before"
	while read -r hash file; do
		grep -q "^$hash" "$clean_before" || dirty+=("$file")
	done < <(sha256sum "${shell_files[@]}")
	for file in "${dirty[@]}"; do
		if "${check[@]}" "$file"; then sha256sum "$file" >>"$clean_before"; else breach "shellcheck: $file: see above"; fi
	done
}

check_rooms() {
	local line
	say "the rules of the rooms"
	while IFS= read -r line; do
		breach "$line"
	done < <(python3 tools/rooms.py || printf 'tools/rooms.py: exit status %s\n' $?)
	while IFS= read -r line; do
		breach "$line"
	done < <(python3 tools/decisions.py || printf 'tools/decisions.py: exit status %s\n' $?)
	while IFS= read -r line; do
		breach "$line: scheduler state is written through bpf/scx_task.h"
	done < <(grep -HnE '(->|\.)scx\.' bpf/*.[ch] | grep -v '^bpf/scx')
	while IFS= read -r line; do
		breach "$line: rows are sorted by src/base/sort.h, which leaves those of equal rank as they came"
	done < <(grep -HnE '\<qsort(_r)?\(' src/*/*.c)
}

check_sizes() {
	local file lines
	say "sizes"
	for file in "${c_files[@]}" "${shell_files[@]}"; do
		lines=$(wc -l <"$file")
		[ "$lines" -le 600 ] || breach "$file: $lines lines; a file has at most 600"
	done
	lines=$(wc -l <Makefile)
	[ "$lines" -le 250 ] || breach "Makefile: $lines lines; it has at most 250"
}

check_manual() {
	say "mandoc"
	mandoc -T lint -W warning man/*.8 || breach "man page: see above"
}

check_binary() {
	local binary built=() line
	say "hardening of what is built"
	for binary in build/tactus{,-static,-packaged} build/aarch64/tactus{,-static,-packaged}; do
		[ ! -e "$binary" ] || built+=("$binary")
	done
	while IFS= read -r line; do
		breach "$line"
	done < <(tools/hardened.sh "${built[@]}")
}

# The linker is told to take the first of two definitions, since one function of libbpf is replaced: two of our own by one name would
# then be mixed up in silence.
check_symbols() {
	local name
	say "names that two files define"
	[ -d build/src ] || return 0
	while IFS= read -r name; do
		breach "$name: defined by more than one file of src/"
	done < <(find build/src -name '*.o' -exec nm -A --defined-only -g {} + 2>/dev/null | awk '$(NF - 1) ~ /^[TDBR]$/ { print $NF }' | sort | uniq -d)
}

# Folders whose tests have names that stand alone; those that are not clean yet come later.
named_tests=(tests/unit tests/btf tests/host tests/hostile tests/guest tests/vm tests/kernels tests/long tests/replay tests/wine.sh)

# Numbers say in which order tests of a folder run.
twice_numbered() {
	local folder
	for folder in tests/{host,hostile,replay,vm,kernels,long}; do
		find "$folder" -name '[0-9]*-*.sh' -printf '%f\n' | cut -d- -f1 | sort | uniq -d | sed "s|^|$folder: two tests have the number |"
	done
}

check_names() {
	local line
	say "names of tests"
	while IFS= read -r line; do
		breach "$line"
	done < <(twice_numbered; find "${named_tests[@]}" -type f \( -name '*.c' -o -name '*.h' -o -name '*.sh' -o -name '*.py' \) -exec python3 tools/test-names.py {} +)
}

check_expected
check_format
[ "${1:-}" = quick ] || check_analysis
check_shell
check_rooms
check_sizes
check_manual
check_names
check_binary
check_symbols
[ "$breaches" = 0 ] || die "lint: $breaches breaches"
say "lint: clean"

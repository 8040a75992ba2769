#!/usr/bin/env bash
# Formatting, static analysis, shell scripts, sizes, and the rules of the rooms: who may include what.
# Prints each breach; exit status 1 if there is one.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

breaches=0
breach() { printf '%s\n' "$*"; breaches=$((breaches + 1)); }

mapfile -t c_files < <(git ls-files --cached --others --exclude-standard '*.c' '*.h')
mapfile -t shell_files < <(git ls-files --cached --others --exclude-standard '*.sh' .ci/run)

check_format() {
	say "clang-format"
	clang-format --dry-run -Werror "${c_files[@]}" || breach "format: run 'make format'"
}

check_analysis() {
	say "cppcheck"
	mkdir -p build/cppcheck # what it found of files that did not change
	cppcheck -j "$(nproc)" --cppcheck-build-dir=build/cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability --inline-suppr --std=c11 \
		--suppress=missingIncludeSystem --suppress=unknownMacro --suppress=ctuuninitvar -D_GNU_SOURCE -DTACTUS_VERSION='""' \
		core src tests/unit bench/*.c || breach "cppcheck: see above"
}

check_shell() {
	say "shellcheck"
	shellcheck -x -s bash -e SC1090,SC1091,SC2154,SC2034,SC2016,SC2317 "${shell_files[@]}" || breach "shellcheck: see above"
}

# may_include ROOM PATTERN-OF-WHAT-IT-MAY: every include in the room's files must match
may_include() {
	local room=$1 allowed=$2 line
	while IFS= read -r line; do
		breach "$line: not for $room/ (may include: $allowed)"
	done < <(grep -HnE '^[[:space:]]*#[[:space:]]*include' "$room"/*.[ch] | grep -vE "include ($allowed)")
}

# may_not_include ROOM PATTERN WHY
may_not_include() {
	local line
	while IFS= read -r line; do
		breach "$line: not for $1/ ($3)"
	done < <(grep -HnE "^[[:space:]]*#[[:space:]]*include.*($2)" "$1"/*.[ch])
}

check_rooms() {
	say "the rules of the rooms"
	may_include core '"[a-z_]+\.h"'
	may_include bpf '<linux/bpf.h>|<linux/ptrace.h>|<stdbool.h>|<bpf/|"[a-z_]+\.h"|"\.\./core/'
	may_include detour '<asm/|<linux/|<link.h>|<stddef.h>|"detour.h"|"\.\./core/'
	may_not_include src/base 'bpf/|\.skel\.h|sensor/|model/|view/|sink/|sched/' "base knows only itself and core"
	may_not_include src/model 'bpf/|\.skel\.h|stdio\.h|sensor/|view/|sink/|sched/' "model knows neither libbpf nor printing"
	may_not_include src/sink 'bpf/|\.skel\.h|sensor/|model/|view/|sched/' "sink prints what it is given"
	may_not_include src/view 'bpf/|\.skel\.h' "only sensor, stream and sched see libbpf"
	may_not_include src 'bpf/|\.skel\.h' "main is the table of commands"
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

# The binaries that are built: what the Makefile asks of compiler and linker must have arrived.
check_binary() {
	local binary what pattern
	say "hardening of what is built"
	for binary in build/tactus build/tactus-static build/aarch64/tactus build/aarch64/tactus-static; do
		[ -e "$binary" ] || continue
		readelf -hldsW "$binary" >build/lint.readelf 2>/dev/null
		while IFS='|' read -r what pattern; do
			grep -qE -- "$pattern" build/lint.readelf || breach "$binary: $what is missing"
		done <<-'END'
			PIE|Type: +DYN
			RELRO|GNU_RELRO
			BIND_NOW|FLAGS_1.*NOW
			a stack that is not executable|GNU_STACK.* RW +0x
			the stack protector|__stack_chk_fail
			FORTIFY|__[a-z]+_chk
		END
		! grep -q TEXTREL build/lint.readelf || breach "$binary: has text that is relocated"
	done
	rm -f build/lint.readelf
}

# Folders whose tests have names that stand alone; those that are not clean yet come later.
named_tests=(tests/unit tests/host tests/hostile tests/guest tests/vm tests/long tests/replay)

check_names() {
	local line
	say "names of tests"
	while IFS= read -r line; do
		breach "$line"
	done < <(find "${named_tests[@]}" -type f \( -name '*.c' -o -name '*.h' -o -name '*.sh' -o -name '*.py' \) -exec python3 tools/test-names.py {} +)
}

check_format
check_analysis
check_shell
check_rooms
check_sizes
check_manual
check_names
check_binary
[ "$breaches" = 0 ] || die "lint: $breaches breaches"
say "lint: clean"

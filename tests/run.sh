#!/usr/bin/env bash
# Runs the tests and closes with one line: N passed, N failed, N skipped. Called by 'make test'.
# Usage: tests/run.sh [unit] [host] [vm]   (all three without a word; host and vm need root)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

passed=0 failed=0 skipped=0
started=$SECONDS
failures=()

# Reads a finished test's TAP. A test that says less than its plan, or ends badly without saying why, has failed.
count_tap() {
	local name=$1 log=$2 status=$3 good bad skip planned
	skip=$(grep -cE '^ok .*# SKIP' "$log")
	good=$(($(grep -cE '^ok ' "$log") - skip))
	bad=$(grep -cE '^not ok ' "$log")
	planned=$(awk -F'[.][.]' '/^1[.][.][0-9]+$/ {n += $2; seen = 1} END {print seen ? n : -1}' "$log")
	if [ $((good + bad + skip)) != "$planned" ] || { [ "$status" != 0 ] && [ "$bad" = 0 ]; }; then
		echo "not ok - $name: exit status $status, $((good + bad + skip)) results of $planned planned"
		bad=$((bad + 1))
	fi
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
	[ "$bad" = 0 ] || failures+=("$name")
}

run_test() {
	local name=$1 log status began=$SECONDS
	shift
	echo "--- $name"
	log=$(mktemp)
	"$@" 2>&1 </dev/null | tee "$log"
	status=${PIPESTATUS[0]}
	count_tap "$name" "$log" "$status"
	echo "# $name took $((SECONDS - began)) s"
	rm -f "$log"
}

skip_layer() {
	local test
	for test in tests/"$1"/*.sh; do
		echo "ok - $test # SKIP $2"
		skipped=$((skipped + 1))
	done
}

build() {
	say "building"
	make --no-print-directory -s -j"$(nproc)" all test-workloads || die "the build failed"
}

run_unit() {
	local test
	for test in build/tests/*_test; do
		run_test "unit/$(basename "$test")" "$test"
	done
	FUZZ_SECONDS=${FUZZ_SECONDS:-8} run_test fuzz tests/fuzz/run.sh
}

# Kernels for the VMs are made while the tests that need none run; vm/kernel.sh is quick where they are there already.
prepare_kernels() {
	local name
	for name in scx debian-6.1 debian-6.12; do
		vm/kernel.sh "$name" || return 1
	done
}

run_scripts() {
	local test
	for test in tests/"$1"/*.sh; do
		run_test "${test#tests/}" "$test"
	done
}

# VM tests run two at a time: a guest mostly waits for one CPU of its own. Each one's words come in one piece, when it ends.
run_scripts_in_pairs() {
	local test running=0
	declare -A names=() logs=() begun=()
	for test in tests/"$1"/*.sh; do
		((running < 2)) || one_ends
		say "${test#tests/} begins"
		start_beside "$test"
	done
	while ((running > 0)); do one_ends; done
}
# Both work on the variables of run_scripts_in_pairs.
start_beside() {
	local log pid
	log=$(mktemp)
	"$1" >"$log" 2>&1 </dev/null &
	pid=$!
	names[$pid]=${1#tests/} logs[$pid]=$log begun[$pid]=$SECONDS
	running=$((running + 1))
}
one_ends() {
	local pid status
	wait -n -p pid "${!names[@]}"
	status=$?
	echo "--- ${names[$pid]}"
	cat "${logs[$pid]}"
	count_tap "${names[$pid]}" "${logs[$pid]}" "$status"
	echo "# ${names[$pid]} took $((SECONDS - begun[$pid])) s beside others"
	rm -f "${logs[$pid]}"
	unset "names[$pid]" "logs[$pid]" "begun[$pid]"
	running=$((running - 1))
}

main() {
	local layers=${*:-unit host vm} kernels_pid='' kernels_log
	kernels_log=$(mktemp)
	build
	if [ "$(id -u)" = 0 ] && [[ " $layers " == *" vm "* ]]; then
		say "making the VM's kernels in the background"
		prepare_kernels >/dev/null 2>"$kernels_log" &
		kernels_pid=$!
	fi
	[[ " $layers " != *" unit "* ]] || run_unit
	if [ "$(id -u)" != 0 ]; then
		[[ " $layers " != *" host "* ]] || skip_layer host "needs root"
		[[ " $layers " != *" vm "* ]] || skip_layer vm "needs root"
	else
		[[ " $layers " != *" host "* ]] || run_scripts host
		if [ -n "$kernels_pid" ]; then
			say "waiting for the VM's kernels; how far they are:"
			tail -n +1 -f --pid=$kernels_pid "$kernels_log" >&2
			wait $kernels_pid || die "the VM's kernels could not be made: see above"
			run_scripts_in_pairs vm
		fi
	fi
	rm -f "$kernels_log"
	[ ${#failures[@]} = 0 ] || printf 'failed in: %s\n' "${failures[*]}"
	say "$((SECONDS - started)) s"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}

main "$@"

#!/usr/bin/env bash
# Runs tests time and again on a busy machine, and tells which of them failed and why: a test must pass there too.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

usage() {
	cat <<-'EOF'
		Usage: tests/repeat.sh [-j JOBS] [N] [TEST...]
		Runs each TEST (host/10-cpus, or a layer: unit, host, vm; without one: host) N times (3), while two CPU hogs and a second
		'tactus roles' run beside it: one after another, or JOBS at a time, of which those that 'tests/run.sh' keeps apart stay apart.
		Prints each failure with its reason, the failures by test, and last 'N runs, N failures', which is also the exit
		status: 1 if there was one. What each run said is kept in build/tests-repeat/.
		Example: tests/repeat.sh 20 host/78-misses host/66-frame
	EOF
}

rounds=3 jobs=1 runs=0 failed_runs=0
TEST_LOGS=build/tests-repeat
. tests/results.sh
load=()
declare -A failed_times=()
# By process id: what runs now, and in which round.
declare -A name_of=() round_of=()

# shellcheck disable=SC2317 # a trap calls it
end_all() {
	trap - EXIT
	trap '' INT TERM HUP
	end_tagged $$ >/dev/null
	# Waited for here, or the shell tells of each end somewhere in the result.
	[ ${#load[@]} = 0 ] || { kill "${load[@]}"; wait "${load[@]}"; } 2>/dev/null
}
show_result() {
	local name
	echo
	for name in "${!failed_times[@]}"; do echo "$name: failed ${failed_times[$name]} times"; done | sort
	echo "$runs runs, $failed_runs failures"
}
# shellcheck disable=SC2317 # a trap calls it
interrupted() {
	end_all
	show_result
	exit 130
}

# Even if this script is killed, the load ends by itself: with its parent, or after a while.
start_load() {
	for _ in 1 2; do
		setpriv --pdeathsig KILL sh -c 'while :; do :; done' &
		load+=($!)
	done
	if [ "$(id -u)" = 0 ]; then
		setpriv --pdeathsig TERM build/tactus roles --follow >/dev/null 2>"$TEST_LOGS/roles.err" &
		load+=($!)
	else
		say "no second tactus beside the tests: that needs root"
	fi
}
# The second tactus must be there all the while, or the runs prove less than they say.
load_lives() {
	local pid
	for pid in "${load[@]}"; do
		kill -0 "$pid" 2>/dev/null || die "the load beside the tests has ended: $(tail -n 1 "$TEST_LOGS/roles.err")"
	done
}

# A test's next round begins when its last one is over, and not with that of all others: nobody waits for the longest.
may_start() {
	local other
	for other in "${name_of[@]}"; do [ "$other" != "$1" ] || return 1; done
	! is_kept_apart "$1" "${name_of[@]}" && ((${#name_of[@]} < jobs))
}
one_ends() {
	local pid status=0
	wait -n -p pid "${!name_of[@]}" || status=$?
	[ -n "${pid:-}" ] || return 0
	show_run "${round_of[$pid]}" "${name_of[$pid]}" $status
	unset "name_of[$pid]" "round_of[$pid]"
}
show_run() {
	local round=$1 name=$2 good bad skip reasons took
	end_tagged $$ "$name" >/dev/null
	judge "$name" "$3"
	runs=$((runs + 1))
	took=$(took_s "$name")
	if [ "$bad" = 0 ]; then
		echo "round $round of $rounds: ok      $name: $good passed in $took s"
		return
	fi
	failed_runs=$((failed_runs + 1))
	failed_times[$name]=$((${failed_times[$name]:-0} + 1))
	cp "$(log_of "$name")" "$(log_of "$name.failed-$round")"
	echo "round $round of $rounds: FAILED  $name: $good passed, $bad failed in $took s ($(log_of "$name.failed-$round"))"
	printf '%s\n' "$reasons" | sed 's/^/    /'
}
one_round() {
	local round=$1 name
	shift
	for name in "$@"; do
		until may_start "$name"; do one_ends; done
		load_lives
		run_test "$name" &
		name_of[$!]=$name round_of[$!]=$round
	done
}

main() {
	local word name names=() round
	case " $* " in *" -h "* | *" --help "*) usage; exit 0 ;; esac
	if [ "${1:-}" = -j ]; then
		[[ ${2:-} =~ ^[1-9][0-9]*$ ]] || { echo "tactus: tests/repeat.sh: -j takes a number of tests, not '${2:-}'" >&2; exit 2; }
		jobs=$2
		shift 2
	fi
	if [[ ${1:-} =~ ^[1-9][0-9]*$ ]]; then
		rounds=$1
		shift
	fi
	[ $# -gt 0 ] || set -- host
	for word in "$@"; do
		case $word in
		unit | fuzz | replay | host | hostile | vm | kernels | long) mapfile -t -O ${#names[@]} names < <(tests_of "$word") ;;
		*)
			name=${word#tests/} name=${name%.sh}
			[ -e "$(source_of "$name")" ] || { echo "tactus: tests/repeat.sh: no test or layer is called '$word'" >&2; exit 2; }
			names+=("$name") ;;
		esac
	done
	read_heads "${names[@]}"
	make --no-print-directory -s -j"$(nproc)" all test-workloads || die "the build failed"
	rm -rf "$TEST_LOGS"
	mkdir -p "$TEST_LOGS"
	trap end_all EXIT
	trap interrupted INT TERM HUP
	start_load
	# Each test in a process group of its own, so that it hears signals as it would by itself.
	set -m
	for ((round = 1; round <= rounds; round++)); do one_round $round "${names[@]}"; done
	while [ ${#name_of[@]} -gt 0 ]; do one_ends; done
	end_all
	show_result
	[ $failed_runs = 0 ]
}

main "$@"

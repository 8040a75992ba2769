# shellcheck shell=bash
# What tests are called, how one is run, and what its TAP says: sourced by tests/run.sh and tests/repeat.sh.

log_top=${TEST_LOGS:-build/tests-log}
log_of() { printf '%s/%s.log' "$log_top" "$1"; }

# The tests of a layer, by name.
tests_of() {
	local path
	case $1 in
	unit)
		for path in tests/unit/*_test.c; do basename "$path" .c | sed 's|^|unit/|'; done
		echo unit/btf_test ;;
	fuzz) for path in tests/fuzz/*_fuzz.c; do basename "$path" _fuzz.c | sed 's|^|fuzz/|'; done ;;
	*) for path in tests/"$1"/[0-9]*.sh; do basename "$path" .sh | sed "s|^|$1/|"; done ;;
	esac
}
# Sets test_command.
find_command() {
	case $1 in
	unit/*) test_command=("build/tests/${1#unit/}") ;;
	fuzz/*) test_command=(tests/fuzz/run.sh "${1#fuzz/}") ;;
	*) test_command=("tests/$1.sh") ;;
	esac
}
source_of() {
	case $1 in
	unit/btf_test) echo tests/btf/test.c ;;
	unit/*) echo "tests/$1.c" ;;
	fuzz/*) echo "tests/$1_fuzz.c" ;;
	*) echo "tests/$1.sh" ;;
	esac
}
# By name: what a test's head declares, and its first sentence, which says what the test is about.
declare -A alone_of=() beside_of=() kernels_of=() early_of=() about_of=()
# read_heads NAME...: one program for all of them, since starting one takes long on a busy machine
read_heads() {
	local name files=() head
	declare -A name_of_file=()
	for name in "$@"; do
		files+=("$(source_of "$name")")
		name_of_file[${files[-1]}]=$name
	done
	while IFS=$'\t' read -r name word head; do
		name=${name_of_file[$name]}
		case $word in
		alone) alone_of[$name]=$head ;;
		'not beside') beside_of[$name]=$head ;;
		kernel) kernels_of[$name]=$head ;;
		early) early_of[$name]=$head ;;
		about) about_of[$name]=$head ;;
		esac
	done < <(awk 'function tell(text) {
			if (match(text, /\.( |$)/)) text = substr(text, 1, RSTART - 1)
			if (length(text) > 120) text = substr(text, 1, 117) "..."
			printf "%s\tabout\t%s\n", FILENAME, text
		}
		FNR == 1 {text = ""}
		FNR == 1 && /^#!/ || /SPDX/ {next}
		/^# (alone|not beside|kernel|early): / {match($0, /: /); printf "%s\t%s\t%s\n", FILENAME, substr($0, 3, RSTART - 3), substr($0, RSTART + 2); next}
		/^(#|\/\*| \*)($| )/ {sub(/^(#|\/\*| \*) */, ""); sub(/ *\*\/$/, ""); text = text (text ? " " : "") $0; next}
		{tell(text); nextfile}' "${files[@]}")
}

# A guest has a kernel of its own: for tests on this machine's it is a program that computes, as any.
is_guest() { [[ $1 == vm/* || $1 == kernels/* || -n ${kernels_of[$1]:-} ]]; }
# is_kept_apart NAME OTHER...: whether its head, or one of the others', says that they must not run side by side
is_kept_apart() {
	local name=$1 word=${beside_of[$1]:-} other
	shift
	! is_guest "$name" || return 1
	for other in "$@"; do
		! is_guest "$other" || continue
		[ -z "${alone_of[$name]:-}${alone_of[$other]:-}" ] || return 0
		[ -z "$word" ] || [ "$word" != "${beside_of[$other]:-}" ] || return 0
	done
	return 1
}

# In seconds: a test that stands still is ended, so that a run comes to its end. What is long has no limit.
limit_of() {
	if [[ $1 == long/* || $1 == fuzz/* ]]; then echo 0
	elif is_guest "$1"; then echo 2400
	else echo "${TEST_LIMIT_S:-1200}"; fi
}

# Tests of which one at a time may run do so on the whole machine: somebody may test another checkout beside this one.
# wait_for_turn NAME: until this process ends
wait_for_turn() {
	local word=${beside_of[$1]:-}
	{ [ -n "$word" ] && ! is_guest "$1" && [ "$(id -u)" = 0 ]; } || return 0
	mkdir -p /run/tactus-tests
	exec 9>"/run/tactus-tests/$(tr -c 'a-z\n' - <<<"$word")"
	flock 9
}

# run_test NAME: in the present process; leaves NAME.log and NAME.time (real, user and system seconds) behind.
# Whatever it starts carries its name in the environment, so that it can be found and ended.
run_test() {
	local log test_command
	log=$(log_of "$1")
	mkdir -p "$(dirname "$log")"
	find_command "$1"
	export TACTUS_TEST_OF="$$ $1"
	wait_for_turn "$1"
	local TIMEFORMAT='%1R %1U %1S' limit_s status=0 began=$SECONDS
	limit_s=$(limit_of "$1")
	{ time timeout --foreground -k 10 "$limit_s" "${test_command[@]}" >"$log" 2>&1 </dev/null 9>&-; } 2>"${log%.log}.time" || status=$?
	((limit_s == 0 || SECONDS - began < limit_s)) || echo "not ok - the test comes to its end within $limit_s s" >>"$log"
	return $status
}

took_s() { tail -n 1 "$log_top/$1.time" | cut -d ' ' -f 1; }

# tagged PID [NAME]: processes that a test started, of the runner with that process id
tagged() { grep -lzE "^TACTUS_TEST_OF=$1 ${2:+$2\$}" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3; }
# end_tagged PID [NAME]: ends them, and prints the names of those that were there
end_tagged() {
	local pid pids
	pids=$(tagged "$@")
	for pid in $pids; do cat "/proc/$pid/comm" 2>/dev/null; done
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill $pids 2>/dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -n "$(tagged "$@")" ] || return 0
		sleep 0.2
	done
	# shellcheck disable=SC2046
	kill -KILL $(tagged "$@") 2>/dev/null
}

# judge NAME STATUS: sets good, bad, skip and reasons from the test's log. One that says less than its plan, or ends badly
# without saying why, has failed.
judge() {
	local log planned said
	log=$(log_of "$1")
	skip=$(grep -cE '^ok .*# SKIP' "$log")
	good=$(($(grep -cE '^ok ' "$log") - skip))
	bad=$(grep -cE '^not ok ' "$log")
	said=$((good + bad + skip))
	planned=$(awk -F'[.][.]' '/^1[.][.][0-9]+$/ {n += $2; seen = 1} END {print seen ? n : -1}' "$log")
	reasons=$(awk '/^not ok / {shown = 1; print; next} /^#/ && shown && ++n <= 200 {print; next} {shown = 0}' "$log" | cut -c 1-2000)
	if [ "$said" != "$planned" ] || { [ "$2" != 0 ] && [ "$bad" = 0 ]; }; then
		bad=$((bad + 1))
		[ "$planned" != -1 ] || planned="no number"
		reasons+=${reasons:+$'\n'}$(
			echo "not ok - exit status $2, $said results where $planned was planned; the last lines:"
			tail -n 15 "$log" | sed 's/^#* */# /'
		)
	fi
}
skips_in() { sed -nE 's/^ok [0-9]* ?- (.*) # SKIP (.*)/\1: \2/p' "$(log_of "$1")"; }

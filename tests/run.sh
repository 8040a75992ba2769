#!/usr/bin/env bash
# Runs the tests, several at a time, and closes with one line: N passed, N failed, N skipped. Called by 'make test'.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh
. tests/results.sh

usage() {
	cat <<-'EOF'
		Usage: tests/run.sh [LAYER|TEST]...
		  LAYER  unit, fuzz, replay, host and hostile (need root), vm and kernels (need QEMU), long (hours); without a word: all but the last two
		  TEST   one of them: host/10-cpus, or the path of its file
		What each test said is kept in build/tests-log/; V=1 shows it here too. Ctrl-C ends everything.
		A test's head may say '# alone: WHY' (nothing but guests runs beside it), '# not beside: WORD' (nor does any that says the same),
		and of tests in a VM '# kernel: NAME', which is made before it begins, and '# early: WHY', by which it begins before the other guests.
	EOF
}

passed=0 failed=0 skipped=0 total=0 ended=0
started=$SECONDS
ticks_before=0 stolen_before=0
queue=()
failures=()
# Tests on a real kernel that failed: the first few of them are run once more by themselves, and named at the end either way.
second_tries=8
again=()
unsteady=()
declare -A first_reasons=()
# By process id: what runs now.
declare -A name_of=()
# By kernel of the VM: waiting, ready, absent or broken; and the last line about it.
declare -A kernel_state=() kernel_reason=()
kernels=()
kernel_pid='' kernel_now=''
# Tests on this machine mostly wait, guests mostly compute: three of the first and as many guests as there are CPUs, at least two. A
# place of a guest's that is free, two at most, is one more for the others.
here_jobs=3
vm_jobs=$(nproc)
((vm_jobs >= 2)) || vm_jobs=2

line() { printf '%4d s  %s\n' $((SECONDS - started)) "$*"; }
plural() { if [ "$1" = 1 ]; then echo "1 $2"; else echo "$1 ${2}s"; fi; }

# Without the rights or the programs for it a test is not run, but named.
skip_test() {
	ended=$((ended + 1)) skipped=$((skipped + 1))
	line "skipped $1: $2"
}
drop_layer() {
	local name kept=()
	for name in "${queue[@]}"; do
		if [[ $name == "$1"/* ]]; then skip_test "$name" "$2"; else kept+=("$name"); fi
	done
	queue=("${kept[@]}")
}
drop_what_cannot_run() {
	[ "$(id -u)" = 0 ] || { drop_layer host "needs root"; drop_layer hostile "needs root"; }
	local program
	for program in qemu-system-x86_64 hackbench cyclictest stress-ng aplay nginx wrk modinfo; do
		PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null && continue
		drop_layer vm "$program is not installed here"
		drop_layer kernels "$program is not installed here"
		drop_layer long "$program is not installed here"
	done
}

# Tests that want the machine for themselves come first, beside the first guests, so that the others are not held up twice; then those of
# which one at a time may run, so that the last of that row is not what everybody waits for: each takes the place of the one before it.
# The guests that take longest come before all, so that no CPU is left with one of them at the end.
fill_queue() {
	local word name early=() alone=() rows=() others=() quick=()
	for word in "$@"; do
		case $word in
		unit | fuzz | replay | host | hostile | vm | kernels | long) mapfile -t -O ${#queue[@]} queue < <(tests_of "$word") ;;
		*)
			name=${word#tests/} name=${name%.sh}
			find_command "$name"
			[ -e "$(source_of "$name")" ] || { echo "tactus: tests/run.sh: no test or layer is called '$word'" >&2; exit 2; }
			queue+=("$name") ;;
		esac
	done
	read_heads "${queue[@]}"
	for name in "${queue[@]}"; do
		if [ -n "${early_of[$name]:-}" ]; then early+=("$name")
		elif [[ $name == unit/* || $name == fuzz/* || $name == replay/* ]]; then quick+=("$name")
		elif [ -n "${alone_of[$name]:-}" ]; then alone+=("$name")
		elif [ -n "${beside_of[$name]:-}" ]; then rows+=("$name")
		else others+=("$name"); fi
	done
	queue=("${early[@]}" "${alone[@]}" "${rows[@]}" "${quick[@]}" "${others[@]}")
	total=${#queue[@]}
}

build() {
	say "building"
	make --no-print-directory -s -j"$(nproc)" all test-workloads || die "the build failed"
}

# Kernels are made one after another while tests run that need none. Not at low priority: the last guests would wait for theirs.
list_kernels() {
	local name kernel
	for name in "${queue[@]}"; do
		for kernel in ${kernels_of[$name]:-}; do
			[ -n "${kernel_state[$kernel]:-}" ] || kernels+=("$kernel")
			kernel_state[$kernel]=waiting
		done
	done
}
make_next_kernel() {
	[ -z "$kernel_pid" ] && [ ${#kernels[@]} -gt 0 ] || return 0
	kernel_now=${kernels[0]}
	kernels=("${kernels[@]:1}")
	mkdir -p "$log_top/kernel"
	# A series that is gone is skipped by its name, but for the newest of them, which gives way to a newer one.
	local exact=--exact
	[ "$kernel_now" != debian-7.2 ] || exact=''
	TACTUS_TEST_OF="$$ kernel/$kernel_now" vm/kernel.sh $exact "$kernel_now" >/dev/null 2>"$(log_of "kernel/$kernel_now")" </dev/null &
	kernel_pid=$!
	kernel_began=$SECONDS
}
# kernel_ends STATUS: 3 says that there is no such kernel to be had now, which is nobody's fault
kernel_ends() {
	kernel_reason[$kernel_now]=$(tail -n 1 "$(log_of "kernel/$kernel_now")")
	case $1 in
	0)
		kernel_state[$kernel_now]=ready
		((SECONDS - kernel_began < 3)) || line "the VM's kernel $kernel_now is ready after $((SECONDS - kernel_began)) s" ;;
	3)
		kernel_state[$kernel_now]=absent
		line "the VM's kernel $kernel_now is not to be had: ${kernel_reason[$kernel_now]}" ;;
	*)
		kernel_state[$kernel_now]=broken
		failed=$((failed + 1))
		failures+=("kernel/$kernel_now"$'\n'"$(tail -n 15 "$(log_of "kernel/$kernel_now")")")
		line "the VM's kernel $kernel_now could not be made: ${kernel_reason[$kernel_now]}" ;;
	esac
	kernel_pid=''
}
# Sets state to the worst of a test's kernels'. A test in a VM that names none waits for all.
kernels_state() {
	local kernel
	state=ready
	! is_guest "$1" || [ -n "${kernels_of[$1]:-}" ] || [ -z "$kernel_pid" ] || state=waiting
	for kernel in ${kernels_of[$1]:-}; do
		case ${kernel_state[$kernel]} in
		absent | broken) state="${kernel_state[$kernel]} $kernel"; return ;;
		waiting) state=waiting ;;
		esac
	done
}

# may_start NAME: with what runs now
may_start() {
	local name=$1 other guests=0 here=0 free
	! is_kept_apart "$name" "${name_of[@]}" || return 1
	for other in "${name_of[@]}"; do
		if is_guest "$other"; then guests=$((guests + 1)); else here=$((here + 1)); fi
	done
	free=$((vm_jobs - guests))
	if is_guest "$name"; then ((free > 0))
	else ((here < here_jobs + (free > 2 ? 2 : free))); fi
}
start() {
	line "begins  $1: ${about_of[$1]:-}"
	run_test "$1" &
	name_of[$!]=$1
}
# Starts what can be started; whoever wants the machine alone waits for it, and all behind wait for that one, but for guests.
start_what_can() {
	local name state kept=() held=''
	for name in "${queue[@]}"; do
		kernels_state "$name"
		if [[ $state == absent* || $state == broken* ]]; then
			skip_test "$name" "kernel ${state#* }: ${kernel_reason[${state#* }]}"
		elif [ "$state" = ready ] && { [ -z "$held" ] || is_guest "$name"; } && may_start "$name"; then
			start "$name"
		else
			kept+=("$name")
			[ -z "${alone_of[$name]:-}" ] || held=yes
		fi
	done
	queue=("${kept[@]}")
}

one_ends() {
	local pid status name
	wait -n -p pid "${!name_of[@]}" $kernel_pid
	status=$?
	[ -n "${pid:-}" ] || return 0
	if [ "$pid" = "$kernel_pid" ]; then
		kernel_ends "$status"
		return
	fi
	name=${name_of[$pid]}
	unset "name_of[$pid]"
	test_ends "$name" "$status"
}
may_try_again() {
	[[ $1 == host/* || $1 == hostile/* || $1 == vm/* || $1 == kernels/* ]] && [ -z "${first_reasons[$1]:-}" ] && ((${#again[@]} < second_tries))
}
# What failed beside others may have been the machine's doing; what fails alone is ours.
try_again() {
	local name status
	for name in "${again[@]}"; do
		line "again   $name, by itself: $(head -n 1 <<<"${first_reasons[$name]}")"
		cp "$(log_of "$name")" "$(log_of "$name.first")"
		status=0
		run_test "$name" &
		name_of[$!]=$name
		wait $! || status=$?
		name_of=()
		ended=$((ended - 1))
		test_ends "$name" "$status"
	done
}
test_ends() {
	local name=$1 good bad skip reasons left_behind took words
	left_behind=$(end_tagged $$ "$name" | sort | uniq -c | tr -s ' \n' ' ')
	[ -z "$left_behind" ] || echo "# left behind, and ended now:$left_behind" >>"$(log_of "$name")"
	judge "$name" "$2"
	if [ "$bad" != 0 ] && may_try_again "$name"; then
		again+=("$name") ended=$((ended + 1))
		first_reasons[$name]=$reasons
		line "FAILED  $name: $bad failed in $(took_s "$name") s, to be run once more by itself; $((total - ended)) left"
		printf '%s\n' "$reasons" | sed 's/^/          /'
		return
	fi
	[ "$bad" != 0 ] || [ -z "${first_reasons[$name]:-}" ] ||
		unsteady+=("$name ($(log_of "$name.first"))"$'\n'"${first_reasons[$name]}")
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip)) ended=$((ended + 1))
	took=$(took_s "$name")
	words="$good passed"
	[ "$bad" = 0 ] || words+=", $bad failed"
	[ "$skip" = 0 ] || words+=", $skip skipped"
	[ -z "${V:-}" ] || cat "$(log_of "$name")"
	if [ "$bad" = 0 ]; then line "ok      $name: $words in $took s; $((total - ended)) left"
	else line "FAILED  $name: $words in $took s; $((total - ended)) left"; fi
	skips_in "$name" | sed 's/^/          skipped: /'
	[ "$bad" != 0 ] || return 0
	printf '%s\n' "$reasons" | sed 's/^/          /'
	failures+=("$name ($(log_of "$name"))"$'\n'"$reasons")
}

# Prints what CPUs have done since the machine's start, in ticks: all of it, and what a hypervisor gave to others meanwhile.
cpu_ticks() { awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all, $9; exit }' /proc/stat 2>/dev/null; }
# Without this a run beside others on the same hardware looks like a slow suite.
show_stolen() {
	local all stolen
	read -r all stolen < <(cpu_ticks) || return 0
	all=$((all - ticks_before)) stolen=$((stolen - stolen_before))
	((all > 0 && stolen * 100 >= all)) || return 0
	echo "Others on the same hardware took $((stolen * 100 / all)) % of the CPUs' time meanwhile."
}

show_slowest() {
	local file
	echo "The slowest, in seconds, and the CPU time of each:"
	find "$log_top" -name '*.time' | while read -r file; do
		echo "$(tail -n 1 "$file") $(sed "s|^$log_top/||; s|\.time$||" <<<"$file")"
	done | awk 'NF == 4 {printf "%8.1f %8.1f  %s\n", $1, $2 + $3, $4}' | sort -rn | head -n 10
}
summary() {
	echo
	show_slowest
	if [ ${#failures[@]} -gt 0 ]; then
		printf '\nFailed:\n'
		printf '%s\n' "${failures[@]}" | sed 's/^\(not ok\|#\)/    \1/'
	fi
	if [ ${#unsteady[@]} -gt 0 ]; then
		printf '\nUnsteady: failed beside others, passed by themselves:\n'
		printf '%s\n' "${unsteady[@]}" | sed 's/^\(not ok\|#\)/    \1/'
	fi
	show_stolen
	printf '\n%d s; what each test said and measured: %s\n' $((SECONDS - started)) "$log_top"
	echo "$passed passed, $failed failed, $skipped skipped"
}

# shellcheck disable=SC2317 # a trap calls it
interrupted() {
	local pid
	trap '' INT TERM HUP
	{
		for pid in "${!name_of[@]}" $kernel_pid; do kill -- "-$pid"; done
		end_tagged $$ >/dev/null
		wait
	} 2>/dev/null
	echo
	line "interrupted: $ended of $total tests were done; cut off: ${name_of[*]:-none}"
	summary
	exit 130
}

main() {
	case " $* " in *" -h "* | *" --help "*) usage; exit 0 ;; esac
	[ $# -gt 0 ] || set -- unit fuzz replay host hostile vm
	fill_queue "$@"
	build
	rm -rf "$log_top"
	mkdir -p "$log_top"
	started=$SECONDS
	read -r ticks_before stolen_before < <(cpu_ticks) || true
	drop_what_cannot_run
	list_kernels
	# Each job in a process group of its own, so that Ctrl-C comes here alone and tests hear signals as they would by themselves.
	set -m
	trap interrupted INT TERM HUP
	while [ $((${#queue[@]} + ${#name_of[@]})) -gt 0 ]; do
		make_next_kernel
		start_what_can
		[ "${kernel_pid:-none}${#name_of[@]}" = none0 ] || one_ends
	done
	try_again
	summary
	[ "$failed" = 0 ]
}

main "$@"

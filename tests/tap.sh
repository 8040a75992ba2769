# TAP for shell tests: source it, check things, call done_testing last.
# Run from the checkout's top; $tactus is the program under test.

tactus=${TACTUS:-build/tactus}
# Programs of the distribution first: a version manager's stand-in for python3 takes ten times as long to start, and it is started a lot.
PATH=/usr/bin:/bin:$PATH
checks=0
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tactus-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# What one test learns of threads is nothing to the next.
export TACTUS_DB=$scratch/procdb.bin

pass() { checks=$((checks + 1)); echo "ok $checks - $1"; }
# flunk NAME [WHAT WAS SEEN]
flunk() {
	checks=$((checks + 1)) failures=$((failures + 1))
	echo "not ok $checks - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
}
skip() { checks=$((checks + 1)); echo "ok $checks - $1 # SKIP $2"; }
# is_linux VERSION: this kernel is as new as that
is_linux() { printf '%s\n' "$1" "$(uname -r)" | sort -VC; }
# since_linux VERSION WHAT NAME...: whether this kernel is as new as what came with that one; if not, checks are skipped by name
since_linux() {
	local name version=$1 what=$2
	! is_linux "$version" || return 0
	shift 2
	for name in "$@"; do skip "$name" "$what needs Linux $version, and this is $(uname -r)"; done
	return 1
}
say_measured() { printf '# measured: %s\n' "$*"; }

# is NAME GOT WANT
is() { if [ "$2" = "$3" ]; then pass "$1"; else flunk "$1" "got '$2', want '$3'"; fi; }
# like NAME TEXT EXTENDED-REGEX
like() { if printf '%s\n' "$2" | grep -qE -- "$3"; then pass "$1"; else flunk "$1" "'$2' does not match '$3'"; fi; }
# holds NAME COMMAND...: the command succeeds
holds() {
	local name=$1 seen
	shift
	if seen=$("$@" 2>&1); then pass "$name"; else flunk "$name" "$seen"; fi
}
# is_between NAME LEAST GOT MOST: a whole number, from the least to the most
is_between() {
	if [[ $3 =~ ^-?[0-9]+$ ]] && (($2 <= $3 && $3 <= $4)); then pass "$1"; else flunk "$1" "got '$3', want $2 to $4"; fi
}
# ends NAME STATUS REGEX COMMAND...: exact exit status, and exactly one line on stderr that matches
ends() {
	local name=$1 want=$2 pattern=$3 status=0
	shift 3
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
	if [ "$status" != "$want" ]; then
		flunk "$name" "exit status $status, want $want; stderr: $(cat "$scratch/err")"
	elif [ "$(wc -l <"$scratch/err")" != 1 ] || ! grep -qE -- "$pattern" "$scratch/err"; then
		flunk "$name" "stderr is not one line like '$pattern': $(cat "$scratch/err")"
	else
		pass "$name"
	fi
}
# wait_for FILE REGEX [TENTHS]: until a line of the file matches. When that many looks (two minutes of them) were in vain, that is
# a failure by itself. Looks are counted, not seconds: a virtual clock leaps while a guest waits for its host.
wait_for() {
	local looks=${3:-1200} i
	for ((i = 0; i < looks; i++)); do
		! grep -qE -- "$2" "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	flunk "a line like '$2' comes within $((looks / 10)) s" "$(basename "$1") ends with: $(tail -n 5 "$1" 2>&1)"
	return 1
}
# cost PID: what a process takes now: KB of its own memory, descriptors, milliseconds of CPU time, that of its helpers with it, milliseconds on the clock
cost() {
	local cpu_ms
	# shellcheck disable=SC2046 # each is a word
	cpu_ms=$(cpu_ms_of "$1" $(cat "/proc/$1/task/$1/children" 2>/dev/null))
	echo "$(awk '/^RssAnon/ { print $2 }' "/proc/$1/status" 2>/dev/null) $(find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l) $cpu_ms $((${EPOCHREALTIME/[.,]/} / 1000))"
}
# cpu_ms_of PID...: of all together, as long as they live
cpu_ms_of() {
	local pid stat sum_ms=0
	for pid in "$@"; do
		read -r stat 2>/dev/null <"/proc/$pid/stat" || continue
		# shellcheck disable=SC2086 # fields
		set -- ${stat##*) }
		sum_ms=$((sum_ms + (${12} + ${13}) * 10))
	done
	echo $sum_ms
}
# costs_as_before NAME PID BEFORE [KB] [DESCRIPTORS] [PERCENT]: since `cost PID` said that, it grew by so much at most, or by an eighth of what it
# was, and took so much of one CPU for as long as that lasted.
# Libraries of other programs on the machine are probed meanwhile, a few descriptors each.
costs_as_before() {
	local name=$1 kb fds cpu_ms at_ms now_kb now_fds now_cpu_ms now_ms spent_ms passed_ms most_kb=${4:-4096}
	read -r kb fds cpu_ms at_ms <<<"$3"
	read -r now_kb now_fds now_cpu_ms now_ms <<<"$(cost "$2")"
	spent_ms=$((now_cpu_ms - cpu_ms)) passed_ms=$((now_ms - at_ms + 1))
	say_measured "$name: $kb KB before, $now_kb KB after, $fds and $now_fds descriptors, $spent_ms ms of CPU time in $passed_ms ms"
	holds "$name: memory grows by $most_kb KB at most, or by an eighth" test "${now_kb:-$((8 * kb + 100000))}" -le $((kb + (most_kb * 8 > kb ? most_kb : kb / 8)))
	holds "$name: no more than ${5:-64} descriptors are added" test $((now_fds - fds)) -le "${5:-64}"
	# And a fifth of a second, since a short attack may be one piece of work.
	holds "$name: at most ${6:-50} % of a CPU are taken" test $((spent_ms * 100)) -le $((passed_ms * ${6:-50} + 20000))
}
# browser_results STATUS [WHOSE]: what a test in a browser, or another in Python, left in $scratch/browser, in lines of verdict, name and what was seen
browser_results() {
	local verdict name seen whose=${2:-"the browser's test"}
	while IFS=$'\t' read -r verdict name seen; do
		case $verdict in
		ok) pass "$name" ;;
		no) flunk "$name" "$seen" ;;
		'#'*) printf '%s\n' "$verdict" ;;
		esac
	done <"$scratch/browser"
	is "$whose comes to its end" "$1 $(tail -n 1 "$scratch/browser" | grep -v '^ok\|^#')" "0 "
}
# json_facts EXPRESSION... <JSON: as json, all in one call, since each takes long where CPUs are emulated; a line each, in facts
json_facts() { mapfile -t facts < <(json "'\n'.join(str(f) for f in ($(printf '%s, ' "$@")))"); }
# json EXPRESSION <JSON: a Python expression over `rows` (the objects of all lines) and `d` (the first)
json() { python3 -IS -c 'import json,sys; rows=[json.loads(l) for l in sys.stdin]; d=rows[0]; print('"$1"')'; }

# Runs CMD in a VM as vm/run.sh does, shows what it said, and gives its status. Where several CPUs are emulated at once, one
# may run a stale breakpoint of the kernel's while the kernel patches its own code, which attaching a hook does: the guest then
# dies in try_to_wake_up or the like (125) or hangs (124). Hardware does not do that. It is said, and tried once more with the
# CPUs emulated in turns, where it cannot happen.
guest() {
	local status=0
	vm/run.sh >"$scratch/guest" 2>"$scratch/guest-err" || status=$?
	if [ $status = 124 ] || [ $status = 125 ]; then
		echo "# the guest hung or died (status $status) and is tried once more; its last words:"
		tail -n 30 "$scratch/guest-err" | sed 's/^/# /'
		status=0
		IN_TURNS=yes LIMIT=$((${LIMIT:-300} * 2)) vm/run.sh >"$scratch/guest" 2>"$scratch/guest-err" || status=$?
	fi
	cat "$scratch/guest" "$scratch/guest-err"
	return $status
}

done_testing() {
	echo "1..$checks"
	[ "$failures" = 0 ]
	exit
}

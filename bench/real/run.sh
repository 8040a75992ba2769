#!/usr/bin/env bash
# Real programs beside a load, with and without 'tactus run', alternating while program and load go on: frame or step times by
# the program's own clock, and what the load got done. 'bench/real/run.sh --help' lists the options.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tools/lib.sh
. bench/real/programs.sh

usage() {
	cat <<-END
		usage: bench/real/run.sh [OPTION...]
		  --programs A,B,..  of these ($all_programs)
		  --loads A,B,..     of these ($all_loads)
		  --rounds N         each round measures once without and once with tactus; the order turns round by round (4)
		  --seconds N        how long each measurement is (10)
		  --skip N           seconds left out after each start and end of tactus (3)
		  --jobs N           jobs of the load (twice the number of CPUs)
		  --tactus 'WORDS'   options for 'tactus run' (none); 'tactus' is build/tactus, or what TACTUS names
		  --keep FOLDER      keep times, marks and the words of tactus there
		  --json             one JSON object a line instead of tables
		  --help             this
		A program that is not installed is skipped with a line. Ends with 1 if a budget is missed.
	END
}
refuse() { printf 'tactus: bench-real: %s\n' "$*" >&2; exit 2; }
number() { [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || refuse "$1 $2: not a number from 1 to 99999"; }

rounds=4 seconds=10 skip=3 jobs=$((2 * $(nproc))) words='' json='' work=''
programs=${all_programs// /,} loads=${all_loads// /,}
while [ $# -gt 0 ]; do
	case $1 in
	--json) json=--json && shift && continue ;;
	--help) usage && exit 0 ;;
	--programs | --loads | --rounds | --seconds | --skip | --jobs | --tactus | --keep) [ $# -gt 1 ] || refuse "$1: a word is missing after it" ;;
	*) refuse "$1: no such option; --help lists them" ;;
	esac
	case $1 in
	--programs) programs=$2 ;;
	--loads) loads=$2 ;;
	--rounds) number "$1" "$2" && rounds=$2 ;;
	--seconds) number "$1" "$2" && seconds=$2 ;;
	--skip) number "$1" "$2" && skip=$2 ;;
	--jobs) number "$1" "$2" && jobs=$2 ;;
	--tactus) words=$2 ;;
	--keep) mkdir -p "$2" && work=$(realpath "$2") ;;
	esac
	shift 2
done
for name in ${programs//,/ }; do [[ " $all_programs " == *" $name "* ]] || refuse "--programs $name: not one of $all_programs"; done
for name in ${loads//,/ }; do [[ " $all_loads " == *" $name "* ]] || refuse "--loads $name: not one of $all_loads"; done
[ "$(id -u)" = 0 ] || die "bench-real: needs root"
with_own_shared_memory "$PWD/bench/real/run.sh" --programs "$programs" --loads "$loads" --rounds "$rounds" --seconds "$seconds" \
	--skip "$skip" --jobs "$jobs" --tactus "$words" ${work:+--keep "$work"} $json

tactus=${TACTUS:-build/tactus}
other_wait_s=900
runner=''
started=() burden=()
keep=$work
[ -n "$work" ] || work=$(mktemp -d "${TMPDIR:-/tmp}/tactus-real.XXXXXX")
export TACTUS_DB=$work/procdb.bin
trap end_all EXIT
trap 'exit 130' INT TERM HUP
end_all() {
	end_tactus
	end_burden
	end_program
	[ -n "$keep" ] || rm -rf "$work"
}

# begin COMMAND...: a part of the program, which is ended with it
begin() {
	"$@" >>"$work/said" 2>&1 </dev/null &
	started+=($!)
}
end_pids() {
	[ $# -gt 0 ] || return 0
	kill "$@" 2>/dev/null
	for _ in $(seq 30); do
		kill -0 "$@" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$@" 2>/dev/null
	wait "$@" 2>/dev/null
}
end_program() {
	local at
	[ ${#started[@]} = 0 ] || ! declare -F "end_$program" >/dev/null || "end_$program"
	# What was started last needs what was started first.
	for ((at = ${#started[@]} - 1; at >= 0; at--)); do end_pids "${started[at]}"; done
	started=()
}
end_burden() {
	end_pids "${burden[@]}"
	burden=()
}
is_alive() {
	local pid
	for pid in "$@"; do kill -0 "$pid" 2>/dev/null || return 1; done
}

wait_until() {
	for _ in $(seq 150); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	return 1
}

# Another one would act in our measurements with and without alike.
is_another_run() { grep -q ' /run/tactus/run.sock$' /proc/net/unix; }
wait_for_other_run() {
	local waited=0
	while is_another_run; do
		[ $((waited++)) != 0 ] || say "another 'tactus run' is on this machine: waiting until it ends"
		[ $waited -lt $other_wait_s ] || die "bench-real: another 'tactus run' went on for $other_wait_s s"
		sleep 1
	done
}
start_tactus() {
	# shellcheck disable=SC2086
	"$tactus" run $words >"$work/tactus.out" 2>"$work/tactus.err" &
	runner=$!
	for _ in $(seq 600); do
		! grep -q 'watching; Ctrl-C' "$work/tactus.err" || break
		kill -0 $runner 2>/dev/null || die "bench-real: tactus run ended: $(tail -n 1 "$work/tactus.err")"
		sleep 0.1
	done
	! grep -q 'another tactus' "$work/tactus.err"
}
end_tactus() {
	[ -n "$runner" ] || return 0
	kill -INT "$runner" 2>/dev/null
	wait "$runner" 2>/dev/null
	runner=
}

# A compile of its own source is there on every machine that can build this.
start_burden() {
	local command=()
	case $1 in
	none) : >"$work/burden" && return ;;
	compile) command=(each gcc -std=gnu11 -O2 -D_GNU_SOURCE -c bench/latency/load.c -o /dev/null) ;;
	hogs) command=(hogs) ;;
	storm) command=(storm) ;;
	esac
	"$work/burden-program" "$work/burden" "$2" "$jobs" "${command[@]}" >>"$work/said" 2>&1 &
	burden=($!)
}

# measure PROGRAM LOAD WAY ROUND: the span between two moments is what counts
measure() {
	local began ended
	if [ "$3" = with ]; then
		until wait_for_other_run && start_tactus; do end_tactus && sleep 5; done
	else
		wait_for_other_run
	fi
	sleep "$skip"
	began=$(python3 bench/real/moment.py "$work/burden" $$)
	sleep "$seconds"
	ended=$(python3 bench/real/moment.py "$work/burden" $$)
	if [ "$3" = without ] && is_another_run; then
		say "another 'tactus run' came meanwhile: this measurement is done again"
		measure "$@"
		return
	fi
	printf '%s %s %s %s %s %s\n' "$@" "$began" "$ended" >>"$work/marks"
	[ -z "$keep" ] || [ "$3" = without ] || cp "$work/tactus.out" "$work/tactus-$1-$2-$4.out"
	end_tactus
	is_alive "${started[@]}" "${burden[@]}"
}

# beside PROGRAM LOAD: the program starts first, as it was there before the load
beside() {
	local program=$1 burden_name=$2 round way order spans=$((2 * rounds))
	export STAMPS_INTO=$work/stamps-$program-$burden_name
	: >"$STAMPS_INTO"
	[ "$burden_name" != none ] || spans=1
	if ! "start_$program" || ! wait_until test -s "$STAMPS_INTO"; then
		say "$program: did not start, left out: $(tail -n 1 "$work/said")"
		return 1
	fi
	sleep 2 # what it does only at its start
	start_burden "$burden_name" $((spans * (seconds + skip + 30) + 2 * other_wait_s))
	if [ "$burden_name" = none ]; then
		say "$program alone"
		measure "$program" none without 1
		return
	fi
	for round in $(seq "$rounds"); do
		order="without with"
		((round % 2)) || order="with without"
		for way in $order; do
			say "$program beside $burden_name, round $round of $rounds, $way"
			measure "$program" "$burden_name" "$way" "$round" || { say "$program beside $burden_name: ended before its time" && return 1; }
		done
	done
}

build() { gcc -std=gnu11 -Wall -Wextra -Werror -O2 -D_GNU_SOURCE "bench/real/$1.c" -o "$work/$2" "${@:3}" || die "bench-real: $1.c does not compile"; }
build stamps stamps.so -fPIC -shared -ldl
build stamps stamps-dlsym.so -fPIC -shared -DTAKE_DLSYM -ldl
build train train
build ask ask
build burden burden-program
: >"$work/marks"
for program in ${programs//,/ }; do
	if ! missing=$("needs_$program"); then
		say "$program: skipped: $missing is not installed"
		continue
	fi
	for load in none ${loads//,/ }; do
		beside "$program" "$load" && went_well=yes || went_well=no
		end_burden
		end_program
		[ "$went_well" = yes ] || [ "$load" != none ] || break
	done
done
python3 bench/real/report.py $json "$work" "$("$tactus" --version 2>/dev/null | head -n 1)"

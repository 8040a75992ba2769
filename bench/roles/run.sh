#!/usr/bin/env bash
# How often tactus is right about what threads are for: real programs, threads whose roles are known (the file labels), three
# ways: as they are; names left out by option; programs and threads really under other names. Then a few of them with each
# kind of evidence left out in turn. Needs root.
# Usage: bench/roles/run.sh [-q] [-p] [-k FOLDER] [-t SECONDS] [-w NAME=OPTIONS]... [SCENARIO...]
#   -q  only the quick scenarios, as they are and with names left out     -k  keep what was seen in this folder
#   -t  how long each scenario is watched (5)                             -w  another way to watch, as "bare=--without all"
#   -p  print what was seen, for one who asked from outside of a VM, and no score
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tools/lib.sh
[ "$(id -u)" = 0 ] || die "bench-roles: needs root"
with_own_shared_memory bench/roles/run.sh "$@"
here=$PWD/bench/roles
. bench/roles/scenarios.sh

tactus=${TACTUS:-build/tactus}
seconds=5
keep=
quick=
ways=()
packed=
while getopts qpk:t:w: option; do
	case $option in
	q) quick=1 ;;
	p) packed=1 ;;
	k) keep=$OPTARG ;;
	t) seconds=$OPTARG ;;
	w) ways+=("$OPTARG") ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
whole=
[ -n "$quick$*${ways[*]}" ] || whole=1
scenarios=${*:-${quick:+$quick_scenarios}}
scenarios=${scenarios:-$all_scenarios $input_scenarios}

top=$(mktemp -d "${TMPDIR:-/tmp}/tactus-roles.XXXXXX")
export TACTUS_DB=$top/procdb.bin # empty: what was learned before is not to help
results=${keep:-$top/results}
mkdir -p "$results"
rm -f "$results"/*.json
wine_prefix=$PWD/build/bench/wine
number=$((100 + $$ % 800)) # for ports and the like
work=
watchers=()
census=

# Everything that a scenario started, each in a process group of its own.
stop_programs() {
	local pid
	[ -n "$work" ] && [ -e "$work/pids" ] || return 0
	[ ! -e "$work/uses-wine" ] || WINEPREFIX=$wine_prefix wineserver -k 2>/dev/null
	while read -r pid _; do kill -TERM -- "-$pid" 2>/dev/null; done <"$work/pids"
	for _ in $(seq 20); do
		any_left || break
		sleep 0.1
	done
	while read -r pid _; do kill -KILL -- "-$pid" 2>/dev/null; done <"$work/pids"
	rm -f "$work/pids"
	wait 2>/dev/null
}
any_left() {
	local pid
	while read -r pid _; do
		if kill -0 -- "-$pid" 2>/dev/null; then return 0; fi
	done <"$work/pids"
	return 1
}

clean_up() {
	local pid
	for pid in "${watchers[@]}" $census; do kill -KILL "$pid" 2>/dev/null; done
	stop_programs
	rm -rf "$top"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# wait_until COMMAND...: for twenty seconds at most
wait_until() {
	for _ in $(seq 100); do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.2
	done
	echo "# $scenario: '$*' did not come true" >&2
	return 1
}

# begin KEY PROGRAM ARGS...: starts a program of a scenario; KEY is what the labels call it. Where names are concealed it runs as
# a copy whose name says nothing, and its threads get no names of their own.
begin() {
	local key=$1 program copy
	program=$(command -v "$2") || { echo "# $scenario: no program $2" >&2; return 1; }
	shift 2
	if [ -n "$conceal" ] && [ "$key" != wine ]; then
		copy=app$RANDOM
		cp "$(readlink -f "$program")" "$work/copies/$copy"
		printf '%s %s\n' "$copy" "${program##*/}" >>"$work/names/programs"
		program=$work/copies/$copy
		ROLES_TAG=$work:$key ROLES_NAMES=$work/names ROLES_COPIES=$work/copies LD_PRELOAD=$PWD/build/bench/conceal.so \
			setsid "$program" "$@" </dev/null >>"$work/log" 2>&1 &
	else
		ROLES_TAG=$work:$key setsid "$program" "$@" </dev/null >>"$work/log" 2>&1 &
	fi
	echo "$! $key" >>"$work/pids"
}

# The Windows program under a name of its own, and where it notes its threads.
windows_program() {
	local name=game.exe
	[ -z "$conceal" ] || name=app$RANDOM.exe
	touch "$work/uses-wine"
	cp build/bench/windows.exe "$work/copies/$name"
	printf '%s' "$work/copies/$name"
}

# A clip for those who play one.
make_tone() {
	python3 - "$1" <<-'END'
		import math, struct, sys, wave
		with wave.open(sys.argv[1], "wb") as tone:
		    tone.setnchannels(2)
		    tone.setsampwidth(2)
		    tone.setframerate(48000)
		    second = b"".join(struct.pack("<hh", *[int(8000 * math.sin(i * 440 * 2 * math.pi / 48000))] * 2) for i in range(48000))
		    for _ in range(60):
		        tone.writeframes(second)
	END
}

# watch WAY OPTIONS...
watch() {
	local way=$1
	shift
	$tactus roles --json -n all "$@" >"$results/$scenario.$way.rows.json" 2>"$work/$way.err" &
	watchers+=($!)
}

# play SCENARIO WAY=OPTIONS...: all these watch the same run
play() {
	local scenario=$1 way pid watched=0
	shift
	work=$top/$scenario${conceal:+-renamed}
	number=$((number + 1))
	mkdir -p "$work" "$work/names" "$work/copies" "$work/home"
	mkdir -m 700 "$work/xdg"
	: >"$work/pids"
	cp "$top/tone.wav" "$work/tone.wav"
	watchers=()
	for way in "$@"; do
		# shellcheck disable=SC2086
		watch "${way%%=*}" ${way#*=}
	done
	for way in "$@"; do wait_until grep -q watching "$work/${way%%=*}.err"; done
	python3 bench/roles/census.py "$work" "$work/census.json" "$work/names" &
	census=$!
	(
		export XDG_RUNTIME_DIR=$work/xdg HOME=$work/home JACK_NO_START_SERVER=1 ROLES_NAMES=$work/names
		unset WAYLAND_DISPLAY DISPLAY
		"scenario_$scenario"
	)
	sleep "$seconds"
	for pid in "${watchers[@]}"; do kill -INT "$pid" 2>/dev/null; done
	for pid in "${watchers[@]}"; do
		wait "$pid" || { echo "# $scenario: tactus ended with status $?: $(cat "$work"/*.err)" >&2; touch "$top/failed"; }
	done
	watchers=()
	kill -TERM $census && wait $census
	census=
	for way in "$@"; do
		cp "$work/census.json" "$results/$scenario.${way%%=*}.census.json"
		grep -vE 'watching|did not show' "$work/${way%%=*}.err" | sed "s/^/# $scenario, ${way%%=*}: /" >&2
	done
	stop_programs
	rm -rf "$work"
}

# A few scenarios with each kind of evidence left out in turn, and with all of it; three watch the same run.
leave_out() {
	local scenario kind i
	conceal=
	ways=()
	for kind in $evidence_kinds all; do ways+=("no-$kind=--without $kind"); done
	for scenario in $left_out_scenarios; do
		say "$scenario, with evidence left out"
		for ((i = 0; i < ${#ways[@]}; i += 3)); do play "$scenario" "${ways[@]:i:3}"; done
	done
}

# in_guest SCENARIO: with input devices where this machine can't make any; there the load of this machine has no say.
in_guest() {
	local words=(bench/roles/run.sh -p ${quick:+-q} -t "$seconds") way
	for way in "${ways[@]}"; do words+=(-w "$way"); done
	say "$1, in a VM"
	CMD="$(printf '%q ' "${words[@]}" "$1")" KERNEL=debian-7.2 CLOCK=virtual LIMIT=2400 vm/run.sh >"$top/guest" 2>"$top/guest-err"
	sed -n 's/^packed //p' "$top/guest" | base64 -d | tar -xz -C "$results" ||
		{ tail -n 5 "$top/guest-err" >&2; die "bench-roles: the VM printed nothing"; }
	grep '^#' "$top/guest-err" >&2
}

main() {
	local scenario guests=''
	make_tone "$top/tone.wav"
	case " $scenarios " in *" wine "* | *" winsound "* | *" direct3d "*) make_wine_prefix ;; esac
	[ ${#ways[@]} -gt 0 ] || ways=("open=" "hidden=--without names,launch")
	for scenario in $scenarios; do
		if [[ " $input_scenarios " == *" $scenario "* && -z $packed && ! -e /dev/uinput ]]; then
			guests+=" $scenario"
			continue
		fi
		declare -F "scenario_$scenario" >/dev/null || die "bench-roles: no scenario $scenario"
		say "$scenario"
		# As on any machine with a keyboard, they are there before tactus.
		[[ " $input_scenarios " != *" $scenario "* ]] || modprobe -aq uinput evdev joydev mousedev
		conceal=
		play "$scenario" "${ways[@]}"
		[ -z "$quick" ] || continue
		conceal=1
		play "$scenario" "renamed="
	done
	# shellcheck disable=SC2086
	[ -z "$guests" ] || install_packages $input_packages
	for scenario in $guests; do in_guest "$scenario"; done
	if [ -n "$packed" ]; then
		printf 'packed %s\n' "$(tar -cz -C "$results" . | base64 -w 0)"
		return
	fi
	[ -z "$whole" ] || leave_out
	[ ! -e "$top/failed" ] || die "bench-roles: tactus failed"
	python3 bench/roles/score.py bench/roles/labels "$results" ${whole:+-w}
}

make_wine_prefix() {
	[ -e "$wine_prefix/system.reg" ] && return 0
	say "making a Wine prefix"
	mkdir -p "$wine_prefix"
	WINEPREFIX=$wine_prefix WINEDEBUG=-all timeout 200 wine wineboot -i >/dev/null 2>&1 || die "bench-roles: wineboot failed"
	WINEPREFIX=$wine_prefix wineserver -w
}

main

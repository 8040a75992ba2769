#!/usr/bin/env bash
# The loads under one scheduler after another, in one boot of a VM; called by bench/latency/run.sh.
# Usage: bench/latency/guest.sh ROUNDS 'SCHEDULER...' LOAD...   Prints lines "result SCHEDULER LOAD name=value...".
# Some schedulers are none of their own: by 'fifo' urgent threads have a realtime priority under the kernel's, which is the least
# that can be had here; by 'nice-N' urgent programs are started with that nice value under the kernel's; by 'into' tactus is started while the load runs, and what counts begins three seconds after it has come; by
# 'soon' three seconds after its start, whether it has come or not. BED is put behind the load's name.
set -uo pipefail
# Stock kernels have these as modules.
modprobe -a evdev uinput 2>/dev/null
rounds=$1 schedulers=$2
shift 2
loads=("$@")
load=build/bench/load
tactus=${TACTUS:-build/tactus}
simple=${SCX_SIMPLE:-}
seconds=${SECONDS_EACH:-4}
warm=2 # before anything counts: roles are found out by then
scratch=$(mktemp -d)
export TACTUS_DB=$scratch/procdb.bin
runner='' enabled_s=''
trap '[ -z "$runner" ] || kill "$runner"' EXIT

has_sched_ext() { [ -e /sys/kernel/sched_ext/state ]; }
state() { if has_sched_ext; then cat /sys/kernel/sched_ext/state; else echo disabled; fi; }
until_state() {
	for _ in $(seq 900); do
		[ "$(state)" != "$1" ] || return 0
		sleep 0.1
	done
	echo "tactus: no scheduler after 90 s: $(cat "$scratch/err")" >&2
	return 1
}

uptime_cs() { awk '{ printf "%d\n", $1 * 100 }' /proc/uptime; }

until_hints() {
	for _ in $(seq 900); do
		! grep -q "hints to the kernel's scheduler" "$scratch/err" || return 0
		sleep 0.1
	done
	return 1
}

# Leaves in enabled_s how long the scheduler took to come.
take_over() {
	local began
	began=$(uptime_cs)
	case $1 in
	tactus) $tactus run --actuator scx >"$scratch/out" 2>"$scratch/err" & ;;
	tactus-*) $tactus run --actuator scx --raise "${1#tactus-}" >"$scratch/out" 2>"$scratch/err" & ;;
	hints) $tactus run --actuator hints >"$scratch/out" 2>"$scratch/err" & ;;
	simple) "$simple" >"$scratch/out" 2>"$scratch/err" & ;;
	*) return 0 ;;
	esac
	runner=$!
	if [ "$1" = hints ]; then until_hints; else until_state enabled; fi || return
	enabled_s=$(($(uptime_cs) - began))
	enabled_s=$((enabled_s / 100)).$((enabled_s / 10 % 10))
}
hand_back() {
	[ -n "$runner" ] || return 0
	[ "$(state)" = enabled ] || [ "$1" = hints ] || echo "tactus: $1 was taken out: $(cat "$scratch/err")" >&2
	kill -INT "$runner"
	wait "$runner"
	runner='' enabled_s=''
	[ -z "${SHOW_STATUS:-}" ] || sed "s/^/status /" "$scratch/out" "$scratch/err"
	until_state disabled
}

# beside COMMAND... -- COMMAND...: the first runs as long as the second, whose line is printed
beside() {
	local others=()
	while [ "$1" != -- ]; do others+=("$1"); shift; done
	shift
	"${others[@]}" >"$scratch/others" &
	local pid=$!
	"$@"
	wait "$pid"
}
burden_s=$((seconds + warm))
into_s=3
cpus=$(nproc)
# The CPUs are all taken, twice.
hogs=(0 0 0) jobs=3
[ "$cpus" = 1 ] || { mapfile -t hogs < <(yes 0 | head -n $((2 * cpus))) && jobs=$((2 * cpus)); }
by=() # what urgent programs are started by

# wakers_into into|soon: hogs and wakers first, then tactus.
wakers_into() {
	local hogs_pid wakers_pid
	# A process group, since nobody knows how long it takes.
	setsid $load hogs 600 "${hogs[@]}" >/dev/null &
	hogs_pid=$!
	$load wakers "$cpus" 5000 300 "$seconds" $into_s signal >"$scratch/wakers" &
	wakers_pid=$!
	sleep 2
	[ "$1" = into ] || (sleep 0.1 && kill -USR1 $wakers_pid) &
	take_over tactus
	[ "$1" = soon ] || kill -USR1 $wakers_pid
	wait $wakers_pid
	kill -- -$hogs_pid
	wait $hogs_pid 2>/dev/null
	printf 'enabled_s=%s ' "$enabled_s"
	cat "$scratch/wakers"
	hand_back tactus
}

# What an urgent thread gets is what others do not: here that is a fifth of the CPU.
unknown_beside_urgent() {
	local urgent
	$load periodic 5000 1000 "$seconds" $warm >"$scratch/urgent" &
	urgent=$!
	beside $load hogs $burden_s "${hogs[@]}" -- build/bench/unknown "$seconds" $warm
	wait $urgent
	sed -E 's/([a-z0-9_]+)=/urgent_\1=/g' "$scratch/urgent"
}

run_load() {
	case $1 in
	periodic) beside $load hogs $burden_s "${hogs[@]}" -- "${by[@]}" $load periodic 5000 300 "$seconds" $warm ;;
	# One that needs more than its share.
	heavy-periodic) beside $load hogs $burden_s "${hogs[@]}" 0 -- "${by[@]}" $load periodic 5000 2000 "$seconds" $warm ;;
	sessions) beside setsid $load hogs $burden_s "${hogs[@]}" -- setsid $load periodic 5000 300 "$seconds" $warm ;;
	unknown) beside $load hogs $burden_s "${hogs[@]}" -- build/bench/unknown "$seconds" $warm ;;
	unknown-urgent) unknown_beside_urgent ;;
	locks) beside $load hogs $burden_s "${hogs[@]}" -- build/bench/locks "$seconds" $warm ;;
	wakers) case $scheduler in into | soon) wakers_into "$scheduler" && return ;; esac
		beside $load hogs $burden_s "${hogs[@]}" -- "${by[@]}" $load wakers "$cpus" 5000 300 "$seconds" $warm ;;
	frames60) beside $load storm $burden_s $jobs -- "${by[@]}" $load frames 16667 "$seconds" $warm ;;
	frames144) beside $load storm $burden_s $jobs -- "${by[@]}" $load frames 6944 "$seconds" $warm ;;
	input) beside $load hogs $burden_s "${hogs[@]}" -- "${by[@]}" $load input 1000 "$seconds" $warm ;;
	presents60) beside $load storm $burden_s $jobs -- $load presents 16667 "$seconds" $warm ;;
	presents144) beside $load storm $burden_s $jobs -- $load presents 6944 "$seconds" $warm ;;
	clicks) beside $load hogs $burden_s "${hogs[@]}" -- $load clicks "$seconds" $warm ;;
	clicks-storm) beside $load storm $burden_s $jobs -- $load clicks "$seconds" $warm ;;
	idle-wakers) $load wakers "$cpus" 5000 300 "$seconds" 1 ;;
	idle-periodic) $load periodic 5000 300 "$seconds" 1 ;;
	idle-frames60) $load frames 16667 "$seconds" 1 ;;
	idle-frames144) $load frames 6944 "$seconds" 1 ;;
	idle-input) $load input 1000 "$seconds" 1 ;;
	equal) $load hogs 6 0 0 0 0 ;;
	nice) $load hogs 8 -5 0 5 ;;
	liars) $load liars 12 2 2 ;;
	hackbench | virtual-hackbench)
		before=$(switches)
		hackbench -g "${GROUPS_OF:-2}" -l "${LOOPS:-200}" | awk '/^Time/ {printf "seconds=%s ", $2}'
		echo "switches=$(($(switches) - before))" ;;
	messaging) perf bench -f simple sched messaging -g "${GROUPS_OF:-2}" -l "${LOOPS:-200}" | awk '{print "seconds=" $1}' ;;
	cost) program_cost ;;
	*) echo "tactus: bench-latency: no load $1" >&2; exit 2 ;;
	esac
}

switches() { awk '/^ctxt/ {print $2}' /proc/stat; }

# What all BPF programs took in a hackbench, by the kernel's own count, for each switch that it made.
program_cost() {
	local before after
	before=$(switches)
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	hackbench -g 2 -l 100 >/dev/null
	echo 0 >/proc/sys/kernel/bpf_stats_enabled
	after=$(switches)
	build/bench/programs $((after - before))
}

for round in $(seq "$rounds"); do
	for scheduler in $schedulers; do
		case $scheduler in tactus* | into | soon | simple)
			has_sched_ext || { echo "tactus: bench-latency: $scheduler is left out: $(uname -r) has no sched_ext" >&2; continue; }
			;;
		esac
		take_over "$scheduler" || exit 1
		by=()
		case $scheduler in
		fifo) by=(chrt -f 50) ;;
		nice-*) by=(nice -n "${scheduler#nice}") ;;
		esac
		for name in "${loads[@]}"; do
			case $name-$scheduler in
			idle-*-eevdf | wakers-into | wakers-soon) ;;
			idle-* | cost-eevdf | *hackbench-fifo | *-into | *-soon) continue ;;
			esac
			printf 'result %s %s round=%s %s%s\n' "$scheduler" "$name${BED:+@$BED}" "$round" "${enabled_s:+enabled_s=$enabled_s }" "$(run_load "$name" | tr '\n' ' ')"
		done
		hand_back "$scheduler" || exit 1
	done
done

#!/usr/bin/env bash
# Scheduler against scheduler: the kernel's own (EEVDF), tactus by sched_ext and by hints, and scx_simple, one after another in
# one boot of a VM. Latency, shares and the cost of programs by the virtual clock of one CPU, where the host's load has no say;
# throughput with several CPUs by the real one. Then the hints against plain EEVDF on this machine. Ends with 1 if a budget is
# missed.
# Usage: [KERNEL=NAME] bench/latency/run.sh [-r ROUNDS] [-s SECONDS] [-k FILE] [LOAD...]
#   LOAD: periodic frames60 frames144 input equal nice liars cost virtual-hackbench | loop |
#         hackbench messaging | hints; all, if none is named
#   KERNEL: one that 'make vm' has (scx); scx_simple is left out on another than that
#   -r  rounds of the virtual clock (2)   -s  seconds that count of each load (4)   -k  keep the results in this file
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tools/lib.sh
[ "$(id -u)" = 0 ] || die "bench-latency: needs root"

rounds=2 seconds=4 keep=
while getopts r:s:k: option; do
	case $option in
	r) rounds=$OPTARG ;;
	s) seconds=$OPTARG ;;
	k) keep=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
results=${keep:-$(mktemp)}
: >"$results"
[ -n "$keep" ] || trap 'rm -f "$results"' EXIT

virtual=() real=() host=() loop=()
[ $# -gt 0 ] || set -- periodic frames60 frames144 input equal nice liars cost virtual-hackbench loop hackbench messaging hints
for load in "$@"; do
	case $load in
	periodic | frames60 | frames144 | input) virtual+=("idle-$load" "$load") ;;
	equal | nice | liars | cost | virtual-hackbench) virtual+=("$load") ;;
	hackbench | messaging) real+=("$load") ;;
	hints) host+=("$load") ;;
	loop) loop+=(clicks clicks-storm presents60 presents144) ;;
	*) die "bench-latency: no load $load" ;;
	esac
done

install_packages rt-tests linux-perf
kernel=${KERNEL:-scx}
schedulers="eevdf tactus hints" simple=
if [ "$kernel" != scx ]; then
	say "on $kernel"
elif simple=$(bench/latency/simple.sh); then
	schedulers+=" simple"
else
	say "scx_simple does not build here and is left out"
fi
settings="SCX_SIMPLE=$simple SECONDS_EACH=$seconds"

# in_vm LIMIT ROUNDS LOAD...
in_vm() {
	local limit=$1
	shift
	CMD="$settings bench/latency/guest.sh $1 '$schedulers' ${*:2}" KERNEL=$kernel LIMIT=$limit vm/run.sh |
		tee -a "$results" | sed -u 's/^result /==> /' >&2
}
status=0
if [ ${#virtual[@]} -gt 0 ]; then
	say "one CPU, virtual clock"
	CLOCK=virtual CPUS=1 in_vm 1500 "$rounds" "${virtual[@]}" || status=1
fi
if [ ${#loop[@]} -gt 0 ]; then
	say "one CPU, virtual clock: input events and frames that raise threads, on and off"
	schedulers="eevdf tactus-none tactus-input tactus-both" CLOCK=virtual CPUS=1 in_vm 1500 "$rounds" "${loop[@]}" || status=1
fi
if [ ${#real[@]} -gt 0 ]; then
	say "two CPUs, real clock"
	CLOCK=real CPUS=2 in_vm 900 5 "${real[@]}" || status=1
fi
if [ ${#host[@]} -gt 0 ]; then
	say "this machine's own scheduler, with hints and without"
	bench/latency/hints.sh | tee -a "$results" | sed -u 's/^result /==> /' >&2 || status=1
fi
python3 bench/latency/report.py <"$results" || status=1
exit $status

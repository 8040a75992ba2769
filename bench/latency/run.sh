#!/usr/bin/env bash
# Scheduler against scheduler: the kernel's own (EEVDF), tactus by sched_ext and by hints, and scx_simple, one after another in
# one boot of a VM. Latency, shares and the cost of programs by the virtual clock of one CPU, where the host's load has no say;
# the same by the virtual clock of several, where it has none either but the clock is coarse; throughput with several CPUs by the real
# one. Then the hints against plain EEVDF on this machine. Ends with 1 if a budget is missed.
# Usage: [KERNEL=NAME] bench/latency/run.sh [-r ROUNDS] [-s SECONDS] [-k FILE] [-b 'BED...'] [LOAD...]
#   LOAD: periodic sessions frames60 frames144 input unknown locks equal nice liars cost virtual-hackbench | loop | many-wakers many-frames60 many-hackbench |
#         many, which is those three | hackbench messaging | hints; all, if none is named
#   KERNEL: one that 'make vm' has (scx); scx_simple is left out on another than that
#   BED, for the loads that begin with many: a number of CPUs, with -caches in two caches, with -smt in pairs (2 4 4-caches 4-smt)
#   -r  rounds of the virtual clock (2)   -s  seconds that count of each load (4)   -k  keep the results in this file
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tools/lib.sh
[ "$(id -u)" = 0 ] || die "bench-latency: needs root"

rounds=2 seconds=4 keep='' beds="2 4 4-caches 4-smt"
while getopts r:s:k:b: option; do
	case $option in
	r) rounds=$OPTARG ;;
	s) seconds=$OPTARG ;;
	k) keep=$OPTARG ;;
	b) beds=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
results=${keep:-$(mktemp)}
: >"$results"
[ -n "$keep" ] || trap 'rm -f "$results"' EXIT

for bed in $beds; do
	[[ $bed =~ ^([2-9]|[1-5][0-9]|6[0-4]|[0-9]?[02468](-caches|-smt))$ ]] ||
		die "bench-latency: no bed $bed: 2 to 64 CPUs, an even number with -caches or -smt"
done

virtual=() real=() host=() loop=() many=()
[ $# -gt 0 ] || set -- periodic frames60 frames144 input unknown locks equal nice liars cost virtual-hackbench loop many hackbench messaging hints
for load in "$@"; do
	case $load in
	periodic | frames60 | frames144 | input) virtual+=("idle-$load" "$load") ;;
	unknown) virtual+=(unknown unknown-urgent) ;;
	sessions | locks | equal | nice | liars | cost | virtual-hackbench) virtual+=("$load") ;;
	hackbench | messaging) real+=("$load") ;;
	hints) host+=("$load") ;;
	many) many+=(idle-wakers wakers idle-frames60 frames60 virtual-hackbench) ;;
	many-wakers) many+=(idle-wakers wakers) ;;
	many-frames60) many+=(idle-frames60 frames60) ;;
	many-hackbench) many+=(virtual-hackbench) ;;
	loop) loop+=(clicks clicks-storm presents60 presents144) ;;
	*) die "bench-latency: no load $load" ;;
	esac
done

install_packages rt-tests linux-perf
kernel=${KERNEL:-scx}
schedulers="eevdf tactus hints" simple=
if [ $((${#virtual[@]} + ${#loop[@]} + ${#many[@]} + ${#real[@]})) = 0 ]; then
	: # Nothing is for the VM, so there is neither a kernel nor a scheduler to build for it.
elif [ "$kernel" != scx ]; then
	say "on $kernel"
elif simple=$(bench/latency/simple.sh); then
	schedulers+=" simple"
else
	say "scx_simple does not build here and is left out"
fi
settings="SCX_SIMPLE=$simple SECONDS_EACH=$seconds"

# The CPUs of a bed as QEMU describes them.
topology_of() {
	case $1 in
	*-caches) echo "sockets=2,cores=$((${1%-*} / 2)),threads=1" ;;
	*-smt) echo "sockets=1,cores=$((${1%-*} / 2)),threads=2" ;;
	*) echo "sockets=1,cores=$1,threads=1" ;;
	esac
}

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
if [ ${#many[@]} -gt 0 ]; then
	for bed in $beds; do
		say "several CPUs, virtual clock: $bed"
		settings="$settings BED=$bed" schedulers="fifo eevdf tactus into soon hints${simple:+ simple}" \
			CLOCK=virtual CPUS=${bed%-*} TOPOLOGY=$(topology_of "$bed") in_vm $((1500 * ${bed%-*})) "$rounds" "${many[@]}" || status=1
	done
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

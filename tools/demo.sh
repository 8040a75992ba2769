#!/usr/bin/env bash
# Shows what 'tactus run' does, on any machine: a VM boots a stock kernel of Debian, runs a game-like load beside others that
# want its CPU, first under the kernel's own scheduler, then under tactus, and the figures of both are printed. The VM's clock
# counts instructions, so this machine's speed and load have no say in them. Needs no root. Called by 'make demo'.
# Usage: [KERNEL=NAME] tools/demo.sh
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

kernel=${KERNEL:-debian-newest}
seconds=4
results=$(mktemp)
trap 'rm -f "$results"' EXIT

command -v qemu-system-x86_64 >/dev/null || [ "$(id -u)" = 0 ] ||
	die "demo: QEMU is missing: as root run 'apt-get install qemu-system-x86', then try again"
boot=$(vm/kernel.sh "$kernel") || exit 1 # it has said why
say "booting Linux $(cat "$boot/image/release") in a VM; a minute or two in all"

# Says what a line of the guest's is about, and keeps it.
progress() {
	local line word by load rest
	while IFS= read -r line; do
		read -r word by load rest <<<"$line"
		case $word in
		result) say "$(spoken "$by"), $(described "$load"): $(figure "$load" "$rest")" ;;
		status) printf '    %s\n' "${line#status }" >&2 ;;
		*) printf '%s\n' "$line" >&2 ;;
		esac
		printf '%s\n' "$line"
	done
}
spoken() { if [ "$1" = eevdf ]; then echo "the kernel's own scheduler"; else echo "tactus run"; fi; }
described() {
	case $1 in
	idle-periodic) echo "a thread that wakes every 5 ms, alone" ;;
	periodic) echo "a thread that wakes every 5 ms, beside 3 hogs" ;;
	frames60) echo "a game's loop with a worker and sound, 60 frames a second, beside a fork storm" ;;
	esac
}
value() { printf '%s\n' "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"; }
figure() {
	case $1 in
	frames60) echo "$(value late "$2") of $(value turns "$2") frames late" ;;
	*) echo "$(value p99_us "$2") us late (p99)" ;;
	esac
}

CMD="SHOW_STATUS=yes SECONDS_EACH=$seconds bench/latency/guest.sh 1 'eevdf tactus' idle-periodic periodic frames60" \
	KERNEL=$kernel CLOCK=virtual CPUS=1 LIMIT=${LIMIT:-1200} vm/run.sh | progress >"$results"
[ "${PIPESTATUS[0]}" = 0 ] || die "demo: the VM did not get to its end: see above"

# cell SCHEDULER LOAD
cell() { figure "$2" "$(sed -n "s/^result $1 $2 //p" "$results")"; }
# A kernel without sched_ext, say, has no figure of tactus.
for each in 'eevdf idle-periodic' {eevdf,tactus}\ {periodic,frames60}; do
	# shellcheck disable=SC2086
	[[ $(cell $each) =~ ^[0-9.]+(\ of\ [0-9]+)?\ [a-z] ]] || die "demo: the VM printed no figure of '$each': see above"
done
row() { printf '%-82s %-24s %s\n' "$1" "$2" "$3"; }
echo
row "on Linux $(cat "$boot/image/release"), one CPU" "the kernel's scheduler" "tactus run"
row "$(described idle-periodic)" "$(cell eevdf idle-periodic)" ""
for load in periodic frames60; do
	row "$(described "$load")" "$(cell eevdf "$load")" "$(cell tactus "$load")"
done

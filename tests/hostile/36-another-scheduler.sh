#!/usr/bin/env bash
# Somebody else's sched_ext scheduler is in charge: a run that is to choose by itself says so and only watches.
# What the kernel tells of sched_ext is made up in a mount namespace of the test's own.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

cat >"$scratch/inside" <<'SCRIPT'
set -e
mkdir -p "$1/kernel"
mount --make-rprivate /
mount --rbind /sys/kernel "$1/kernel"
mount -t tmpfs none /sys/kernel
for at in "$1"/kernel/*; do
	name=${at##*/}
	[ "$name" != sched_ext ] || continue
	if [ -d "$at" ]; then mkdir "/sys/kernel/$name"; else : >"/sys/kernel/$name"; fi
	mount --rbind "$at" "/sys/kernel/$name"
done
mkdir -p /sys/kernel/sched_ext/root
echo enabled >/sys/kernel/sched_ext/state
echo scx_other_1.0 >/sys/kernel/sched_ext/root/ops
exec "$2" run --config "$1/rules" --without launch,gpu,wine,input,frame,socket,sound,learned "$3" "$4" --json -d 2
SCRIPT
run_inside() { unshare -m sh "$scratch/inside" "$scratch" "$tactus" "$@" >"$scratch/out" 2>"$scratch/err"; }

# Urgent by a rule, so at once.
printf '[roles]\npace = audio\n' >"$scratch/rules"
build/workloads/pace 5000 200 60000 >/dev/null &
urgent=$!
trap 'kill $urgent 2>/dev/null; rm -rf "$scratch"' EXIT
run_inside --actuator auto
is "a run beside another scheduler ends well" $? 0
like "a run says that another scheduler is in charge, and which" "$(cat "$scratch/err")" 'another sched_ext scheduler is in charge: scx_other_1.0: observing only'
given=$(json "sum(r['hints']['given'] for r in rows)" <"$scratch/out")
say_measured "beside another scheduler $given hints were given, by actuator $(json "rows[-1]['actuator']" <"$scratch/out")"
is "a run that is to choose by itself gives no hints beside another scheduler" "$given" 0
run_inside --actuator hints
holds "hints are given beside another scheduler where the user asks for them" test "$(json "sum(r['hints']['given'] for r in rows)" <"$scratch/out")" -ge 1
done_testing

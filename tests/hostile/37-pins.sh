#!/usr/bin/env bash
# A second run beside the first: the maps that the first one has pinned stay where they are, and go when it ends.
# A bpf file system is mounted in a mount namespace of the test's own.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

cat >"$scratch/inside" <<'SCRIPT'
mount --make-rprivate /
mount -t bpf bpf /sys/fs/bpf || exit 1
export TACTUS_FEED=$2/feed
run="$1 run --actuator none --without launch,gpu,wine,input,frame,socket,sound"
pins() { ls -i /sys/fs/bpf/tactus 2>/dev/null | tr '\n' ' '; }
$run >/dev/null 2>"$2/first" &
first=$!
for _ in $(seq 600); do [ -e /sys/fs/bpf/tactus/predicted ] && break; sleep 0.1; done
echo "before $(pins)"
$run -d 0.5 >/dev/null 2>"$2/second"
echo "second $?"
echo "after $(pins)"
kill -TERM $first
wait $first
echo "end $(pins)"
# What a killed one left is no obstacle.
$run >/dev/null 2>&1 &
first=$!
for _ in $(seq 600); do [ -e /sys/fs/bpf/tactus/predicted ] && break; sleep 0.1; done
kill -KILL $first
wait $first 2>/dev/null
echo "killed $(pins)"
$run -d 0.5 >/dev/null 2>"$2/third"
echo "next $? $(pins)"
SCRIPT
unshare -m sh "$scratch/inside" "$tactus" "$scratch" >"$scratch/out" 2>/dev/null
said() { sed -n "s/^$1 //p" "$scratch/out"; }
say_measured "pins before a second run: $(said before), after it: $(said after)"
like "a run pins its maps" "$(said before)" 'observed.* predicted'
is "a second run beside the first works" "$(said second)" 0
is "a second run leaves the pins of the first alone" "$(said after)" "$(said before)"
is "pins are gone at the end of the run that made them" "$(said end)" ""
like "a killed run leaves its pins" "$(said killed)" 'predicted'
is "the next run takes the place of what a killed one left, and leaves nothing" "$(said next)" "0 "
done_testing

#!/usr/bin/env bash
# What surrounds the scheduler: restarts, its options, its decisions in the stream, 'tactus stats', its last words.
# Runs in the VM.
. tests/tap.sh

# Sensors that tell nothing here are left out: loading them takes long in emulation.
without=launch,gpu,wine,input,frame,socket,sound,names
run=("$tactus" run --without "$without")
state() { cat /sys/kernel/sched_ext/state; }
hog() { timeout "$1" sh -c 'while :; do :; done'; }

# Decisions in a recording, and what 'tactus stats' tells meanwhile.
"${run[@]}" -o "$scratch/file" --json >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "scheduling by sched_ext"
for _ in 1 2 3; do hog 20 & done
# By now they are known as batch.
sleep 4
cyclictest -t1 -i 3000 -l 600 --policy=other -q >/dev/null
"$tactus" stats --json -d 4 >"$scratch/stats" 2>"$scratch/stats-err"
is "tactus stats ends well" $? 0
setpriv --reuid=nobody --clear-groups "$tactus" stats -d 4 >"$scratch/lines"
is "tactus stats works for anybody" $? 0
like "tactus stats prints status lines as the run does" "$(tail -n 1 "$scratch/lines")" '^[0-9:]{8}  scx '
tail -n 1 "$scratch/lines" | sed 's/^/# measured: /'
kill -INT $runner
wait $runner
is "a run that records ends well" $? 0
like "a run that records says how much it wrote" "$(cat "$scratch/err")" 'file: [0-9]+ events'
same='[r["wall_ns"] for r in rows if r["wall_ns"]]'
holds "stats shows the run's own lines" test "$(json "len($same)" <"$scratch/stats")" -ge 1
is "every line of stats is one of the run's lines" "$(cat "$scratch/stats" "$scratch/out" | json "len($same) - len(set($same))")" "$(json 'len(rows)' <"$scratch/stats")"
is "stats names the scheduler in charge" "$(json 'd["scheduler"]' <"$scratch/stats")" tactus
holds "waits are told by tier" test "$(json 'sum(r["waits"]["batch"] for r in rows)' <"$scratch/out")" -gt 10
"$tactus" events -i "$scratch/file" --json | grep '"event":"decision"' >"$scratch/decisions"
pushes=$(json 'sum(r["what"] == 1 for r in rows)' <"$scratch/decisions")
moves=$(json 'sum(r["what"] == 2 for r in rows)' <"$scratch/decisions")
preempted=$(json 'sum(r["preempted"] for r in rows)' <"$scratch/out")
say_measured "$pushes pushes and $moves moves in the recording; the lines count $preempted pushes"
holds "the recording has more than 20 pushes" test "$pushes" -gt 20
holds "the recording has as many pushes as the status lines count" test "$pushes" -ge "$preempted"
holds "the recording has moves" test "$moves" -gt 0
is "no urgent thread is pushed off" "$(json 'sum(r["what"] == 1 and r["other_tier"] == 2 for r in rows)' <"$scratch/decisions")" 0
like "a push is told in words" "$("$tactus" events -i "$scratch/file" | grep pushes | head -n 1)" 'pushes .* off CPU [01]'
is "other views read the recording" "$("$tactus" tasks -i "$scratch/file" >/dev/null 2>&1; echo $?)" 0
ends "stats without a run says that there is none" 1 "no 'tactus run' is at work here" "$tactus" stats

# Options.
"${run[@]}" --slice-us 700 -d 1 >/dev/null 2>"$scratch/err"
is "a run with a slice of 700 us ends well" $? 0
# The kernel's dump of a scheduler goes into its trace: what is in force is read there.
[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
echo 1 >/sys/kernel/tracing/events/sched_ext/sched_ext_dump/enable
printf "# Found by tactus tune: for 'tactus run --config FILE'.\n[options run]\nslice-us = 4000\nraise = input\ncredit = 16\ndiscount = 2\nlight-us = 1000\n" >"$scratch/tuned.conf"
chmod 600 "$scratch/tuned.conf"
: >"$scratch/err"
"${run[@]}" --config "$scratch/tuned.conf" -d 4 >/dev/null 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "scheduling by sched_ext"
echo D >/proc/sysrq-trigger
for _ in $(seq 20); do
	grep -q 'tactus: credit' /sys/kernel/tracing/trace && break
	sleep 0.1
done
said=$(grep -oE 'tactus: (slice|credit).*' /sys/kernel/tracing/trace | tr '\n' ' ')
like "the scheduler in the kernel has the slice and the bound of light threads of a configuration that tune writes" "$said" 'slice 4000 us, light 1000 us'
like "the scheduler in the kernel has the credit and the discount of a configuration that tune writes" "$said" 'credit 16, discount 2'
wait $runner
is "a run with a configuration that tune writes ends well" $? 0
echo 0 >/sys/kernel/tracing/events/sched_ext/sched_ext_dump/enable
ends "a slice that is too short is bad usage" 2 'is not a number of microseconds' "$tactus" run --slice-us 99
ends "--partial without a command is bad usage" 2 'needs a command' "$tactus" run --partial
ends "--partial with hints is bad usage" 2 'for sched_ext only' "$tactus" run --partial --actuator hints -- true
"${run[@]}" --partial -- sh -c 'grep ^policy /proc/self/sched; grep ^policy /proc/$PPID/sched; sleep 300 & echo $! >'"$scratch"'/left' \
	>"$scratch/out" 2>"$scratch/err"
is "--partial runs the command" $? 0
is "under --partial the command is in sched_ext and tactus itself is not" "$(grep ^policy "$scratch/out" | grep -o '[0-9]*$' | tr '\n' ' ')" "7 0 "
is "a thread that a --partial run left behind is an ordinary one again" "$(grep -o '[0-9]*$' <(grep ^policy "/proc/$(cat "$scratch/left")/sched"))" 0
kill "$(cat "$scratch/left")"

# A --partial run that is killed: the kernel takes the scheduler out, and the thread has its own policy again. How long that takes is
# printed; the guest's clock goes on while this machine emulates something else, so there is no second to hold it to.
: >"$scratch/err"
"${run[@]}" --partial -- sleep 60 >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "scheduling by sched_ext"
sleeper=""
for _ in $(seq 100); do
	sleeper=$(pgrep -P $runner -x sleep) && break
	sleep 0.1
done
# Sets policy to the sleeper's.
read_policy() {
	local key colon value
	policy=""
	while read -r key colon value; do
		[ "$key$colon" != "policy:" ] || policy=$value
	done <"/proc/$sleeper/sched"
}
# until_policy NUMBER: for ten seconds at most
until_policy() {
	local until_us=$((${EPOCHREALTIME/./} + 10000000))
	read_policy
	while [ "$policy" != "$1" ] && [ "${EPOCHREALTIME/./}" -lt $until_us ]; do read_policy; done
}
until_policy 7
is "a thread of a --partial run is in sched_ext before the run is killed" "$policy" 7
killed_us=${EPOCHREALTIME/./}
kill -KILL $runner
until_policy 0
took_ms=$(((${EPOCHREALTIME/./} - killed_us) / 1000))
wait $runner 2>/dev/null
is "a thread of a --partial run that was killed is an ordinary one again, in ten seconds at most" "$policy" 0
say_measured "an ordinary thread again $took_ms ms after its --partial run was killed"
kill "$sleeper"

# A CPU goes and comes back under load: a new start each time, and work gets done.
rm "$scratch/err"
: >"$scratch/err"
"${run[@]}" >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "scheduling by sched_ext"
for _ in 1 2 3; do hog 30 & done
taskset -c 1 timeout 30 sh -c 'while :; do :; done' &
sleep 0.5
echo 0 >/sys/devices/system/cpu/cpu1/online
wait_for "$scratch/err" "sched_ext again"
is "the scheduler is back after a CPU went" "$(state)" enabled
like "a run says which CPU went and that it starts again" "$(cat "$scratch/err")" 'cpu 1 going offline, exiting scheduler; it is started again'
holds "hackbench completes after a CPU went" hackbench -g 1 -l 50
echo 1 >/sys/devices/system/cpu/cpu1/online
wait_for "$scratch/err" 'cpu 1 going online, exiting scheduler; it is started again'
for _ in $(seq 600); do [ "$(state)" = enabled ] && break; sleep 0.1; done
is "the scheduler is back after a CPU came" "$(state)" enabled
holds "hackbench completes after a CPU came" hackbench -g 1 -l 50
kill -INT $runner
wait $runner
is "a run across hotplug ends well" $? 0
# Linux 6.12 counts the bandwidth of its own deadline server wrong now and then when a CPU goes: that is not ours.
is "the kernel logged no error, stall or warning around the loader" \
	"$(dmesg | grep -E 'sched_ext.*(error|stall)|WARNING|BUG:' | grep -vE 'WARNING.*(inactive_task_timer|task_non_contending)')" ''
done_testing

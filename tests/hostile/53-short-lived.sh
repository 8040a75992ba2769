#!/usr/bin/env bash
# A hundred thousand threads that come and go: a run that acts and views that print as they go forget them, and take no more than at the start.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

count=${COUNT:-100000}
export TACTUS_FEED=$scratch/feed
# begin NAME KB ARGUMENT...: which may grow by so much. Frames alone want libraries probed, of other programs on the machine too.
names=() pids=() may_grow=() may_add=()
begin() {
	local name=$1
	may_grow+=("$2")
	if [ "$name" = "frames --each" ]; then may_add+=(64); else may_add+=(8); fi
	shift 2
	: >"$scratch/err-${#pids[@]}"
	"$tactus" "$@" >/dev/null 2>"$scratch/err-${#pids[@]}" &
	names+=("$name") pids+=($!)
}
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
begin "run --actuator hints" 4096 run --actuator hints --compare off --without launch,gpu,wine,input,frame,socket,sound,learned
begin "roles --follow" 4096 roles --follow --without launch,gpu,wine,input,frame,socket,sound,names
begin events 4096 events
begin "frames --each" 8192 frames --each
# A table of all threads at the end needs all of them; of more than 262,144 the rest is counted.
table_kb=$((count * 12 / 10))
# Without the sensors that probe libraries, which other programs on the machine map meanwhile.
begin misses $table_kb misses --without frame,wine,feed,sound
begin migrations $table_kb migrations --without frame,wine,feed,sound
begin "latency --over" $table_kb latency --over 20ms
begin "inversions --alert" $table_kb inversions --alert 20ms
for i in "${!pids[@]}"; do wait_for "$scratch/err-$i" watching; done
# What all take for so many threads is there before it is looked at.
build/workloads/short_lived $((count / 5)) >/dev/null
sleep 0.5
for i in "${!pids[@]}"; do before[i]=$(cost "${pids[i]}"); done
began=$EPOCHREALTIME
build/workloads/short_lived "$count" >"$scratch/lived"
say_measured "$(cat "$scratch/lived"), in $(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) ms"
sleep 0.5
for i in "${!pids[@]}"; do costs_as_before "${names[i]} beside short-lived threads" "${pids[i]}" "${before[i]}" "${may_grow[i]}" "${may_add[i]}" 95; done
kill -INT "${pids[@]}"
for i in "${!pids[@]}"; do
	wait "${pids[i]}"
	is "${names[i]} beside short-lived threads ends with status 0" $? 0
done
done_testing

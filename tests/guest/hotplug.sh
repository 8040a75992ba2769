#!/usr/bin/env bash
# tactus migrations while a CPU goes: who is moved off it, and why. Runs in a VM.
. tests/tap.sh

"$tactus" record --without all -o "$scratch/file" 2>"$scratch/err" &
recorder=$!
wait_for "$scratch/err" watching
# Asleep there when it goes, and free to wake elsewhere.
mkfifo "$scratch/go"
taskset -c 1 head -c 1 "$scratch/go" >/dev/null &
sleeper=$!
for _ in $(seq 600); do grep -q '(head) S' /proc/$sleeper/stat && break; sleep 0.1; done
taskset -p 3 $sleeper >/dev/null
taskset -c 1 sh -c 'while :; do :; done' &
bound=$!
for _ in $(seq 600); do grep -q '(sh) R' /proc/$bound/stat && break; sleep 0.1; done
sleep 0.3
read -r before _ </proc/uptime
echo 0 >/sys/devices/system/cpu/cpu1/online
is "CPU 1 goes offline" "$(cat /sys/devices/system/cpu/cpu1/online)" 0
echo >"$scratch/go"
wait $sleeper
echo 1 >/sys/devices/system/cpu/cpu1/online
sleep 0.5
kill $bound
kill -INT $recorder
wait $recorder
is "a recording across hotplug ends well" $? 0
"$tactus" migrations -i "$scratch/file" --json -n all >"$scratch/rows"
# Of its moves from there the first after that.
moved() { json "[m['cause'] for m in rows if m.get('time_ns', 0) > ${before}e9 - 1e7 and m['tid'] == $1 and m['from_cpu'] == 1][:1]" <"$scratch/rows"; }
say_measured "by cause: $(json '{r["cause"]: r["moves"] for r in rows if "cause" in r and "time_ns" not in r}' <"$scratch/rows")"
is "a thread that ran on CPU 1 is moved off it by hotplug" "$(moved $bound)" "['hotplug']"
is "a thread that slept on CPU 1 is moved off it by hotplug when it wakes" "$(moved $sleeper)" "['hotplug']"
is "no thread leaves CPU 0 by hotplug" "$(json 'sum(m["cause"] == "hotplug" and m["from_cpu"] == 0 for m in rows if m.get("time_ns"))' <"$scratch/rows")" 0
is "no thread is moved by hotplug before CPU 1 went" "$(json "sum(m['cause'] == 'hotplug' and m['time_ns'] < ${before}e9 - 1e7 for m in rows if m.get('time_ns'))" <"$scratch/rows")" 0
done_testing

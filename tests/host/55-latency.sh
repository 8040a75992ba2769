#!/usr/bin/env bash
# tactus latency against perf sched of the same run, against waits that are made on purpose, and against its own replay.
. tests/tap.sh

cpu=$(($(nproc) - 1))
spinners=(build/workloads/inversion "$cpu")
# tid_of waiter|runner FILE: from the line that the spinners print
tid_of() { sed -nE "s/.*$1 ([0-9]+).*/\1/p" "$2" | head -n 1; }

# beside_perf FILE ARGS...: tactus latency with its rows into FILE, and perf sched's record of the same time
beside_perf() {
	local into=$1 perf_pid status
	shift
	perf sched record -a -q -o "$scratch/perf.data" -- sleep 60 >/dev/null 2>&1 &
	perf_pid=$!
	sleep 1
	timeout 30 "$tactus" latency --json --over 1us -n all "$@" >"$into"
	status=$?
	sleep 0.5
	kill -INT "$perf_pid"
	wait "$perf_pid" 2>/dev/null
	return $status
}

# compare NAME KIND LEAST: the single waits of one kind against perf's, as sorted lists of lengths: at least LEAST of them,
# and 98 % the same within 20 us and 1 %. The first process is left out: it was there before tactus' window opened.
# (perf sched latency would be easier to read, but leaves out most waits after wake-ups.)
cat >"$scratch/compare.py" <<'END'
import json, re, sys
ours_path, perfs_path, kind, least = sys.argv[1:]
rows = [json.loads(line) for line in open(ours_path) if line.startswith('{')]
tids = {r['tid'] for r in rows if r['row'] == 'thread'}
tids -= {min(tids)}
ours = [r['wait_ns'] / 1e6 for r in rows if r['row'] == 'wait' and r['kind'] == kind and r['tid'] in tids]
perfs = []
for line in open(perfs_path):
    m = re.match(r'.*\[(\d+)(?:/\d+)?\] +([0-9.]+) +([0-9.]+) +[0-9.]+ *$', line)
    if m and int(m[1]) in tids:
        waited, delay = float(m[2]), float(m[3])
        perfs.append(delay if kind == 'wakeup' else waited if delay == 0 else 0)
perfs = [wait for wait in perfs if wait > 0.001]
print(f'tactus {len(ours)} waits, {sum(ours):.3f} ms, longest {max(ours):.3f};',
      f'perf sched timehist {len(perfs)}, {sum(perfs):.3f} ms, longest {max(perfs):.3f}')
if sum(r['row'] == 'wait' for r in rows) < 1000: # else only the longest are listed
    assert abs(len(ours) - len(perfs)) <= 2 + 0.02 * len(perfs), 'not as many'
    assert abs(sum(ours) - sum(perfs)) <= 0.05 * sum(perfs), 'not for as long'
ours, perfs = (sorted(waits, reverse=True)[:min(len(ours), len(perfs))] for waits in (ours, perfs))
i = k = same = 0
while i < len(ours) and k < len(perfs):
    if abs(ours[i] - perfs[k]) <= 0.02 + 0.01 * perfs[k]:
        i, k, same = i + 1, k + 1, same + 1
    elif ours[i] > perfs[k]:
        i += 1
    else:
        k += 1
print(f'{same} of {len(ours)} the same')
assert len(ours) >= int(least) and same >= 0.98 * len(ours) - 2, 'not the same waits'
END
compare() {
	local verdict
	perf sched timehist -i "$scratch/perf.data" >"$scratch/perf.txt" 2>/dev/null
	if verdict=$(python3 "$scratch/compare.py" "$scratch/out" "$scratch/perf.txt" "$2" "$3" 2>&1); then
		pass "$1"
		say_measured "$(tr '\n' ' ' <<<"$verdict")"
	else
		flunk "$1" "$verdict"
	fi
}

if command -v perf >/dev/null; then
	# Two spinners push each other off one CPU; hackbench's threads wake each other on one.
	beside_perf "$scratch/out" -- "${spinners[@]}" 2 same
	is "a load's window ends with status 0" $? 0
	compare "waits after preemptions are those that perf sched sees" preempt 50
	beside_perf "$scratch/out" -- taskset -c "$cpu" hackbench -g 1 -f 4 -l 300
	compare "waits after wake-ups are those that perf sched sees" wakeup 20
else
	skip "waits agree with perf sched" "no perf here"
fi

# Each waits for more than 1 ms behind the other, time and again.
timeout 30 "$tactus" latency --json --over 1ms -- "${spinners[@]}" 1 same >"$scratch/out"
waiter=$(tid_of waiter "$scratch/out") runner=$(tid_of runner "$scratch/out")
grep '"row":"wait"' "$scratch/out" >"$scratch/waits"
pairs=$(json "[sum(r['tid'] == a and r['behind_tid'] == b for r in rows) for a, b in (($waiter, $runner), ($runner, $waiter))]" <"$scratch/waits")
say_measured "waits over 1 ms of one spinner behind the other: $pairs of $(wc -l <"$scratch/waits")"
holds "--over finds the waits of each behind the other" python3 -c "assert min($pairs) >= 5, $pairs"
is "nobody waits behind itself" "$(json "sum(r['tid'] == r['behind_tid'] for r in rows)" <"$scratch/waits")" 0
is "all are longer than asked" "$(json "all(r['wait_ns'] > 1e6 for r in rows)" <"$scratch/waits")" True
is "all on the CPU that they are bound to" "$(json "all(r['cpu'] == $cpu for r in rows if r['tid'] in ($waiter, $runner))" <"$scratch/waits")" True
is "in order of time" "$(json "[r['time_ns'] for r in rows] == sorted(r['time_ns'] for r in rows)" <"$scratch/waits")" True
is "with the promised names" "$(json 'list(d)' <"$scratch/waits")" \
	"['row', 'time_ns', 'wait_ns', 'tid', 'pid', 'comm', 'cpu', 'behind_tid', 'behind_comm', 'waker_tid', 'waker_comm', 'kind']"

# A real-time spinner keeps whoever is woken on its CPU waiting until the kernel lets the others run, for most of a second.
if "${spinners[@]}" 0.01 realtime >/dev/null; then
	mkfifo "$scratch/pipe"
	cat >"$scratch/make-waits.sh" <<-'EOF'
		cpu=$1 scratch=$2
		taskset -c "$cpu" cat "$scratch/pipe" >/dev/null &
		exec 9>"$scratch/pipe"
		build/workloads/inversion "$cpu" 3 realtime >"$scratch/spinners" &
		until [ -s "$scratch/spinners" ]; do sleep 0.05; done
		for ((i = 0; i < 5; i++)); do
			sleep 0.4
			echo $$ >&9
		done
		echo $$ >"$scratch/waker"
		exec 9>&-
		wait
	EOF
	timeout 60 "$tactus" latency --json --over 100ms -n 5 -- bash "$scratch/make-waits.sh" "$cpu" "$scratch" >"$scratch/out"
	grep -E '"row":"wait".*"comm":"cat".*"kind":"wakeup"' "$scratch/out" >"$scratch/waits"
	say_measured "$(head -n 1 "$scratch/waits")"
	is "a woken thread's long wait is behind the real-time spinner" \
		"$(json "max(rows, key=lambda r: r['wait_ns'])['behind_tid']" <"$scratch/waits")" "$(tid_of waiter "$scratch/spinners")"
	is "and who woke it is named" "$(json "{r['waker_tid'] for r in rows}" <"$scratch/waits")" "{$(cat "$scratch/waker")}"
else
	skip "a woken thread's wait is behind the real-time spinner" "real-time priorities are not allowed here"
fi

# What was seen live is seen again in the recording of the same run.
timeout 30 "$tactus" latency --json --over 1ms -n 1000 -d 1 -o "$scratch/recording" >"$scratch/live"
timeout 30 "$tactus" latency --json --over 1ms -n 1000 -i "$scratch/recording" >"$scratch/replay"
is "a replay ends with status 0" $? 0
holds "live and replay are equal" diff "$scratch/live" "$scratch/replay"
is "first the sums, of both kinds" "$(json '[r["row"] for r in rows[:3]]' <"$scratch/live")" "['all', 'wakeup', 'preempt']"
is "both kinds make up all" "$(json 'rows[0]["waits"] == rows[1]["waits"] + rows[2]["waits"]' <"$scratch/live")" True
is "and so do all threads" "$(json 'rows[0]["waits"] == sum(r["waits"] for r in rows if r["row"] == "thread")' <"$scratch/live")" True
is "percentiles rise" \
	"$(json 'all(r["p50_ns"] <= r["p90_ns"] <= r["p95_ns"] <= r["p99_ns"] <= r["p999_ns"] <= r["max_ns"] for r in rows if r["row"] != "wait")' <"$scratch/live")" True
timeout 30 "$tactus" latency --json --by process -n 1000 -i "$scratch/recording" >"$scratch/processes"
is "processes have all the waits too" \
	"$(json 'rows[0]["waits"] == sum(r["waits"] for r in rows if r["row"] == "process")' <"$scratch/processes")" True
is "no process has two rows" "$(json 'max([r["pid"] for r in rows if "pid" in r].count(r["pid"]) for r in rows if "pid" in r)' <"$scratch/processes")" 1

table=$(COLUMNS=100 timeout 30 "$tactus" latency -n 3 -i "$scratch/recording")
like "the histogram is drawn" "$table" '^ *[0-9.]+ us - +[0-9.]+ us +[0-9]+ +[0-9.]+ % +#+$'
holds "within the terminal's width" python3 -c 'import sys; assert max(map(len, sys.argv[1].split("\n"))) <= 100' "$table"
like "the percentiles have a head" "$table" '^AFTER +WAITS +P50 +P90 +P95 +P99 +P99.9 +MAX$'
like "the threads have a head" "$table" '^ *TID +PID +COMM +WAITS +P50 +P90 +P95 +P99 +P99.9 +MAX$'
ends "a span that is none is bad usage" 2 "the value 'soon' is not a span of time" "$tactus" latency --over soon
ends "so is another grouping" 2 "the value 'user' is neither thread nor process" "$tactus" latency --by user

# With a filter, who is in the way is named all the same: a spinner outside of the command that is watched.
# It has the larger weight, so that it is in the way more than whatever else runs on this machine.
taskset -c 0 nice -n -15 sh -c 'while :; do :; done' &
outside=$!
"$tactus" latency --over 1ms --json -- taskset -c 0 timeout 2 sh -c 'while :; do :; done' >"$scratch/out" 2>/dev/null
kill $outside
wait $outside 2>/dev/null
waits=$(json 'len([r for r in rows if r["row"] == "wait" and r["kind"] == "preempt"])' <"$scratch/out")
behind=$(json "len([r for r in rows if r['row'] == 'wait' and r['kind'] == 'preempt' and r['behind_tid'] == $outside])" <"$scratch/out")
say_measured "of $waits waits of a watched spinner $behind were behind the one outside"
holds "who is in the way of a watched thread is named, watched or not" test "$behind" -ge $((waits * 2 / 3)) -a "$waits" -ge 5
done_testing

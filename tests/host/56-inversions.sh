#!/usr/bin/env bash
# tactus inversions on real ones that a program makes, and its silence where there is none.
. tests/tap.sh

cpu=$(($(nproc) - 1))
spinners=(build/workloads/inversion "$cpu")
tid_of() { sed -nE "s/.*$1 ([0-9]+).*/\1/p" "$2" | head -n 1; }

# watch MODE SECONDS: the rows of the two spinners, by themselves, into $scratch/rows
watch() {
	timeout 30 "$tactus" inversions --json -n 1000 -- "${spinners[@]}" "$2" "$1" >"$scratch/out"
	status=$?
	waiter=$(tid_of waiter "$scratch/out") runner=$(tid_of runner "$scratch/out")
	grep '^{' "$scratch/out" | grep -E "\"waiter_tid\":($waiter|$runner)," | grep -E "\"runner_tid\":($waiter|$runner)," >"$scratch/rows"
}

watch nice 3
is "the command's status is passed on" "$status" 0
say_measured "$(cat "$scratch/rows")"
is "nice -5 waits behind nice 5, and not the other way round" \
	"$(json "[(r['waiter_tid'], r['runner_tid']) for r in rows] == [($waiter, $runner)]" <"$scratch/rows")" True
is "with the names of both" "$(json "[d['waiter_comm'], d['runner_comm']]" <"$scratch/rows")" "['inv-waiter', 'inv-runner']"
is "their priorities and the class" "$(json "[d['waiter_prio'], d['runner_prio'], d['class']]" <"$scratch/rows")" "[116, 126, 'nice']"
is "the numbers fit together" \
	"$(json "d['times'] >= 5 and d['longest_ns'] >= 1e6 and d['times'] * 1e6 <= d['total_ns'] <= d['times'] * d['longest_ns']" <"$scratch/rows")" True
# The lower one has about 335 / (335 + 3121) of the CPU by the kernel's weights, in slices that are mostly over 1 ms.
share=$(json "round(d['total_ns'] / 3e7, 1)" <"$scratch/rows")
say_measured "the lower one was in the way for $share % of the time; its share by weight is 9.7 %"
holds "for about as long as the lower one's share" python3 -c "assert 1 <= $share <= 12"
is "the promised names and no other" "$(json 'list(d)' <"$scratch/rows")" \
	"['waiter_tid', 'waiter_comm', 'waiter_prio', 'runner_tid', 'runner_comm', 'runner_prio', 'class', 'times', 'total_ns', 'longest_ns', 'longest_at_ns']"

if "${spinners[@]}" 0.01 realtime >/dev/null; then
	watch realtime 3
	say_measured "$(cat "$scratch/rows")"
	is "a FIFO thread waits behind a plain one" "$(json "[d['waiter_tid'], d['runner_tid']]" <"$scratch/rows")" "[$waiter, $runner]"
	is "as a real-time waiter" "$(json "[d['waiter_prio'], d['runner_prio'], d['class']]" <"$scratch/rows")" "[50, 121, 'realtime']"
	holds "for the 50 ms that the kernel keeps for others, each second" \
		python3 -c "n = $(json "d['total_ns'] / 1e6" <"$scratch/rows"); assert 40 <= n <= 250, n"
else
	skip "a FIFO thread waits behind a plain one" "real-time priorities are not allowed here"
fi

watch same 2
is "two threads of one priority: status 0" "$status" 0
is "and not a word about them" "$(cat "$scratch/rows")" ""

# The same with the whole machine watched, where other threads come and go on that CPU, and from the recording of it.
"${spinners[@]}" 4 nice >"$scratch/spinners" &
sleep 0.5
timeout 30 "$tactus" inversions --json -n 1000 -d 2 -o "$scratch/recording" >"$scratch/live"
wait
waiter=$(tid_of waiter "$scratch/spinners") runner=$(tid_of runner "$scratch/spinners")
is "the whole machine watched: it is there" \
	"$(json "sum(r['waiter_tid'] == $waiter and r['runner_tid'] == $runner for r in rows)" <"$scratch/live")" 1
is "no runner is as urgent as its waiter" "$(json "all(r['runner_prio'] > r['waiter_prio'] for r in rows)" <"$scratch/live")" True
timeout 30 "$tactus" inversions --json -n 1000 -i "$scratch/recording" >"$scratch/replay"
holds "live and replay are equal" diff "$scratch/live" "$scratch/replay"
table=$(timeout 30 "$tactus" inversions -i "$scratch/recording")
like "the table has a head" "$table" '^WAITER +PRIO +RUNNER +PRIO +CLASS +TIMES +TOTAL +LONGEST +AT$'
like "and tells priorities as people do" "$table" "^inv-waiter \[$waiter\] +nice -5 +inv-runner \[$runner\] +nice 5 +nice "
is "a higher threshold leaves none" "$(timeout 30 "$tactus" inversions --over 10s -i "$scratch/recording")" "no inversion longer than 10s seen"
is "in JSON that is no row" "$(timeout 30 "$tactus" inversions --over 10s --json -i "$scratch/recording")" ""
ends "a span that is none is bad usage" 2 "the value 'soon' is not a span of time" "$tactus" inversions --over soon
done_testing

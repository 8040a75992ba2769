#!/usr/bin/env bash
# tactus inversions on real ones that a program makes, and its silence where there is none.
# alone: its real-time spinner takes 95 % of a CPU
. tests/tap.sh

cpu=$(($(nproc) - 1))
spinners=(build/workloads/inversion "$cpu")
tid_of() { sed -nE "s/.*$1 ([0-9]+).*/\1/p" "$2" | head -n 1; }

# watch MODE SECONDS: the rows of the two spinners, by themselves, into $scratch/rows
watch() {
	watched=("$1" "$2")
	timeout 60 "$tactus" inversions --json -n 1000 --alert none -- "${spinners[@]}" "$2" "$1" >"$scratch/out"
	status=$?
	waiter=$(tid_of waiter "$scratch/out") runner=$(tid_of runner "$scratch/out")
	read -r least_ns most_ns < <(sed -n 's/^ran //p' "$scratch/out")
	grep '^{' "$scratch/out" | grep -E "\"waiter_tid\":($waiter|$runner)," | grep -E "\"runner_tid\":($waiter|$runner)," >"$scratch/rows"
}
# The waiter spins too, so it waits whenever the runner runs; what is told of that are the runs over 1 ms. The runner sees
# by its own clock and the kernel's count of its switches how long it runs at a time; not the moments from and to a switch.
is_told_as_long() {
	python3 -c "import sys; sys.exit(not 0.95 * $least_ns <= $total_ns <= 1.05 * $most_ns + 1e5 * $times + 1e6)"
}
told_as_long() {
	local total_ns times tries
	for tries in 1 2 3; do
		total_ns=$(json "d['total_ns']" <"$scratch/rows") times=$(json "d['times']" <"$scratch/rows")
		say_measured "$total_ns ns are told; the runner's runs over 1 ms are $least_ns ns by its own clocks, $most_ns ns with those of nearly 1 ms"
		! is_told_as_long || break
		[ $tries = 3 ] || watch "${watched[@]}"
	done
	holds "$1" is_told_as_long
}

# While it lasts, not at the end: the watching goes on until the line is there.
"${spinners[@]}" 60 nice >/dev/null &
spinner=$!
"$tactus" inversions --alert 500us -c 'inv-*' >"$scratch/alerts" 2>/dev/null &
watcher=$!
wait_for "$scratch/alerts" 'inv-waiter \[[0-9]+\] \(nice -5\) has waited .* for CPU [0-9]+, where inv-runner \[[0-9]+\] \(nice 5\) runs'
is "inversions reports one that lasts while it watches" "$(grep -c WAITER "$scratch/alerts")" 0
kill $spinner
kill -INT $watcher
wait $spinner $watcher

# On a busy machine the two hardly meet: then once more.
for tries in 1 2 3; do
	watch nice 2
	[ "$(json "d['times']" <"$scratch/rows" 2>/dev/null || echo 0)" -lt 5 ] || break
done
is "inversions passes on the status of its command" "$status" 0
say_measured "$(cat "$scratch/rows")"
is "a thread of nice -5 is told to wait behind one of nice 5, and not the other way round" \
	"$(json "[(r['waiter_tid'], r['runner_tid']) for r in rows] == [($waiter, $runner)]" <"$scratch/rows")" True
is "an inversion has the names of both threads" "$(json "[d['waiter_comm'], d['runner_comm']]" <"$scratch/rows")" "['inv-waiter', 'inv-runner']"
is "an inversion by nice has both priorities and its class" "$(json "[d['waiter_prio'], d['runner_prio'], d['class']]" <"$scratch/rows")" "[115, 125, 'nice']"
holds "an inversion of two spinners happens time and again" test "$(json "d['times']" <"$scratch/rows")" -ge 5
holds "the longest inversion is over the threshold" test "$(json "d['longest_ns']" <"$scratch/rows")" -ge 1000000
is "the total of an inversion lies between its times and its longest" \
	"$(json "d['times'] * 1e6 <= d['total_ns'] <= d['times'] * d['longest_ns']" <"$scratch/rows")" True
told_as_long "an inversion by nice lasts as long as the lower thread saw itself run"
is "a row of inversions has the promised names and no other" "$(json '[k for k in d if k not in ("record", "schema", "clock")]' <"$scratch/rows")" \
	"['waiter_tid', 'waiter_comm', 'waiter_prio', 'runner_tid', 'runner_comm', 'runner_prio', 'class', 'times', 'total_ns', 'longest_ns', 'longest_at_ns']"

if "${spinners[@]}" 0.01 realtime >/dev/null; then
	watch realtime 3
	say_measured "$(cat "$scratch/rows")"
	is "a FIFO thread waits behind a plain one" "$(json "[d['waiter_tid'], d['runner_tid']]" <"$scratch/rows")" "[$waiter, $runner]"
	is "an inversion of a FIFO thread has both priorities and its class" \
		"$(json "[d['waiter_prio'], d['runner_prio'], d['class']]" <"$scratch/rows")" "[49, 120, 'realtime']"
	told_as_long "a FIFO thread's inversion lasts as long as the plain thread saw itself run"
else
	skip "a FIFO thread waits behind a plain one" "real-time priorities are not allowed here"
fi

watch same 1
is "inversions ends well where both threads have one priority" "$status" 0
is "two threads of one priority are no inversion" "$(cat "$scratch/rows")" ""

# The same with the whole machine watched, where other threads come and go on that CPU, and from the recording of it.
rm -f "$scratch/err"
"$tactus" inversions --json -n 1000 -o "$scratch/recording" >"$scratch/live" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
"${spinners[@]}" 1.5 nice >"$scratch/spinners"
kill -INT $watcher
wait $watcher
waiter=$(tid_of waiter "$scratch/spinners") runner=$(tid_of runner "$scratch/spinners")
is "an inversion is found with the whole machine watched" \
	"$(json "sum(r['waiter_tid'] == $waiter and r['runner_tid'] == $runner for r in rows)" <"$scratch/live")" 1
is "no runner on the whole machine is as urgent as its waiter" "$(json "all(r['runner_prio'] > r['waiter_prio'] for r in rows)" <"$scratch/live")" True
timeout 60 "$tactus" inversions --json -n 1000 -i "$scratch/recording" >"$scratch/replay"
holds "inversions from the recording are those seen live" diff "$scratch/live" "$scratch/replay"
table=$(timeout 60 "$tactus" inversions -n all -i "$scratch/recording")
like "the table of inversions has a head" "$table" '^WAITER +PRIO +RUNNER +PRIO +CLASS +TIMES +TOTAL +LONGEST +AT$'
like "the table of inversions tells priorities as nice values" "$table" "^inv-waiter \[$waiter\] +nice -5 +inv-runner \[$runner\] +nice 5 +nice "
is "inversions over a threshold that none reaches are told to be none" "$(timeout 60 "$tactus" inversions --over 10s -i "$scratch/recording")" "no inversion longer than 10s seen"
is "no inversion is no row in JSON" "$(timeout 60 "$tactus" inversions --over 10s --json -i "$scratch/recording")" ""
ends "inversions over a span that is none is bad usage" 2 "the value 'soon' is not a span of time" "$tactus" inversions --over soon
done_testing

#!/usr/bin/env bash
# A scrape of 10,000 threads takes less than 50 ms, of CPU time and by the clock, whether they ran since the one before, slept, or run all the while. By the clock: where
# others have the CPUs, what tactus waits for one is counted apart, and the fastest scrape has hardly any of it. That figures are asked for costs threads nothing when they switch.
# alone: what its programs take is of this machine as a whole
. tests/tap.sh

bench/scrape.py 10000 15 >"$scratch/scrapes" 2>"$scratch/err"
is "scrapes of 10,000 threads come to their end" "$? $(cat "$scratch/err")" "0 "
while read -r line; do say_measured "$line"; done <"$scratch/scrapes"
# of KIND WHAT: median, least and threads that were active
of() { sed -nE "s/^$1, $2: ([0-9.]+) ms \(([0-9.]+) to .*scrapes, ([0-9]+) threads.*/\1 \2 \3/p" "$scratch/scrapes"; }
# is_less WHAT MS: and there is such a figure
# shellcheck disable=SC2317
is_less() { awk -v ms="${1:-1000}" -v most="$2" 'BEGIN { exit !(ms < most) }'; }
for kind in "ran and sleep" "slept" "run"; do
	read -r middle_ms _ threads <<<"$(of "$kind" "CPU time")"
	[ "$kind" = slept ] || holds "a scrape has each of 10,000 threads that $kind" test "${threads:-0}" -ge 10000
	holds "a scrape of 10,000 threads that $kind takes less than 50 ms of CPU time" is_less "$middle_ms" 50
	read -r middle_ms _ <<<"$(of "$kind" "by the clock without waits for a CPU")"
	holds "a scrape of 10,000 threads that $kind takes less than 50 ms by the clock, beside what tactus waits for a CPU that others have" is_less "$middle_ms" 50
	read -r _ least_ms _ <<<"$(of "$kind" "by the clock")"
	[ "$kind" = run ] || holds "the fastest scrape of 10,000 threads that $kind takes less than 50 ms by the clock, from the request to the end of the answer" is_less "$least_ms" 50
done

bench/metrics.py 3 5 >"$scratch/costs" 2>"$scratch/err"
is "the cost of figures is measured to its end" "$? $(cat "$scratch/err")" "0 "
while read -r line; do say_measured "$line"; done <"$scratch/costs"
# cost KIND: of the program at a switch, in the middle
cost() { sed -nE "s/^the program at a switch, ns +$1 +median ([0-9]+) .*/\1/p" "$scratch/costs"; }
holds "a switch takes no longer where figures are scraped every second than where nobody asks for them, by half" test "$(cost '--metrics, scraped')" -le $((3 * $(cost '--metrics') / 2))
done_testing

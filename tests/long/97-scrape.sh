#!/usr/bin/env bash
# A scrape of 10,000 threads, all of which ran since the one before, takes less than 50 ms of CPU time. What it takes by the clock depends on what else the machine does: it is told.
. tests/tap.sh

bench/scrape.py 10000 15 >"$scratch/scrapes" 2>"$scratch/err"
is "scrapes of 10,000 threads come to their end" "$? $(cat "$scratch/err")" "0 "
say_measured "$(tr '\n' ';' <"$scratch/scrapes")"
middle_ms=$(sed -n 's/^CPU time: \([0-9.]*\) ms .*/\1/p' "$scratch/scrapes")
threads=$(sed -n 's/^CPU time: .* scrapes of \([0-9]*\) threads.*/\1/p' "$scratch/scrapes")
holds "a scrape has each of 10,000 threads" test "${threads:-0}" -ge 10000
holds "a scrape of 10,000 threads takes less than 50 ms of CPU time" awk -v ms="${middle_ms:-1000}" 'BEGIN { exit !(ms < 50) }'
done_testing

#!/usr/bin/env bash
# What bench/latency makes of results: made-up lines of one CPU and of several in, tables and verdicts out.
. tests/tap.sh

cat >"$scratch/results" <<-'END'
	result eevdf idle-periodic round=1 n=10 p50_us=50 p99_us=60 max_us=61 turns=10 late=0
	result eevdf periodic round=1 n=10 p50_us=500 p99_us=2000 p999_us=2500 max_us=3000 turns=10 late=2
	result tactus periodic round=1 n=10 p50_us=55 p99_us=70 max_us=80 turns=10 late=0
	result fifo wakers@4-smt round=1 n=10 p50_us=100 p99_us=600 max_us=700 turns=10 late=0
	result eevdf wakers@4-smt round=1 n=10 p50_us=400 p99_us=4000 max_us=5000 turns=10 late=3
	result tactus wakers@4-smt round=1 enabled_s=12.9 n=10 p50_us=300 p99_us=900 max_us=6000 turns=10 late=0
	result into wakers@4-smt round=1 enabled_s=54.3 n=10 p50_us=300 p99_us=950 max_us=1000 turns=10 late=0
	result eevdf virtual-hackbench@4-smt round=1 seconds=2.0 switches=100
	result tactus virtual-hackbench@4-smt round=1 seconds=2.5 switches=100
END
python3 bench/latency/report.py <"$scratch/results" >"$scratch/report" 2>"$scratch/err"
is "a missed budget makes the exit status of the latency bench 1" $? 1
is "the latency bench's report says nothing on stderr" "$(cat "$scratch/err")" ''
report() { tr -s ' ' <"$scratch/report"; }
like "the table of one CPU has p99.9 and counts late turns" "$(report)" '^every 5 ms, 3 hogs EEVDF 500 2,000 2,500 3,000 2 of 10$'
like "a bed of several CPUs has a table with its own name" "$(report)" '^VM, 4 CPUs, SMT pairs, virtual clock: how late threads wake$'
like "the bed's floor stands beside the schedulers" "$(report)" "FIFO, the bed's floor 100 600 700 0 of 10\$"
like "a tactus that was started into the load is shown with the time that it took to come" "$(report)" 'started into the load, 54 s until it was there 300 950'
like "a p99 of one and a half times the floor is within its budget" "$(report)" "^kept wakers on 4 CPUs, SMT pairs: p99 to the bed's floor: 1.5 "
like "a longest wait above EEVDF's is a missed budget" "$(report)" "^MISSED wakers on 4 CPUs, SMT pairs, tactus: longest to EEVDF's: 1.2 "
like "hackbench on several CPUs has a budget too" "$(report)" "^MISSED virtual-hackbench on 4 CPUs, SMT pairs throughput to EEVDF's: 0.8 "
done_testing

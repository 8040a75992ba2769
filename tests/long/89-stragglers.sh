#!/usr/bin/env bash
# Ten times: eight ranks of a training-like loop on two machines, of which nobody is slowed, or one by each of six causes. Each time the right rank and cause, by 'tactus fleet' and by
# the shipped rules; nobody where all are equal. ROUNDS=N for fewer.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh
. tests/metrics.sh
. tests/netns.sh
. tests/ranks.sh

gather_ranks
for ((round = 0; round < ${ROUNDS:-10}; round++)); do
	say_measured "round $((round + 1)), load $(cut -d ' ' -f 1 /proc/loadavg)"
	blames_nobody equal-$round
	finds_rank data-$round $((round % 8)) data data 'holds the job up by its DataLoader: [0-9]+ % of a step'
	finds_rank lock-$round $(((round + 3) % 8)) lock lock 'holds the job up by its lock: [0-9]+ % of a step'
	finds_rank cpu-$round $(((round + 6) % 8)) hog cpu 'holds the job up by its CPU: [0-9]+ % of a step'
	finds_rank gpu-$round $(((round + 1) % 8)) sync gpu 'holds the job up by its GPU: [0-9]+ % of a step'
	finds_rank work-$round $(((round + 4) % 8)) work work 'holds the job up by its own work: [0-9]+ % of a step'
	finds_rank rest-$round $(((round + 7) % 8)) rest not_it 'is late and does nothing longer than the others'
done
end_ranks
done_testing

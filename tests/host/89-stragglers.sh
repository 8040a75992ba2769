#!/usr/bin/env bash
# Eight ranks of a training-like loop, four each in two network namespaces that a Prometheus gathers from: of the one that is slowed its number and the cause are found, by
# 'tactus fleet' and by the shipped rules, for five causes; and nobody is blamed when all are equal. libcuda and libnccl are doubles (tests/fakes).
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh
. tests/metrics.sh
. tests/netns.sh
. tests/ranks.sh

ends "fleet without a server to ask is bad usage" 2 'give --prometheus' "$tactus" fleet --job x
ends "fleet without a job is bad usage" 2 'give --job' "$tactus" fleet --prometheus http://127.0.0.1:1
ends "fleet of a job whose name would change the query is bad usage" 2 "no job's name" "$tactus" fleet --prometheus http://127.0.0.1:1 --job 'x"} or up{a="'
ends "fleet of a server that speaks no TLS says whom it can't reach" 1 'https://127.0.0.1:1: Connection refused' "$tactus" fleet --prometheus https://127.0.0.1:1 --job x
ends "fleet whom nobody answers says so" 1 'http://127.0.0.1:1: Connection refused' "$tactus" fleet --prometheus http://127.0.0.1:1 --job x
gather_ranks
blames_nobody equal
finds_rank slow-data 2 data data 'holds the job up by its DataLoader: [0-9]+ % of a step'
finds_rank slow-lock 5 lock lock 'holds the job up by its lock: [0-9]+ % of a step'
finds_rank slow-cpu 6 hog cpu 'holds the job up by its CPU: [0-9]+ % of a step'
finds_rank slow-gpu 1 sync gpu 'holds the job up by its GPU: [0-9]+ % of a step'
finds_rank slow-work 3 work work 'holds the job up by its own work: [0-9]+ % of a step'
ends "a job of which nothing is known is said so" 1 'nothing is known of steps of job nobody' "${in_hub[@]}" "$tactus" fleet --prometheus "$prometheus" --job nobody
end_ranks
done_testing

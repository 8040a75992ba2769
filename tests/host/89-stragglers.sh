#!/usr/bin/env bash
# Eight ranks of a training-like loop, four each in two network namespaces that a Prometheus gathers from: of the one that is slowed its number and the cause are found, by
# 'tactus fleet' and by the shipped rules, for four causes; and nobody is blamed when all are equal. libcuda and libnccl are doubles (tests/fakes).
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh
. tests/metrics.sh
. tests/netns.sh

if ! command -v prometheus >/dev/null || ! command -v ip >/dev/null; then
	skip "a rank that holds others up is found" "prometheus or iproute2 is not installed"
	done_testing
fi
ends "fleet without a server to ask is bad usage" 2 'give --prometheus' "$tactus" fleet --job x
ends "fleet without a job is bad usage" 2 'give --job' "$tactus" fleet --prometheus http://127.0.0.1:1
ends "fleet of a job whose name would change the query is bad usage" 2 "no job's name" "$tactus" fleet --prometheus http://127.0.0.1:1 --job 'x"} or up{a="'
ends "fleet of what needs TLS says what to do" 1 'there is no TLS here' "$tactus" fleet --prometheus https://127.0.0.1:1 --job x
ends "fleet whom nobody answers says so" 1 'http://127.0.0.1:1: Connection refused' "$tactus" fleet --prometheus http://127.0.0.1:1 --job x
if ! make_namespaces >"$scratch/netns" 2>&1; then
	drop_namespaces
	skip "a rank that holds others up is found" "no network namespaces here: $(tail -n 1 "$scratch/netns")"
	done_testing
fi
pids=()
# shellcheck disable=SC2317
cleanup() {
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
	wait
	drop_namespaces
	rm -rf "$scratch"
}
trap cleanup EXIT
export TACTUS_NVIDIA_MAJORS=1,5
cuda=$PWD/build/workloads/libcuda.so.1 nccl=$PWD/build/workloads/libnccl.so
head -c 24 /dev/urandom | base64 | tr -d '\n' >"$scratch/token"
make_certificate "$address_a" "$address_b"
# ranks FIRST: waits for an order in $scratch/order-FIRST (JOB SLOW KIND), runs four ranks until there is $scratch/enough-JOB, and waits for the next; "end" ends it
cat >"$scratch/ranks.sh" <<END
#!/bin/bash
while read -r job slow kind <"$scratch/order-\$1" && [ "\$job" != end ]; do
	for ((rank = \$1; rank < \$1 + 4; rank++)); do
		[ \$rank = "\$slow" ] && own=\$kind || own=none
		RANK=\$rank TORCHELASTIC_RUN_ID=\$job WORLD_SIZE=8 FAKE_NCCL_BARRIER=$scratch/barrier-\$job timeout 150 build/workloads/rank $cuda $nccl 1000 \$own 25 >/dev/null 2>&1 &
	done
	while [ ! -e "$scratch/enough-\$job" ] && [ -n "\$(jobs -r)" ]; do sleep 0.2; done
	kill \$(jobs -p) 2>/dev/null
	wait
done
END
chmod +x "$scratch/ranks.sh"
mkfifo "$scratch/order-0" "$scratch/order-4"
for first in 0 4; do
	in=("${in_a[@]}") address=$address_a
	[ $first = 0 ] || in=("${in_b[@]}") address=$address_b
	serve "$scratch/err-$first" "${in[@]}" "$tactus" serve --metrics "$address:9783" --token-file "$scratch/token" --tls-cert "$scratch/cert.pem" --tls-key "$scratch/key.pem" --cuda --library "$cuda" --without launch,gpu,wine,input,frame,socket,sound,learned -- "$scratch/ranks.sh" $first
	pids+=("$server")
done
short_rules
write_config "$scratch/token" "$scratch/cert.pem"
start_prometheus "$scratch/prometheus.yml"
pids+=("$gatherer")
asks_until "both machines are scraped" 2 "$prometheus" 'len(d)' 'up == 1'
fleet() { "${in_hub[@]}" "$tactus" fleet --prometheus $prometheus --window 60s "$@"; }
# begin NAME SLOW KIND: runs it on both machines, until all ranks have done steps enough, however busy the machine is, and for as long as the rules look back
begin() {
	local first from=$SECONDS
	head -c 64 /dev/zero >"$scratch/barrier-$1"
	for first in 0 4; do echo "$1 $2 $3" >"$scratch/order-$first"; done
	while ((SECONDS < from + 120)); do
		[ "$(ask $prometheus 'min([float(s["value"][1]) for s in d] if len(d) == 8 else [0]) >= 60' "tactus_rank_steps_total{training_job=\"$1\"}")" != True ] || break
		sleep 0.5
	done
	sleep 8
}
enough() { touch "$scratch/enough-$1"; }
begin equal none none
fleet --job equal --json >"$scratch/equal" 2>"$scratch/err"
is "all eight ranks are compared" "$(json 'sorted(int(r["rank"]) for r in rows)' <"$scratch/equal")" "[0, 1, 2, 3, 4, 5, 6, 7]"
is "nobody is blamed when all are equal" "$(json '[(r["rank"], r["cause"]) for r in rows if r["cause"] != "none"]' <"$scratch/equal")" "[]"
say_measured "equal: $(json '[(r["rank"], r["steps"], r["others_percent"]) for r in rows]' <"$scratch/equal")"
enough equal
while read -r name rank kind cause part words; do
	begin "$name" "$rank" "$kind"
	fleet --job "$name" --json >"$scratch/$name" 2>"$scratch/err"
	is "the rank that is slowed by $kind is found, its cause is named, and nobody else is blamed" "$(json '[(r["rank"], r["cause"]) for r in rows if r["cause"] != "none"]' <"$scratch/$name")" "[('$rank', '$cause')]"
	is "the rules name the rank that is slowed by $kind and the cause" "$(ask $prometheus 'sorted({(s["metric"]["rank"], s["metric"]["part"]) for s in d})' "topk by (training_job, rank, instance) (1, avg_over_time(tactus:straggler_cause:ratio_5m{training_job=\"$name\"}[8s]) and count_over_time(tactus:straggler_cause:ratio_5m{training_job=\"$name\"}[8s]) >= 5)")" "[('$rank', '$part')]"
	fleet --job "$name" >"$scratch/words" 2>&1
	like "the rank that is slowed by $kind is told in words" "$(cat "$scratch/words")" "rank $rank on 10\.213\.[12]\.2:9783 holds the job up by $words: [0-9]+ % of a step"
	say_measured "$name: $(grep 'holds the job' "$scratch/words")"
	enough "$name"
done <<'END'
slow-data 2 data data data its.DataLoader
slow-lock 5 lock lock lock its.lock
slow-cpu 6 hog cpu cpu_wait its.CPU
slow-gpu 1 sync gpu sync its.GPU
END
ends "a job of which nothing is known is said so" 1 'nothing is known of steps of job nobody' "${in_hub[@]}" "$tactus" fleet --prometheus $prometheus --job nobody
for first in 0 4; do echo "end" >"$scratch/order-$first"; done
done_testing

# Eight ranks of a training-like loop, four each in two network namespaces that a Prometheus gathers from; one of them is slowed. Source it after tap.sh, metrics.sh and netns.sh,
# and call gather_ranks. libcuda and libnccl are doubles (tests/fakes).
# shellcheck shell=bash disable=SC2154,SC2034

pids=()
# shellcheck disable=SC2317
cleanup() {
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
	wait
	drop_namespaces
	rm -rf "$scratch"
}
# gather_ranks: the two machines, and a Prometheus with the shipped rules that gathers from them. Skips the rest of the test where that cannot be.
gather_ranks() {
	local first in address
	if ! command -v prometheus >/dev/null || ! command -v ip >/dev/null; then
		skip "a rank that holds others up is found" "prometheus or iproute2 is not installed"
		done_testing
	fi
	if ! make_namespaces >"$scratch/netns" 2>&1; then
		drop_namespaces
		skip "a rank that holds others up is found" "no network namespaces here: $(tail -n 1 "$scratch/netns")"
		done_testing
	fi
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
		RANK=\$rank TORCHELASTIC_RUN_ID=\$job WORLD_SIZE=8 FAKE_NCCL_BARRIER=$scratch/barrier-\$job timeout 150 build/workloads/rank $cuda $nccl 1000 \$own 25 >/dev/null 2>>$scratch/ranks-err &
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
	short_rules 60s # as long as fleet looks back
	write_config "$scratch/token" "$scratch/cert.pem"
	start_prometheus "$scratch/prometheus.yml"
	pids+=("$gatherer")
	asks_until "both machines are scraped" 2 "$prometheus" 'len(d)' 'up == 1'
}
fleet() { "${in_hub[@]}" "$tactus" fleet --prometheus "$prometheus" --window 60s "$@"; }
# begin NAME SLOW KIND: runs it on both machines, until all ranks have done steps enough, however busy the machine is
begin() {
	local first from=$SECONDS
	head -c 64 /dev/zero >"$scratch/barrier-$1"
	for first in 0 4; do echo "$1 $2 $3" >"$scratch/order-$first"; done
	while ((SECONDS < from + 120)); do
		[ "$(ask "$prometheus" 'min([float(s["value"][1]) for s in d] if len(d) == 8 else [0]) >= 60' "tactus_rank_steps_total{training_job=\"$1\"}")" != True ] || { sleep 8; return; }
		sleep 0.5
	done
	flunk "all ranks of $1 do sixty steps within two minutes" "$(tail -n 5 "$scratch/ranks-err")"
}
enough() { touch "$scratch/enough-$1"; }
end_ranks() { for first in 0 4; do echo "end" >"$scratch/order-$first"; done; }
# blames_nobody NAME: of eight ranks that are equal
blames_nobody() {
	begin "$1" none none
	fleet --job "$1" --json >"$scratch/equal" 2>"$scratch/err"
	is "all eight ranks of $1 are compared" "$(json 'sorted(int(r["rank"]) for r in rows)' <"$scratch/equal")" "[0, 1, 2, 3, 4, 5, 6, 7]"
	is "nobody of $1 is blamed, since all are equal" "$(json '[(r["rank"], r["cause"]) for r in rows if r["cause"] != "none"]' <"$scratch/equal")" "[]"
	say_measured "$1: $(json '[(r["rank"], r["steps"], r["others_percent"]) for r in rows]' <"$scratch/equal")"
	enough "$1"
}
# finds_rank NAME RANK KIND CAUSE WORDS: runs it, and asks 'tactus fleet' and the rules
finds_rank() {
	begin "$1" "$2" "$3"
	fleet --job "$1" --json >"$scratch/$1" 2>"$scratch/err"
	is "rank $2 of $1, which is slowed by $3, is found, its cause is named, and nobody else is blamed" "$(json '[(r["rank"], r["cause"]) for r in rows if r["cause"] != "none"]' <"$scratch/$1")" "[('$2', '$4')]"
	is "the rules name rank $2 of $1, which is slowed by $3, and the cause" "$(ask "$prometheus" 'sorted({(s["metric"]["rank"], s["metric"]["cause"]) for s in d})' "tactus:straggler_cause:ratio_5m{training_job=\"$1\"}")" "[('$2', '$4')]"
	fleet --job "$1" >"$scratch/words" 2>&1
	like "rank $2 of $1, which is slowed by $3, is told in words" "$(cat "$scratch/words")" "rank $2 on 10\.213\.[12]\.2:9783 $5"
	say_measured "$1: $(grep -E 'holds the job|is late' "$scratch/words")"
	enough "$1"
}

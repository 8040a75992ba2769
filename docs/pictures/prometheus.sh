#!/usr/bin/env bash
# The screen of docs/fleet.md: eight ranks of a training-like loop, four each in two network namespaces, a Prometheus that gathers from both, and its own web page
# with two queries of deploy/grafana/tactus.json. As root, two minutes: docs/pictures/prometheus.sh [FILE.png]
cd "$(dirname "$0")/../.." || exit 1
out=${1:-$PWD/docs/pictures/prometheus.png}
. tests/tap.sh
. tests/metrics.sh
. tests/netns.sh

pids=()
# shellcheck disable=SC2317
cleanup() {
	kill "${pids[@]}" 2>/dev/null
	wait
	drop_namespaces
	rm -rf "$scratch"
}
trap cleanup EXIT
make_namespaces || exit 1
export TACTUS_NVIDIA_MAJORS=1,5
cuda=$PWD/build/workloads/libcuda.so.1 nccl=$PWD/build/workloads/libnccl.so
head -c 24 /dev/urandom | base64 | tr -d '\n' >"$scratch/token"
make_certificate "$address_a" "$address_b"
head -c 64 /dev/zero >"$scratch/barrier"
# The first minute all ranks are equal, in the second rank 2's DataLoader is slow.
cat >"$scratch/ranks.sh" <<END
#!/bin/bash
sleep 5
for slow in none 2; do
	for ((rank = \$1; rank < \$1 + 4; rank++)); do
		[ \$rank = \$slow ] && own=data || own=none
		RANK=\$rank TORCHELASTIC_RUN_ID=llama WORLD_SIZE=8 FAKE_NCCL_BARRIER=$scratch/barrier-\$slow timeout 50 build/workloads/rank $cuda $nccl 1000 \$own 25 >/dev/null 2>&1 &
	done
	wait
done
END
chmod +x "$scratch/ranks.sh"
for slow in none 2; do head -c 64 /dev/zero >"$scratch/barrier-$slow"; done
for first in 0 4; do
	in=("${in_a[@]}") address=$address_a
	[ $first = 0 ] || in=("${in_b[@]}") address=$address_b
	serve "$scratch/err-$first" "${in[@]}" "$tactus" serve --metrics "$address:9783" --token-file "$scratch/token" --tls-cert "$scratch/cert.pem" --tls-key "$scratch/key.pem" --cuda --library "$cuda" --without launch,gpu,wine,input,frame,socket,sound,learned -- "$scratch/ranks.sh" $first
	pids+=("$server")
done
# shellcheck disable=SC2119 # others say how long
short_rules
write_config "$scratch/token" "$scratch/cert.pem"
start_prometheus "$scratch/prometheus.yml"
pids+=("$gatherer")
sleep 100
escaped() { python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1]))' "$1"; }
page="http://127.0.0.1:9090/graph?g0.expr=$(escaped 'tactus:rank_share:ratio_5m{part="collective"}')&g0.tab=0&g0.stacked=0&g0.range_input=2m&g1.expr=$(escaped 'tactus:straggler_cause:ratio_5m > 0.05')&g1.tab=0&g1.stacked=0&g1.range_input=2m"
"${in_hub[@]}" "$tactus" fleet --prometheus http://127.0.0.1:9090 --job llama --window 30s
"${in_hub[@]}" chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/chromium" --window-size=1100,1620 --virtual-time-budget=20000 --screenshot="$scratch/page.png" "$page" >"$scratch/chromium.log" 2>&1
cp "$scratch/page.png" "$out"

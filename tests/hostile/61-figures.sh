#!/usr/bin/env bash
# A user beside 'tactus serve --metrics' and root's 'tactus report --serve': processes of his that claim another user's training job, names made to break a
# scrape, connections that hold on, and the page of what root sees.
. tests/tap.sh

chmod 755 "$scratch"
he=(setpriv --reuid 65534 --regid 65534 --clear-groups)
honest=(setpriv --reuid 65533 --regid 65533 --clear-groups)
cp build/workloads/pace "$scratch/pace"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
sensors=launch,gpu,wine,input,frame,socket,sound,names,learned
"$tactus" serve --metrics 127.0.0.1:0 --without "$sensors" >"$scratch/out" 2>"$scratch/err" &
server=$!
pids+=("$server")
wait_for "$scratch/err" 'figures are at'
url=$(sed -n 's/.*figures are at //p' "$scratch/err")
scrape() { curl -s --max-time 60 -H 'Accept: application/openmetrics-text' "$url"; }
value() { scrape | sed -n "s/^$1 //p"; }
cpu_s() { awk '{ print ($14 + $15) / 100 }' "/proc/$1/stat"; }

# The job is the honest user's; then another claims the same rank, and others of it.
SLURM_JOB_ID=4711 SLURM_PROCID=0 "${honest[@]}" "$scratch/pace" 20000 1000 100000 >/dev/null &
rank=$!
pids+=("$rank")
for _ in $(seq 100); do
	[ -z "$(value 'tactus_rank_cpu_seconds_total{training_job="4711",rank="0"}')" ] || break
	sleep 0.5
done
holds "a rank of a training job is among the figures" test -n "$(value 'tactus_rank_cpu_seconds_total{training_job="4711",rank="0"}')"
# What figures take at all is there by now.
answerer=$(pgrep -P $server tactus-metrics)
cost_before=$(cost $server) answerer_before=$(cost "$answerer")
SLURM_JOB_ID=4711 SLURM_PROCID=0 "${he[@]}" "$scratch/pace" 0 1 100000 >/dev/null &
forger=$!
pids+=("$forger")
for number in 1 2 3; do
	SLURM_JOB_ID=4711 SLURM_PROCID=$number "${he[@]}" "$scratch/pace" 50000 100 100000 >/dev/null &
	pids+=($!)
done
TACTUS_JOB=$'x"} 1\ntactus_evil{a="\\' TACTUS_RANK=7 "${he[@]}" "$scratch/pace" 50000 100 100000 >/dev/null &
pids+=($!)
for _ in $(seq 100); do
	[ "$(awk "BEGIN { print ($(cpu_s $forger) > 2) }")" = 0 ] || break
	sleep 0.2
done
sleep 1
scrape >"$scratch/scrape"
counted=$(sed -n 's/^tactus_rank_cpu_seconds_total{training_job="4711",rank="0"} //p' "$scratch/scrape")
say_measured "the honest rank used $(cpu_s $rank) s by the kernel's account, its forger $(cpu_s $forger) s; counted for the rank: $counted s"
holds "another user's process adds nothing to the figures of a job's rank" awk "BEGIN { exit !($counted <= $(cpu_s $rank) + 0.05) }"
is "another user's processes make no further ranks of a job" "$(grep -c '^tactus_rank_cpu_seconds_total{training_job="4711"' "$scratch/scrape")" 1
is "another user's processes are ranks of a job of his own" "$(grep -c '^tactus_rank_cpu_seconds_total{training_job="4711#65534"' "$scratch/scrape")" 4
holds "another user's claims to a job are counted" test "$(sed -n 's/^tactus_ranks_apart_total //p' "$scratch/scrape")" -ge 4
is "a job's name made to break a scrape breaks no line" "$(grep -vcE '^(# |tactus_[a-z_]+(\{[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*\})? [0-9+.eInf-]+( #.*)?$)' "$scratch/scrape")" 0
is "a job's name made to break a scrape makes no figure" "$(grep -c '^tactus_evil' "$scratch/scrape")" 0
is "no series is there twice" "$(grep -v '^#' "$scratch/scrape" | sed 's/ .*//' | sort | uniq -d | wc -l)" 0

# He claims the next job before it is there: numbers of jobs can be guessed.
SLURM_JOB_ID=4712 SLURM_PROCID=0 "${he[@]}" "$scratch/pace" 20000 100 100000 >/dev/null &
pids+=($!)
until_there() {
	for _ in $(seq 100); do
		[ -z "$(value "tactus_rank_cpu_seconds_total{training_job=\"$1\",rank=\"0\"}")" ] || return 0
		sleep 0.2
	done
	return 1
}
holds "a job that a user claims is among the figures" until_there 4712
SLURM_JOB_ID=4712 SLURM_PROCID=0 "${honest[@]}" "$scratch/pace" 20000 1000 100000 >/dev/null &
pids+=($!)
holds "a job that another user claimed before it came is among the figures, by its user" until_there '4712#65533'

# Connections that hold on: some silent, some that asked and read nothing.
cat >"$scratch/hold.py" <<'END'
import socket, sys, time
port, seconds, path = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
until, held = time.time() + seconds, []
print("holding", flush=True)
while time.time() < until:
    try:
        s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048); s.settimeout(5)
        s.connect(("127.0.0.1", port))
        if len(held) % 2: s.send(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        held.append(s)
        if len(held) > 200: held.pop(0).close()
    except OSError: pass
    time.sleep(0.005)
END
chmod 644 "$scratch/hold.py"
hold() {
	"${he[@]}" /usr/bin/python3 "$scratch/hold.py" "$1" "$2" "$3" >"$scratch/holding" 2>&1 &
	holder=$!
	pids+=("$holder")
	wait_for "$scratch/holding" holding
	sleep 1
}
port=$(sed -E 's|.*:([0-9]+)/.*|\1|' <<<"$url")
fds() { find "/proc/$1/fd" -mindepth 1 | wc -l; }
before=$(fds $server)
hold "$port" 6 /metrics
for i in 1 2 3; do
	holds "a scrape is answered beside a user who holds connections, time $i" sh -c "curl -s --max-time 30 '$url' | grep -q '^tactus_'"
done
is "a user who holds connections takes no descriptor of who watches" "$(fds $server)" "$before"
kill $holder 2>/dev/null
wait $holder 2>/dev/null
# Rings become resident as others on the machine fill them. Who is called has none.
costs_as_before "serve beside a user who claims ranks and holds connections" $server "$cost_before" 32768
costs_as_before "who answers scrapes beside a user who holds connections" "$answerer" "$answerer_before" 1024 40
kill -INT $server
wait $server
is "serve ends with status 0 after a hostile user" $? 0

: >"$scratch/err"
"$tactus" report --serve 127.0.0.1:0 >"$scratch/out" 2>"$scratch/err" &
server=$!
pids+=("$server")
wait_for "$scratch/err" 'the page is at'
url=$(grep -o 'http://[^ ]*' "$scratch/err" | head -n 1)
like "the page of what root sees takes a token at this machine's own address too" "$url" '\?token=[0-9a-f]{32}$'
is "a user without the token gets nothing of what root sees" "$("${he[@]}" curl -s --max-time 30 -o "$scratch/got" -w '%{http_code} %{size_download}' "${url%%\?*}records" 2>/dev/null)" "403 0"
port=$(sed -E 's|.*:([0-9]+)/.*|\1|' <<<"$url")
# What a page takes at all is there from the first one on.
curl -s --max-time 60 -o "$scratch/page" "$url"
answerer=$(pgrep -P $server tactus-page)
cost_before=$(cost $server) answerer_before=$(cost "$answerer")
hold "$port" 15 "/${url#*127.0.0.1:*/}"
is "the page is answered beside a user who has the token and does not read" "$(curl -s --max-time 60 -o "$scratch/page" -w '%{http_code}' "$url")" 200
kill $holder 2>/dev/null
wait $holder 2>/dev/null
costs_as_before "report --serve beside a user who holds connections" $server "$cost_before" 65536
costs_as_before "who answers for the page beside a user who holds connections" "$answerer" "$answerer_before" 1024 40
kill -INT $server
wait $server
is "report --serve ends with status 0 after a hostile user" $? 0
done_testing

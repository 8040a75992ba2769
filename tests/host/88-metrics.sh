#!/usr/bin/env bash
# 'tactus serve --metrics' on real hooks: what Prometheus's own tools say of it, its figures against the kernel's, who is answered, and how many series there are.
. tests/tap.sh
. tests/metrics.sh

sensors=launch,gpu,wine,input,frame,socket,sound,names
ends "serve without anything to serve is bad usage" 2 'give --metrics' "$tactus" serve
ends "--metrics of what is no address is bad usage" 2 'no address and port' "$tactus" serve --metrics here
head -c 24 /dev/urandom | base64 | tr -d '\n' >"$scratch/token"
make_certificate 127.0.0.1
tls=(--tls-cert "$scratch/cert.pem" --tls-key "$scratch/key.pem")
for command in serve "run --actuator none"; do
	# shellcheck disable=SC2086
	for address in 0.0.0.0:0 '[::]:0' 192.0.2.1:0; do
		ends "$command at $address without token and TLS is refused" 1 'others reach that address: give a token with --token-file and a certificate' "$tactus" $command --metrics "$address"
	done
	# shellcheck disable=SC2086
	ends "$command for others with a token and without TLS is refused" 1 'others reach that address: give a certificate' "$tactus" $command --metrics 0.0.0.0:0 --token-file "$scratch/token"
	# shellcheck disable=SC2086
	ends "$command for others with TLS and without a token is refused" 1 'others reach that address: give a token with --token-file, or' "$tactus" $command --metrics 0.0.0.0:0 "${tls[@]}"
done
ends "a certificate without its key is bad usage" 2 'go together' "$tactus" serve --metrics 0 --tls-cert "$scratch/cert.pem"
ends "a certificate that is not there is named" 1 'nothing/here: No such file' "$tactus" serve --metrics 0 --tls-cert "$scratch/nothing/here" --tls-key "$scratch/key.pem"
ends "a file that is no certificate is named" 1 'token: is no certificate in PEM' "$tactus" serve --metrics 0 --tls-cert "$scratch/token" --tls-key "$scratch/key.pem"
openssl ecparam -name prime256v1 -genkey -noout -out "$scratch/other.pem" 2>/dev/null
ends "a key that is another's is named" 1 'other.pem: is not the key of that certificate' "$tactus" serve --metrics 0 --tls-cert "$scratch/cert.pem" --tls-key "$scratch/other.pem"
ends "a token file that is not there is named" 1 'nothing/here: No such file' "$tactus" serve --metrics 0 --token-file "$scratch/nothing/here"
echo short >"$scratch/short"
ends "a token that is too short is refused" 1 'no token: 16 to 128' "$tactus" serve --metrics 0 --token-file "$scratch/short"
ends "--groups without --metrics is bad usage of run" 2 'are for --metrics' "$tactus" run --groups 5
if ! command -v promtool >/dev/null || ! has_parser; then
	skip "Prometheus's tools read what is served" "prometheus and python3-prometheus-client are not installed"
	done_testing
fi

# A loop that waits to be told to begin, works, and waits to be told to end: while it sleeps, the kernel's own count of it stands still.
mkfifo "$scratch/go" "$scratch/end"
cat >"$scratch/loop.py" <<'PYTHON'
import os, sys
open(sys.argv[1]).read()
total = 0
for i in range(40):
    for j in range(100000):
        total += j
    os.sched_yield()
open(sys.argv[2], "w").write("done\n")
open(sys.argv[3]).read()
PYTHON
serve "$scratch/err" "$tactus" serve --metrics 127.0.0.1:0 --without "$sensors" -- env TACTUS_JOB=a-job TACTUS_RANK=6 python3 "$scratch/loop.py" "$scratch/go" "$scratch/used" "$scratch/end"
# sleeps: until the loop has slept for half a second, by the kernel's count of its runs
sleeps() {
	local i before='' now
	for ((i = 0; i < 240; i++)); do
		loop=$(pgrep -P $server -x python3)
		now=$([ -z "$loop" ] || cat "/proc/$loop/schedstat")
		[ -z "$now" ] || [ "$now" != "$before" ] || break
		before=$now
		sleep 0.5
	done
}
sleeps
curl -sS "$url" >"$scratch/plain"
sleep 1.1 # what is served is at most a second old
scrape "$scratch/first"
read -r cpu_first wait_first _ <"/proc/$loop/schedstat"
echo >"$scratch/go"
wait_for "$scratch/used" 'done'
sleeps
sleep 1.1
scrape "$scratch/second"
read -r cpu_second wait_second _ <"/proc/$loop/schedstat"
promtool check metrics <"$scratch/plain" >"$scratch/lint" 2>&1
is "promtool has nothing to say of the figures" "$? $(cat "$scratch/lint")" "0 "
is "no label has a thread's number" "$(of "$scratch/second" 'keys & {"tid", "pid", "thread", "comm"}')" "set()"
is "labels are few words" "$(of "$scratch/second" 'sorted(keys - {"version", "kernel", "role", "tier", "le", "distance", "state", "kind", "group", "training_job", "rank", "part", "cause", "sensor", "driver", "gpu", "by", "what", "result", "decision", "event", "process"})')" "[]"
# grown NAME: of a figure from the first scrape to the second
grown() { python3 -c "print($(of "$scratch/second" "value('$1')") - $(of "$scratch/first" "value('$1')"))"; }
cpu=$(grown tactus_cpu_seconds_total) waits=$(grown tactus_wait_seconds_sum)
say_measured "CPU time $cpu s, by the kernel's own count $(((cpu_second - cpu_first) / 1000)) us; waits $waits s, by the kernel's $(((wait_second - wait_first) / 1000)) us"
# Time of interrupts on its CPU counts here, and not in the kernel's figure.
holds "CPU time is what the kernel counts, by a tenth and 5 ms" python3 -c "import sys; want = ($cpu_second - $cpu_first) / 1e9; sys.exit(abs($cpu - want) > want / 10 + 0.005)"
holds "waits are what the kernel counts, by a twentieth and 5 ms" python3 -c "import sys; want = ($wait_second - $wait_first) / 1e9; sys.exit(abs($waits - want) > want / 20 + 0.005)"
is "a rank has its job's name and its number" "$(of "$scratch/second" 'labels("tactus_rank_cpu_seconds_total")')" "[{'training_job': 'a-job', 'rank': '6'}]"
is "a rank has the CPU time of its process" "$(printf '%.6f' "$(grown tactus_rank_cpu_seconds_total)")" "$(printf '%.6f' "$cpu")"
is "waits of each role add up to their count" "$(of "$scratch/second" 'value("tactus_wait_seconds_bucket", le="+Inf") == value("tactus_wait_seconds_count")')" True
cat >"$scratch/grow.py" <<'PYTHON'
import sys
def read(path):
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in open(path) if "_total" in line and line[0] != "#"}
first, second = read(sys.argv[1]), read(sys.argv[2])
print([name for name, value in first.items() if second.get(name, -1) < value])
PYTHON
is "what is counted only grows" "$(python3 "$scratch/grow.py" "$scratch/first" "$scratch/second")" "[]"
is "groups together have the CPU time of roles" "$(of "$scratch/second" 'abs(value("tactus_group_cpu_seconds_total") - value("tactus_cpu_seconds_total")) < 1e-6')" True
page_process=$(pgrep -P $server -x tactus-metrics)
python3 tests/metrics_requests.py "$port" >"$scratch/requests" 2>"$scratch/requests-err"
is "requests for figures come to their end" "$? $(cat "$scratch/requests-err")" "0 "
checks_of "$scratch/requests"
status_of() { awk -v field="$1:" '$1 == field { print $2 }' "/proc/$page_process/status"; }
is "what answers scrapes has no capability, and only few system calls" "$(status_of CapEff) $(status_of NoNewPrivs) $(status_of Seccomp)" "0000000000000000 1 2"
echo >"$scratch/end"
wait $server
is "serve ends with its command, and gives its status" $? 0

# With TLS, at an address that others reach: what they get by it, and what without.
serve "$scratch/err" "$tactus" serve --metrics 0.0.0.0:0 --token-file "$scratch/token" "${tls[@]}" --without "$sensors" -- sleep 600
like "where figures are is said with TLS" "$url" '^https://0\.0\.0\.0:[0-9]+/metrics$'
url=https://127.0.0.1:$port/metrics
bearer="Authorization: Bearer $(cat "$scratch/token")"
# by_tls OPTIONS...: the status of an answer, or what curl says of none
by_tls() { curl -sS --max-time 60 --cacert "$scratch/cert.pem" -o "$scratch/by-tls" -w '%{http_code}' "$@" 2>&1; }
is "a scrape by TLS with the token is answered" "$(by_tls -H "$bearer" "$url")" 200
is "what a scrape by TLS gets is whole" "$(promtool check metrics <"$scratch/by-tls" 2>&1)$(grep -c '^tactus_self_readings_total' "$scratch/by-tls")" 1
is "a scrape by TLS without the token is refused" "$(by_tls "$url")" 403
like "a scrape without TLS gets nothing where TLS is asked for" "$(by_tls -H "$bearer" "http://127.0.0.1:$port/metrics" | tr '\n' ' ')" '^curl: .*000 ?$'
like "who does not know the certificate does not get as far as to send its token" "$(curl -sS --max-time 60 -H "$bearer" "$url" 2>&1)" 'self.signed certificate'
like "TLS 1.1 is refused" "$(openssl s_client -connect "127.0.0.1:$port" -tls1_1 -cipher 'DEFAULT@SECLEVEL=0' </dev/null 2>&1)" 'protocol version|no protocols available|alert'
like "a cipher that does not authenticate is refused" "$(openssl s_client -connect "127.0.0.1:$port" -tls1_2 -cipher 'ECDHE-ECDSA-AES128-SHA@SECLEVEL=0' </dev/null 2>&1)" 'handshake failure'
python3 tests/tls_requests.py "$port" "$(cat "$scratch/token")" "$scratch/cert.pem" >"$scratch/requests" 2>"$scratch/requests-err"
is "requests by TLS come to their end" "$? $(cat "$scratch/requests-err")" "0 "
checks_of "$scratch/requests"
page_process=$(pgrep -P $server -x tactus-metrics)
is "what speaks TLS has no capability, and only few system calls" "$(status_of CapEff) $(status_of NoNewPrivs) $(status_of Seccomp)" "0000000000000000 1 2"
kill $server
wait $server

# With a token, and many threads.
serve "$scratch/err" "$tactus" serve --metrics 127.0.0.1:0 --token-file "$scratch/token" --without "$sensors" -- build/workloads/crowd wake 4000 400
python3 tests/metrics_requests.py "$port" "$(cat "$scratch/token")" >"$scratch/requests" 2>"$scratch/requests-err"
is "requests with a token come to their end" "$? $(cat "$scratch/requests-err")" "0 "
checks_of "$scratch/requests"
# They are many: beside other work it takes a while until all of them have begun.
for _ in $(seq 60); do
	curl -sS -H "Authorization: Bearer $(cat "$scratch/token")" -H 'Accept: application/openmetrics-text' "$url" >"$scratch/crowd"
	threads=$(of "$scratch/crowd" 'int(value("tactus_active_threads"))')
	[ "$threads" -lt 3000 ] || break
	sleep 0.5
done
holds "thousands of threads are counted" test "$threads" -ge 3000
holds "series are few however many threads there are" test "$(grep -vc '^#' "$scratch/crowd")" -lt 1000
say_measured "$threads threads in $(grep -vc '^#' "$scratch/crowd") series, $(wc -c <"$scratch/crowd") bytes; a reading took $(of "$scratch/crowd" 'value("tactus_self_reading_seconds_total") / max(1, value("tactus_self_readings_total"))') s on the average, of all CPUs $(of "$scratch/crowd" 'value("tactus_machine_cpu_seconds_total", state="busy")') s were busy"
kill $server
wait $server
done_testing

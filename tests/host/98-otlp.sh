#!/usr/bin/env bash
# 'tactus serve --otlp' sends figures to a receiver of OTLP over HTTP (tests/otlp_receiver.py: a small one, there is no collector in Debian), goes on where there is none, and
# 'tactus run --metrics' serves what a run knows of itself.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/metrics.sh

export TACTUS_FEED=$scratch/feed
sensors=launch,gpu,wine,input,frame,socket,sound,names
ends "--every without --otlp is bad usage" 2 'is for --otlp' "$tactus" serve --metrics 0 --every 5s
ends "--otlp to what needs TLS says what to do" 1 'there is no TLS here' "$tactus" serve --otlp https://127.0.0.1:4318
for url in http://192.0.2.1:4318 'http://[2001:db8::1]:4318' http://0.0.0.0:4318; do
	ends "--otlp in plain text to $url, which is not this machine, is refused" 1 'in plain text: name a collector or a proxy on this machine' "$tactus" serve --otlp "$url"
done
ends "--otlp to what is no URL is refused" 1 'is no address such as' "$tactus" serve --otlp 127.0.0.1:4318
python3 tests/otlp_receiver.py >"$scratch/received" 2>"$scratch/receiver-err" &
receiver=$! runner='' beside=''
trap 'kill $receiver $server $runner $beside 2>/dev/null; wait; rm -rf "$scratch"' EXIT
wait_for "$scratch/received" '^[0-9]+$'
"$tactus" serve --otlp "http://127.0.0.1:$(head -n 1 "$scratch/received")" --every 500ms --without "$sensors" >/dev/null 2>"$scratch/err" &
server=$!
wait_for "$scratch/received" '"path".*"tactus_self_pushes": [1-9]' 600
tail -n +2 "$scratch/received" | tail -n 1 >"$scratch/last"
is "figures go to where collectors take them, as JSON" "$(json '(d["path"], d["type"])' <"$scratch/last")" "('/v1/metrics', 'application/json')"
is "a message of OTLP is as its rules have it" "$(json 'd["wrong"]' <"$scratch/last")" "[]"
is "a message of OTLP says whose figures they are" "$(json '(d["resource"]["service.name"], d["resource"]["host.name"])' <"$scratch/last")" "('tactus', '$(hostname)')"
holds "waits are in a message of OTLP" test "$(json 'int(d["sums"]["tactus_wait_seconds"])' <"$scratch/last")" -gt 0
say_measured "$(json 'len(d["sums"])' <"$scratch/last") metrics, $(wc -l <"$scratch/received") messages"
kill $receiver
wait_for "$scratch/err" 'figures could not be sent: http://127.0.0.1'
sleep 2
is "figures that nobody takes are reported once" "$(grep -c 'could not be sent' "$scratch/err")" 1
kill -INT $server
wait $server
is "who sends figures ends with status 0 on Ctrl-C" $? 0

serve "$scratch/run-err" "$tactus" run --actuator none --without "$sensors" --metrics 127.0.0.1:0
runner=$server
wait_for "$scratch/served-out" '^[0-9][0-9]:' 600
scrape "$scratch/run"
if has_parser; then
	is "a run says that it is up, and how it acts" "$(of "$scratch/run" '(int(value("tactus_run_up")), labels("tactus_run_acting"))')" "(1, [{'by': 'none'}])"
	holds "a run's figures have waits by role" test "$(of "$scratch/run" 'int(value("tactus_wait_seconds_count"))')" -gt 0
	"$tactus" serve --metrics 127.0.0.1:0 --without "$sensors" >/dev/null 2>"$scratch/beside" &
	beside=$!
	wait_for "$scratch/beside" 'figures are at' 600
	url=$(sed -n 's/^tactus: figures are at //p' "$scratch/beside")
	for i in $(seq 40); do
		scrape "$scratch/from-beside"
		[ "$(of "$scratch/from-beside" 'int(value("tactus_run_up"))')" != 1 ] || break
		sleep 0.5
	done
	is "who serves beside a run knows of it" "$(of "$scratch/from-beside" 'int(value("tactus_run_up"))')" 1
	say_measured "that took $i looks"
	kill $beside
	wait $beside
else
	skip "a run's figures are read" "python3-prometheus-client is not installed"
fi
kill -INT $runner
wait $runner
is "a run that serves figures ends with status 0 on Ctrl-C" $? 0
done_testing

#!/usr/bin/env bash
# Figures where a machine boots and lives on: at an address that it has only later, and with a token that is renewed while they are served; and what a run knows stays through a reload.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/metrics.sh

export TACTUS_FEED=$scratch/feed
space=tactus-boot$$ address=10.213.9.2 pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; ip netns delete $space 2>/dev/null; rm -rf "$scratch"' EXIT
head -c 24 /dev/urandom | base64 | tr -d '\n' >"$scratch/token"
make_certificate $address
if ip netns add $space 2>"$scratch/err" && ip -n $space link set lo up; then
	serve "$scratch/err" ip netns exec $space "$tactus" serve --metrics $address:9783 --token-file "$scratch/token" --tls-cert "$scratch/cert.pem" --tls-key "$scratch/key.pem" --without all
	pids+=("$server")
	like "serve at an address that the machine does not have says so" "$(cat "$scratch/err")" "$address:9783/: this machine does not have that address yet"
	figures() { ip netns exec $space curl -sS --max-time 60 --cacert "$scratch/cert.pem" -H "Authorization: Bearer $(cat "$scratch/token")" "https://$address:9783/metrics" 2>&1; }
	is "nobody is answered at an address that the machine does not have" "$(figures | grep -c '^tactus_build_info')" 0
	ip -n $space address add $address/24 dev lo
	is "who asks once the machine has the address is answered" "$(figures | grep -c '^tactus_build_info')" 1
	kill -INT "$(pgrep -P "$server" -x tactus || echo "$server")"
else
	skip "who asks once the machine has the address is answered" "there are no network namespaces: $(cat "$scratch/err")"
fi

serve "$scratch/run-err" "$tactus" run --actuator none --without launch,gpu,wine,input,frame,socket,sound,names,learned --metrics 127.0.0.1:0 --token-file "$scratch/token"
pids+=("$server")
wait_for "$scratch/run-err" 'watching'
build/workloads/pace 5000 200 300000 >/dev/null &
timed=$!
pids+=("$timed")
# role: of the thread with a timer, by the run itself
role() { "$tactus" why $timed --json | json "[(r['role'], r['tier']) for r in rows if r['tid'] == $timed][0]"; }
for _ in $(seq 600); do
	role_before=$(role 2>/dev/null)
	case $role_before in *critical*) break ;; esac
	sleep 0.1
done
like "the role of a thread with a timer is found out" "$role_before" 'latency-critical'
is "reload of a run whose token is what it was says nothing of it" "$("$tactus" reload)" reloaded
# At once, not once it was found out again.
is "the role of a thread stands right after a good reload" "$(role)" "$role_before"
head -c 24 /dev/urandom | base64 | tr -d '\n' >"$scratch/token"
is "reload of a run whose token was renewed says that it is not taken yet" "$("$tactus" reload)" "reloaded, but for the new token or certificate of --metrics: that counts at the next start"
kill -INT "$server"
wait "$server"
is "a run whose token was renewed ends with status 0" $? 0
done_testing

# Two machines as far as a network can tell, and a third that gathers from them: network namespaces with a cable to each. Source it after tap.sh; needs root.
# shellcheck shell=bash disable=SC2154

netns=tactus$$
# Addresses of the two, and how to run something in each.
address_a=10.213.1.2 address_b=10.213.2.2
in_a=(ip netns exec "$netns-a") in_b=(ip netns exec "$netns-b") in_hub=(ip netns exec "$netns-hub")
# The machines have no 'tactus run', whatever else runs on this one.
no_run=(sh -c 'mount -t tmpfs -o mode=755 tmpfs /run/tactus && exec "$@"' sh)
make_namespaces() {
	local one number=1
	install -d -m 755 /run/tactus
	for one in hub a b; do
		ip netns add "$netns-$one" && ip -n "$netns-$one" link set lo up || return 1
	done
	for one in a b; do
		ip -n "$netns-hub" link add name "to-$one" type veth peer name out netns "$netns-$one" &&
			ip -n "$netns-hub" address add 10.213.$number.1/24 dev "to-$one" && ip -n "$netns-hub" link set "to-$one" up &&
			ip -n "$netns-$one" address add 10.213.$number.2/24 dev out && ip -n "$netns-$one" link set out up || return 1
		number=2
	done
}
drop_namespaces() {
	local one
	for one in hub a b; do ip netns delete "$netns-$one" 2>/dev/null; done
}
# start_prometheus CONFIG: in the hub, its API at $prometheus; its log is $scratch/prometheus.log. $gatherer is it
start_prometheus() {
	"${in_hub[@]}" prometheus --config.file="$1" --storage.tsdb.path="$scratch/tsdb" --web.listen-address=127.0.0.1:9090 --enable-feature=exemplar-storage >"$scratch/prometheus.log" 2>&1 &
	gatherer=$!
	prometheus=http://127.0.0.1:9090
	wait_for "$scratch/prometheus.log" 'Server is ready to receive web requests|level=error'
}
# ask URL EXPRESSION [QUERY]: of Prometheus's answer `d`, a list of samples with labels `metric` and `value`
ask() {
	"${in_hub[@]}" curl -s --max-time 20 -G "$1/api/v1/query" --data-urlencode "query=$3" |
		python3 -c 'import json, sys; d = json.load(sys.stdin)["data"]["result"]; print('"$2"')' 2>&1 | tail -n 1
}
# asks_until NAME WANT URL EXPRESSION QUERY: until the answer is what is wanted, or is not for a minute
asks_until() {
	local got='' i
	for ((i = 0; i < 120; i++)); do
		got=$(ask "$3" "$4" "$5")
		[ "$got" != "$2" ] || break
		# Who is gone will not answer.
		[[ $got != *Error* ]] || ((i < 20)) || break
		sleep 0.5
	done
	is "$1" "$got" "$2"
}
# short_rules [WINDOW]: the shipped rules in $scratch, with windows and patience of seconds, so that a test need not wait for minutes
short_rules() {
	local file
	for file in tactus.rules.yml tactus.alerts.yml; do
		sed "s/\[5m\]/[${1:-15s}]/g; s/\[30m\]/[60s]/g; s/for: [0-9]*m/for: 2s/" "deploy/prometheus/$file" >"$scratch/$file"
	done
}
# write_config TOKEN-FILE CERTIFICATE
write_config() {
	cat >"$scratch/prometheus.yml" <<-END
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: [tactus.rules.yml, tactus.alerts.yml]
		scrape_configs:
		  - job_name: tactus
		    scrape_timeout: 1s
		    scheme: https
		    tls_config: {ca_file: $2}
		    authorization: {credentials_file: $1}
		    static_configs: [{targets: ["$address_a:9783", "$address_b:9783"]}]
	END
}

#!/usr/bin/env bash
# A real Prometheus gathers from two instances in two network namespaces: the shipped rules fire on a fault that is made and are silent without, the dashboard's queries are
# answered, and VictoriaMetrics takes the same.
. tests/tap.sh
. tests/metrics.sh
. tests/netns.sh

if ! command -v prometheus >/dev/null || ! command -v ip >/dev/null; then
	skip "Prometheus gathers from two instances" "prometheus or iproute2 is not installed"
	done_testing
fi
promtool test rules deploy/prometheus/tactus.test.yml >"$scratch/rules" 2>&1
is "the rules' own tests hold" "$?" 0
promtool check config deploy/prometheus/prometheus.yml >"$scratch/rules" 2>&1
is "the sample configuration is sound" "$?" 0
# Debian's Prometheus can't ask Kubernetes for pods: the rest of that configuration is what it can look at.
cp deploy/prometheus/tactus.rules.yml deploy/prometheus/tactus.alerts.yml "$scratch"
touch "$scratch/tls.crt" "$scratch/token"
python3 - "$scratch" >"$scratch/kubernetes.yml" <<'PYTHON'
import sys, yaml
config = yaml.safe_load(open("deploy/prometheus/kubernetes.yml"))
job = config["scrape_configs"][0]
assert job.pop("kubernetes_sd_configs")[0]["role"] == "pod"
print(yaml.safe_dump(config).replace("/etc/prometheus/tactus/", sys.argv[1] + "/"))
PYTHON
is "the configuration for a cluster is sound, but for asking Kubernetes" "$(promtool check config "$scratch/kubernetes.yml" 2>&1 | grep -c FAILED)" 0
is "the configuration for a cluster keeps the pods and the port of the DaemonSet with figures" "$(python3 - <<'PYTHON'
import re, yaml
keep, name = yaml.safe_load(open("deploy/prometheus/kubernetes.yml"))["scrape_configs"][0]["relabel_configs"]
pod = yaml.safe_load(open("deploy/kubernetes/daemonset.yaml"))["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"]
patch = yaml.safe_load(yaml.safe_load(open("deploy/kubernetes-figures/kustomization.yaml"))["patches"][0]["patch"])
(port,) = next(change["value"] for change in patch if change["path"].endswith("/ports"))
print(bool(re.fullmatch(keep["regex"], pod + ";" + port["name"])), name["target_label"])
PYTHON
)" "True instance"
if ! make_namespaces >"$scratch/netns" 2>&1; then
	drop_namespaces
	skip "Prometheus gathers from two instances" "no network namespaces here: $(tail -n 1 "$scratch/netns")"
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
head -c 24 /dev/urandom | base64 | tr -d '\n' >"$scratch/token"
make_certificate "$address_a" "$address_b"
printf '[roles]\nclocked = audio\n' >"$scratch/tactus.conf"
# In a, a thread of sound of which nothing else is wrong than that at a sign another process takes its CPU for 30 ms of each 50. In b there is nobody urgent.
cat >"$scratch/load-a.py" <<'PYTHON'
import ctypes, os, sys, threading, time
def urgent():
    ctypes.CDLL(None).prctl(15, b"clocked", 0, 0, 0)
    while True:
        time.sleep(0.005)
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
threading.Thread(target=urgent, daemon=True).start()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.2)
if os.fork() == 0:
    ctypes.CDLL(None).prctl(1, 9)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    while True:
        end = time.monotonic() + 0.03
        while time.monotonic() < end:
            pass
        time.sleep(0.02)
os.wait()
PYTHON
sensors=launch,gpu,wine,input,frame,socket,sound,learned
serve "$scratch/err-a" "${in_a[@]}" "${no_run[@]}" "$tactus" serve --config "$scratch/tactus.conf" --metrics "$address_a:9783" --token-file "$scratch/token" --tls-cert "$scratch/cert.pem" --tls-key "$scratch/key.pem" --without "$sensors" -- python3 "$scratch/load-a.py" "$scratch/fault"
server_a=$server
pids+=("$server_a")
serve "$scratch/err-b" "${in_b[@]}" "${no_run[@]}" "$tactus" serve --metrics "$address_b:9783" --token-file "$scratch/token" --tls-cert "$scratch/cert.pem" --tls-key "$scratch/key.pem" --without "$sensors" -- sleep 1000
server_b=$server
pids+=("$server_b")
# shellcheck disable=SC2119 # others say how long
short_rules
write_config "$scratch/token" "$scratch/cert.pem"
start_prometheus "$scratch/prometheus.yml"
pids+=("$gatherer")
asks_until "both instances are scraped, by TLS and their token" "['$address_a:9783', '$address_b:9783']" "$prometheus" 'sorted(s["metric"]["instance"] for s in d)' 'up == 1'
asks_until "the rules are evaluated" "['$address_a:9783', '$address_b:9783']" "$prometheus" 'sorted(s["metric"]["instance"] for s in d)' 'tactus:cpu_busy:ratio_5m'
asks_until "the thread of sound is known for one" "['$address_a:9783']" "$prometheus" 'sorted(s["metric"]["instance"] for s in d)' 'rate(tactus_wait_seconds_count{role="audio"}[5s]) > 10'
# On a machine that is too busy for it tactus does lose events, and then the alert that says so is right.
not_of_losses='alertstate="firing",alertname!~"TactusLosesEvents|TactusUrgentThreadsWait"'
wrong_of_losses='ALERTS{alertstate="firing",alertname="TactusLosesEvents"} unless on (instance) max_over_time(tactus:lost:rate5m[1m]) > 0.1'
is "no alert fires of the machine that has nothing to complain of" "$(ask "$prometheus" '[s["metric"]["alertname"] for s in d]' "ALERTS{$not_of_losses,instance=\"$address_b:9783\"}")" "[]"
is "no urgent thread waits too long, by the alerts, on the machine that has none" "$(ask "$prometheus" '[s["metric"]["alertname"] for s in d]' "ALERTS{alertstate=\"firing\",alertname=\"TactusUrgentThreadsWait\",instance=\"$address_b:9783\"}")" "[]"
touch "$scratch/fault"
asks_until "an alert fires of the machine whose urgent thread waits, and of it alone" "[('TactusUrgentThreadsWait', '$address_a:9783')]" "$prometheus" 'sorted((s["metric"]["alertname"], s["metric"]["instance"]) for s in d)' 'ALERTS{alertstate="firing",alertname="TactusUrgentThreadsWait"}'
say_measured "p99 of the urgent thread's waits: $(ask "$prometheus" '[s["value"][1] for s in d]' 'tactus:wait_seconds:p99_5m{tier="urgent"}') s"
is "no alert fires but of the urgent thread" "$(ask "$prometheus" '[s["metric"]["alertname"] for s in d]' "ALERTS{$not_of_losses}")" "[]"
is "an alert of losses fires only where something was lost" "$(ask "$prometheus" '[s["metric"]["instance"] for s in d]' "$wrong_of_losses")" "[]"
say_measured "lost: $(ask "$prometheus" '[(s["metric"]["__name__"], s["metric"].get("sensor"), s["value"][1]) for s in d]' '{__name__=~"tactus_lost_.*_total|tactus_unseen_.*_total|tactus_.*_refused_total"} > 0')"
# Others are in its way as well on a machine that has more to do; that one comes each 50 ms.
for _ in $(seq 120); do
	"${in_hub[@]}" curl -sS -G "$prometheus/api/v1/query_exemplars" --data-urlencode 'query=tactus_wait_seconds_bucket{tier="urgent"}' -d "start=$(($(date +%s) - 300))" -d "end=$(($(date +%s) + 60))" >"$scratch/exemplars"
	! grep -q '"behind":"python3"' "$scratch/exemplars" || break
	sleep 0.5
done
like "an exemplar of a long wait says who was in the way" "$(cat "$scratch/exemplars")" '"behind":"python3"'

# The dashboard's queries, each answered; those of what there is here with something in them.
python3 - >"$scratch/queries" <<'PYTHON'
import json
for panel in json.load(open("deploy/grafana/tactus.json"))["panels"]:
    for target in panel["targets"]:
        print(panel["title"], target["expr"].replace("$__rate_interval", "15s").replace("$instance", ".*").replace("$job", ".*"), sep="\t")
PYTHON
holds "the dashboard has its panels" test "$(wc -l <"$scratch/queries")" -ge 16
while IFS=$'\t' read -r title query; do
	samples=$(ask "$prometheus" 'len(d)' "$query")
	case $title in
	Waits* | CPU* | "Who waits"* | Moves* | "What tactus"*) holds "the dashboard's query of '$title' has something to show" test "$samples" -ge 1 ;;
	*) like "the dashboard's query of '$title' is answered" "$samples" '^[0-9]+$' ;;
	esac
done <"$scratch/queries"

# VictoriaMetrics, by the same configuration.
if command -v victoria-metrics >/dev/null; then
	sed '/rule_files/d; s/, evaluation_interval: 1s//' "$scratch/prometheus.yml" >"$scratch/victoria.yml"
	"${in_hub[@]}" victoria-metrics -storageDataPath="$scratch/victoria" -httpListenAddr=127.0.0.1:8428 -promscrape.config="$scratch/victoria.yml" >"$scratch/victoria.log" 2>&1 &
	pids+=($!)
	wait_for "$scratch/victoria.log" 'started server at|starting http server at|pprof handlers'
	asks_until "VictoriaMetrics takes the same from both" "['$address_a:9783', '$address_b:9783']" http://127.0.0.1:8428 'sorted(s["metric"]["instance"] for s in d)' 'tactus_build_info'
	asks_until "VictoriaMetrics answers for the histogram" "['$address_a:9783']" http://127.0.0.1:8428 '[s["metric"]["instance"] for s in d if float(s["value"][1]) > 0.005]' 'histogram_quantile(0.99, sum by (instance, le) (rate(tactus_wait_seconds_bucket{tier="urgent"}[15s])))'
else
	skip "VictoriaMetrics takes the same" "victoria-metrics is not installed"
fi
kill "$server_b"
wait "$server_b"
asks_until "an alert fires of the machine that gives no figures any more" "[('TactusDown', '$address_b:9783')]" "$prometheus" 'sorted((s["metric"]["alertname"], s["metric"]["instance"]) for s in d)' 'ALERTS{alertstate="firing",alertname="TactusDown"}'
done_testing

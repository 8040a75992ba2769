#!/usr/bin/env bash
# Who holds up a training job, by the shipped rules and by 'tactus fleet', from the same figures in a real Prometheus: jobs of which it is known, one for each cause and those of which
# nobody is late, and 30 made at random. What each says of each job is the same.
. tests/tap.sh
. tests/netns.sh

if ! command -v prometheus >/dev/null || ! command -v ip >/dev/null; then
	skip "the rules and fleet name the same rank and cause" "prometheus or iproute2 is not installed"
	done_testing
fi
# The rules by themselves, without waiting: promtool goes through ten minutes of each job's figures.
cp deploy/prometheus/tactus.rules.yml deploy/prometheus/tactus.alerts.yml "$scratch"
python3 tests/stragglers.py promtool >"$scratch/ranks.test.yml"
holds "the rules and the alert name the late rank and the cause of each job of which they are known, and nobody of the others" promtool test rules "$scratch/ranks.test.yml"
if ! make_namespaces >"$scratch/netns" 2>&1; then
	drop_namespaces
	skip "the rules and fleet name the same rank and cause" "no network namespaces here: $(tail -n 1 "$scratch/netns")"
	done_testing
fi
# shellcheck disable=SC2317
cleanup() {
	[ -z "${gatherer:-}" ] || kill "$gatherer" ${victoria:+"$victoria"} 2>/dev/null
	wait
	drop_namespaces
	rm -rf "$scratch"
}
trap cleanup EXIT
# Six minutes of figures that end now; what the rules make of them is made by Prometheus as it runs.
python3 tests/stragglers.py openmetrics "$(date +%s)" >"$scratch/figures"
holds "Prometheus takes the figures of all jobs" promtool tsdb create-blocks-from openmetrics "$scratch/figures" "$scratch/tsdb"
printf 'global: {evaluation_interval: 1s}\nrule_files: [tactus.rules.yml]\n' >"$scratch/prometheus.yml"
start_prometheus "$scratch/prometheus.yml"
asks_until "the rules are worked out" True "$prometheus" 'len(d) >= 51' 'count by (training_job) (tactus:rank_late:ratio_5m or tactus:rank_does:ratio_5m)'
sleep 2 # once more, from the first rule to the last
"${in_hub[@]}" curl -s --max-time 20 -G "$prometheus/api/v1/query" --data-urlencode 'query=tactus:straggler_cause:ratio_5m' >"$scratch/by-rules.json"
python3 - "$scratch/by-rules.json" >"$scratch/by-rules" <<'PYTHON'
import json, subprocess, sys
found = {}
for sample in json.load(open(sys.argv[1]))["data"]["result"]:
    labels = sample["metric"]
    found.setdefault(labels["training_job"], []).append((labels["rank"], labels["cause"]))
for job in subprocess.run(["python3", "tests/stragglers.py", "jobs"], stdout=subprocess.PIPE, text=True, check=True).stdout.split():
    print(job, sorted(found.get(job, [])), sep="\t")
PYTHON
mkdir "$scratch/fleet"
while read -r job; do
	"${in_hub[@]}" "$tactus" fleet --prometheus "$prometheus" --job "$job" --json >"$scratch/fleet/$job" 2>>"$scratch/err"
done < <(cut -f 1 "$scratch/by-rules")
is "fleet has nothing to complain of" "$(cat "$scratch/err")" ""
python3 - "$scratch/fleet" "$scratch/by-rules" >"$scratch/by-fleet" <<'PYTHON'
import json, sys
for job in (line.split("\t")[0] for line in open(sys.argv[2])):
    rows = [json.loads(line) for line in open(f"{sys.argv[1]}/{job}")]
    print(job, sorted((row["rank"], row["cause"]) for row in rows if row["cause"] != "none"), sep="\t")
PYTHON
is "the rules and fleet name the same rank and cause of each job" "$(diff "$scratch/by-rules" "$scratch/by-fleet" | head -n 20)" ""
while IFS=$'\t' read -r job want; do
	is "fleet names who is late of the job '$job' and by what, and nobody else" "$(awk -F '\t' -v job="$job" '$1 == job { print $2 }' "$scratch/by-fleet")" "$want"
done < <(python3 tests/stragglers.py wanted)
is "two ranks are not compared" "$(grep '^two	' "$scratch/by-rules" | cut -f 2)" "[]"
is "the rules say nothing of ranks that have hardly begun" "$(ask "$prometheus" 'len(d)' 'tactus:rank_share:ratio_5m{training_job="begun"}')" 0
ends "fleet says nothing of ranks that have hardly begun but that they are known" 1 'nothing is known of steps of job begun, but its ranks are: .*--cuda' "${in_hub[@]}" "$tactus" fleet --prometheus "$prometheus" --job begun
ends "fleet says of a job that is not known which are" 1 'nothing is known of steps of job 4711; known jobs: [a-z0-9]+, .* and [0-9]+ more$' "${in_hub[@]}" "$tactus" fleet --prometheus "$prometheus" --job 4711
# What speaks Prometheus's protocol, with a way of its own to add up what grows.
if command -v victoria-metrics >/dev/null; then
	"${in_hub[@]}" victoria-metrics -storageDataPath="$scratch/victoria" -httpListenAddr=127.0.0.1:8428 >"$scratch/victoria.log" 2>&1 &
	victoria=$!
	wait_for "$scratch/victoria.log" 'started server at|starting http server at|pprof handlers'
	awk '/^tactus/ { print $1, $2, $3 "000" }' "$scratch/figures" >"$scratch/figures-ms"
	holds "VictoriaMetrics takes the figures of all jobs" "${in_hub[@]}" curl -sf --max-time 60 --data-binary @"$scratch/figures-ms" http://127.0.0.1:8428/api/v1/import/prometheus
	"${in_hub[@]}" curl -s http://127.0.0.1:8428/internal/force_flush
	python3 tests/stragglers.py wanted >"$scratch/wanted"
	while IFS=$'\t' read -r job _; do
		"${in_hub[@]}" "$tactus" fleet --prometheus http://127.0.0.1:8428 --job "$job" --json 2>&1 | json '"'"$job"'\t" + str(sorted((r["rank"], r["cause"]) for r in rows if r["cause"] != "none"))' 2>/dev/null || echo "$job: no answer"
	done <"$scratch/wanted" >"$scratch/by-victoria"
	is "fleet names who is late of each job, and nobody else, where VictoriaMetrics is asked" "$(diff "$scratch/wanted" "$scratch/by-victoria")" ""
	kill $victoria
else
	skip "fleet names who is late of each job, and nobody else, where VictoriaMetrics is asked" "victoria-metrics is not installed"
fi
say_measured "of 30 jobs made at random: $(grep '^random' "$scratch/by-fleet" | cut -f 2 | tr -d '[]()' | sed "s/^'[0-9]*', //; s/^\$/nobody/" | sort | uniq -c | sort -rn | tr -s ' \n' ' ')"
done_testing

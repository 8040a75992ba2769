#!/usr/bin/env bash
# Who feeds a GPU by CUDA, and whom that one waits for, through threads and processes: urgent while it goes on, and no longer.
# A double of libcuda stands for NVIDIA's, which no machine of every day has.
. tests/tap.sh

cp build/workloads/libcuda.so.1 "$scratch/libcuda.so.1"
library=$scratch/libcuda.so.1
"$tactus" roles --follow --json >"$scratch/roles" 2>"$scratch/err" &
watcher=$!
trap 'kill $watcher $trainer 2>/dev/null; rm -rf "$scratch"' EXIT
wait_for "$scratch/err" watching
build/workloads/train "$library" 300 >"$scratch/said" &
trainer=$!
tid_of() { sed -n "s/^$1 //p" "$scratch/said" | sort -n | sed -n "${2:-1}p"; }
# line_of TID TIER WORDS: of roles --json
line_of() { printf '"tid":%s,.*"tier":"%s".*"evidence":"%s' "$1" "$2" "$3"; }
wait_for "$scratch/said" '^backward [0-9]'
for name in trainer collector backward; do wait_for "$scratch/said" "^$name [0-9]+$"; done
while [ "$(grep -c ^loader "$scratch/said")" -lt 2 ]; do sleep 0.1; done

wait_for "$scratch/roles" "$(line_of "$(tid_of trainer)" latency-critical 'gave work to a GPU by CUDA')" &&
	pass "a thread that launches kernels is urgent, and CUDA is why"
for name in collector backward; do
	wait_for "$scratch/roles" "$(line_of "$(tid_of $name)" latency-critical '(urgent threads wait for it|woken)')" &&
		pass "a thread that the launching one waits for, $name, is urgent"
done
for n in 1 2; do
	wait_for "$scratch/roles" "$(line_of "$(tid_of loader $n)" latency-critical '')" &&
		pass "a process whose batches are waited for, loader $n, is urgent"
done
sleep 3
kill -USR1 $trainer
stopped=$(wc -l <"$scratch/roles")
tail -n +$((stopped + 1)) -f "$scratch/roles" >"$scratch/after" &
follower=$!
trap 'kill $watcher $trainer $follower 2>/dev/null; rm -rf "$scratch"' EXIT
for name in trainer collector backward; do
	wait_for "$scratch/after" "$(line_of "$(tid_of $name)" '(interactive|batch)' '')" &&
		pass "$name is no longer urgent when nothing is launched any more"
done
kill -INT $watcher
wait $watcher
python3 - "$scratch" "$stopped" <<'END' >"$scratch/judged"
import json, sys
said = [l.split() for l in open(sys.argv[1] + "/said")]
rows = [json.loads(l) for l in list(open(sys.argv[1] + "/roles"))[:int(sys.argv[2])]]
rows = [r for r in rows if r.get("record") == "role"]
names = {int(t): n for n, t in said if n != "steps"}
falls, since = 0, {}
for r in rows:
    if r["tid"] not in names:
        continue
    if r["tier"] == "latency-critical":
        since.setdefault(r["tid"], r["time_ns"])
    elif r["tid"] in since and names[r["tid"]] != "bystander":
        falls += 1
first = min(since.values())
print("# measured: urgent after the first of them:", ", ".join(f"{names[t]} {(s - first) / 1e9:.2f} s" for t, s in since.items()))
print("falls", falls)
print("bystander", sum(names.get(r["tid"]) == "bystander" and "wait for it" in r["evidence"] for r in rows))
END
grep '^#' "$scratch/judged"
is "who is waited for stays urgent while kernels are launched" "$(sed -n 's/^falls //p' "$scratch/judged")" 0
is "who only wakes an urgent thread is not held for one that it waits for" "$(sed -n 's/^bystander //p' "$scratch/judged")" 0
kill $trainer $follower
wait $trainer $follower 2>/dev/null
done_testing

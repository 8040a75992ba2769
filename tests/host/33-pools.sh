#!/usr/bin/env bash
# Whom urgent threads wait for where each single one is waited for seldom: a wide pool of processes that feeds a thread, a team that
# meets at a barrier, and a chain of processes that nobody answers. All are urgent while it goes on, and stay so.
. tests/tap.sh

printf '[roles]\nfeeder = audio\nmaster = audio\nplayer = audio\n' >"$scratch/conf"
"$tactus" roles --follow --json --config "$scratch/conf" --without launch,gpu,feed,wine,input,frame,socket,sound,learned,display >"$scratch/roles" 2>"$scratch/err" &
watcher=$! worker=
trap 'kill $watcher $worker 2>/dev/null; rm -rf "$scratch"' EXIT
wait_for "$scratch/err" watching
build/workloads/pools 8 60 >"$scratch/said" &
worker=$!
# Who is urgent now, of those of that name; and who fell back, of all.
judge() {
	python3 - "$scratch" "$1" <<'END'
import json, sys
names = {int(t): n for n, t in (l.split() for l in open(sys.argv[1] + "/said"))}
first, now, falls = {}, {}, 0
for line in open(sys.argv[1] + "/roles"):
    try:
        row = json.loads(line)
    except ValueError:
        continue
    if row.get("record") != "role" or row["tid"] not in names:
        continue
    urgent = row["tier"] == "latency-critical"
    falls += now.get(row["tid"], False) and not urgent
    now[row["tid"]] = urgent
    if urgent:
        first.setdefault(row["tid"], row["time_ns"])
if sys.argv[2] == "falls":
    print(falls)
elif sys.argv[2] == "measured":
    began = min(first.values())
    print("# measured: urgent after the first:", ", ".join(f"{names[t]} {(s - began) / 1e9:.2f} s" for t, s in first.items()))
else:
    print(sum(now.get(t, False) for t, n in names.items() if n == sys.argv[2]))
END
}
for _ in $(seq 40); do
	sleep 0.5
	[ "$(judge loader) $(judge team) $(judge filter) $(judge decode)" != "8 8 1 1" ] || break
done
judge measured
is "eight processes that feed an urgent thread in turn, each seldom, are urgent" "$(judge loader)" 8
is "eight threads that meet an urgent one at a barrier are urgent" "$(judge team)" 8
is "process that hands an urgent one its work without being answered is urgent" "$(judge filter)" 1
is "process that hands work to that one is urgent" "$(judge decode)" 1
sleep 8
is "nobody of them fell back while it went on" "$(judge falls)" 0
kill -INT $watcher
wait $watcher
kill $worker
wait $worker 2>/dev/null
done_testing

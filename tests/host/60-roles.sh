#!/usr/bin/env bash
# tactus roles: threads of known behaviour get their roles in time, change them, keep them in a recording; bad options.
# Runs on any kernel with BTF, with no sensor but the scheduler's.
. tests/tap.sh

# Follows a command's threads: ROLES is what `--follow --json` said.
follow() { "$tactus" roles --follow --json --without launch,gpu,wine,input,frame,socket,sound,names -- "$@"; }

# role_after FILE TID TIME ROLE: how long after TIME the thread first had the role, in ms; nothing if never
role_after() {
	python3 - "$@" <<'PY'
import json, sys
path, tid, begin, role = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rows = [json.loads(line) for line in open(path) if line.startswith('{')]
times = [r["time_ns"] for r in rows if r["tid"] == tid and r["role"] == role and r["time_ns"] >= begin]
if times:
    print((min(times) - begin) // 1000000)
PY
}

# check NAME ROLE PERIOD WORK
check() {
	local tid begin after
	follow build/workloads/pace "$3" "$4" 2500 >"$scratch/out" 2>"$scratch/err"
	read -r tid begin < <(grep -v '^{' "$scratch/out")
	after=$(role_after "$scratch/out" "$tid" "$begin" "$2")
	say_measured "$1: $2 after ${after:-?} ms"
	holds "$1 is $2 within 2 s" test "${after:-9999}" -lt 2000
}
check "a thread that works 0.2 ms every 5.3 ms" audio 5333 200
check "a thread that works 5 ms every 16.7 ms" render 16667 5000
check "a thread that works all the time" cpu-bound 0 1
check "a thread that works 0.1 ms every 300 ms" background 300000 100

follow build/workloads/pace 5333 200 2500 0 1 3000 300000 100 4000 >"$scratch/out" 2>"$scratch/err"
{ read -r tid _; read -r _ hog_begin; read -r _ idle_begin; } < <(grep -v '^{' "$scratch/out")
say_measured "cpu-bound $(role_after "$scratch/out" "$tid" "$hog_begin" cpu-bound) ms, background \
$(role_after "$scratch/out" "$tid" "$idle_begin" background) ms after the behaviour changed"
holds "a thread that turns into a hog is cpu-bound within 2 s" \
	test "$(role_after "$scratch/out" "$tid" "$hog_begin" cpu-bound)" -lt 2000
holds "and one that calms down is background within 4 s" \
	test "$(role_after "$scratch/out" "$tid" "$idle_begin" background)" -lt 4000
is "each change tells what it was before" \
	"$(grep '^{' "$scratch/out" | json "all(a['role'] == b['was'] for a, b in zip([r for r in rows if r['tid'] == $tid], [r for r in rows if r['tid'] == $tid][1:]))")" True

# One run, live and from its recording.
"$tactus" roles -o "$scratch/run.rec" --json -n all -- build/workloads/pace 5333 200 1500 >"$scratch/all" 2>"$scratch/err"
grep '^{' "$scratch/all" >"$scratch/live"
"$tactus" roles -i "$scratch/run.rec" --json -n all >"$scratch/replay" 2>>"$scratch/err"
holds "live equals replay" cmp "$scratch/live" "$scratch/replay"
is "with the fields that are promised" "$(json "sorted(set(('tid','pid','comm','role','confidence','evidence','tier','boost')) - set(d))" <"$scratch/live")" "[]"
is "and the thread's role in it" "$(json "[r['role'] for r in rows if r['comm'] == 'pace'][0]" <"$scratch/live")" audio
"$tactus" record -o "$scratch/two.rec" -d 1 >/dev/null 2>>"$scratch/err"
holds "tactus record keeps roles" sh -c "'$tactus' roles -i '$scratch/two.rec' -n 5 | grep -qE 'background|unknown'"
like "as a table" "$("$tactus" roles -i "$scratch/run.rec")" 'ROLE +SURE +TIER +BOOST +EVIDENCE'

is "with all evidence left out it still runs" "$("$tactus" roles -d 0.3 --without all --json -n all 2>/dev/null | json "set(r['role'] for r in rows) <= {'unknown', 'background'}")" True
ends "a kind of evidence that is none" 2 "names no kind of evidence" "$tactus" roles -d 1 --without gpus
ends "too few wake-ups to judge by" 2 "2 to 1000000" "$tactus" roles -d 1 --after-wakeups 1
ends "a config file that is not there" 1 "No such file" "$tactus" roles -d 1 --config "$scratch/none"
ends "an empty game" 2 "neither a PID nor a name" "$tactus" roles -d 1 --game ""
done_testing

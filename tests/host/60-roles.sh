#!/usr/bin/env bash
# tactus roles: threads of known behaviour get their roles in time, change them, keep them in a recording; bad options.
# Runs on any kernel with BTF, with no sensor but the scheduler's.
. tests/tap.sh

# paces FILE ARGUMENTS...: a thread of known behaviour in the background, told in FILE. Others on this machine would change how it
# runs; nice -20, which says nothing of a thread, keeps them away: within its session, and the session by its autogroup.
cat >"$scratch/first" <<'END'
(echo -20 >/proc/$$/autogroup) 2>/dev/null
exec "$@"
END
first=(setsid --wait sh "$scratch/first")
cat >"$scratch/paces" <<'END'
pace() { file=$1; shift; nice -n "${nice:--20}" build/workloads/pace "$@" >"$file" & }
pace "$1/audio" 5333 200 2500
pace "$1/render" 16667 5000 2500
nice=0 pace "$1/cpu-bound" 0 1 2500
pace "$1/background" 300000 100 2500
nice=0 pace "$1/changing" 5333 200 1500 0 1 2500 300000 100 4000
wait
END
mkdir "$scratch/said"
"$tactus" roles --follow --json --without launch,gpu,wine,input,frame,socket,sound,names -- "${first[@]}" sh "$scratch/paces" "$scratch/said" \
	>"$scratch/out" 2>"$scratch/err"
is "tactus roles --follow ends well" $? 0

# role_after TID TIME ROLE: how long after TIME the thread first had the role, in ms; nothing if never
role_after() {
	python3 - "$scratch/out" "$@" <<'PY'
import json, sys
path, tid, begin, role = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rows = [json.loads(line) for line in open(path) if line.startswith('{')]
times = [r["time_ns"] for r in rows if r["tid"] == tid and r["role"] == role and r["time_ns"] >= begin]
if times:
    print((min(times) - begin) // 1000000)
PY
}
# in_time NAME TID TIME ROLE MS
in_time() {
	local after
	after=$(role_after "$2" "$3" "$4")
	say_measured "$1: $4 after ${after:-?} ms"
	holds "$1 is $4 within $(($5 / 1000)) s" test "${after:-9999}" -lt "$5"
}
# check NAME ROLE
check() {
	local tid begin
	read -r tid begin <"$scratch/said/$2"
	in_time "$1" "$tid" "$begin" "$2" 2000
}
check "a thread that works 0.2 ms every 5.3 ms" audio
check "a thread that works 5 ms every 16.7 ms" render
check "a thread that works all the time" cpu-bound
check "a thread that works 0.1 ms every 300 ms" background
{ read -r tid _; read -r _ hog_begin; read -r _ idle_begin; } <"$scratch/said/changing"
in_time "a thread that turns into a hog" "$tid" "$hog_begin" cpu-bound 2000
in_time "a hog that calms down" "$tid" "$idle_begin" background 4000
is "every change of a role tells what the role was before" \
	"$(grep '^{' "$scratch/out" | json "all(a['role'] == b['was'] for a, b in zip([r for r in rows if r['tid'] == $tid], [r for r in rows if r['tid'] == $tid][1:]))")" True

# One run, live and from its recording.
"$tactus" roles -o "$scratch/run.rec" --json -n all -- "${first[@]}" nice -n -20 build/workloads/pace 5333 200 1500 >"$scratch/all" 2>"$scratch/err"
grep '^{' "$scratch/all" >"$scratch/live"
"$tactus" roles -i "$scratch/run.rec" --json -n all >"$scratch/replay" 2>>"$scratch/err"
holds "roles of a recording are the same as live" cmp "$scratch/live" "$scratch/replay"
is "a row of roles has the fields that are promised" "$(json "sorted(set(('tid','pid','comm','role','confidence','evidence','tier','boost')) - set(d))" <"$scratch/live")" "[]"
is "a thread that works 0.2 ms every 5.3 ms is audio in the table at the end" "$(json "[r['role'] for r in rows if r['comm'] == 'pace'][0]" <"$scratch/live")" audio
"$tactus" record -o "$scratch/two.rec" -- "${first[@]}" nice -n -20 build/workloads/pace 5333 200 1500 >/dev/null 2>>"$scratch/err"
is "a recording by tactus record has a thread's role" \
	"$("$tactus" roles -i "$scratch/two.rec" --json -n all | json "[r['role'] for r in rows if r['comm'] == 'pace'][0]")" audio
like "roles of a recording are shown as a table" "$("$tactus" roles -i "$scratch/run.rec")" 'ROLE +SURE +TIER +BOOST +EVIDENCE'

is "every thread is unknown or background with all evidence left out" "$("$tactus" roles -d 0.3 --without all --json -n all 2>/dev/null | json "set(r['role'] for r in rows) <= {'unknown', 'background'}")" True
ends "a kind of evidence that is none is refused" 2 "names no kind of evidence" "$tactus" roles -d 1 --without gpus
ends "too few wake-ups to judge by are refused" 2 "2 to 1000000" "$tactus" roles -d 1 --after-wakeups 1
ends "a config file that is not there is told" 1 "No such file" "$tactus" roles -d 1 --config "$scratch/none"
ends "an empty name of a game is refused" 2 "neither a PID nor a name" "$tactus" roles -d 1 --game ""
ends "a game by a pid that no process has is told" 1 "no process has pid 4194303" "$tactus" roles -d 1 --game 4194303

# Threads that run all the while as tactus starts: most of them before it has any rule.
echo "# what a rule says of threads that are there already"
cp build/workloads/pace "$scratch/ruled"
printf '[roles]\nruled = audio\n' >"$scratch/conf"
ruled=()
for _ in 1 2 3 4 5 6 7 8; do
	"$scratch/ruled" 2000 20 600000 >/dev/null &
	ruled+=($!)
done
"$tactus" roles -d 1 --json -n all -p "$(tr ' ' , <<<"${ruled[*]}")" --config "$scratch/conf" --without launch,gpu,wine,input,frame,socket,sound,learned >"$scratch/out" 2>"$scratch/err"
kill "${ruled[@]}"
is "a rule of the user holds for every thread that was there before tactus" "$(json 'sum((r["role"], r["evidence_kind"]) == ("audio", "user") for r in rows)' <"$scratch/out")" 8
done_testing

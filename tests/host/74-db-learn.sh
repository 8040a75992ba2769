#!/usr/bin/env bash
# Learning on this kernel: what identifies a kind, what is predicted of new threads, and a database that changes, is
# damaged or is refused while tactus runs.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

# Learning needs none of these, and their programs take time to load.
less=launch,gpu,wine,input,frame,socket,sound
db() { "$tactus" db "$@"; }
known() { db list --json | json "$1"; }

mkdir -p "$scratch/one" "$scratch/two/deeper"
cp build/workloads/pace "$scratch/one/prog"
cp build/workloads/pace "$scratch/two/deeper/prog"
# Threads of one name in two programs, a script, a name given later, and short lives.
cat >"$scratch/scene" <<SCENE
"$scratch/one/prog" 5000 200 700 &
"$scratch/two/deeper/prog" 0 1 1000 &
for i in 1 2 3 4; do "$scratch/one/prog" 5000 200 700 >/dev/null; /bin/true; done
python3 -c "
import time
open('/proc/self/comm', 'w').write('renamed')
for i in range(120): time.sleep(0.005)"
wait
SCENE
"$tactus" roles --without $less --learn -- bash "$scratch/scene" >/dev/null 2>"$scratch/err"
is "threads of one name in two programs are two kinds" \
	"$(known 'sorted(r["exe"].rsplit("/", 2)[1] for r in rows if r["comm"] == "prog")')" "['deeper', 'one']"
is "the path of a program is whole if it is short" "$(known '[r["exe"] for r in rows if r["comm"] == "true"]')" "['$(readlink -f /bin/true)']"
is "a thread that got another name is of that name's kind" "$(known 'len([r for r in rows if r["comm"] == "renamed"])')" 1
is "a thread that got another name is of its program's kind" "$(known '[r["exe"] for r in rows if r["comm"] == "renamed"]')" "['$(python3 -c 'import os; print(os.readlink("/proc/self/exe"))')']"
is "a program that wakes by a clock is learned as latency-critical" "$(known '[r["tier"] for r in rows if r["exe"].endswith("/one/prog")]')" "['latency-critical']"
is "every run of a program is counted as an observation" "$(known '[r["observations"] for r in rows if r["exe"].endswith("/one/prog")]')" "[5]"
is "a program that spins is learned as batch" "$(known '[r["tier"] for r in rows if r["exe"].endswith("/deeper/prog")]')" "['batch']"
is "a program that spins is learned as cpu-bound" "$(known '[r["role"] for r in rows if r["exe"].endswith("/deeper/prog")]')" "['cpu-bound']"

first_of() { json "[(r['tier'], r['evidence_kind'], r['age_ns'] < 2000000) for r in rows if r['comm'] == '$1'][:1]"; }
# Of all kinds here the one whose threads are most alike, however busy the machine is.
"$tactus" roles --follow --json --without $less -- /bin/true 2>/dev/null | grep '^{' >"$scratch/follow"
is "a new thread of a known kind starts in its tier by what was learned" "$(first_of true <"$scratch/follow")" "[('interactive', 'learned', True)]"
"$tactus" roles --follow --json --without $less,learned -- /bin/true 2>/dev/null | grep '^{' >"$scratch/follow"
is "no thread starts by what was learned without the database" "$(grep -c '"evidence_kind":"learned"' "$scratch/follow")" 0
before=$(cksum <"$TACTUS_DB")
is "roles without --learn leaves the database as it is" "$("$tactus" roles --without $less -d 0.2 >/dev/null 2>&1; cksum <"$TACTUS_DB")" "$before"

# A name that no other program on the machine has, which a run would learn of.
lone=lone-$$
cp build/workloads/pace "$scratch/$lone"
# What comes from PDDB has no program: it counts for threads of that name in any.
python3 -c "
import struct
open('$scratch/pddb', 'wb').write(b'PDDB' + struct.pack('<II', 2, 2) + b''.join(
    name.ljust(16, b'\0') + struct.pack('<B7xQQQQII', tier, 200000, 1, 1, 1, 9, 9) for name, tier in ((b'$lone', 0), (b'riser', 2))))"
db import "$scratch/pddb" >/dev/null
"$tactus" roles --follow --json --without $less -- "$scratch/$lone" 5000 200 20 2>/dev/null | grep '^{' >"$scratch/follow"
is "an imported kind without a program is predicted in any program" "$(first_of $lone <"$scratch/follow")" "[('batch', 'learned', True)]"

# Hints come with the exec: what lives for less than behaviour is judged after can have one by nothing else.
attr() { build/workloads/attr "$@"; }
cp build/workloads/pace "$scratch/riser"
: >"$scratch/err"
"$tactus" run --actuator hints --compare off --without $less >/dev/null 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "hints to the kernel's scheduler"
# Each lives for less than the half second that a judgement takes; beside other work a hint may come too late for one.
given=0
for _ in $(seq 15); do
	[ $given -lt 3 ] || break
	"$scratch/riser" 5000 200 450 >/dev/null &
	pid=$!
	began=$(date +%s%N)
	while [ -e /proc/$pid/stat ] && [ "$(attr $pid 2>/dev/null | cut -d' ' -f2)" != -9 ]; do sleep 0.005; done
	if [ "$(attr $pid 2>/dev/null | cut -d' ' -f2)" = -9 ]; then
		given=$((given + 1))
		say_measured "a hint $((($(date +%s%N) - began) / 1000)) us after the start of a program of an urgent kind"
	fi
	wait $pid
done
kill -INT $runner
wait $runner
holds "threads of an urgent kind have their hints before they could be judged" test $given = 3

# The maps, while a run goes on that others change the database of. In a mount namespace of its own.
cat >"$scratch/pins" <<'PINS'
mount -t bpf bpf /sys/fs/bpf || exit 1
"$1" run --actuator none --without "$4" --json >"$2/statuses" 2>"$2/err" &
runner=$!
for _ in $(seq 600); do grep -q 'observing only' "$2/err" && break; sleep 0.1; done
stat -c %a /sys/fs/bpf/tactus
ls /sys/fs/bpf/tactus | tr '\n' ' '
echo
"$1" db forget "${3##*/}"
# It looks at the file once a second, before a status; one may have been under way.
seen=$(wc -l <"$2/statuses")
for _ in $(seq 600); do [ "$(wc -l <"$2/statuses")" -ge $((seen + 2)) ] && break; sleep 0.1; done
"$3" 5000 200 1 >/dev/null
kill -INT $runner
wait $runner
ls -d /sys/fs/bpf/tactus 2>/dev/null | wc -l
PINS
unshare -m bash "$scratch/pins" "$tactus" "$scratch" "$scratch/$lone" $less >"$scratch/pinned" 2>&1
is "the folder of pinned maps is for root alone" "$(sed -n 1p "$scratch/pinned")" 700
is "the two maps of what is learned are pinned while a run goes on" "$(sed -n 2p "$scratch/pinned")" "observed predicted "
is "a kind is forgotten while a run goes on" "$(sed -n 3p "$scratch/pinned")" "1 kind forgotten"
is "no map is pinned after the end of a run" "$(sed -n 4p "$scratch/pinned")" 0
is "a kind that was forgotten while a run went on stays forgotten" "$(known 'len([r for r in rows if r["comm"] == "'$lone'" and r["exe"] == ""])')" 0

# Damaged, and refused, at the start of a run.
printf 'x' | dd of="$TACTUS_DB" bs=1 seek=40 conv=notrunc 2>/dev/null
"$tactus" run --actuator none --without $less -d 0.3 >/dev/null 2>"$scratch/err"
is "a run with a damaged database ends with status 0" $? 0
like "a run with a damaged database says where it is damaged" "$(cat "$scratch/err")" "damaged at byte 32: entry 0 has a wrong checksum.*set aside as procdb.bin.damaged-"
chmod 606 "$scratch"/procdb.bin.damaged-*
cp -p "$scratch"/procdb.bin.damaged-* "$TACTUS_DB"
chmod 606 "$TACTUS_DB"
before=$(cksum <"$TACTUS_DB")
"$tactus" run --actuator none --without $less -d 0.3 >/dev/null 2>"$scratch/err"
is "a run with a database that others may write ends with status 0" $? 0
like "a run says that it leaves out a database that others may write" "$(cat "$scratch/err")" "what was learned is left out: .*others may write it: refused"
is "a database that others may write is left as it is" "$(cksum <"$TACTUS_DB")" "$before"
rm "$TACTUS_DB"

# What the last second brought is saved too.
rm -f "$scratch/err"
"$tactus" run --actuator none --without $less >/dev/null 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "observing only"
for _ in 1 2 3 4; do /bin/true; done
kill -INT $runner
wait $runner
holds "the end of a run saves what was learned" test "$(db list true --json | wc -l)" -ge 1

# What there is at the start, and how well it predicts.
there=$(db summary --json | json 'd["profiles"], d["confident"]')
rm -f "$scratch/err"
"$tactus" run --actuator none --without $less --json >"$scratch/statuses" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "observing only"
like "a run says at its start how many kinds of threads it knows, and from where" "$(cat "$scratch/err")" \
	"what was learned: ${there% *} kinds of threads from $TACTUS_DB, ${there#* } of them predict"
for _ in 1 2 3 4; do /bin/true; done
for _ in $(seq 600); do [ "$(tail -n 1 "$scratch/statuses" | json 'd["learned"]["hits"] if rows else 0')" -ge 4 ] && break; sleep 0.1; done
holds "a run counts the threads that turned out as predicted" test "$(tail -n 1 "$scratch/statuses" | json 'd["learned"]["hits"]')" -ge 4
say_measured "predictions of that run: $(tail -n 1 "$scratch/statuses" | json 'd["learned"]')"
# Others show the same of that run, while it is at work.
"$tactus" stats --json -d 2.5 >"$scratch/stats"
"$tactus" stats -d 1.5 >"$scratch/stats-out" 2>"$scratch/stats-err"
lines=$(json 'len(rows)' <"$scratch/stats")
is "stats as JSON has the run's own summary of what it learned, line by line" \
	"$(cat "$scratch/stats" "$scratch/statuses" | json 'len({(r["wall_ns"], str(r["learned"])) for r in rows}) - len({r["wall_ns"] for r in rows})')" 0
holds "stats as JSON has lines with such a summary" test "$lines" -ge 1
holds "stats as JSON counts the threads that turned out as predicted" test "$(tail -n 1 "$scratch/stats" | json 'd["learned"]["hits"]')" -ge 4
like "stats says in words how many kinds are known and how well they predict" "$(cat "$scratch/stats-err")" \
	'the run: [0-9]+ kinds of threads are known, [0-9]+ of them predict; of [0-9]+ threads of such kinds [0-9]+ turned out as predicted'
is "db summary asks the run at work" "$(db summary --json | json 'd["run"]["hits"] >= 4')" True
kill -INT $runner
wait $runner
like "a run says at its end how well it predicted" "$(cat "$scratch/err")" '[0-9]+ kinds of threads are known, [0-9]+ of them predict; of [0-9]+ threads of such kinds [0-9]+ turned out as predicted'

# A program that was for batch work and becomes one that wakes by a clock.
mkdir "$scratch/turned"
cp build/workloads/pace "$scratch/turned/turncoat"
cat >"$scratch/scene" <<SCENE
for i in 1 2 3; do
	for k in 1 2 3 4; do "$scratch/turned/turncoat" 0 1 900 >/dev/null & done
	wait
done
SCENE
"$tactus" roles --without $less --learn -- bash "$scratch/scene" >/dev/null 2>"$scratch/err"
of_turncoat() { known "[(r['tier'], r['observations']) for r in rows if r['comm'] == 'turncoat']"; }
is "a program that spun twelve times is known as batch" "$(of_turncoat)" "[('batch', 12)]"
cat >"$scratch/scene" <<SCENE
for i in 1 2 3 4 5 6 7 8 9 10; do "$scratch/turned/turncoat" 5000 200 700; done
SCENE
"$tactus" roles --follow --json --without $less --learn -- bash "$scratch/scene" 2>"$scratch/err" >"$scratch/follow"
# A line a start: its number, and the tier that it began with by what was learned, as soon as it ran that program.
grep '^{' "$scratch/follow" | grep '"comm":"turncoat"' | json '"\n".join(f"{n} {first}" for n, first in enumerate(
	[next((r["tier"] for r in rows if r["tid"] == tid and r["evidence_kind"] == "learned"), "-") for tid in dict.fromkeys(r["tid"] for r in rows)], 1))' >"$scratch/starts"
say_measured "tiers that its ten starts began with, by what was learned: $(tr '\n' ',' <"$scratch/starts")"
like "a program that changed its nature begins as what it was" "$(head -n 1 "$scratch/starts")" '^1 batch$'
is "a program that changed its nature is known for what it is within ten starts" "$(of_turncoat)" "[('latency-critical', 22)]"
first=$(awk '$2 == "latency-critical" { print $1; exit }' "$scratch/starts")
say_measured "predicted as urgent from its start number ${first:-none} on"
"$tactus" roles --follow --json --without $less -- "$scratch/turned/turncoat" 5000 200 20 2>/dev/null | grep '^{' >"$scratch/follow"
is "a program that changed its nature starts as what it is now" "$(first_of turncoat <"$scratch/follow")" "[('latency-critical', 'learned', True)]"
done_testing

#!/usr/bin/env bash
# Learning on this kernel: what identifies a kind, what is predicted of new threads, and a database that changes, is
# damaged or is refused while tactus runs.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

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
"$tactus" roles --learn -- bash "$scratch/scene" >/dev/null 2>"$scratch/err"
is "threads of one name in two programs are two kinds" \
	"$(known 'sorted(r["exe"].rsplit("/", 2)[1] for r in rows if r["comm"] == "prog")')" "['deeper', 'one']"
is "a program's path is whole if it is short" "$(known '[r["exe"] for r in rows if r["comm"] == "true"]')" "['$(readlink -f /bin/true)']"
is "a thread that got another name is of that kind" "$(known 'len([r for r in rows if r["comm"] == "renamed"])')" 1
is "in its program" "$(known '[r["exe"] for r in rows if r["comm"] == "renamed"]')" "['$(python3 -c 'import os; print(os.readlink("/proc/self/exe"))')']"
is "who wakes by a clock is urgent" "$(known '[r["tier"] for r in rows if r["exe"].endswith("/one/prog")]')" "['latency-critical']"
is "all of them are counted" "$(known '[r["observations"] for r in rows if r["exe"].endswith("/one/prog")]')" "[5]"
is "who runs all the time is batch" "$(known '[r["tier"] for r in rows if r["exe"].endswith("/deeper/prog")]')" "['batch']"
is "and known for cpu-bound" "$(known '[r["role"] for r in rows if r["exe"].endswith("/deeper/prog")]')" "['cpu-bound']"

first_of() { json "[(r['tier'], r['evidence_kind'], r['age_ns'] < 2000000) for r in rows if r['comm'] == '$1'][:1]"; }
# Of all kinds here the one whose threads are most alike, however busy the machine is.
"$tactus" roles --follow --json -- /bin/true 2>/dev/null | grep '^{' >"$scratch/follow"
is "a new thread of a kind starts as that, by what was learned" "$(first_of true <"$scratch/follow")" "[('interactive', 'learned', True)]"
"$tactus" roles --follow --json --without learned -- /bin/true 2>/dev/null | grep '^{' >"$scratch/follow"
is "not without the database" "$(grep -c '"evidence_kind":"learned"' "$scratch/follow")" 0
before=$(cksum <"$TACTUS_DB")
is "who only looks changes nothing" "$("$tactus" roles -d 0.2 >/dev/null 2>&1; cksum <"$TACTUS_DB")" "$before"

# What comes from PDDB has no program: it counts for threads of that name in any.
python3 -c "
import struct
open('$scratch/pddb', 'wb').write(b'PDDB' + struct.pack('<II', 2, 2) + b''.join(
    name.ljust(16, b'\0') + struct.pack('<B7xQQQQII', 0, 1000, 1, 1, 1, 9, 9) for name in (b'pace', b'burner')))"
db import "$scratch/pddb" >/dev/null
"$tactus" roles --follow --json -- build/workloads/pace 5000 200 20 2>/dev/null | grep '^{' >"$scratch/follow"
is "an imported kind is predicted in any program" "$(first_of pace <"$scratch/follow")" "[('batch', 'learned', True)]"

# Hints come with the exec: what lives for less than behaviour is judged after can have one by nothing else.
attr() { build/workloads/attr "$@"; }
if [ "$(attr $$ slice 3000000 >/dev/null 2>&1; attr $$ | cut -d' ' -f3)" = 3000000 ]; then
	attr $$ slice 0 >/dev/null
	cp build/workloads/pace "$scratch/burner"
	"$tactus" run --actuator hints --without launch,gpu,wine,input,frame,socket,sound >/dev/null 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "hints to the kernel's scheduler"
	sleep 0.5
	long=100000000 # by how the kernel keeps slices (core/hints.h)
	[ "$(printf '6.17\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.17 ] || long=4000000
	given=0
	for _ in 1 2 3 4 5; do
		"$scratch/burner" 0 1 450 >/dev/null &
		pid=$!
		began=$(date +%s%N)
		while [ -e /proc/$pid/stat ] && [ "$(attr $pid 2>/dev/null | cut -d' ' -f3)" != $long ]; do sleep 0.005; done
		if [ "$(attr $pid 2>/dev/null | cut -d' ' -f3)" = $long ]; then
			given=$((given + 1))
			say_measured "a hint $((($(date +%s%N) - began) / 1000)) us after the start of a program of a batch kind"
		fi
		wait $pid
	done
	kill -INT $runner
	wait $runner
	holds "a thread of a batch kind has its hint before it could be judged" test $given -ge 3
else
	skip "a thread of a batch kind has its hint before it could be judged" "no custom slices"
fi

# The maps, while a run goes on that others change the database of. In a mount namespace of its own.
cat >"$scratch/pins" <<'PINS'
mount -t bpf bpf /sys/fs/bpf || exit 1
"$1" run --actuator none >/dev/null 2>"$2/err" &
runner=$!
for _ in $(seq 100); do grep -q 'observing only' "$2/err" && break; sleep 0.1; done
stat -c %a /sys/fs/bpf/tactus
ls /sys/fs/bpf/tactus | tr '\n' ' '
echo
"$1" db forget pace
sleep 2.5
"$3" 5000 200 1 >/dev/null
kill -INT $runner
wait $runner
ls -d /sys/fs/bpf/tactus 2>/dev/null | wc -l
PINS
unshare -m bash "$scratch/pins" "$tactus" "$scratch" build/workloads/pace >"$scratch/pinned" 2>&1
is "both maps are pinned for root alone, and gone after" "$(tr '\n' '|' <"$scratch/pinned")" "700|observed predicted |1 kind forgotten|0|"
is "what was forgotten while it ran stays forgotten" "$(known 'len([r for r in rows if r["comm"] == "pace" and r["exe"] == ""])')" 0

# Damaged, and refused, at the start of a run.
printf 'x' | dd of="$TACTUS_DB" bs=1 seek=40 conv=notrunc 2>/dev/null
"$tactus" run --actuator none -d 0.3 >/dev/null 2>"$scratch/err"
is "a run goes on with a damaged database" $? 0
like "says so" "$(cat "$scratch/err")" "damaged at byte 32: entry 0 has a wrong checksum.*set aside as procdb.bin.damaged-"
chmod 606 "$scratch"/procdb.bin.damaged-*
cp -p "$scratch"/procdb.bin.damaged-* "$TACTUS_DB"
chmod 606 "$TACTUS_DB"
before=$(cksum <"$TACTUS_DB")
"$tactus" run --actuator none -d 0.3 >/dev/null 2>"$scratch/err"
is "and with one that others may write" $? 0
like "which it does not read" "$(cat "$scratch/err")" "what was learned is left out: .*others may write it: refused"
is "nor touch" "$(cksum <"$TACTUS_DB")" "$before"
rm "$TACTUS_DB"

# A run that is killed, and one that is not.
"$tactus" run --actuator none >/dev/null 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "observing only"
for _ in 1 2 3 4; do /bin/true; done
sleep 1.2
kill -INT $runner
wait $runner
holds "the end of a run saves what was learned" test "$(db list true --json | wc -l)" -ge 1
done_testing

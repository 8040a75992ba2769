#!/usr/bin/env bash
# tactus db: files made by hand are listed, shown, merged, forgotten and exported; every fault ends in a clear line.
# Needs no kernel's help, but a root whose files are the database's.
. tests/tap.sh

# A run of somebody else's is not asked.
export TACTUS_FEED=$scratch/feed

# make_pddb FILE VERSION ENTRY...: by the seed's layout; an entry is comm,tier,avg,dev,wakes,switches,observations,votes
make_pddb() {
	python3 - "$@" <<'PYTHON'
import struct, sys
path, version, entries = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
with open(path, "wb") as out:
    out.write(b"PDDB" + struct.pack("<II", version, len(entries)))
    for entry in entries:
        comm, *n = entry.split(",")
        n = [int(x) for x in n]
        out.write(comm.encode().ljust(16, b"\0") + struct.pack("<B7xQ", n[0], n[1]))
        if version == 2:
            out.write(struct.pack("<QQQ", *n[2:5]))
        out.write(struct.pack("<II", *n[5:7]))
PYTHON
}
db() { "$tactus" db "$@"; }

is "a database that is not there has no kinds" "$(db list --json | wc -l)" 0
ends "db show of a database that is not there ends with an error" 1 "nothing is known of 'cc1'" db show cc1
make_pddb "$scratch/one" 1 cc1,0,3000000,0,0,0,10,9 sh,1,200000,0,0,0,5,5
make_pddb "$scratch/two" 2 cc1,0,1000000,100000,4,300,30,31 Xorg,2,400000,390000,60,70,7,8
is "PDDB 1 is imported" "$(db import "$scratch/one")" "2 kinds imported"
is "a kind imported from PDDB 1 has its fields" "$(db list cc1 --json | json '[d[k] for k in ("comm","exe","tier","confidence","avg_runtime_ns","runtime_dev_ns","wakeups_per_s","switches_per_s","observations","votes")]')" \
	"['cc1', '', 'batch', 1.0, 3000000, 0, 0, 0, 10, {'batch': 9, 'interactive': 0, 'latency-critical': 0}]"
is "PDDB 2 is imported" "$(db import "$scratch/two")" "2 kinds imported"
is "a kind imported twice has its votes added and its figures weighed" "$(db list cc1 --json | json '[d[k] for k in ("avg_runtime_ns","runtime_dev_ns","wakeups_per_s","switches_per_s","observations")]+[d["votes"]["batch"]]')" \
	"[1500000, 75000, 3, 225, 40, 40]"
is "tier 2 of PDDB is latency-critical" "$(db list Xorg --json | json 'd["tier"]')" latency-critical
is "a kind whose runs differ much does not predict" "$(db list Xorg --json | json 'd["confidence"],d["behavioural_confidence"],d["predicts"]')" "1.0 0.5125 False"
is "the database is for its owner alone" "$(stat -c %a "$TACTUS_DB")" 600
is "db list is in order of names" "$(db list --json | json '[r["comm"] for r in rows]')" "['Xorg', 'cc1', 'sh']"
is "db list by observations has the most observed first" "$(db list --sort observations --json | json '[r["comm"] for r in rows]')" "['cc1', 'Xorg', 'sh']"
is "db list by observations reversed has the most observed last" "$(db list --sort observed --reverse --json | json '[r["comm"] for r in rows]')" "['sh', 'Xorg', 'cc1']"
is "db list has the columns that were asked for" "$(db list cc1 --columns observed,comm | tr -s ' ')" "OBSERVED COMM
 40 cc1"
ends "db list by a column that is not there names those that are" 2 "no column 'size'; there are comm, tier, sure" db list --sort size
is "db list of a tier has kinds of that tier alone" "$(db list --tier batch --json | json '[r["comm"] for r in rows]')" "['cc1']"
is "db list of a pattern has kinds of that pattern alone" "$(db list 'c*' --json | json '[r["comm"] for r in rows]')" "['cc1']"
is "db list --confident has the kinds that predict" "$(db list --confident --json | json '[r["comm"] for r in rows]')" "['cc1', 'sh']"
like "db list as a table has name, tier, confidence and figures" "$(db list)" '^cc1 +batch +100.00 % +97.50 % +unknown +40 +1.50 ms'
like "db show has the votes of a kind" "$(db show cc1)" 'votes +batch 40, interactive 0, latency-critical 0'
is "db show has the history of a kind" "$(db show sh --json | json 'd["history"]')" "[]"

is "db export writes every kind in tactus's own layout" "$(db export "$scratch/own")" "3 of 3 kinds written"
is "db check finds an export in order" "$(db check "$scratch/own")" "$scratch/own: tactus's own version 257, 3 entries, 3 of them whole: in order"
is "db export as PDDB 2 writes the kinds that predict" "$(db export "$scratch/pddb" --format pddb2)" "2 of 3 kinds written"
is "an export as PDDB 2 is laid out byte by byte as PDDB is" "$(python3 -c "
import struct
d = open('$scratch/pddb', 'rb').read()
print(len(d), d[:4], struct.unpack('<II', d[4:12]), [struct.unpack('<16sB7xQQQQII', d[12 + i * 64:76 + i * 64]) for i in range(2)][0])")" \
	"140 b'PDDB' (2, 2) (b'cc1\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00', 0, 1500000, 75000, 3, 225, 40, 40)"
db export "$scratch/json" --format json
is "db export as JSON has a row for each kind" "$(json 'len(rows), rows[1]["comm"], rows[1]["role_votes"]["render"]' <"$scratch/json")" "3 cc1 0"

is "db export --json has the same" "$(db export --json - | json 'len(rows)')" 3
is "db export --json without a file goes to standard output" "$(db export --json)" "$(db export --json -)"
ends "db export in its own layout without a file is bad usage" 2 "export to which file" db export
cp "$scratch/own" "$scratch/earlier"
for part in list summary export; do
	words=("$part")
	[ "$part" != export ] || words+=("$scratch/earlier")
	ends "db $part of a folder that is not there ends with an error" 1 "No such file" db "${words[@]}" --db "$scratch/no/such"
	is "db $part of a folder that is not there shows nothing that it did not read" "$(db "${words[@]}" --db "$scratch/no/such" 2>/dev/null)" ""
done
is "an earlier export stays where the database cannot be read" "$(cmp "$scratch/earlier" "$scratch/own" && echo same)" same
ends "a word near to a command of db is asked about" 2 "no such command: 'sumary': did you mean 'tactus db summary'" db sumary
ends "a word that is no command of db is told" 2 "no such command: 'xyz' .see 'tactus db --help'" db xyz
is "db summary counts kinds and those that predict" "$(db summary --json | json '[d[k] for k in ("profiles","confident","observations","profiles_by_tier","run")]')" \
	"[3, 2, 52, {'batch': 1, 'interactive': 1, 'latency-critical': 1}, None]"
like "db summary in words counts kinds and those that predict" "$(db summary)" ': 3 kinds of threads, 2 of them predict; 52 threads observed on 1 days of use'

# Two machines' databases into a third, each once.
for i in 1 2; do
	make_pddb "$scratch/m" 2 "cc1,0,1000,0,1,1,$i,$i" "own-$i,1,1000,0,1,1,4,4"
	db import "$scratch/m" --db "$scratch/machine-$i" >/dev/null
	db export "$scratch/shared-$i" --db "$scratch/machine-$i" >/dev/null
done
all=(--db "$scratch/all")
is "db merge adds the votes of several machines" "$(db merge "${all[@]}" "$scratch/shared-1" "$scratch/shared-2" | cut -d: -f2)" " 5 votes of 2 kinds added
 6 votes of 2 kinds added"
is "merged votes of a kind are the sum" "$(db list cc1 "${all[@]}" --json | json 'd["observations"], d["votes"]["batch"]')" "3 3"
before=$(cksum <"$scratch/all")
is "db merge of the same files again says that nothing is new" "$(db merge "${all[@]}" "$scratch/shared-2" "$scratch/shared-1" | grep -c 'nothing that was not added before')" 2
is "db merge of the same files again changes nothing" "$(cksum <"$scratch/all")" "$before"
db import "$scratch/m" --db "$scratch/machine-2" >/dev/null
is "db merge of a database that has learned since adds what is new" "$(db merge "${all[@]}" --json "$scratch/machine-2" | json 'd["kinds"], d["votes"]')" "2 6"
like "db merge of a database into itself adds nothing" "$(db merge "${all[@]}" "$scratch/all")" 'a copy of this database: nothing to add'
patched_shared() { python3 -c "
d = bytearray(open('$scratch/shared-1', 'rb').read())
d[$1] ^= 1
open('$scratch/bad', 'wb').write(d)"; }
for at in 9 40 -1; do
	patched_shared "$at"
	ends "db merge of a file with a wrong byte at $at ends with an error" 1 "damaged .*nothing was added" db merge "${all[@]}" "$scratch/bad"
done
ends "db merge of nothing is bad usage" 2 "merge which files" db merge
is "db merge takes options behind the files too" "$(db merge "$scratch/shared-1" --json "${all[@]}" | json 'd["kinds"]')" 0
ends "db merge of a file that is not there ends with an error" 1 "No such file" db merge "${all[@]}" "$scratch/nowhere"
ends "db merge of a folder ends with an error" 1 "not a file" db merge "${all[@]}" "$scratch"

# What machine 1 gave to all comes back to it by way of machine 2.
circle() { db export "$scratch/given" --db "$1" >/dev/null && db merge --db "$2" --json "$scratch/given" | json 'd["votes"]'; }
for i in 1 2; do
	make_pddb "$scratch/m" 2 "ring-$i,1,1000,0,1,1,4,4"
	db import "$scratch/m" --db "$scratch/ring-$i" >/dev/null
done
is "a machine that gives to another and gets back gains the other's votes alone" \
	"$(circle "$scratch/ring-1" "$scratch/ring-2") $(circle "$scratch/ring-2" "$scratch/ring-1") $(circle "$scratch/ring-1" "$scratch/ring-2") $(circle "$scratch/ring-2" "$scratch/ring-1")" "4 4 0 0"
is "a database in use that is merged as it lies gives what its machine learned, not what it has of others" \
	"$(db merge --db "$scratch/ring-1" --json "$scratch/ring-2" | json 'd["votes"]') $(db merge --db "$scratch/ring-3" --json "$scratch/ring-2" | json 'd["kinds"], d["votes"]')" "0 2 8"
is "db check finds an export with what others learned in order" "$(db check "$scratch/given" | cut -d : -f 2-)" " tactus's own version 257, 2 entries, 2 of them whole: in order"

is "db forget takes out one kind" "$(db forget sh)" "1 kind forgotten"
ends "db forget of a kind that is not there ends with an error" 1 "nothing is known of 'sh'" db forget sh
ends "db forget of nothing is bad usage" 2 "forget what" db forget
ends "db forget of a kind and of all is bad usage" 2 "forget what" db forget cc1 --all
is "db forget --older 1 leaves kinds seen today" "$(db forget --older 1)" "0 kinds forgotten"
is "db forget --all takes out every kind" "$(db forget --all)" "2 kinds forgotten"
is "db import brings back every exported kind" "$(db import "$scratch/own")" "3 kinds imported"
cp "$scratch/own" "$scratch/whole"

# faulty NAME WORDS ENTRIES: what is wrong with $scratch/bad is told, and so many entries are read
faulty() {
	local status=0 seen
	seen=$(db check "$scratch/bad") || status=$?
	is "db check of a file with $1 ends with status 1" "$status" 1
	like "db check of a file with $1 says where" "$seen" "$2"
	db forget --all >/dev/null
	db import "$scratch/bad" >"$scratch/said" 2>&1
	is "db import of a file with $1 says so in one line" "$(grep -c '^tactus: ' "$scratch/said")" 1
	is "db import of a file with $1 takes what is whole" "$(db list --json | wc -l)" "$3"
}
patched() { python3 -c "
d = bytearray(open('$1', 'rb').read())
$2
open('$scratch/bad', 'wb').write(d)"; }
patched "$scratch/two" 'd = d[:11]'; faulty "too few bytes" "at byte 0: too short: 11 bytes" 0
patched "$scratch/two" 'd[0] = 0x51'; faulty "a bad magic" "bad magic 51 44 44 42" 0
patched "$scratch/two" 'd[4] = 9'; faulty "an unknown version" "at byte 4: unknown version 9" 0
patched "$scratch/two" 'd = d[:-1]'; faulty "its end cut off" "at byte 8: truncated: 2 entries announced, room for 1" 1
patched "$scratch/two" 'd[8:12] = b"\xff" * 4'; faulty "a huge count" "truncated: 4294967295 entries" 2
patched "$scratch/two" 'd[8:12] = b"\0\0\0\4"'; faulty "a count that overflows" "truncated: 67108864 entries" 2
patched "$scratch/two" 'd[76:92] = d[12:28]'; faulty "a duplicate key" "at byte 76: entry 1 has the same key" 1
patched "$scratch/two" 'd[28] = 3'; faulty "a tier out of range" "at byte 12: entry 0 has a tier out of range" 1
patched "$scratch/whole" 'd[300] ^= 1'; faulty "a bad checksum" "at byte 232: entry 1 has a wrong checksum" 2
patched "$scratch/whole" 'd[9] ^= 1'; faulty "a bad header's checksum" "at byte 28: the header has a wrong checksum" 3

cp "$scratch/bad" "$TACTUS_DB"
ends "db list of a damaged database ends with an error" 1 "damaged at byte 28" db list
ends "db import into a damaged database sets that aside" 0 "set aside as procdb.bin.damaged-[0-9T]+Z, 3 profiles" db import "$scratch/two"
is "a damaged database that was set aside is as it was" "$(cmp "$TACTUS_DB".damaged-* "$scratch/bad" && echo same)" same
is "db import into a damaged database keeps what was whole" "$(db list --json | json 'sorted(r["comm"] for r in rows)')" "['Xorg', 'cc1', 'sh']"

chmod 666 "$TACTUS_DB"
ends "db list of a database that others may write ends with an error" 1 "others may write it: refused" db list
chmod 600 "$TACTUS_DB"
mv "$TACTUS_DB" "$scratch/moved"
ln -s "$scratch/moved" "$TACTUS_DB"
ends "db list of a database behind a link ends with an error" 1 "a link: refused" db list
ends "db forget of a database behind a link ends with an error" 1 "a link: refused" db forget --all
is "a database behind a link is as it was" "$(db list --db "$scratch/moved" --json | wc -l)" 3
rm "$TACTUS_DB"

# Two writers at once: every vote arrives.
for i in $(seq 20); do make_pddb "$scratch/w$i" 2 shared,0,1000,0,1,1,1,1 "own-$i",1,1000,0,1,1,1,1; done
for i in $(seq 20); do db import "$scratch/w$i" >/dev/null & done
wait
is "twenty imports at once lose no vote" "$(db list --json | json 'len(rows), [r["observations"] for r in rows if r["comm"] == "shared"]')" "21 [20]"

# The program itself, killed at any moment of a change.
python3 -c "
import struct
n = 5000
open('$scratch/large', 'wb').write(b'PDDB' + struct.pack('<II', 2, n) + b''.join(
    (b'kind-%d' % i).ljust(16, b'\0') + struct.pack('<B7xQQQQII', i % 3, 1000, 1, 1, 1, 3, 3) for i in range(n)))"
db forget --all >/dev/null
db import "$scratch/large" >/dev/null
broken=0 cut=0
for i in $(seq 100); do
	db import "$scratch/w1" >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((i % 5))$((i % 10))"
	kill -KILL $pid 2>/dev/null && cut=$((cut + 1))
	wait $pid 2>/dev/null
	db check >"$scratch/check" 2>&1 || { broken=$((broken + 1)); sed 's/^/# /' "$scratch/check"; }
done
say_measured "$cut of 100 imports were killed, $broken of them left a file that is not whole"
is "no import that is killed leaves a damaged file" "$broken" 0
done_testing

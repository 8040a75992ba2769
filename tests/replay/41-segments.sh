#!/usr/bin/env bash
# A day of a made-up fleet in a folder of Parquet partitioned by host and day, asked by DuckDB: 20 recordings, each of them linked to by 50 hosts, so that 1,000 hosts' aggregates
# come out. No root.
. tests/tap.sh
. tools/lib.sh

ends "--partition beside -o is bad usage" 2 'it takes no -o' "$tactus" export -i examples/late-frames.tactus --partition "$scratch/x" -o "$scratch/x.parquet"
ends "a recording whose name says no machine needs one" 1 'give --machine NAME' "$tactus" export -i examples/late-frames.tactus --partition "$scratch/x"
ends "a machine's name that leads elsewhere is refused" 1 'is no name for a machine' "$tactus" export -i examples/late-frames.tactus --partition "$scratch/x" --machine ../y
# A recording of each of 20 hosts, in which a thread waits for a known time.
python3 - "$scratch" <<'PYTHON'
import subprocess, sys
for host in range(20):
    lines = ["thread 0 7 0 pid=7 comm=worker", "thread 0 9 0 pid=9 comm=hog", "sample 0 7 0"]
    for step in range(50):
        # worker runs 10 us + host, waits behind hog for 5 us.
        at = step * 100 + 10
        lines += [f"switch {at} 7 0 next_tid=9 prev_state=1", f"wakeup {at + 20} 7 0 waker_tid=0", f"switch {at + 25 + host} 9 0 next_tid=7 prev_state=0"]
    subprocess.run([sys.executable, "tests/recording.py", f"{sys.argv[1]}/h{host:04}-20261118T{host:02}0000Z-0001.tactus"], input="\n".join(lines) + "\n", text=True, check=True)
PYTHON
events=0
for file in "$scratch"/h*.tactus; do
	"$tactus" export -i "$file" --partition "$scratch/fleet" >"$scratch/out" 2>&1 || flunk "a segment is exported to its place" "$(cat "$scratch/out")"
	events=$((events + $("$tactus" events -i "$file" --only switch --json | wc -l)))
done
is "a host has its folder, and its day in it" "$(find "$scratch/fleet" -name '*.parquet' | sed "s|$scratch/fleet/||" | sort | head -n 1 | sed 's/day=[0-9-]*/day=DAY/')" "host=h0000/day=DAY/h0000-20261118T000000Z-0001.parquet"
is "20 segments have a place each" "$(find "$scratch/fleet" -name '*.parquet' | wc -l)" 20
duckdb=$cache/duckdb/libduckdb.so
if [ ! -e "$duckdb" ]; then
	skip "DuckDB reads a fleet's day" "DuckDB is not here: 'tools/deps.sh test' fetches it where there is a network"
	done_testing
fi
# The other 980 hosts: links to the same files.
for folder in "$scratch"/fleet/host=h????; do
	name=$(basename "$folder")
	for ((copy = 1; copy < 50; copy++)); do
		cp -rl "$folder" "$scratch/fleet/$name-$copy"
	done
done
from="read_parquet('$scratch/fleet/host=*/day=*/*.parquet', hive_partitioning=true)"
cat >"$scratch/queries" <<END
select count(distinct host) from $from
select count(*) from $from where kind='switch'
select host, count(*) n from $from where kind='switch' group by host order by host limit 1
with woken as (select host, tid, time_ns, kind, lead(time_ns) over (partition by host, cpu order by time_ns) - time_ns wait_ns from $from where kind in ('wakeup','switch')) select count(*) from (select host, max(wait_ns) w from woken where kind='wakeup' group by host having w > 10000)
select kind, count(*) from $from group by kind order by kind
END
began=$(date +%s%N)
python3 tests/duckdb.py "$duckdb" <"$scratch/queries" >"$scratch/answers" 2>"$scratch/err"
is "DuckDB answers the queries of a fleet" "$? $(cat "$scratch/err")" "0 "
answer() { sed -n "$1p" "$scratch/answers"; }
is "a thousand hosts are there" "$(answer 1)" '[["1000"]]'
is "all their switches are there" "$(answer 2)" "[[\"$((events * 50))\"]]"
is "a host's own figure is its own" "$(answer 3)" '[["h0000", "100"]]'
# Waits from a wake-up to the switch after it: 5 us and the host's number; more than 10 us on hosts 6 to 19.
is "hosts where threads waited longer than 10 us are found" "$(answer 4)" '[["700"]]'
say_measured "1,000 hosts, $(find "$scratch/fleet" -name '*.parquet' | wc -l) files, $((events * 50)) switches, five queries in $((($(date +%s%N) - began) / 1000000)) ms; $(du -sbL "$scratch/fleet/host=h0000" | cut -f 1) bytes a host"
# The queries of docs/fleet.md as they stand there, with another folder and whatever day it is.
sed -n '/^```sql/,/^```$/p' docs/fleet.md | grep -v '^```\|^--' | tr '\n' ' ' | sed "s|/data/tactus|$scratch/fleet|g; s|day=[0-9-]*/|day=*/|g; s/; */\n/g" >"$scratch/documented"
python3 tests/duckdb.py "$duckdb" <"$scratch/documented" >"$scratch/answers" 2>"$scratch/err"
is "DuckDB answers the queries of the document as they stand there" "$? $(cat "$scratch/err") $(wc -l <"$scratch/answers")" "0  2"
is "the document's first query counts switches by host and day" "$(answer 1 | python3 -c 'import json, sys; d = json.load(sys.stdin); print(len(d), d[0][0], d[0][2])')" "1000 h0000 100"
is "the document's second query names the hosts with the longest wait and the thread" "$(answer 2 | python3 -c 'import json, sys; d = json.load(sys.stdin); print(len(d), sorted({(r[0][:5], *r[1:]) for r in d}))')" "20 [('h0019', '24000', 'worker')]"
done_testing

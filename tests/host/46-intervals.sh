#!/usr/bin/env bash
# Tables every so often, live: so many as were asked for, and in place on a terminal.
. tests/tap.sh

headings() { grep -cE '^[0-9.]+ s to [0-9.]+ s' "$1"; }
# spans FILE: from when to when each table goes
spans() { sed -nE 's/^([0-9.]+) s to ([0-9.]+) s.*/\1-\2/p' "$1"; }
for view in tasks affinity latency inversions cpus migrations "misses --all"; do
	# shellcheck disable=SC2086
	"$tactus" $view 0.5 3 >"$scratch/out" 2>"$scratch/err"
	is "$view 0.5 3 ends with status 0" $? 0
	holds "$view 0.5 3 prints three tables" test "$(headings "$scratch/out")" -ge 3
	# On a busy machine what ends it may take so long that there are pieces of that.
	is "$view 0.5 3 begins each table where the one before it ended" "$(spans "$scratch/out" | sed 1d | cut -d- -f1)" "$(spans "$scratch/out" | sed '$d' | cut -d- -f2)"
done
"$tactus" tasks --interval 0.3 --json --report "$scratch/rows" -- sh -c 'i=0; while [ $i -lt 12 ]; do i=$((i + 1)); sleep 0.1; done' 2>/dev/null
is "tasks --interval of a command has its threads in more than one interval" "$(json 'sum(r["record"] == "interval" for r in rows) > 1 and [r["comm"] for r in rows if r["record"] == "task"].count("sh") > 1' <"$scratch/rows")" True

# on_terminal COMMAND...: until it has drawn twice, then Ctrl-C
on_terminal() {
	: >"$scratch/screen"
	script -qfec "stty rows 12 cols 90; exec $*" "$scratch/screen" >/dev/null </dev/null &
	local watcher=$!
	wait_for "$scratch/screen" $'\033''\[H' &&
		for ((i = 0; i < 600; i++)); do
			[ "$(grep -c $'\033''\[H' "$scratch/screen")" -lt 2 ] || break
			sleep 0.1
		done
	pkill -INT -P $watcher tactus
	wait $watcher
}
on_terminal "$tactus" tasks
holds "on a terminal without -d, tasks draws its table again and again" test "$(grep -c $'\033''\[H' "$scratch/screen")" -ge 2
holds "on a terminal a table has no more lines than fit" test "$(awk '/\033\[H/ { lines = 0 } { lines++ } lines > most { most = lines } END { print most }' "$scratch/screen")" -le 14
"$tactus" tasks -d 0.2 >"$scratch/out" 2>/dev/null
is "elsewhere tasks prints one table, at the end" "$(headings "$scratch/out")" 0
done_testing

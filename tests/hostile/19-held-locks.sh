#!/usr/bin/env bash
# A user keeps the memory locks of his processes: their command lines and mappings can't be read for ever. tactus reads others', and keeps its pace.
# alone: another tactus may wait for the held locks
. tests/tap.sh

chmod 755 "$scratch"
export TACTUS_FEED=$scratch/feed
mkdir -p "$scratch/1" "$scratch/2" "$scratch/3" "$scratch/steamapps/common/Fake"
cp /bin/sleep "$scratch/steamapps/common/Fake/game"
if ! [ -c /dev/fuse ]; then
	skip "held memory locks" "there is no /dev/fuse here"
	done_testing
fi
servers=() holders=()
# Programs that list processes read their command lines, and would wait.
# ends_within TENTHS PID
ends_within() {
	local i
	for ((i = 0; i < $1; i++)); do
		grep -q '^State:.[^Z]' "/proc/$2/status" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
# named NAME PID...: those that have that name
named() {
	local name=$1 pid
	shift
	for pid in "$@"; do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$name" ] || echo "$pid"
	done
}
children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
# hold NUMBER: a process of an ordinary user's, in a mount namespace that ends with its server
hold() {
	mkfifo "$scratch/go-$1"
	unshare -m --propagation private build/workloads/fuse_silent "$scratch/$1" file lock <"$scratch/go-$1" >"$scratch/said-$1" 2>&1 &
	servers+=($!)
	exec {keep}>"$scratch/go-$1"
	wait_for "$scratch/said-$1" 'mapped|fuse_silent:' 100
	holders+=("$(awk '/^mapped/ { print $2 }' "$scratch/said-$1")")
	! grep -q fuse_silent: "$scratch/said-$1"
}
let_go() {
	kill "${servers[@]}" 2>/dev/null
	wait "${servers[@]}" 2>/dev/null
	servers=()
}
trap 'let_go; rm -rf "$scratch"' EXIT
if ! hold 1 || ! hold 2 || ! hold 3; then
	skip "held memory locks" "they can't be made here: $(cat "$scratch"/said-*)"
	done_testing
fi
# By somebody who can be left waiting.
head -c 1 "/proc/${holders[0]}/cmdline" >/dev/null 2>&1 &
ends_within 5 $!
is "the command line of a process whose lock is held can't be read" $? 1
SteamAppId=480 setpriv --reuid 65533 --regid 65533 --clear-groups "$scratch/steamapps/common/Fake/game" 600 &
game=$!
began=$EPOCHREALTIME
"$tactus" run --actuator none >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" 'watching; Ctrl-C' 200
took_ms=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
cost_before=$(cost $runner)
for _ in $(seq 100); do
	! "$tactus" why $game 2>/dev/null | grep -q 'a game' || break
	sleep 0.1
done
like "another user's game is known beside held locks" "$("$tactus" why $game 2>&1)" 'a game'
# shellcheck disable=SC2046 # each is a word
forker=$(named tactus-looks $(children $runner))
readers=$(children "${forker:-0}")
"$tactus" roles -d 0.5 -n 5 >"$scratch/roles" 2>"$scratch/roles-err"
like "a table of roles beside held locks is printed, and what is unknown is said" "$? $(tr "\n" " " <"$scratch/roles-err")" "^0 .*could not be had in time"
lines=$(wc -l <"$scratch/out")
for _ in $(seq 200); do
	[ "$(wc -l <"$scratch/out")" -lt $((lines + 3)) ] || break
	sleep 0.1
done
holds "a run beside held locks goes on saying how things stand" test "$(wc -l <"$scratch/out")" -ge $((lines + 3))
costs_as_before "a run beside held locks" $runner "$cost_before"
kill -INT $runner
ends_within 100 $runner
is "a run beside held locks ends soon" $? 0
kill -KILL $runner 2>/dev/null
let_go
wait $runner
is "a run beside held locks ends when it is asked to" $? 0
like "processes that could not be read are counted" "$(cat "$scratch/err")" "[0-9]+ times a process's command line, environment or mappings could not be had in time"
say_measured "a run that watches after $took_ms ms; $(wc -w <<<"$readers") processes that read or hang; $(grep 'could not be had' "$scratch/err")"
kill $game 2>/dev/null
# shellcheck disable=SC2086 # each is a word
for _ in $(seq 100); do
	[ -n "$(named tactus-looks $readers)" ] || break
	sleep 0.1
done
# shellcheck disable=SC2086
is "no process that reads is left once the locks are free" "$(named tactus-looks $readers)" ""
done_testing

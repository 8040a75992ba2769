#!/usr/bin/env bash
# A user whose programs all look like games: others' games are noted as before, none of his programs is said to serve them, and what is refused is said.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

chmod 755 "$scratch"
export TACTUS_FEED=$scratch/feed
he=(setpriv --reuid 65534 --regid 65534 --clear-groups)
honest=(setpriv --reuid 65533 --regid 65533 --clear-groups)
mkdir -p "$scratch/steamapps/common/Fake" "$scratch/bin"
cp /bin/sleep "$scratch/steamapps/common/Fake/game"
cp /bin/sleep "$scratch/bin/wineserver64"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
"$tactus" run --actuator none --without gpu,wine,input,frame,socket,sound,names,learned >"$scratch/out" 2>"$scratch/err" &
runner=$!
pids+=("$runner")
wait_for "$scratch/err" "watching; Ctrl-C"
before=$(cost $runner)
is_game() {
	for _ in $(seq 100); do
		! "$tactus" why "$1" 2>/dev/null | grep -q 'a game' || return 0
		sleep 0.1
	done
	"$tactus" why "$1"
	return 1
}
# One first: which of many at once are noted depends on who comes first.
SteamAppId=480 "${he[@]}" "$scratch/steamapps/common/Fake/game" 600 &
pids+=($!)
holds "a user's program in the place of games is a game" is_game "${pids[1]}"
for _ in $(seq 69); do
	SteamAppId=480 "${he[@]}" "$scratch/steamapps/common/Fake/game" 600 &
	pids+=($!)
done
SteamAppId=480 "${he[@]}" "$scratch/bin/wineserver64" 600 &
his=$!
pids+=("$his")
SteamAppId=480 "${honest[@]}" "$scratch/bin/wineserver64" 600 &
server=$!
pids+=("$server")
SteamAppId=480 "${honest[@]}" "$scratch/steamapps/common/Fake/game" 600 &
game=$!
pids+=("$game")
holds "a game is noted beside another user's seventy" is_game $game
wait_for "$scratch/err" "game: game \\[$game\\]" 300
like "a game's helpers are its own user's" "$(grep "game: game \\[$game\\]" "$scratch/err")" "; with wineserver64 \\[$server\\]$"
costs_as_before "a run beside seventy games of a user" $runner "$before"
kill -INT $runner
wait $runner
is "a run beside seventy games of a user ends with status 0" $? 0
like "games that had no room are counted" "$(cat "$scratch/err")" 'games: [0-9]+ were not noted'
done_testing

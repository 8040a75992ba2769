#!/usr/bin/env bash
# A game means something to tactus run: one that Steam's reaper started, in a tree of doubles, is told in one line when it has
# shown frames, with why, what its threads are for and what serves it; one by --game alone likewise.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

export TACTUS_FEED=$scratch/feed
mkdir -p "$scratch/ubuntu12_32" "$scratch/steamapps/common/Fake" "$scratch/bin"
cp /bin/dash "$scratch/ubuntu12_32/reaper"
cp build/workloads/present "$scratch/steamapps/common/Fake/fake-game"
for name in wineserver64 crashpad_handler; do cp /bin/sleep "$scratch/bin/$name"; done
cp build/workloads/present "$scratch/bin/puzzle"
if ! "$scratch/bin/puzzle" call libEGL.so.1 eglSwapBuffers 1 0 >/dev/null 2>&1; then
	skip "games" "there is no libEGL.so.1 to present by"
	done_testing
fi

# run_begins OPTION...: tactus run in the background
run_begins() {
	: >"$scratch/run"
	: >"$scratch/err"
	timeout 100 "$tactus" run --actuator none --json --without learned,feed,gpu,input,sound,socket "$@" >"$scratch/run" 2>"$scratch/err" &
	run_pid=$!
	wait_for "$scratch/err" 'observing only'
	wait_for "$scratch/run" run_second
}
run_ends() {
	kill -INT "$run_pid"
	wait "$run_pid"
}
# frames: presents until tactus has told the game, for half a minute at most
frames() {
	for ((tick = 0; tick < 150; tick++)); do
		! grep -q '"record":"game"' "$scratch/run" || break
		echo >&3
		sleep 0.2
	done
}
game() { grep '"record":"game"' "$scratch/run" | json "$1"; }

mkfifo "$scratch/go"
run_begins
# As Steam starts it: its reaper gets what belongs together, with the game's number in the environment.
SteamAppId=480 "$scratch/ubuntu12_32/reaper" -c '"$1/bin/wineserver64" 60 & "$1/steamapps/common/Fake/fake-game" call libEGL.so.1 eglSwapBuffers 1 wait; kill $!' reaper "$scratch" \
	SteamLaunch AppId=480 <"$scratch/go" >"$scratch/presented" 2>&1 &
reaper=$!
SteamAppId=481 "$scratch/bin/crashpad_handler" 60 >/dev/null &
other=$!
exec 3>"$scratch/go"
wait_for "$scratch/presented" mapped
frames
told=$(grep 'tactus: game:' "$scratch/err")
say_measured "$told"
like "a game that Steam's reaper started is told with its name, its reason and what its threads are for" "$told" \
	"^tactus: game: fake-game \[[0-9]+\]: the place of a game; [0-9]+ threads?: [0-9]+ render"
like "a game is told with the reaper and the server that serve it, and nobody else's helper" "$told" \
	"; with (reaper \[$reaper\], wineserver64 \[[0-9]+\]|wineserver64 \[[0-9]+\], reaper \[$reaper\])$"
is "a game is told once" "$(wc -l <<<"$told")" 1
is "a game in JSON has the name, the reason and the threads of the line" "$(game '(d["comm"], d["why"], d["threads_by_role"]["render"] > 0)')" \
	"('fake-game', 'the place of a game', True)"
is "a game in JSON has the helpers of the line" "$(game '" ".join(sorted(h["comm"] for h in d["helpers"]))')" "reaper wineserver64"
by_gpu=$(grep -o '"threads_by_evidence":{[^}]*}' "$scratch/run" | tail -1)
say_measured "$by_gpu"
like "threads by kind of evidence have those that present" "$by_gpu" '"gpu":[1-9]'
exec 3>&-
wait $reaper
kill $other
run_ends

echo "# a program that nothing is known of, by --game"
run_begins --game puzzle
"$scratch/bin/puzzle" call libEGL.so.1 eglSwapBuffers 1 wait <"$scratch/go" >"$scratch/presented" 2>&1 &
puzzle=$!
exec 3>"$scratch/go"
wait_for "$scratch/presented" mapped
frames
told=$(grep 'tactus: game:' "$scratch/err")
say_measured "$told"
like "a game by --game is told with that reason, and no helpers" "$told" "^tactus: game: puzzle \[$puzzle\]: --game puzzle; [0-9]+ threads?: [0-9]+ render[^;]*$"
exec 3>&-
wait $puzzle
run_ends
is "tactus run ends well after games" $? 0

echo "# as Steam's launch option has it: tactus run by sudo, the reaper behind it"
chmod 711 "$scratch"
: >"$scratch/run"
: >"$scratch/err"
SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody SteamAppId=480 timeout 100 "$tactus" run --actuator none --json --without learned,feed,gpu,input,sound,socket -- \
	env LD_PRELOAD= "$scratch/ubuntu12_32/reaper" -c 'id -u; "$1/steamapps/common/Fake/fake-game" call libEGL.so.1 eglSwapBuffers 1 wait; exit 7' reaper "$scratch" \
	SteamLaunch AppId=480 <"$scratch/go" >"$scratch/run" 2>"$scratch/err" &
run_pid=$!
exec 3>"$scratch/go"
wait_for "$scratch/run" mapped
frames
like "a game by the launch option is told with its reaper" "$(grep 'tactus: game:' "$scratch/err")" \
	"^tactus: game: fake-game \[[0-9]+\]: the place of a game; [0-9]+ threads?: [0-9]+ render.*; with reaper \[[0-9]+\]$"
exec 3>&-
wait $run_pid
is "tactus run by the launch option ends with the game's status" $? 7
is "a game by the launch option runs as who called sudo" "$(grep -m 1 -xE '[0-9]+' "$scratch/run")" 65534
done_testing

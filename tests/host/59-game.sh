#!/usr/bin/env bash
# A game means something to tactus run: one that Steam's reaper started, or Heroic, Lutris or gamescope, in a tree of doubles, is told in
# one line when it has shown frames, with why, what its threads are for, what serves it and what plays its sound; its shader compilers
# are batch until then; and while it is in front others may wait longer, up to a limit.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

export TACTUS_FEED=$scratch/feed
mkdir -p "$scratch/ubuntu12_32" "$scratch/steamapps/common/Fake" "$scratch/bin" "$scratch/data/lutris/runners/zdoom"
cp /bin/dash "$scratch/ubuntu12_32/reaper"
for name in heroic legendary lutris-wrapper gamescope; do cp /bin/dash "$scratch/bin/$name"; done
cp build/workloads/present "$scratch/steamapps/common/Fake/fake-game"
for name in wineserver64 crashpad_handler; do cp /bin/sleep "$scratch/bin/$name"; done
for name in fossilize_replay fake-mixer; do cp build/workloads/pace "$scratch/bin/$name"; done
for name in bin/puzzle bin/quail bin/uuid bin/deck data/lutris/runners/zdoom/zdoom; do cp build/workloads/present "$scratch/$name"; done
printf '[roles]\nfake-mixer = audio\ndata-loop.0 = audio\n' >"$scratch/conf"
if ! "$scratch/bin/puzzle" call libEGL.so.1 eglSwapBuffers 1 0 >/dev/null 2>&1; then
	skip "games" "there is no libEGL.so.1 to present by"
	done_testing
fi
playing=()
trap 'kill "${playing[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT

# run_begins ACTUATOR SAID OPTION...: tactus run in the background
run_begins() {
	local actuator=$1 said=$2
	shift 2
	: >"$scratch/run"
	: >"$scratch/err"
	timeout 400 "$tactus" run --actuator "$actuator" --json --config "$scratch/conf" --without learned,feed,gpu,input,sound,socket "$@" \
		>"$scratch/run" 2>"$scratch/err" &
	run_pid=$!
	wait_for "$scratch/err" "$said"
	wait_for "$scratch/run" run_second
}
run_ends() {
	kill -INT "$run_pid"
	wait "$run_pid"
}
told() { grep "tactus: game: $1 " "$scratch/err"; }
# frames NAME: presents until tactus has told that game, for half a minute at most
frames() {
	for ((tick = 0; tick < 150; tick++)); do
		! told "$1" >/dev/null || break
		echo >&3
		sleep 0.2
	done
}
game() { grep '"record":"game"' "$scratch/run" | grep "\"comm\":\"$1\"" | json "$2"; }
# of_thread COMM PID: role, tier and evidence of its thread of that name
of_thread() { "$tactus" why "$2" --json 2>/dev/null | grep -F "\"comm\":\"$1\"" | json '(d["role"], d["tier"], d["evidence_kind"])'; }
# becomes COMM PID REGEX: until that matches, for twenty seconds at most
becomes() {
	for ((look = 0; look < 100; look++)); do
		seen=$(of_thread "$1" "$2")
		! grep -qE -- "$3" <<<"$seen" || return 0
		sleep 0.2
	done
	echo "$1 is $seen"
	return 1
}
pid_of() { pgrep -P "$reaper" -x "$1"; }

mkfifo "$scratch/go"
run_begins none 'observing only'
# As Steam starts it: its reaper gets what belongs together, with the game's number in the environment.
SteamAppId=480 "$scratch/ubuntu12_32/reaper" -c '"$1/bin/wineserver64" 60 & others=$!
	"$1/bin/fossilize_replay" 9000 900 60000 >/dev/null & others="$others $!"
	"$1/bin/fake-mixer" 5333 200 60000 >/dev/null & others="$others $!"
	"$1/steamapps/common/Fake/fake-game" call libEGL.so.1 eglSwapBuffers 1 wait dxvk-shader-n:9000 data-loop.0:5333; kill $others' reaper "$scratch" \
	SteamLaunch AppId=480 <"$scratch/go" >"$scratch/presented" 2>&1 &
reaper=$!
playing+=("$reaper")
SteamAppId=481 "$scratch/bin/crashpad_handler" 60 >/dev/null &
other=$!
playing+=("$other")
exec 3>"$scratch/go"
wait_for "$scratch/presented" mapped
batch="'background', 'batch', 'name'"
holds "a shader compiler in a game is batch before the first frame, by its name" becomes dxvk-shader-n "$(pid_of fake-game)" "$batch"
holds "Steam's replayer of shaders is batch before the first frame, by its name" becomes fossilize_repla "$(pid_of fossilize_repla)" "$batch"
sleep 1.5
is "a shader compiler that wakes by a timer is batch all the same before the first frame" "$(of_thread dxvk-shader-n "$(pid_of fake-game)")" "($batch)"
frames fake-game
told=$(told fake-game)
say_measured "$told"
like "a game that Steam's reaper started is told with its name, its reason and what its threads are for" "$told" \
	"^tactus: game: fake-game \[[0-9]+\]: the place of a game; 3 threads: 1 render.*1 audio"
like "a game is told with the helpers that serve it, and nobody else's" "$(sed 's/.*; with //; s/; sound by .*//; s/, /\n/g' <<<"$told" | sort | paste -sd ' ')" \
	"^fossilize_repla \[[0-9]+\] reaper \[$reaper\] wineserver64 \[[0-9]+\]$"
like "a game is told with its own thread and the process of its tree that play its sound" "$(sed 's/.*; sound by //; s/, /\n/g' <<<"$told" | sort | paste -sd ' ')" \
	"^data-loop.0 \[[0-9]+\] fake-mixer \[$(pid_of fake-mixer)\]$"
is "a game is told once" "$(wc -l <<<"$told")" 1
is "a game in JSON has the name, the reason and the threads of the line" "$(game fake-game '(d["comm"], d["why"], d["threads_by_role"]["render"] > 0)')" \
	"('fake-game', 'the place of a game', True)"
is "a game in JSON has the helpers of the line" "$(game fake-game '" ".join(sorted(h["comm"] for h in d["helpers"]))')" "fossilize_repla reaper wineserver64"
is "a game in JSON has what plays its sound" "$(game fake-game '" ".join(sorted(h["comm"] for h in d["sound"]))')" "data-loop.0 fake-mixer"
is "no shader compiler is anything by its name after the first frame" \
	"$({ of_thread dxvk-shader-n "$(pid_of fake-game)"; of_thread fossilize_repla "$(pid_of fossilize_repla)"; } | grep -c "'name'")" 0
holds "a shader compiler is treated by what it does after the first frame: one that wakes by a timer is urgent" \
	becomes dxvk-shader-n "$(pid_of fake-game)" latency-critical
# Those of three seconds ago count no more, and what came since may have taken longer.
by_gpu=$(grep -o '"threads_by_evidence":{[^}]*}' "$scratch/run" | grep -m 1 '"gpu":[1-9]')
say_measured "$by_gpu"
like "threads by kind of evidence have those that present, while they do" "$by_gpu" '"gpu":[1-9]'
exec 3>&-
wait $reaper
kill $other

echo "# as Heroic, Lutris and gamescope start theirs"
for name in quail uuid deck zdoom; do mkfifo "$scratch/go-$name"; done
how=(call libEGL.so.1 eglSwapBuffers 1 wait)
present="${how[*]}"
HEROIC_APP_NAME=Quail "$scratch/bin/heroic" -c '"$1/bin/legendary" -c "\"\$1/bin/quail\" '"$present"'; true" legendary "$1"; true' heroic "$scratch" <"$scratch/go-quail" >"$scratch/quail" 2>&1 &
heroic=$!
# Lutris gives all of its games this number of Steam's.
SteamAppId=default LUTRIS_GAME_UUID=25-37 "$scratch/bin/lutris-wrapper" -c '"$1/bin/uuid" '"$present"'; true' lutris-wrapper "$scratch" <"$scratch/go-uuid" >"$scratch/uuid" 2>&1 &
lutris=$!
"$scratch/data/lutris/runners/zdoom/zdoom" "${how[@]}" <"$scratch/go-zdoom" >"$scratch/zdoom" 2>&1 &
zdoom=$!
"$scratch/bin/gamescope" -c 'GAMESCOPE_WAYLAND_DISPLAY=gamescope-0 "$1/bin/deck" '"$present"'; true' gamescope "$scratch" <"$scratch/go-deck" >"$scratch/deck" 2>&1 &
gamescope=$!
playing+=("$heroic" "$lutris" "$zdoom" "$gamescope")
exec 4>"$scratch/go-quail" 5>"$scratch/go-uuid" 6>"$scratch/go-zdoom" 7>"$scratch/go-deck"
for name in quail uuid zdoom deck; do wait_for "$scratch/$name" mapped; done
for ((tick = 0; tick < 150; tick++)); do
	[ "$(grep -cE 'tactus: game: (quail|uuid|zdoom|deck) ' "$scratch/err")" -lt 4 ] || break
	for fd in 4 5 6 7; do echo >&$fd; done
	sleep 0.2
done
say_measured "$(grep -E 'tactus: game: (quail|uuid|zdoom|deck) ' "$scratch/err")"
like "a game that Heroic started is told by its environment, with Heroic and legendary" "$(told quail)" \
	"a game's environment; 1 thread: 1 render; with (heroic \[$heroic\], legendary \[[0-9]+\]|legendary \[[0-9]+\], heroic \[$heroic\])$"
like "a game that Lutris started is told by its environment, with Lutris' wrapper" "$(told uuid)" "a game's environment; 1 thread: 1 render; with lutris-wrapper \[$lutris\]$"
like "a game in the folder of Lutris' runners is told by its place" "$(told zdoom)" "^tactus: game: zdoom \[$zdoom\]: the place of a game; 1 thread: 1 render$"
like "a game in a gamescope is told by its environment" "$(told deck)" "a game's environment; 1 thread: 1 render$"
is "no launcher is told for a game" "$(grep -cE 'tactus: game: (heroic|legendary|lutris-wrapper|gamescope|reaper|tactus|timeout)' "$scratch/err")" 0
exec 4>&- 5>&- 6>&- 7>&-
wait $heroic $lutris $zdoom $gamescope
run_ends

echo "# by --game, a program that nothing is known of; and a process whose CPU is taken from it while that game is in front"
run_begins hints 'hints to the kernel' --game puzzle
taskset -c 0 build/workloads/crowding bystander 3000 90 >/dev/null &
bystander=$!
playing+=("$bystander")
"$scratch/bin/puzzle" call libEGL.so.1 eglSwapBuffers 1 wait <"$scratch/go" >"$scratch/presented" 2>&1 &
puzzle=$!
playing+=("$puzzle")
exec 3>"$scratch/go"
wait_for "$scratch/presented" mapped
nice_of() { awk '{ print $19 }' "/proc/$1/stat"; }
# last EXPRESSION: of the last second
last() { grep run_second "$scratch/run" | tail -n 1 | json "$1"; }
# What it waits before the game shows itself, some windows of it.
sleep 6
is "no game is in front before its first frame" "$(last 'd["game_pid"]')" None
(while sleep 0.1; do echo; done >&3) &
drawer=$!
chrt -f 1 taskset -c 0 build/workloads/pace 500000 400000 60000 >/dev/null &
taker=$!
playing+=("$drawer" "$taker")
wait_for "$scratch/err" 'waits too long for CPUs' 400
say_measured "$(grep 'waits too long' "$scratch/err")"
like "a process that waits too long beside a game in front is told with the game, and treated as urgent" "$(grep 'waits too long' "$scratch/err")" \
	"bystander \[$bystander\]: waits too long for CPUs while the game puzzle \[$puzzle\] is in front \(p99 [0-9.]+ m?s a wake-up, before [0-9.]+ [mu]?s\): it is treated as urgent for 60 s"
holds "a process that is treated as urgent beside a game has a hint" eval 'for i in $(seq 50); do [ "$(nice_of $bystander)" != -9 ] || exit 0; sleep 0.1; done; exit 1'
is "the game keeps its hint" "$(nice_of $puzzle)" -9
sleep 1
is "the JSON has the game in front" "$(last 'd["game_pid"]')" $puzzle
# On a busy machine others wait too, and the last for whom something was done may be one of them.
is "the JSON has what was done for whom beside which game" "$(grep run_second "$scratch/run" |
	json "next(([e[k] for k in ('pid', 'cause_pid', 'cause_comm', 'remedy')] for e in (r['effect'].get('last') for r in rows) if e and e['pid'] == $bystander), None)")" \
	"[$bystander, $puzzle, 'puzzle', 'ease']"
is "processes that wait for a game's sake are counted" "$(last 'd["effect"]["for_game"] > 0')" True
# Before it came, somebody else on this machine may have called for a trial.
trials_beside=$(grep run_second "$scratch/run" | grep -F "\"game_pid\":$puzzle," | json '*sorted({r["effect"]["trials"] for r in rows})')
like "no trial is begun while a game is in front" "$trials_beside" '^[0-9]+$'
kill $taker $drawer
wait $taker $drawer 2>/dev/null
told=$(told puzzle)
say_measured "$told"
like "a game by --game is told with that reason, and no helpers" "$told" "^tactus: game: puzzle \[$puzzle\]: --game puzzle; [0-9]+ threads?: [0-9]+ render[^;]*$"
exec 3>&-
wait $puzzle
run_ends
is "tactus run ends well after games" $? 0
is "a process that was treated as urgent has its own nice value after the run" "$(nice_of $bystander)" 0
kill $bystander

echo "# as Steam's launch option has it: tactus run by sudo, the reaper behind it"
chmod 711 "$scratch"
: >"$scratch/run"
: >"$scratch/err"
SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody SteamAppId=480 timeout 400 "$tactus" run --actuator none --json --without learned,feed,gpu,input,sound,socket -- \
	env LD_PRELOAD= "$scratch/ubuntu12_32/reaper" -c 'id -u; "$1/steamapps/common/Fake/fake-game" call libEGL.so.1 eglSwapBuffers 1 wait; exit 7' reaper "$scratch" \
	SteamLaunch AppId=480 <"$scratch/go" >"$scratch/run" 2>"$scratch/err" &
run_pid=$!
exec 3>"$scratch/go"
wait_for "$scratch/run" mapped
frames fake-game
like "a game by the launch option is told with its reaper" "$(told fake-game)" \
	"^tactus: game: fake-game \[[0-9]+\]: the place of a game; [0-9]+ threads?: [0-9]+ render.*; with reaper \[[0-9]+\]$"
exec 3>&-
wait $run_pid
is "tactus run by the launch option ends with the game's status" $? 7
is "a game by the launch option runs as who called sudo" "$(grep -m 1 -xE '[0-9]+' "$scratch/run")" 65534
done_testing

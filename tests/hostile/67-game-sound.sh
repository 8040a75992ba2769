#!/usr/bin/env bash
# A user with hundreds of threads that play sound, and sixteen games: what plays the sound of another user's game is found as before, and
# looking for it takes little CPU time.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

chmod 755 "$scratch"
export TACTUS_FEED=$scratch/feed
he=(setpriv --reuid 65534 --regid 65534 --clear-groups)
honest=(setpriv --reuid 65533 --regid 65533 --clear-groups)
drones=${DRONES:-600} games=16
mkdir -p "$scratch/steamapps/common/Fake" "$scratch/bin"
cp /bin/dash "$scratch/steamapps/common/Fake/game"
cp /bin/sleep "$scratch/steamapps/common/Fake/idle"
for name in drone fake-mixer; do cp build/workloads/pace "$scratch/bin/$name"; done
printf '[roles]\ndrone = audio\nfake-mixer = audio\n' >"$scratch/conf"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
"$tactus" run --actuator none --config "$scratch/conf" --without gpu,wine,input,frame,socket,sound,learned >"$scratch/out" 2>"$scratch/err" &
runner=$!
pids+=("$runner")
wait_for "$scratch/err" "watching; Ctrl-C"
plays_sound() {
	for _ in $(seq 100); do
		! "$tactus" why "$1" | grep -q ' audio ' || return 0
		sleep 0.1
	done
	"$tactus" why "$1"
	return 1
}
for _ in $(seq "$drones"); do
	"${he[@]}" "$scratch/bin/drone" 3000000 0 600000 >/dev/null 2>&1 &
	pids+=($!)
done
holds "a user's program is said to play sound" plays_sound "${pids[-1]}"
cpu_ms() { awk '{ print ($14 + $15) * 10 }' "/proc/$runner/stat"; }
# Of a span in which nothing is looked for
began=$(cpu_ms)
sleep 2
idle_ms=$((2 * ($(cpu_ms) - began)))
cost_before=$(cost $runner)
for _ in $(seq $games); do
	"${he[@]}" "$scratch/steamapps/common/Fake/idle" 600 &
	pids+=($!)
done
"${honest[@]}" "$scratch/steamapps/common/Fake/game" -c 'trap "kill \$!" TERM; "$1/bin/fake-mixer" 5333 200 600000 & wait' game "$scratch" >/dev/null &
game=$!
pids+=("$game")
sleep 8
began=$(cpu_ms)
sleep 4
looking_ms=$(($(cpu_ms) - began))
wait_for "$scratch/err" "game: game \\[$game\\]" 400
like "a game is told with what plays its sound beside another user's $drones threads that do" "$(grep "game: game \\[$game\\]" "$scratch/err")" \
	"sound by fake-mixer"
say_measured "$idle_ms ms of CPU in 4 s without games, $looking_ms ms in those in which $games games of his and one of another user are told"
# What is to be read of each process grows with their number, and takes longer on a slow machine.
read_ms() {
	python3 -c 'import glob, time
began = time.process_time()
for path in glob.glob("/proc/[0-9]*/stat*"):
    try: open(path, "rb").read()
    except OSError: pass
print(round((time.process_time() - began) * 1000))'
}
read_ms=$(read_ms)
say_measured "a program reads three files of each process in $read_ms ms of CPU"
holds "looking for what plays games' sound beside a user with $games games and $drones threads that play sound takes no more CPU in four seconds than reading three files of each process three times" \
	test $((looking_ms - idle_ms)) -le $((3 * read_ms))
costs_as_before "a run beside a user with $games games and $drones threads that play sound" $runner "$cost_before"
kill -INT $runner
wait $runner
is "a run beside a user with $games games and $drones threads that play sound ends with status 0" $? 0
done_testing

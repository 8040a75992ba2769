#!/usr/bin/env bash
# The rings: a storm of switches and of new programs that nobody reads drowns no frame, losses are counted by kind; kinds of events on their own.
# alone: its storm of switches fills the rings of other tests too
. tests/tap.sh

mkfifo "$scratch/go"
build/workloads/present call libEGL.so.1 eglSwapBuffers 100 wait <"$scratch/go" >"$scratch/presents" &
presenter=$!
exec 3>"$scratch/go"
wait_for "$scratch/presents" mapped
"$tactus" record -o "$scratch/storm.rec" --ring-kb 1024 --json --without launch,gpu,wine,input,socket,sound,learned >"$scratch/out" 2>"$scratch/err" &
recorder=$!
wait_for "$scratch/err" watching
# Nobody reads from here on: the rings fill.
kill -STOP $recorder
hackbench -g 4 -l 1000 >/dev/null
for ((i = 0; i < 1500; i++)); do /bin/true; done
echo >&3
wait_for "$scratch/presents" presented
kill -CONT $recorder
kill -INT $recorder
wait $recorder
exec 3>&-
wait $presenter
say_measured "the rings lost $(json 'd["lost_kinds"]' <"$scratch/out") and kept $(json 'd["read"]' <"$scratch/out")"
holds "a storm that nobody reads loses switches" test "$(json 'd["lost_kinds"].get("switch", 0)' <"$scratch/out")" -gt 1000
"$tactus" events -i "$scratch/storm.rec" --only frame --json 2>/dev/null | grep "\"event\":\"frame\".*\"tid\":$presenter," >"$scratch/frames"
holds "a storm of programs that nobody reads loses what is told of them" test "$(json 'd["lost_kinds"].get("thread", 0)' <"$scratch/out")" -gt 100
is "a storm that nobody reads loses no frame after it" "$(json '[r["number"] for r in rows] == list(range(1, 101))' <"$scratch/frames")" True
is "every loss has a kind" "$(json 'sum(d["lost_kinds"].values()) == d["lost"]' <"$scratch/out")" True
is "what each ring produced is what was read and what was lost" \
	"$(json '[r for r in d["rings"] if r["produced"] != r["read"] + r["lost"]]' <"$scratch/out")" "[]"
like "a view says which kinds are missing" "$("$tactus" tasks -i "$scratch/storm.rec" 2>&1 >/dev/null)" \
	"events were lost \(.*$(json 'd["lost_kinds"]["switch"]' <"$scratch/out") switch"
# Other threads' frames and losses may stand behind it.
like "a frame is told in words" "$("$tactus" events -i "$scratch/storm.rec" --only frame 2>/dev/null | grep "\[ *$presenter\]" | tail -n 1)" \
	"present +\[ *$presenter\] frame interval [0-9.]+ [a-z]+ submit 0 number 100 api 2$"

# Mapped before the watch begins: its probes are in place when that is so.
mkfifo "$scratch/go2"
: >"$scratch/presents"
build/workloads/present call libEGL.so.1 eglSwapBuffers 50 wait <"$scratch/go2" >"$scratch/presents" &
presenter=$!
exec 3>"$scratch/go2"
wait_for "$scratch/presents" mapped
: >"$scratch/err"
"$tactus" events --only frame --json -p $presenter >"$scratch/out" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
echo >&3
wait_for "$scratch/presents" presented
kill -INT $watcher
wait $watcher
exec 3>&-
wait $presenter
is "events --only frame tells every frame as it comes" "$(json '[r["number"] for r in rows] == list(range(1, 51))' <"$scratch/out")" True
is "events --only frame tells nothing else" "$(json '{r["event"] for r in rows}' <"$scratch/out")" "{'frame'}"
ends "a kind that is none is refused" 2 "'--only frame,nonsense'|value 'frame,nonsense' names no kind" "$tactus" events --only frame,nonsense

# What there is nothing of is said in a line.
if [ ! -e /dev/dri ] && [ ! -e /dev/nvidiactl ]; then
	"$tactus" gpu -d 0.2 >"$scratch/out" 2>"$scratch/err"
	is "tactus gpu starts where there is no GPU" $? 0
	like "tactus gpu says that there is no GPU" "$(cat "$scratch/err")" '^tactus: gpu: this machine has no GPU'
	is "tactus gpu shows nothing where there is no GPU" "$(wc -c <"$scratch/out")" 0
fi
TACTUS_SKIP_HOOKS=input:fentry,input:kprobe ends "tactus input says in one line why it can't watch" 1 \
	'^tactus: input: cannot watch input devices and who reads them: fentry/input_event: switched off' "$tactus" input -d 0.2
done_testing

#!/usr/bin/env bash
# The rings: a storm of switches that nobody reads drowns no frame, losses are counted by kind; kinds of events on their own.
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
echo >&3
wait_for "$scratch/presents" presented
kill -CONT $recorder
sleep 0.5
kill -INT $recorder
wait $recorder
exec 3>&-
wait $presenter
say_measured "the rings lost $(json 'd["lost_kinds"]' <"$scratch/out") and kept $(json 'd["read"]' <"$scratch/out")"
holds "a storm that nobody reads loses switches" test "$(json 'd["lost_kinds"].get("switch", 0)' <"$scratch/out")" -gt 1000
is "and not one frame after it" \
	"$("$tactus" events -i "$scratch/storm.rec" --only frame --json 2>/dev/null | grep -c "\"event\":\"frame\".*\"tid\":$presenter,")" 100
is "every loss has a kind" "$(json 'sum(d["lost_kinds"].values()) == d["lost"]' <"$scratch/out")" True
is "every ring: produced is read plus lost" \
	"$(json 'all(r["produced"] == r["read"] + r["lost"] for r in d["rings"])' <"$scratch/out")" True
like "a view says which kinds are missing" "$("$tactus" tasks -i "$scratch/storm.rec" 2>&1 >/dev/null)" \
	"events were lost \(.*$(json 'd["lost_kinds"]["switch"]' <"$scratch/out") switch"

"$tactus" events --only frame --json -- build/workloads/present call libEGL.so.1 eglSwapBuffers 50 500 | grep '^{' >"$scratch/out"
is "frames on their own, as they come" "$(json '[r["number"] for r in rows] == list(range(1, 51)) and {r["event"] for r in rows}' <"$scratch/out")" "{'frame'}"
like "in words" "$("$tactus" events -i "$scratch/storm.rec" --only frame 2>/dev/null | tail -1)" \
	"present +\[ *$presenter\] frame interval [0-9.]+ [a-z]+ submit 0 number 100 api 2$"
ends "a kind that is none" 2 "'--only frame,nonsense'|value 'frame,nonsense' names no kind" "$tactus" events --only frame,nonsense

# What there is nothing of is said in a line.
if [ ! -e /dev/dri ] && [ ! -e /dev/nvidiactl ]; then
	"$tactus" gpu -d 0.2 >"$scratch/out" 2>"$scratch/err"
	is "gpu starts where there is no GPU" $? 0
	like "and says that there is none" "$(cat "$scratch/err")" '^tactus: gpu: this machine has no GPU'
	is "and shows nothing" "$(wc -c <"$scratch/out")" 0
fi
TACTUS_SKIP_HOOKS=input:fentry,input:kprobe ends "input says in one line why it can't watch" 1 \
	'^tactus: input: cannot watch input devices and who reads them: fentry/input_event: switched off' "$tactus" input -d 0.2
done_testing

#!/usr/bin/env bash
# A display that a program flips, and clicks that frames answer, on a virtual machine's own GPU (virtio_gpu), against what the program and
# the display say themselves; what GPUs do for it, by vgem's fences, which it makes and ends; and that it is told as a game. Runs in a VM
# with GPU=virtio.
. tests/tap.sh
. tests/guest/click.sh

modprobe -a virtio-gpu vgem evdev uinput
for _ in $(seq 100); do [ ! -e /dev/uinput ] || [ ! -e /dev/dri/card1 ] || break; sleep 0.1; done

TACTUS_SKIP_HOOKS=frame:,learned:,launch:,wine:,socket:,sound: "$tactus" frames --each --json -o "$scratch/recording" -- \
	build/workloads/flip each virtio_gpu 3 60 30:60 >"$scratch/out" 2>"$scratch/err"
is "frames --each of a program that flips virtio_gpu ends well" $? 0
sed 's/^/# /' "$scratch/err"
python3 - "$scratch/out" >"$scratch/judged" <<'END'
import json, statistics, sys
lines = open(sys.argv[1]).read().splitlines()
said = [tuple(map(int, l.split()[1:])) for l in lines if l.startswith("flip ")]
rows = [r for r in map(json.loads, (l for l in lines if l.startswith("{"))) if r["record"] == "frame"]
spans = [(b[2] - a[2]) / (b[3] - a[3]) for a, b in zip(said, said[1:]) if b[3] > a[3]]
period = statistics.median(spans)
shown, phase, gpu = [], [], []
def off(into, seen, truth):
    if seen is not None: into.append((abs(seen - truth), seen, truth))
for row in rows:
    at = min(range(len(said)), key=lambda i: abs(said[i][1] - row["time_ns"]))
    number, asked, up, seq, lasted = said[at]
    off(shown, row["shown_ns"], up - asked)
    if at:
        off(phase, row["phase_ns"], (asked - said[at - 1][2]) % period)
    off(gpu, row["gpu_ns"], lasted)
def tell(name, found):
    found.sort()
    middle = [int(statistics.median(f[k] for f in found)) for k in range(3)] if found else [-1, -1, -1]
    print(name, len(found), *middle)
print("rows", len(said), len(rows), int(period))
tell("shown", shown); tell("phase", phase); tell("gpu", gpu)
END
read -r _ said rows period < <(grep rows "$scratch/judged")
say_measured "$said flips, $rows rows; the display's period is $period ns by its own clock"
is "frames --each has a row for each flip" "$rows" "$said"
# told PART WORDS MOST: within so many ns of the truth in the median, for nine of ten flips
told() {
	local found off seen truth
	read -r found off seen truth < <(sed -n "s/^$1 //p" "$scratch/judged")
	say_measured "$1 of $found flips: $seen ns by tactus, $truth ns $2 (medians), $off ns apart in the median"
	holds "$1: nine of ten flips have it" test $((found * 10)) -ge $((said * 9))
	between "$1 is what the program knows $2" 0 "$off" "$3"
}
told shown "by the vblank that the display told the program" 1000000
told phase "since the display's last vblank by its own clock" 1000000
told gpu "from the fence's making to its end" 500000
is "a recording has the same rows of frames" "$("$tactus" frames --each -i "$scratch/recording" --json | grep -c '"record":"frame"')" "$rows"

answers virtio_gpu

echo "# who has the whole screen is a game"
export TACTUS_FEED=$scratch/feed
: >"$scratch/err"
"$tactus" run --actuator none --json --without learned,feed,launch,wine,input,socket,sound >"$scratch/run" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" 'observing only'
build/workloads/flip each virtio_gpu 1 600 >"$scratch/out" &
game=$!
wait_for "$scratch/err" 'game: flip ' 300
like "run tells of a program that flips the display itself as a game, with its pid, why and what its threads are for" \
	"$(grep 'game: flip ' "$scratch/err")" "^tactus: game: flip \[$game\]: it has the whole screen; 1 threads?: 1 render"
say_measured "$(grep 'game: flip ' "$scratch/err")"
is "a game that flips the display is told once, and no other" "$(grep -c 'tactus: game:' "$scratch/err")" 1
kill $game
kill -INT $runner
wait $runner
is "run beside a program that has the whole screen ends well" $? 0
done_testing

#!/usr/bin/env bash
# Ten million events, more than 100,000 frames among them: the page stays bounded in size and memory, says what it sums up, and opens in a browser; what drawing
# it takes does not grow with the frames. Files for other programs take no more memory than those of a short recording.
. tests/tap.sh

python3 - "$scratch" >"$scratch/events" <<'PYTHON'
import sys
sys.path[:0] = ["bench", "tests"]
import export
print(export.repeat(sys.argv[1] + "/long.tactus", 460))
PYTHON
holds "the recording has ten million events" test "$(cat "$scratch/events")" -gt 10000000
# most_kb COMMAND...: the most memory that it had; its CPU time in milliseconds is in $scratch/ms
most_kb() { python3 - "$scratch/ms" "$@" <<'PYTHON'
import os, sys, time
sys.path[:0] = ["bench", "tests"]
import export
null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
pid, most, ended, status = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=null), 0, 0, 0
while not ended:
    most = max(most, export.memory_kb(pid))
    time.sleep(0.005)
    ended, status, usage = os.wait4(pid, os.WNOHANG)
with open(sys.argv[1], "w") as out:
    print(round(1000 * (usage.ru_utime + usage.ru_stime)), file=out)
print(most if status == 0 else f"ended with {status}")
PYTHON
}
python3 -c 'import sys
sys.path[:0] = ["bench", "tests"]
import export
export.repeat(sys.argv[1] + "/tenth.tactus", 46)' "$scratch"
most_kb "$tactus" report -i "$scratch/tenth.tactus" -o "$scratch/tenth.html" >/dev/null
tenth_ms=$(cat "$scratch/ms")
kb=$(most_kb "$tactus" report -i "$scratch/long.tactus" -o "$scratch/long.html")
ms=$(cat "$scratch/ms")
size=$(stat -c %s "$scratch/long.html")
say_measured "of $(cat "$scratch/events") events a page of $size bytes, $kb KB of memory"
say_measured "$ms ms of CPU time for that page, $tenth_ms for one of a tenth of the events"
holds "a page of ten times as many events takes at most 15 times the CPU time" test "$ms" -le $((15 * tenth_ms + 200))
holds "a page of ten million events is smaller than 3 MB" test "$size" -lt 3000000
holds "a page of ten million events takes less than 64 MB of memory" test "$kb" -lt 65536
for format in perfetto chrome csv parquet; do
	kb=$(most_kb "$tactus" export -i "$scratch/long.tactus" -o "$scratch/out" --format $format --force)
	ms=$(cat "$scratch/ms")
	say_measured "$format of ten million events: $(stat -c %s "$scratch/out") bytes, $kb KB of memory, $ms ms of CPU time: $(($(cat "$scratch/events") / (ms > 0 ? ms : 1))) thousand events a second of CPU time"
	holds "$format is written at a million events a second of CPU time or more" test $(($(cat "$scratch/events") / 1000)) -ge "$ms"
	holds "$format of ten million events takes less than 64 MB of memory" test "$kb" -lt 65536
	rm -f "$scratch/out"
done
if command -v chromedriver >/dev/null && command -v chromium >/dev/null; then
	python3 - "$scratch" >"$scratch/browser" 2>&1 <<'PYTHON'
import sys
sys.path.insert(0, "tests")
from browser import Browser, check, same
with Browser(sys.argv[1]) as page:
    page.open(f"file://{sys.argv[1]}/long.html")
    page.wait('document.documentElement.dataset.ready === "yes"')
    same("the browser has no complaint about a page of ten million events", page.console(), [])
    frames = page.run("return presenters.reduce((sum, row) => sum + row.frames, 0)")
    words = page.run("return document.getElementById('frames').textContent + document.getElementById('foot').textContent")
    check("a page of 100,000 frames has them all", frames > 100000, frames)
    check("a page of ten million events says that it shows the latest frames and sums over time", "that were latest have their path here" in words and "sums over" in words, words)
    # Strokes of the pen for the whole and for a fiftieth: by pixels, not by frames.
    strokes = page.run("const real = frameGraph.chart.pen.fillRect; let count = 0; frameGraph.chart.pen.fillRect = function (...at) { count++; real.apply(this, at); };"
                       "const drawn = (from, to) => { view.from = from; view.to = to; count = 0; frameGraph.chart.draw(); return count; };"
                       "const seen = [drawn(0, whole), drawn(whole * 0.4, whole * 0.42), frameGraph.chart.inner]; delete frameGraph.chart.pen.fillRect; return seen")
    check("drawing 100,000 frames takes no more strokes than some for each pixel", strokes[0] < 4 * strokes[2] and strokes[1] < 4 * strokes[2], strokes)
    print(f"# measured: {frames} frames; {strokes[0]} strokes for all, {strokes[1]} for a fiftieth, on {strokes[2]} pixels")
PYTHON
	browser_results $?
else
	skip "a browser shows a page of ten million events" "chromium and chromium-driver are not installed"
fi
done_testing

#!/usr/bin/env bash
# 'tactus report': the page in a real browser, against what the views print of the same recording; hostile names; its bounds.
. tests/tap.sh

example=examples/late-frames.tactus
page=$scratch/page.html
log=$PWD/build/tests-log
mkdir -p "$log" "$scratch/views"

"$tactus" report -i $example -o "$page" >"$scratch/words" 2>"$scratch/err"
is "'tactus report -i' on the example ends with status 0" $? 0
like "'tactus report' prints its verdict" "$(head -n 1 "$scratch/words")" '^[0-9]+ of [0-9]+ frames of chocolate-doom .* were late'
size=$(stat -c %s "$page")
say_measured "the page of the example has $size bytes"
holds "the page of the example is smaller than 3 MB" test "$size" -lt 3000000
is "the page names nothing that is not in it" "$(grep -coE '(src|href)="[^#]|url\(|@import|https?://(www\.)?[^w]' "$page")" 0
holds "'tactus report' replaces a page of its own" "$tactus" report -i $example -o "$page"
echo mine >"$scratch/foreign.html"
ends "'tactus report' leaves a file that is no page of its own" 1 'exists and is not|not a file|force' "$tactus" report -i $example -o "$scratch/foreign.html"
is "a file of somebody else's is as it was" "$(cat "$scratch/foreign.html")" mine
ends "'tactus report' refuses to put the page where its recording is" 2 'one file' "$tactus" report -i $example -o $example
ends "'tactus report' of a file that is not there says so" 1 'nothing.tactus' "$tactus" report -i "$scratch/nothing.tactus" -o "$scratch/none.html"
ends "'tactus report' on a full disk fails" 1 'No space left' "$tactus" report -i $example -o /dev/full
short_of_room() { (ulimit -f 64 && trap '' XFSZ && exec "$tactus" "$@"); }
ends "'tactus report' that finds no room says that nothing is left" 1 'File too large: nothing is left of it' short_of_room report -i $example -o "$scratch/none.html"
is "'tactus report' that found no room leaves no file" "$(ls "$scratch/none.html" 2>/dev/null)" ""
ends "compare --html that finds no room says that nothing is left" 1 'File too large: nothing is left of it' short_of_room compare $example $example --html "$scratch/none.html"
holds "'tactus report' writes a page where none was left" "$tactus" report -i $example -o "$scratch/none.html"
head -c 1000 "$scratch/none.html" >"$scratch/no-recording"
"$tactus" report -i "$scratch/no-recording" -o "$scratch/none.html" >/dev/null 2>&1
is "a report of what is no recording fails and leaves the page that was there" "$? $(cmp "$scratch/none.html" "$page" 2>&1)" "1 "
"$tactus" report -i $example --json >"$scratch/records" 2>/dev/null
is "the page's data are the records that 'tactus report --json' prints" \
	"$(python3 tests/page_records.py "$page" | cmp - "$scratch/records" 2>&1)" ""
is "'tactus report' of the same recording is the same page" "$("$tactus" report -i $example | cmp - "$page" 2>&1)" ""

for view in frames latency tasks migrations misses; do
	"$tactus" $view -i $example --json >"$scratch/views/$view" 2>/dev/null
done
"$tactus" frames --why --json -i $example >"$scratch/views/why" 2>/dev/null
"$tactus" frames --each --json -i $example >"$scratch/views/each" 2>/dev/null
"$tactus" latency --over 50us --json -i $example >"$scratch/views/over" 2>/dev/null
cp "$scratch/records" "$scratch/views/report"

# A minute of play: CPU time, of which another's load takes nothing.
python3 -c 'import sys
sys.path[:0] = ["bench", "tests"]
import export
export.repeat(sys.argv[1] + "/minute.tactus", 6)' "$scratch"
python3 - "$tactus" "$scratch" >"$scratch/spent" 2>&1 <<'PYTHON'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "report", "-i", sys.argv[2] + "/minute.tactus", "-o", sys.argv[2] + "/minute.html"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(round(1000 * (usage.ru_utime + usage.ru_stime)))
PYTHON
say_measured "the report of a minute of play takes $(cat "$scratch/spent") ms of CPU time, and has $(stat -c %s "$scratch/minute.html") bytes"
holds "the report of a minute of play takes less than three seconds of CPU time" test "$(cat "$scratch/spent")" -lt 3000
holds "the report of a minute of play is smaller than 3 MB" test "$(stat -c %s "$scratch/minute.html")" -lt 3000000

# Names that try to be more than names; 8,000 frames in two minutes; a late one now and then.
python3 - "$scratch/hostile" <<'END'
import sys
with open(sys.argv[1], "w") as out:
    names = ["<script>", "</script><b>", "<!--", "&lt;x&gt;", "</style>", "a\"b'c`${d}", "\\u003cx", "a&b<c>", "\u202egnp.exe"]
    for i, name in enumerate(names):
        print(f"thread 0 {100 + i} 0 pid={100 + i} comm={name}", file=out)
    at, frame = 1000, 0
    print(f"switch {at} 0 0 next_tid=101", file=out)
    for i in range(8000):
        late = i % 1000 == 999
        at += 16000
        print(f"wakeup {at - 15900} 100 0 target_cpu=0 prio=121", file=out)
        begins = at - 15800 + (40000 if late else 0)
        print(f"switch {begins} 101 0 next_tid=100 flags=1 prev_prio=121 next_prio=121", file=out)
        at += 40000 if late else 0
        print(f"frame {at} 100 0 interval_ns={(at - frame) * 1000 if frame else 0} number={i + 1} api=1", file=out)
        print(f"switch {at + 10} 100 0 next_tid={101 + i % 8} prev_state=1 prev_prio=121 next_prio=121", file=out)
        if i % 8:
            print(f"switch {at + 20} {101 + i % 8} 0 next_tid=101 flags=1 prev_prio=121 next_prio=121", file=out)
        frame = at
END
python3 tests/recording.py "$scratch/hostile.tac" <"$scratch/hostile"
holds "'tactus report' on names that are HTML ends with status 0" "$tactus" report -i "$scratch/hostile.tac" -o "$scratch/hostile.html"
is "the page of hostile names has the script elements of any other" \
	"$(grep -oi '<script' "$scratch/hostile.html" | wc -l)" "$(grep -oi '<script' "$page" | wc -l)"
is "the page of hostile names ends as many scripts as it begins" "$(grep -oi '</script' "$scratch/hostile.html" | wc -l)" 2
"$tactus" tasks --json -i "$scratch/hostile.tac" >"$scratch/views/hostile" 2>/dev/null

# 100,000 frames, and a hundredth of them: what a picture takes is by pixels.
for count in 1000 100000; do
	python3 - $count <<-'END' | python3 tests/recording.py "$scratch/$count.tac"
		import sys
		print("thread 0 100 0 pid=100 comm=game")
		print("switch 500 0 0 next_tid=100")
		at = 1000
		for i in range(int(sys.argv[1])):
		    took = 16667 * (3 if i % 977 == 976 else 1) + i * 7919 % 400
		    at += took
		    print(f"frame {at} 100 0 interval_ns={took * 1000 if i else 0} number={i + 1} api=1")
	END
done
"$tactus" report -i "$scratch/1000.tac" -o "$scratch/few.html" >/dev/null 2>&1
"$tactus" report -i "$scratch/100000.tac" -o "$scratch/many.html" >/dev/null 2>&1
size=$(stat -c %s "$scratch/many.html")
say_measured "the page of 100,000 frames has $size bytes"
holds "the page of 100,000 frames is smaller than 3 MB" test "$size" -lt 3000000

# CUDA and GPU, of a real start of a real program.
"$tactus" report -i tests/recordings/h200-startup.tac -o "$scratch/cuda.html" >/dev/null 2>&1
"$tactus" cuda --json -i tests/recordings/h200-startup.tac >"$scratch/views/cuda" 2>/dev/null

# Training steps and clicks, of recordings of which everything is known.
python3 tests/steps.py | python3 tests/recording.py "$scratch/steps.tac"
python3 tests/clicks.py | python3 tests/recording.py "$scratch/clicks.tac"
for what in steps clicks; do
	"$tactus" report -i "$scratch/$what.tac" -o "$scratch/$what.html" >/dev/null 2>&1
done
"$tactus" cuda --steps --json -i "$scratch/steps.tac" >"$scratch/views/steps" 2>/dev/null
"$tactus" cuda --json -i "$scratch/steps.tac" >"$scratch/views/steps-cuda" 2>/dev/null
python3 tests/recording.py "$scratch/every-kind.tac" <tests/recordings/every-kind.txt
"$tactus" report -i "$scratch/every-kind.tac" -o "$scratch/every-kind.html" >/dev/null 2>&1
"$tactus" gpu --json -i "$scratch/every-kind.tac" >"$scratch/views/gpu" 2>/dev/null
"$tactus" events --json -i "$scratch/every-kind.tac" >"$scratch/views/decisions" 2>/dev/null
"$tactus" input --to-frame --json -i "$scratch/clicks.tac" >"$scratch/views/clicks" 2>/dev/null

# Two sides compared, one of hostile names.
"$tactus" compare $example@0s..4s $example@4s.. --html "$scratch/compare.html" --json >"$scratch/views/compare" 2>"$scratch/err"
is "compare --html ends with status 0, and says where its page is" "$? $(grep -c 'the page is in ' "$scratch/err")" "0 1"
is "the page of a comparison has what compare --json prints, and the curves" \
	"$(python3 tests/page_records.py "$scratch/compare.html" | grep -vE '"record":"compare_(curve|blocks)"' | cmp - "$scratch/views/compare" 2>&1)" ""
cp "$scratch/hostile.tac" "$scratch/<img src=x>.tac"
"$tactus" compare "$scratch/hostile.tac" "$scratch/<img src=x>.tac" --html "$scratch/compare-hostile.html" >/dev/null 2>&1
ends "compare --html leaves a file that is no page of its own" 1 'exists and is not|not a file|force' "$tactus" compare $example $example --html "$scratch/foreign.html"
ends "compare --html refuses to write over what it reads" 2 'one file' "$tactus" compare $example "$scratch/hostile.tac" --html "$scratch/hostile.tac"
ends "compare --html on a full disk fails" 1 'No space left' "$tactus" compare $example $example --html /dev/full

# Nothing of a page needs a browser to be right; but that it draws does.
if command -v chromedriver >/dev/null && command -v chromium >/dev/null; then
	python3 tests/report_page.py "$scratch" "$log" >"$scratch/browser" 2>&1
	status=$?
	browser_results $status
else
	skip "a browser shows the page" "chromium and chromium-driver are not installed"
fi
done_testing

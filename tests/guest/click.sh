# shellcheck shell=bash
# From clicks to frames and, on a display that flips, to the vblank: sourced by tests/guest/input.sh and gpu.sh.

# between NAME LEAST VALUE MOST
between() {
	if [ "$3" -ge "$2" ] && [ "$3" -le "$4" ]; then pass "$1"; else flunk "$1" "$3 is not within $2 to $4"; fi
}

# answers [DRIVER]: a program that answers each click with a frame says when it sent the click, when it presented and, on the display of a driver,
# at which vblank that says that the frame came up
answers() {
	echo "# from clicks to frames${1:+ on a display of $1}"
	"$tactus" input --to-frame --json -o "$scratch/recording" -- build/workloads/click 40 5 ${1:+"$1"} >"$scratch/out" 2>"$scratch/err"
	is "watching a program that answers clicks ends well" $? 0
	grep '^{' "$scratch/out" >"$scratch/rows"
	python3 - "$scratch/out" >"$scratch/judged" <<'END'
import json, statistics, sys
lines = open(sys.argv[1]).read().splitlines()
said = [tuple(map(int, l.split()[1:])) for l in lines if l.startswith("answered ")]
rows = [r for r in map(json.loads, (l for l in lines if l.startswith("{"))) if r["record"] == "input_frame"]
def median(numbers):
    return int(statistics.median(numbers)) if numbers else -1
pairs = [(row, max(s for s in said if s[0] <= row["time_ns"])) for row in rows]
shown = [(row, s) for row, s in pairs if row["shown_ns"] is not None]
print(len(said), len(rows), median([r["time_ns"] - s[0] for r, s in pairs]), median([abs(r["time_ns"] + r["present_ns"] - s[1]) for r, s in pairs]),
      median([s[1] - s[0] for s in said]), median([r["present_ns"] for r in rows]),
      len(shown), median([abs(r["time_ns"] + r["shown_ns"] - s[2]) for r, s in shown]), median([s[2] - s[0] for s in said]), median([r["shown_ns"] for r, s in shown]))
END
	read -r said rows begun presented own found shown vblank own_vblank found_vblank <"$scratch/judged"
	say_measured "of $said frames that answer clicks $rows are found; the report is $begun ns after the click was sent, the present $presented ns from where the program says (medians); from click to present $own ns by the program, $found ns by tactus"
	holds "nine of ten frames that answer a click are found" test $((rows * 10)) -ge $((said * 9))
	between "the report is where the click was sent, within a millisecond" 0 "$begun" 1000000
	between "the present is where the program presents, within a millisecond" 0 "$presented" 1000000
	is "a recording has the same frames that answer clicks" "$("$tactus" input --to-frame -i "$scratch/recording" --json 2>/dev/null | grep -c '"record":"input_frame"')" "$rows"
	[ -n "${1:-}" ] || return 0
	say_measured "$shown are known to be shown, $vblank ns from the vblank that the display tells the program (median); from click to vblank $own_vblank ns by the program, $found_vblank ns by tactus"
	holds "nine of ten frames that answer a click are seen to be shown by the display" test $((shown * 10)) -ge $((said * 9))
	between "a frame is shown at the vblank that the display tells the program, within a millisecond" 0 "$vblank" 1000000
}

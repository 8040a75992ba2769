#!/usr/bin/env bash
# The recording in examples/: every view that can reads it, without root, and finds in it what was there to be found.
. tests/tap.sh

# As nobody, with copies where nobody may read them.
chmod 755 "$scratch"
cp "$tactus" examples/late-frames.tactus "$scratch"
as_nobody() { if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi; }
view() {
	local name=$1
	shift
	as_nobody "$scratch/tactus" "$name" -i "$scratch/late-frames.tactus" "$@" 2>"$scratch/err"
}

holds "the example recording is smaller than 1 MB" test "$(stat -c %s examples/late-frames.tactus)" -lt 1000000
for name in tasks latency events affinity inversions roles frames gpu input migrations misses cuda report; do
	view $name >"$scratch/$name"
	is "'tactus $name -i' on the example ends with status 0 for an ordinary user" $? 0
done

mkdir "$scratch/made"
chmod 777 "$scratch/made"
for file in part.tactus trace.pftrace trace.json table.csv table.parquet page.html; do
	maker='export'
	case $file in *.tactus) maker='cut' ;; *.html) maker='report' ;; esac
	view $maker -o "$scratch/made/$file" >"$scratch/out"
	is "'tactus $maker -o $file -i' on the example ends with status 0 for an ordinary user, and makes it" "$? $(test -s "$scratch/made/$file" && echo made)" "0 made"
done
view top --once >"$scratch/out"
is "'tactus top --once -i' on the example ends with status 0 for an ordinary user" "$? $(grep -c chocolate-doom "$scratch/out" | sed 's/^[1-9][0-9]*$/some/')" "0 some"
as_nobody "$scratch/tactus" compare "$scratch/late-frames.tactus@0s..4s" "$scratch/late-frames.tactus@4s.." >"$scratch/out" 2>"$scratch/err"
is "'tactus compare' on two parts of the example ends with status 0 for an ordinary user" $? 0

# Whatever says in its help that it reads a recording does, every recording of examples/; of a new command too.
readers=$(for name in $("$tactus" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | sort -u | grep -v '^tactus$'); do
	! "$tactus" "$name" --help 2>/dev/null | grep -qE -- '-i, --input' || printf '%s ' "$name"
done)
say_measured "commands with -i: $readers"
holds "commands that read a recording are 17 or more" test "$(wc -w <<<"$readers")" -ge 17
for recording in examples/*.tactus; do
	for name in $readers; do
		words=() wanted=0
		case $name in
		top) words=(--once) ;;
		cut) words=(-o "$scratch/cut.tactus" --force) ;;
		export) words=(-o "$scratch/out.csv" --force) ;;
		# A recording of some threads alone, beside others that took the CPUs, can't be done again: it says so.
		simulate | tune) wanted=1 ;;
		esac
		"$tactus" "$name" -i "$recording" "${words[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null
		is "'tactus $name -i $recording' ends with status $wanted" $? $wanted
		[ "$name" != simulate ] || like "'tactus simulate' of a recording that it can't give back says so" "$(cat "$scratch/err")" 'nothing is predicted: waits .* differ too much from the recording'
		[ "$name" != tune ] || like "'tactus tune' of a recording that simulation can't give back says so" "$(cat "$scratch/err")" 'nothing is searched: waits .* differ too much'
	done
done

view frames --why >"$scratch/why"
is "'tactus frames --why -i' on the example ends with status 0" $? 0
say_measured "$(grep -c ' late: ' "$scratch/why") late frames with a reason"
holds "'frames --why' gives ten late frames of the example a reason or more" test "$(grep -c ' late: ' "$scratch/why")" -ge 10
like "'frames --why' finds the compiler in the way of a late frame" "$(cat "$scratch/why")" 'behind cc1 \['
view frames --json >"$scratch/json"
game=$(json '[r["pid"] for r in rows if "pid" in r][0]' <"$scratch/json")
is "the game is the only program of the example that presents" "$(json 'sorted(set(r["comm"] for r in rows if "comm" in r))' <"$scratch/json")" \
	"['chocolate-doom']"
view roles --json -n all >"$scratch/json"
is "'roles -i' says that the game's first thread renders" \
	"$(json '[r["role"] for r in rows if r["tid"] == '"$game"']' <"$scratch/json")" "['render']"
is "'roles -i' gives every thread of the compiler that it knows a role for batch work" \
	"$(json 'sorted(set(r["tier"] for r in rows if r["comm"] == "cc1" and r["role"] != "unknown"))' <"$scratch/json")" "['batch']"
view latency --over 20ms >"$scratch/latency"
like "'latency --over' names who had the CPU that the game waited for" "$(cat "$scratch/latency")" 'chocolate-doom \[[0-9]+\] .*cc1 \['
# 'make pictures' draws what is there.
for name in late-frames late-frame top-screen before-after; do
	TACTUS=$tactus python3 docs/pictures/$name.py >"$scratch/$name.svg"
	is "the picture $name.svg of the documents is what the example and the figures in the documents show today" "$(cmp "$scratch/$name.svg" docs/pictures/$name.svg 2>&1)" ""
done
python3 docs/pictures/architecture.py >"$scratch/architecture.svg"
is "the picture architecture.svg can be drawn anew" "$? $(python3 -c 'import sys, xml.etree.ElementTree as tree; print(len(list(tree.parse(sys.argv[1]).iter())) > 40)' "$scratch/architecture.svg")" "0 True"
# The other one: two training-like loops, of which one step each is slow on purpose.
train=examples/train.tactus
holds "the example of training is smaller than 300 KB" test "$(stat -c %s $train)" -lt 300000
"$tactus" cuda --steps -i $train --json >"$scratch/steps" 2>/dev/null
say_measured "$(json '[(r["steps"], r["slow"], r["p50_ns"]) for r in rows if r["record"] == "cuda_steps"]' <"$scratch/steps")"
is "in the example of training both loops have their steps, of six launches each" "$(json '[(r["by"], r["launches"], r["steps"] > 100) for r in rows if r["record"] == "cuda_steps"]' <"$scratch/steps")" \
	"[('launches', 6.0, True), ('launches', 6.0, True)]"
is "in the example of training the two steps that took 60 ms are named for their loader and for a copy" \
	"$(json 'sorted(r["cause"] for r in rows if r["record"] == "cuda_slow_step" and r["wall_ns"] > 55e6)' <"$scratch/steps")" "['copy', 'data']"
"$tactus" cuda -i $train --json >"$scratch/json" 2>/dev/null
is "in the example of training each of the kernels was launched in every step of each loop" "$(json '{r["launches"] for r in rows if r["record"] == "cuda_launches"}' <"$scratch/json")" "{150}"
like "the report on the example of training begins with its slow steps" "$("$tactus" report -i $train --json 2>/dev/null | json '[r["text"] for r in rows if r["record"] == "report_verdict"][0]')" 'training steps of steps'
# It was recorded with a filter: who left the CPU unseen stands in nobody's way.
is "inversions alerts to each inversion of the table, and to no other" "$("$tactus" inversions -i examples/late-frames.tactus --alert 2ms --over 2ms --json |
	json 'sum(r["record"] == "inversion_alert" for r in rows) == sum(r.get("times", 0) for r in rows) > 0')" True
done_testing

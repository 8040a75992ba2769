#!/usr/bin/env bash
# Evidence can be left out in every combination: tactus roles still starts, answers and ends with status 0.
set -uo pipefail
. tests/tap.sh

kinds=(launch gpu wine input frame socket sound learned names runtime)

# The kinds whose bits are set in $1, as --without takes them.
list_of() {
	local bits=$1 list="" i
	for i in "${!kinds[@]}"; do
		(((bits >> i) & 1)) && list+=,${kinds[$i]}
	done
	printf '%s' "${list#,}"
}

# What the program itself names as kinds must be what is tried here.
known=$($tactus roles --without nonsense 2>&1 | grep -oE 'it takes .*, or all' | sed 's/it takes //; s/, or all//; s/, /\n/g' | sort)
is "every kind of evidence is tried" "$(printf '%s\n' "${kinds[@]}" | sort)" "$known"

# None, each, all but one, all, and every other one, two, four. ALL_COMBINATIONS=1 tries every one, which takes half an hour.
is_tried() {
	local bits=$1 count=0
	case $bits in 85 | 170 | 341 | 51 | 204 | 307 | 15 | 240 | 271) return 0 ;; esac
	[ -z "${ALL_COMBINATIONS:-}" ] || return 0
	for ((; bits; bits &= bits - 1)); do count=$((count + 1)); done
	[ $count -le 1 ] || [ $count -ge $((${#kinds[@]} - 1)) ]
}

try() {
	local without status=0
	without=$(list_of "$1")
	$tactus roles -d 0.05 --json -n all ${without:+--without "$without"} >"$scratch/rows.$1" 2>"$scratch/err.$1" || status=$?
	[ $status = 0 ] && grep -q '"role"' "$scratch/rows.$1" && echo right >"$scratch/right.$1" && rm "$scratch/rows.$1" "$scratch/err.$1"
}

started=$EPOCHREALTIME
tried=0
for ((bits = 0; bits < 1 << ${#kinds[@]}; bits++)); do
	is_tried $bits || continue
	try $bits
	tried=$((tried + 1))
done
say_measured "$tried combinations in $(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.0f", b - a}') s"
is "all $tried combinations end with status 0 and have rows" "$(find "$scratch" -name 'right.*' | wc -l)" "$tried"
for err in "$scratch"/err.*; do
	[ ! -e "$err" ] || echo "# without $(list_of "${err##*.}"): $(tail -n 1 "$err")"
done

rows=$($tactus roles -d 1 --json -n all --without all -- build/workloads/worker 2>/dev/null)
holds "with everything left out there are answers still" test -n "$rows"
done_testing

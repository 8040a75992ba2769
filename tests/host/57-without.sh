#!/usr/bin/env bash
# Evidence can be left out in every combination: tactus roles still starts, answers and ends with status 0.
set -uo pipefail
. tests/tap.sh

kinds=(launch gpu feed wine input frame socket sound learned display names runtime)

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
is "every kind of evidence that roles names is tried without" "$(printf '%s\n' "${kinds[@]}" | sort)" "$known"

# None, each, all but one and all: with these every two kinds are there in each of their four ways. ALL_COMBINATIONS=1
# tries every one, which takes half an hour.
is_tried() {
	local bits=$1 count=0
	[ -z "${ALL_COMBINATIONS:-}" ] || return 0
	for ((; bits; bits &= bits - 1)); do count=$((count + 1)); done
	[ $count -le 1 ] || [ $count -ge $((${#kinds[@]} - 1)) ]
}

try() {
	local without status=0
	without=$(list_of "$1")
	$tactus roles -d 0.05 --json -n all ${without:+--without "$without"} >"$scratch/rows.$1" 2>"$scratch/err.$1" || status=$?
	echo "status $status, $(grep -c '"role"' "$scratch/rows.$1") rows, said: $(tail -n 1 "$scratch/err.$1")" >"$scratch/tried.$1"
}

# Two at a time: most of it is the kernel's checking of programs.
tried=()
for ((bits = 0; bits < 1 << ${#kinds[@]}; bits++)); do
	is_tried $bits || continue
	[ ${#tried[@]} -lt 2 ] || wait -n
	try $bits &
	tried+=("$bits")
done
wait
for bits in "${tried[@]}"; do
	without=$(list_of "$bits")
	like "roles without ${without:-nothing} ends with status 0 and has rows" "$(cat "$scratch/tried.$bits")" '^status 0, [1-9]'
done

rows=$($tactus roles -d 0.2 --json -n all --without all -- build/workloads/worker 2>/dev/null)
holds "roles of a command without any evidence has rows" test -n "$rows"
done_testing

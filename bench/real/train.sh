#!/usr/bin/env bash
# A PyTorch training loop beside CPU hogs, alone, without tactus and with it, in turns. Needs root, PyTorch and better a GPU.
# Usage: bench/real/train.sh [-r ROUNDS] [-s SECONDS] [-h HOGS] [-w FOLDER] [PROGRAM...]
#   PROGRAM: a tactus, or several to compare (build/tactus-static)   HOGS: three for each CPU, if not said
#   -w  says of the slowest steps which of the loop's threads waited for a CPU meanwhile, by a recording made beside it, and keeps
#       the parts of it around these steps in FOLDER
# Prints lines "result WHO round=N name=value...".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
rounds=2 seconds=15 skip=6 hogs=$(($(nproc) * 3)) keep=
while getopts r:s:h:w: option; do
	case $option in
	r) rounds=$OPTARG ;;
	s) seconds=$OPTARG ;;
	h) hogs=$OPTARG ;;
	w) keep=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- build/tactus-static
recorder=${!#}
scratch=$(mktemp -d)
export TACTUS_DB=$scratch/db
load=()
end_load() { [ ${#load[@]} = 0 ] || kill "${load[@]}" 2>/dev/null; load=(); }
trap 'end_load; rm -rf "$scratch"' EXIT

begin_load() {
	for ((i = 0; i < hogs; i++)); do
		timeout 60 sh -c 'while :; do :; done' &
		load+=($!)
	done
}

# turn WHO ROUND [PROGRAM]
turn() {
	local runner='' watcher=''
	if [ $# = 3 ]; then
		"$3" run >"$scratch/out" 2>"$scratch/err" &
		runner=$!
	fi
	if [ -n "$keep" ]; then
		"$recorder" record -o "$scratch/all.tactus" >/dev/null 2>"$scratch/record.err" &
		watcher=$!
	fi
	printf 'result %s round=%s %s\n' "$1" "$2" "$(python3 bench/real/train.py "$seconds" "$skip" 2>"$scratch/train.err")"
	[ -z "$watcher" ] || { kill -INT "$watcher"; wait "$watcher"; }
	[ -z "$runner" ] || { kill -INT "$runner"; wait "$runner"; tail -1 "$scratch/out"; head -3 "$scratch/err"; } 2>/dev/null
	[ -z "$watcher" ] || python3 bench/real/train_why.py "$recorder" "$scratch/all.tactus" "$scratch/train.err" "$keep/$1-$2"
}

[ -z "$keep" ] || mkdir -p "$keep"
turn alone 0
for ((round = 1; round <= rounds; round++)); do
	begin_load
	turn without $round
	end_load
	for program in "$@"; do
		begin_load
		turn "$(basename "$program")" $round "$program"
		end_load
	done
done

#!/usr/bin/env bash
# The examples of every --help, really run: over a recording where they would watch, with the files that they name. No root, no
# kernel; those that can only watch or act are not among them.
. tests/tap.sh

program=$PWD/$tactus
mkdir -p "$scratch/bin" "$scratch/here/examples"
ln -s "$program" "$scratch/bin/tactus"
printf '#!/bin/sh\nexec cat\n' >"$scratch/bin/flamegraph.pl"
chmod +x "$scratch/bin/flamegraph.pl"
for file in file FILE game.tactus machine.tactus examples/late-frames.tactus; do
	cp examples/late-frames.tactus "$scratch/here/$file"
done
# What a simulation gives back well: two threads that take turns, and one that a timer wakes.
python3 tests/turns.py | python3 tests/recording.py "$scratch/turns.tactus" 1
for file in monday tuesday friday; do cp "$scratch/turns.tactus" "$scratch/here/$file.tactus"; done
printf '[options tasks]\nrows = 3\n' >"$scratch/here/my.conf"
chmod 600 "$scratch/here/my.conf"
# A database with two kinds, and the same as a file to import.
python3 -c 'import struct, sys
entry = lambda name: struct.pack("<16sB7xQQQQII", name, 2, 1000000, 0, 10, 10, 9, 9)
open(sys.argv[1], "wb").write(b"PDDB" + struct.pack("<II", 2, 2) + entry(b"cc1") + entry(b"ld"))' "$scratch/here/kinds.pddb"
cp "$scratch/here/kinds.pddb" "$scratch/kinds.pddb"

# over_a_recording LINE: what would watch reads instead; what the line says of whom and how long is for watching
over_a_recording() {
	local line=$1
	[[ $line != 'tactus c'[uo][tm]* && $line != 'tactus export'* ]] || { printf '%s\n' "$line"; return; }
	line=$(sed -E 's/ -- [^|]*//; s/ -d [0-9.]+//; s/ -p [0-9]+//; s/ --without [a-z,]+//; s/^(tactus [a-z]+) [0-9]+ [0-9]+/\1 --interval 2/' <<<"$line")
	case $line in
	*' -i '* | *--list*) ;;
	*) line=$(sed -E 's/^(tactus [a-z]+)/\1 -i file/' <<<"$line") ;;
	esac
	case $line in 'tactus top'*--once*) ;; 'tactus top'*) line+=" --once" ;; esac
	printf '%s\n' "$line"
}

# runs LINE ADAPTED
runs() {
	local status=0
	cp "$scratch/kinds.pddb" "$scratch/here/kinds.pddb"
	rm -f "$TACTUS_DB"
	tactus db import "$scratch/kinds.pddb" >/dev/null 2>&1
	[[ $2 != 'tactus simulate'* ]] || cp "$scratch/turns.tactus" "$scratch/here/machine.tactus"
	[[ $2 != *'db export kinds.pddb'* ]] || rm "$scratch/here/kinds.pddb"
	(cd "$scratch/here" && bash -o pipefail -c "$2") >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
	if [ $status = 0 ]; then pass "the example '$1' runs"; else flunk "the example '$1' runs" "as '$2': status $status: $(tail -n 3 "$scratch/err")"; fi
}

PATH=$scratch/bin:$PATH
export LD_LIBRARY_PATH=$PWD/build/workloads ARGP_HELP_FMT=rmargin=300
commands=$("$program" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -v '^tactus$')
for command in $commands "db list" "db summary" "db show" "db forget" "db import" "db merge" "db export" "db check"; do
	# shellcheck disable=SC2086
	"$program" $command --help | sed -n '/Examples:/,/^$/p' | sed -nE 's/^ *(tactus .*)/\1/p' | sed -E 's/  +.*//'
done | sort -u >"$scratch/examples"
while IFS= read -r line; do
	case $line in
	'tactus run'* | 'tactus trial'* | 'tactus serve'* | 'tactus fleet'* | 'tactus gamemode'* | 'tactus pause'* | 'tactus resume'* | 'tactus reload'* | 'tactus status'* | 'tactus why'* | 'tactus stats'* | 'tactus undo'* | 'tactus doctor'* | 'tactus record'* | 'tactus cpus'* | *' --serve '*) continue ;;
	'tactus db'* | 'tactus config'* | 'tactus simulate'* | 'tactus tune'*) runs "$line" "$line" ;;
	*) runs "$line" "$(over_a_recording "$line")" ;;
	esac
done <"$scratch/examples"
say_measured "$checks of $(wc -l <"$scratch/examples") examples run; the others only watch or act"
holds "most examples can be run over a recording" test $((checks * 10)) -ge $(($(wc -l <"$scratch/examples") * 6))
done_testing

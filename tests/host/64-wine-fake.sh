#!/usr/bin/env bash
# The wine sensor's kernel half on any kernel, also where Wine can't run: with a double of Wine's ntdll.so, whose functions
# have Wine's names and arguments. The real one is in 63-wine.sh.
. tests/tap.sh
. tests/wine.sh

program=("$scratch/a folder/ntdll.so")
ways=(own handle duplicate id)
mkdir "$scratch/a folder"
cp build/workloads/ntdll_double "${program[0]}"

watch
start "${program[@]}"
go
check_threads "${ways[@]}"
is "a number that is no priority gives no role by Windows" "$(of own-invalid by_wine)" 0
finish
watch_ends
is "tactus roles ends well" $? 0
like "an invalid request is told" "$(cat "$scratch/err")" 'wine: 1 requests of Windows programs were invalid'

echo "# a name in memory that is not there yet as the call begins"
watch_options=(--without runtime)
watch
watch_options=()
start "${program[@]}"
go
is "a thread that names itself from a page that nobody has touched is audio by name" \
	"$(of own-named role),$(of own-named evidence_kind)" "audio,name"
finish
watch_ends
is "a name that is there when the call returns counts as read" "$(grep 'could not be read' "$scratch/err")" ""

if [ "$in_time" = yes ]; then
	echo "# where the kernel can't look up threads: by way of the program"
	export TACTUS_SKIP_HOOKS=wine:uprobe+
	in_time=no
	watch
	start "${program[@]}"
	go
	check_threads "${ways[@]}"
	finish
	watch_ends
	is "tactus roles ends well" $? 0
fi
done_testing

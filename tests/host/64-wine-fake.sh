#!/usr/bin/env bash
# The wine sensor's kernel half on any kernel, also where Wine can't run: with a double of Wine's ntdll.so, whose functions
# have Wine's names and arguments. The real one is in 63-wine.sh.
# not beside: Wine, whose calls are counted
. tests/tap.sh
. tests/wine.sh

program=("$scratch/a folder/ntdll.so")
ways=(own handle duplicate id)
mkdir "$scratch/a folder" "$scratch/system v"
cp build/workloads/ntdll_double "${program[0]}"
cp build/workloads/ntdll_double_sysv "$scratch/system v/ntdll.so"
# On a busy machine probes come later than a program does anything: the double waits until tactus says that they are there.
export NTDLL_DOUBLE_GATE=$scratch/gate
watch_options=(-v)

watch
start "${program[@]}"
go
check_threads "${ways[@]}"
is "a number that is no priority gives no role by Windows" "$(of own-invalid by_wine)" 0
finish
watch_ends
is "tactus roles ends well" $? 0
like "an invalid request is told" "$(cat "$scratch/err")" 'wine: 1 requests of Windows programs were invalid'
is "every call of a double in Microsoft's convention fits a convention" "$(grep 'fit no known' "$scratch/err")" ""

echo "# the same in the convention of newer Wine"
watch
start "$scratch/system v/ntdll.so"
go
check_threads "${ways[@]}"
is "a number that is no priority gives no role by Windows, in System V's convention" "$(of own-invalid by_wine)" 0
finish
watch_ends
like "an invalid request in System V's convention is told" "$(cat "$scratch/err")" 'wine: 1 requests of Windows programs were invalid'
is "every call of a double in System V's convention fits a convention" "$(grep 'fit no known' "$scratch/err")" ""

echo "# priority classes, and calls that fit no convention"
watch
start "$scratch/system v/ntdll.so" 1 3
go
wait_until_seen never windows_class
is "a thread of a process of the IDLE class that asked for nothing is background" "$(of never answer),$(of never windows_class)" "background,wine,None,nice $own_nice,IDLE"
is "a thread that asked for TIME_CRITICAL in a process of the IDLE class is audio" "$(of own-critical role)" audio
like "the evidence of a priority class names it" "$(of never evidence)" "^Windows priority class IDLE, Linux nice $own_nice"
finish
watch_ends
like "calls that fit no convention are told with their number and their file" "$(cat "$scratch/err")" 'wine: .*system v/ntdll.so: 3 of [0-9]* calls fit no known calling convention'
watch
start "${program[@]}" 4
go
wait_until_seen own-critical windows_class
is "TIME_CRITICAL in a process of the REALTIME class is audio, nearly for certain" "$(of own-critical role),$(of own-critical confidence),$(of own-critical windows_class)" "audio,99,REALTIME"
is "a thread of a process of the REALTIME class that asked for nothing has no role by Windows" "$(of never by_wine)" 0
finish
watch_ends
usual=
for class in 2 3; do
	watch
	start "${program[@]}" $class
	go
	wait_until_seen own-critical windows_class
	[ $class = 2 ] && usual=$(of own-critical confidence) && finish && watch_ends && continue
	is "TIME_CRITICAL in a process of the HIGH class is audio, as sure as in the NORMAL class" "$(of own-critical role),$(of own-critical confidence),$(of own-critical windows_class)" "audio,$usual,HIGH"
	is "a thread of a process of the HIGH class that asked for nothing has no role by Windows" "$(of never by_wine)" 0
	finish
	watch_ends
done
watch
start "${program[@]}" 4 0 late
go
wait_until_seen own-critical windows_class
is "a class that a process gets after its threads have their priorities is told of them" "$(of own-critical role),$(of own-critical confidence),$(of own-critical windows_class)" "audio,99,REALTIME"
finish
watch_ends

echo "# in tactus run, and what doctor says of it"
export TACTUS_FEED=$scratch/feed
watcher_says=$scratch/run-err
: >"$scratch/run-err"
timeout 100 "$tactus" run -v --actuator none --json -d 80 >"$scratch/run" 2>"$scratch/run-err" &
run_pid=$!
wait_for "$scratch/run-err" 'observing only'
start "$scratch/system v/ntdll.so" 1 2
echo go >&3
wait_for "$scratch/program" '^set'
wait_for "$scratch/run" '"wine_unfit":2'
hits=$(grep -o '"wine_microsoft":[0-9]*,"wine_system_v":[0-9]*,"wine_unfit":[0-9]*' "$scratch/run" | tail -1)
say_measured "$hits"
# Another program may call in Microsoft's meanwhile.
like "tactus run counts calls by calling convention" "$hits" '"wine_system_v":[1-9][0-9]+,"wine_unfit":2$'
like "doctor says how many calls fit no calling convention" "$("$tactus" doctor --quick)" '2 of [0-9]* calls of Windows programs fit no known calling convention'
finish
kill -INT $run_pid
wait $run_pid
watcher_says=''

echo "# a name in memory that is not there yet as the call begins"
watch_options=(-v --without runtime)
watch
watch_options=(-v)
start "${program[@]}"
go
is "a thread that names itself from a page that nobody has touched is audio by name" \
	"$(of own-named role),$(of own-named evidence_kind)" "audio,name"
finish
watch_ends
is "a name that is there when the call returns counts as read" "$(grep -E 'Windows programs could not be read|[0-9] of wine' "$scratch/err")" ""

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

#!/usr/bin/env bash
# The wine sensor with a real Wine: priorities that a Windows program's threads get, by themselves and by each other, are
# known at once, wherever that Wine lies, before the program starts and while it runs.
. tests/tap.sh
. tests/wine.sh

if ! wine_begin; then
	skip "priorities of Windows programs" "there is no Wine here, or no compiler for Windows programs"
	done_testing
fi
trap 'wine_end; rm -rf "$scratch"' EXIT

program=(wine build/workloads/priorities.exe)
# On a busy machine, or with a library that no cache has, probes come later than Wine is up: no thread or handle is made before tactus
# says that they are there.
watch_options=(-v)
probes_are_there() { wait_for "$scratch/err" 'wine: .*/ntdll\.so: watched from now on'; }
# What tactus says of Wine beside that. Requests that are invalid may be another program's, as a test's that runs beside this one.
said_of_wine() { grep 'wine:' "$scratch/err" | grep -v 'watched from now on'; }
ways=(own handle suspended duplicate id)

echo "# tactus first, then the program"
watch
start "${program[@]}"
probes_are_there
go
check_threads "${ways[@]}"
finish
watch_ends
is "tactus roles ends well after a Windows program" $? 0
is "no request of a Windows program was lost or unknown" "$(said_of_wine | grep -v 'were invalid')" ""

echo "# priority classes of processes"
watch
start "${program[@]}" idle
probes_are_there
go
wait_until_seen never windows_class
is "IDLE class: a thread that asked for nothing is background" "$(of never answer),$(of never windows_class)" "background,wine,None,nice $own_nice,IDLE"
is "IDLE class: a thread that asked for TIME_CRITICAL is audio" "$(of own-critical role)" audio
finish
watch_ends
watch
start "${program[@]}" realtime
probes_are_there
go
wait_until_seen own-critical windows_class
is "REALTIME class: TIME_CRITICAL is audio, nearly for certain" "$(of own-critical role),$(of own-critical confidence),$(of own-critical windows_class)" "audio,99,REALTIME"
finish
watch_ends

echo "# the program first, then tactus"
start "${program[@]}"
make_threads
watch
probes_are_there
go
is "program first: TIME_CRITICAL by itself is audio" "$(of own-critical answer)" "audio,wine,15,nice $own_nice"
is "program first: TIME_CRITICAL is known before its call returned" "$(of own-critical in_time)" True
is "program first: LOWEST by itself is background" "$(of own-lowest answer)" "background,wine,-2,nice $own_nice"
is "program first: its process is a Windows program" "$(of own-critical process)" "Windows program"
is "program first: priorities through handles from before are nobody's" "$(of handle-critical by_wine)" 0
finish
watch_ends
like "program first: handles from before are told with their number" "$(cat "$scratch/err")" 'wine: 5 priorities were set through handles whose thread is not known'

echo "# many threads that ask for the priority of sound"
watch
start "${program[@]}" 50
probes_are_there
go
found=$(python3 - "$scratch/roles" "$scratch/threads" <<'PY'
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
found, in_time, late = 0, 0, []
for line in open(sys.argv[2]):
    tid, before, after = map(int, line.split()[2:])
    at = [r["time_ns"] - before for r in rows if r["tid"] == tid and r["role"] == "audio" and r["windows_priority"] == 15]
    found += bool(at)
    in_time += bool(at) and at[0] <= after - before
    late += at[:1]
print(found, in_time, max(late) // 1000)
PY
)
read -r found in_call slowest <<<"$found"
say_measured "$found of 50 found, $in_call before their calls returned, the slowest $slowest us after its call began"
is "fifty threads that ask for the priority of sound are all found" "$found" 50
[ "$in_time" = no ] || is "fifty threads are found before their calls returned" "$in_call" 50
finish
watch_ends

echo "# names that threads are given"
watch_options=(-v --without runtime)
watch
watch_options=(-v)
start "${program[@]}"
probes_are_there
go
for name in own-named handle-named; do
	tid=$(awk -v name=$name '$2 == name {print $3}' "$scratch/threads")
	say_measured "$name: Linux calls it '$(cat "/proc/$tid/comm")'"
done
is "a thread that names itself as sound is audio by name" "$(of own-named role),$(of own-named evidence_kind)" "audio,name"
is "a thread that is named through a handle is render by name" "$(of handle-named role),$(of handle-named evidence_kind)" "render,name"
finish
watch_ends

echo "# where the kernel can't look up threads: by way of the program"
export TACTUS_SKIP_HOOKS=wine:uprobe+
in_time=no
watch
start "${program[@]}"
probes_are_there
go
check_threads "${ways[@]}"
finish
watch_ends
unset TACTUS_SKIP_HOOKS

echo "# a Wine in another folder, as Proton's is"
elsewhere="$scratch/some where"
mkdir -p "$elsewhere/lib/wine" "$elsewhere/share" "$elsewhere/lib/x86_64-linux-gnu/wine"
if cp -a /usr/lib/wine/wine64* /usr/lib/wine/wineserver* "$elsewhere/lib/wine" 2>/dev/null &&
	cp -a /usr/lib/x86_64-linux-gnu/wine/x86_64-unix "$elsewhere/lib/x86_64-linux-gnu/wine" 2>/dev/null; then
	ln -s /usr/lib/x86_64-linux-gnu/wine/x86_64-windows "$elsewhere/lib/x86_64-linux-gnu/wine"
	ln -s /usr/share/wine "$elsewhere/share/wine"
	wine_end
	cat >"$scratch/loader" <<END2
#!/bin/sh
WINELOADER='$elsewhere/lib/wine/wine64' exec '$elsewhere/lib/wine/wine64' "\$@"
END2
	chmod +x "$scratch/loader"
	watch
	start "$scratch/loader" build/workloads/priorities.exe
	holds "the Wine in another folder is the one that runs" grep -q "$elsewhere.*ntdll.so" /proc/[0-9]*/maps
	probes_are_there
	go
	is "Wine in another folder: TIME_CRITICAL is audio" "$(of own-critical answer)" "audio,wine,15,nice $own_nice"
	is "Wine in another folder: TIME_CRITICAL is known before its call returned" "$(of own-critical in_time)" True
	is "Wine in another folder: TIME_CRITICAL through a handle is audio" "$(of handle-critical answer)" "audio,wine,15,nice $own_nice"
	finish
	watch_ends
	wine_end
else
	skip "a Wine in another folder" "this distribution's Wine is laid out otherwise"
fi

echo "# Windows programs that are killed as soon as they are seen"
mkfifo "$scratch/hold" # that never ends and never says anything
watch
start "${program[@]}"
for after in 0.02 0.05 0.1 0.15 0.2 0.3; do
	"${program[@]}" 20 <>"$scratch/hold" >/dev/null 2>&1 &
	victim=$!
	sleep $after
	kill -KILL $victim
	wait $victim 2>/dev/null
done
probes_are_there
go
is "beside killed Windows programs another one is watched on" "$(of own-critical answer)" "audio,wine,15,nice $own_nice"
finish
watch_ends
is "tactus roles ends well after killed Windows programs" $? 0
wine_end

echo "# libraries of Wine's name that can't be watched"
# map FILE...: a process that maps them executable until tactus has told of as many, for half a minute at most
map() {
	python3 - "$scratch/err" "$@" <<'PY'
import mmap, os, re, sys, time
held = []
for path in sys.argv[2:]:
    fd = os.open(path, os.O_RDONLY)
    held.append(mmap.mmap(fd, os.fstat(fd).st_size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
for _ in range(600):
    if len(re.findall("wine: .*ntdll.so", open(sys.argv[1], errors="replace").read())) >= len(held): break
    time.sleep(0.05)
PY
}
mkdir "$scratch/without" "$scratch/32" "$scratch/none" "$scratch/$(printf 'bad\033[2J\nname')"
echo 'int other(void) { return 1; }' >"$scratch/other.c"
gcc -shared -fPIC -nostdlib "$scratch/other.c" -o "$scratch/without/ntdll.so"
gcc -m32 -shared -fPIC -nostdlib -Dother=NtSetInformationThread "$scratch/other.c" -o "$scratch/32/ntdll.so"
head -c 8192 /dev/urandom >"$scratch/none/ntdll.so"
cp "$scratch/none/ntdll.so" "$scratch"/bad*/
watch
map "$scratch"/{without,32,none,bad*}/ntdll.so
watch_ends
is "tactus roles ends well after libraries that can not be watched" $? 0
like "a Wine library without the function is told" "$(cat "$scratch/err")" 'wine: .*/without/ntdll.so: .*NtSetInformationThread'
like "a 32-bit Wine library is told with what is missing" "$(cat "$scratch/err")" \
	'wine: .*/32/ntdll.so is of a 32-bit Wine: priorities that its Windows programs ask for are not seen'
like "a file of Wine's name that is no library is told" "$(cat "$scratch/err")" 'wine: .*/none/ntdll.so: '
is "every Wine library that can not be watched is told of once" "$(said_of_wine | grep -c ntdll.so)" 4
is "no control character of a library's path reaches the terminal" "$(grep -c "$(printf '\033')" "$scratch/err")" 0
done_testing

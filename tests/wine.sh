# What tests of the wine sensor share: source it after tap.sh. A Wine of a test's own: the first use makes a prefix and
# keeps it in the cache; each test has a folder of its own that shares the prefix's files and has its own registry, so its
# own wineserver too. And a program with threads that get priorities, watched by tactus roles.

. tools/lib.sh

# What programs started here have, as long as Wine changes nothing: nicer than usual, so that no 'tactus run' beside this test raises their threads.
renice -n 1 -p $$ >/dev/null
own_nice=$(nice)

make_wine_prefix() {
	local target=$1
	[ ! -e "$target/ready" ] || return 0
	say "making a Wine prefix"
	rm -rf "$target" "$target.new"
	mkdir -p "$target.new"
	WINEPREFIX=$target.new/prefix WINEDEBUG=-all timeout 300 wine wineboot -i >/dev/null 2>&1 || return 1
	WINEPREFIX=$target.new/prefix timeout 60 wineserver -w || return 1
	touch "$target.new/ready"
	mv "$target.new" "$target"
}

# Sets up WINEPREFIX below the test's scratch folder. Fails where there is no Wine.
wine_begin() {
	local version kept
	command -v wine wineserver x86_64-w64-mingw32-gcc >/dev/null || return 1
	version=$(WINEDEBUG=-all wine --version 2>/dev/null) || return 1
	kept=$cache/wine-prefix-${version//[^A-Za-z0-9.+-]/_}
	mkdir -p "$cache"
	with_lock wine-prefix make_wine_prefix "$kept" || return 1
	export WINEPREFIX=$scratch/wine-prefix WINEDEBUG=-all
	mkdir -p "$WINEPREFIX"
	cp -a "$kept"/prefix/*.reg "$kept"/prefix/.update-timestamp "$kept"/prefix/dosdevices "$WINEPREFIX"
	ln -s "$kept/prefix/drive_c" "$WINEPREFIX/drive_c"
}

wine_end() { timeout 30 wineserver -k || true; }

watch_options=()
# watch: tactus roles, with the options in watch_options, in the background, into $scratch/roles
watch() {
	: >"$scratch/err"
	timeout 100 "$tactus" roles --follow --json "${watch_options[@]}" >"$scratch/roles" 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
}
watch_ends() {
	kill -INT "$watcher" 2>/dev/null
	wait "$watcher"
}

# start COMMAND...: a program as tests/workloads-windows/priorities.c, as far as "up": it has no threads yet. `make_threads`
# lets it make them, as far as "ready", and `go` lets them ask.
start() {
	rm -f "$scratch/in"
	mkfifo "$scratch/in"
	: >"$scratch/program"
	[ -z "${NTDLL_DOUBLE_GATE:-}" ] || rm -f "$NTDLL_DOUBLE_GATE"
	timeout 100 "$@" <"$scratch/in" >"$scratch/program" 2>"$scratch/program-err" &
	program_pid=$!
	exec 3>"$scratch/in"
	if [ -n "${NTDLL_DOUBLE_GATE:-}" ]; then
		wait_for "${watcher_says:-$scratch/err}" "wine: ${1//./\\.}: watched from now on"
		touch "$NTDLL_DOUBLE_GATE"
	fi
	wait_for "$scratch/program" 'up|ready'
}
make_threads() {
	grep -q ready "$scratch/program" || echo threads >&3
	wait_for "$scratch/program" ready
}
go() {
	make_threads
	echo go >&3
	wait_for "$scratch/program" '^set'
	tr -d '\r' <"$scratch/program" | grep '^thread' >"$scratch/threads"
	# A role's news comes within a reading of the rings. Of handles that are not known nothing comes.
	for ((tick = 0; tick < 300; tick++)); do
		python3 "$scratch/seen.py" "$scratch/roles" "$scratch/threads" >"$scratch/seen"
		[ "$(of waiting others)" != 0 ] || break
		[ "$(of waiting own)" != 0 ] || ((tick >= 290)) || tick=290
		sleep 0.1
	done
}
# wait_until_seen NAME FIELD: what a thread's process asked for is known of the thread a little later
wait_until_seen() {
	for ((tick = 0; tick < 200; tick++)); do
		case $(of "$1" "$2") in '' | None) ;; *) break ;; esac
		sleep 0.1
		python3 "$scratch/seen.py" "$scratch/roles" "$scratch/threads" >"$scratch/seen"
	done
}
finish() {
	echo end >&3
	exec 3>&-
	wait "$program_pid"
}

# What tactus said of each thread after it was given a priority: lines of name, field, value. Last of how many that have asked it
# has said nothing yet.
cat >"$scratch/seen.py" <<'PY'
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1]) if l.endswith("\n")]
waiting = {"own": 0, "others": 0}
for line in open(sys.argv[2]):
    name, (tid, before, after) = line.split()[1], map(int, line.split()[2:])
    own = [r for r in rows if r["tid"] == tid]
    later = [r for r in own if r["time_ns"] >= before]
    by_wine = [r for r in own if r["evidence_kind"] == "wine"]
    seen = dict(later[-1]) if later else {}
    seen["answer"] = ",".join(str(seen.get(f)) for f in ("role", "evidence_kind", "windows_priority", "linux_priority"))
    seen["by_wine"] = len(by_wine)
    if by_wine:
        at = by_wine[0]["time_ns"]
        seen.update(late_us=(at - before) // 1000, call_us=(after - before) // 1000, in_time=at <= after)
    for field, value in seen.items():
        print(name, field, value, sep="\t")
    asks = name not in ("never", "own-above", "own-normal", "own-invalid", "own-named")
    waiting["own"] += asks and not by_wine and (name.startswith("own-") or name == "one-of-many")
    waiting["others"] += not later and name not in ("never", "own-above", "own-normal", "own-invalid")
for field, value in waiting.items():
    print("waiting", field, value, sep="\t")
PY
# of NAME FIELD
of() { awk -F'\t' -v name="$1" -v field="$2" '$1 == name && $2 == field {print $3}' "$scratch/seen"; }

# Where the kernel can't look up threads from a probe, the program does it, and needs a little longer.
grep -qw bpf_iter_task_new /proc/kallsyms && in_time=yes || in_time=no
say_measured "the kernel can look up threads from a probe: $in_time"

# check_threads WAY...: what tactus said of the threads of the program, and those that got their priority in these ways
check_threads() {
	local way
	for way in "$@"; do
		is "TIME_CRITICAL ($way) is audio" "$(of "$way-critical" answer)" "audio,wine,15,nice $own_nice"
		say_measured "$way: known $(of "$way-critical" late_us) us after the call began; the call took $(of "$way-critical" call_us) us"
		[ "$way" = own ] || [ "$in_time" = yes ] || continue
		is "TIME_CRITICAL ($way) is known before the call returned" "$(of "$way-critical" in_time)" True
	done
	is "LOWEST is background" "$(of own-lowest answer)" "background,wine,-2,nice $own_nice"
	is "LOWEST through a handle is background" "$(of handle-lowest answer)" "background,wine,-2,nice $own_nice"
	is "BELOW_NORMAL is background" "$(of own-below answer)" "background,wine,-1,nice $own_nice"
	is "IDLE is background" "$(of own-idle answer)" "background,wine,-15,nice $own_nice"
	is "HIGHEST is render" "$(of own-highest answer)" "render,wine,2,nice $own_nice"
	like "the evidence of a Windows priority names both priorities in words" "$(of own-critical evidence)" "^Windows priority 15, Linux nice $own_nice"
	is "a thread of a Windows program is known as such" "$(of own-critical process)" "Windows program"
	is "a thread set to NORMAL has no role by Windows" "$(of own-normal by_wine)" 0
	is "a thread that asked for nothing has no role by Windows" "$(of never by_wine)" 0
}

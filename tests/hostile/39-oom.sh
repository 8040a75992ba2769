#!/usr/bin/env bash
# The kernel's own OOM killer ends a run whose control group has no memory left: its keeper takes the hints back, where the kernel takes the
# whole group too; where the keeper is gone as well, as systemd ends all that is left of a service, 'tactus undo' does it, with little memory.
# A mount namespace of its own: what is mounted is nobody else's.
# not beside: tactus run, of which one at a time is at work
if [ -z "${OOM_APART:-}" ]; then
	OOM_APART=1 exec unshare -m "$0" "$@"
fi
. tests/tap.sh
. tests/hints.sh

less=launch,gpu,wine,input,frame,socket,sound,learned
# memory_group: makes one, of version 2 or 1; leaves group, limit, usage and events behind. False: nobody lets us.
memory_group() {
	local top
	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [ -z "$top" ]; then
		top=$scratch/cgroup
		mkdir "$top" && mount -t cgroup2 none "$top" || return 1
	fi
	if grep -qw memory "$top/cgroup.controllers"; then
		grep -qw memory "$top/cgroup.subtree_control" || echo +memory >"$top/cgroup.subtree_control" || return 1
		limit=memory.max usage=memory.current events=memory.events unlimited=max
	else
		top=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
		[ -n "$top" ] || return 1
		limit=memory.limit_in_bytes usage=memory.usage_in_bytes events=memory.oom_control unlimited=-1
	fi
	group=$top/tactus-test-$$
	mkdir "$group"
}
# shellcheck disable=SC2317 # a trap calls it
end_all() {
	local i
	kill -KILL "$urgent" "${runner:-$urgent}" 2>/dev/null
	for ((i = 0; i < 50; i++)); do
		rmdir "$group" 2>/dev/null && break
		sleep 0.1
	done
	umount "$scratch/cgroup" 2>/dev/null
	rm -rf "$scratch"
}
# Behind it: the group and the command.
# shellcheck disable=SC2016 # The inner shell's.
in_group=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"')
kills() { awk '$1 == "oom_kill" { print $2 }' "$group/$events"; }
keeper_of() { pgrep -P "$1" tactus-keeper; }
start_tactus() {
	echo "$unlimited" >"$group/$limit"
	: >"$scratch/err"
	"${in_group[@]}" "$group" "$tactus" run --actuator hints --compare off --config "$scratch/rules" --without $less >/dev/null 2>"$scratch/err" &
	runner=$!
	until_hints 600
	holds "a run in a group with a bound on memory gives a hint ($1)" until_hint $urgent
	# Among all in the group, the first that the kernel takes.
	echo 1000 >"/proc/$runner/oom_score_adj"
	used_kb=$(($(cat "$group/$usage") / 1024))
}
# Fills the group until the run has been killed; says how many ms after that the urgent thread had its nice value again, and when the last of
# four others heard of the run's end, which is what this machine can do just now. Looks for so many seconds.
cat >"$scratch/fill.py" <<'END_OF_PYTHON'
import mmap, os, select, signal, sys, time
runner, urgent, group, seconds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
end = os.pidfd_open(runner)
def has_ended(within_s=None): return select.select([end], [], [], within_s)[0]
ends, told = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        has_ended()
        os.write(told, b"%20d" % time.monotonic_ns())
        os._exit(0)
eater = os.fork()
if eater == 0:
    open(group + "/cgroup.procs", "w").write("0")
    held = []
    while not has_ended(0.002):
        room = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, 1 << 20, 4096): room[at] = 1
        held.append(room)
    # What it took stays taken while others clear up.
    time.sleep(600)
# It looks in time beside any load.
os.setpriority(os.PRIO_PROCESS, 0, -15)
# Where the kernel takes the whole group, it goes too.
while not has_ended(0.1):
    if eater and os.waitpid(eater, os.WNOHANG)[0]:
        eater = 0
        if not has_ended(10): sys.exit("the kernel took who fills the group, and not the run")
ended = time.monotonic_ns()
while os.getpriority(os.PRIO_PROCESS, urgent) < 0 and time.monotonic_ns() - ended < seconds * 1e9: time.sleep(0.002)
took = time.monotonic_ns() - ended
slowest = max(0, max(int(os.read(ends, 20)) for _ in range(4)) - ended)
print(took // 1000000, slowest // 1000000, flush=True)
sys.stdin.read()
if eater: os.kill(eater, signal.SIGKILL)
END_OF_PYTHON
# fill SECONDS: until the run is dead; leaves took and slowest behind. The memory stays taken until `end_fill`.
fill() {
	local seconds=$1
	shift
	echo $(((used_kb + 16384) * 1024)) >"$group/$limit"
	killed_before=$(kills)
	: >"$scratch/filled"
	mkfifo "$scratch/over" 2>/dev/null
	python3 "$scratch/fill.py" $runner $urgent "$group" "$seconds" <"$scratch/over" >"$scratch/filled" &
	filler=$!
	exec 5>"$scratch/over"
	wait_for "$scratch/filled" '^[0-9]' || return
	wait $runner 2>/dev/null
	ended=$?
	read -r took slowest <"$scratch/filled"
}
end_fill() {
	exec 5>&-
	wait $filler
}
# is_undone_soon WHO
is_undone_soon() {
	is "the kernel's OOM killer ended the run ($1)" "$ended $(($(kills) > killed_before))" "137 1"
	say_measured "$1: a group of $(((used_kb + 16384) / 1024)) MB of which the run used $((used_kb / 1024)); the nice value was back $took ms after the run's end; the last of four others heard of that after $slowest ms"
	is "an urgent thread has what it had after the OOM killer ended the run ($1)" "$(attr $urgent)" "0 0 $usual_slice"
	holds "hints are undone within a second and twice what the last of four others needs to hear of the end of a run that the OOM killer took ($1)" \
		test "$took" -le $((1000 + 2 * slowest))
	sleep 0.3
	is "the keeper of a run that the OOM killer took leaves nothing to undo ($1)" "$("$tactus" undo) $(ls /run/tactus/hints.journal 2>/dev/null)" "nothing to undo "
}

printf '[roles]\noom-urgent = audio\n' >"$scratch/rules"
cp build/workloads/pace "$scratch/oom-urgent"
chmod 755 "$scratch" "$scratch/oom-urgent"
# By the rule alone.
setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/oom-urgent" 1000000 200 3600000 >/dev/null &
urgent=$!
runner='' group=$scratch/none
trap end_all EXIT
if ! memory_group 2>"$scratch/why"; then
	skip "the OOM killer takes a run" "no control group can have a bound on memory here: $(cat "$scratch/why")"
	done_testing
fi

start_tactus "the run alone"
fill 60
is_undone_soon "the run alone"
end_fill

if [ -e "$group/memory.oom.group" ]; then
	echo 1 >"$group/memory.oom.group"
	start_tactus "the whole group"
	keeper=$(keeper_of $runner)
	protected=$(cat "/proc/$keeper/oom_score_adj")
	if [ "$protected" = -1000 ]; then
		fill 60
		is_undone_soon "the whole group"
		end_fill
	else
		skip "the keeper is left where the kernel takes a whole group" "this process may not ask for that itself (CAP_SYS_RESOURCE)"
		kill -TERM $runner
		wait $runner
	fi
	echo 0 >"$group/memory.oom.group"
else
	skip "the keeper is left where the kernel takes a whole group" "groups of version 1 are never taken whole"
fi

# As systemd does when the main process has gone, and the keeper is no quicker.
start_tactus "the keeper too"
keeper=$(keeper_of $runner)
kill -STOP "$keeper"
fill 1
kill -KILL "$keeper"
is "the kernel's OOM killer ended the run (the keeper too)" "$ended" 137
holds "hints stay where both the run and its keeper were killed" has_hint $urgent
holds "the journal has the thread whose run and keeper were killed" grep -q "^tid $urgent " /run/tactus/hints.journal
# In the same group, of which the other still has all that it took.
little_kb=$((used_kb / 4))
end_fill
echo $((little_kb * 1024)) >"$group/$limit"
like "tactus undo puts it back in the same group, with a quarter of the memory that the run used" "$("${in_group[@]}" "$group" "$tactus" undo 2>&1)" 'put back$'
say_measured "tactus undo in a group of $little_kb KB"
is "an urgent thread has what it had after tactus undo in a group with little memory" "$(attr $urgent)" "0 0 $usual_slice"
is "tactus undo in a group with little memory leaves no journal" "$(ls /run/tactus/hints.journal 2>/dev/null)" ""

start_tactus "the next run"
keeper=$(keeper_of $runner)
kill -STOP "$keeper"
fill 1
kill -KILL "$keeper"
end_fill
holds "hints stay until the next run where nobody undoes them" has_hint $urgent
start_tactus "after both were killed"
like "the journal of the next run says what the thread had before the killed one" "$(grep "^tid $urgent " /run/tactus/hints.journal | tail -n 1)" ' had 0 0 '
kill -TERM $runner
wait $runner
is "a run after one that the OOM killer took ends well" $? 0
is "an urgent thread has what it had after the run that came next" "$(attr $urgent)" "0 0 $usual_slice"
done_testing

#!/usr/bin/env bash
# A user who presents twelve frames of nothing and then burns, in one thread or in many: urgency is lost, and has a budget.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/hints.sh

as_nobody() { exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
chmod 755 "$scratch"
mkdir "$scratch/lib"
echo 'unsigned eglSwapBuffers(void *a, void *b) { static volatile long calls; calls++; return a == b; }' >"$scratch/lib/egl.c"
gcc -O1 -shared -fPIC "$scratch/lib/egl.c" -o "$scratch/lib/libEGL.so.1"
cp build/workloads/burner "$scratch/burner"
chmod -R a+rX "$scratch/lib" "$scratch/burner"

# begin NAME THREADS ON_US OFF_US: mapped and at work; "go NAME" has it present
begin() {
	mkfifo -m 666 "$scratch/$1.go"
	(as_nobody "$scratch/burner" "$scratch/lib/libEGL.so.1" eglSwapBuffers 12 "$2" "$3" "$4" <"$scratch/$1.go" >"$scratch/$1.out" 2>&1) &
	burners="$burners $!"
}
# Six burners of six users, whom one user may be in a namespace of his own: each user of the host has such numbers to give away.
begin_subusers() {
	mkfifo -m 666 "$scratch/mapped" "$scratch/subusers.go"
	# shellcheck disable=SC2016 # It is for the shell inside.
	(as_nobody unshare --user sh -c 'echo $$; read -r _ <"$1/mapped"
		for user in 1 2 3 4 5 6; do
			setpriv --reuid $user --regid $user --clear-groups "$1/burner" "$1/lib/libEGL.so.1" eglSwapBuffers 12 2 3000 7000 <"$1/subusers.go" &
		done; wait' sh "$scratch" <&- >"$scratch/subusers.out" 2>&1) &
	burners="$burners $!"
	wait_for "$scratch/subusers.out" '^[0-9]' 100
	inside=$(head -n 1 "$scratch/subusers.out")
	# The kernel takes one write; the shell's own printf makes one of each line.
	env printf '0 65534 1\n1 200000 100\n' >"/proc/$inside/uid_map"
	env printf '0 65534 1\n1 200000 100\n' >"/proc/$inside/gid_map"
	echo >"$scratch/mapped"
}
# Two users in one control group: each below it in a group of its own. What each wants is within his budget, both together are well above the
# group's, and no thread burns: the group's budget alone can hold them.
begin_grouped() {
	local user into
	for user in 65531 65532; do
		mkdir -p "$group/$user" || return
		mkfifo -m 666 "$scratch/$user.go"
		into=$group/$user/cgroup.procs
		(echo 0 >"$into" && exec setpriv --reuid $user --regid $user --clear-groups "$scratch/burner" "$scratch/lib/libEGL.so.1" eglSwapBuffers 12 \
			$grouped_each 3000 7000 <"$scratch/$user.go" >"$scratch/$user.out" 2>&1) &
		burners="$burners $!"
	done
}
# Groups are gone once nobody is in them.
end_grouped() {
	local i
	for ((i = 0; i < 50; i++)); do
		rmdir "$group"/* "$group" 2>/dev/null && return
		sleep 0.1
	done
}
burners=
threads=$((6 * $(nproc)))
grouped_each=$(($(nproc) * 3 / 2 > 2 ? $(nproc) * 3 / 2 : 2))
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/tactus-test-$$
begin_grouped
exec 4<>"$scratch/65531.go" 9<>"$scratch/65532.go"
begin_subusers
exec 8<>"$scratch/subusers.go"
begin spin 1 1000 0
spinner=${burners##* }
exec 5>"$scratch/spin.go"
begin many $threads 3000 7000
many=${burners##* }
exec 6>"$scratch/many.go"
begin light 1 20 211000
exec 7>"$scratch/light.go"
# shellcheck disable=SC2046,SC2086
trap 'kill $burners $runner $(sed -n "s/^tid //p" "$scratch/subusers.out") 2>/dev/null; end_grouped; rm -rf "$scratch"' EXIT

: >"$scratch/err"
"$tactus" run -v --actuator hints --compare off --without launch,gpu,wine,input,socket,sound,learned >/dev/null 2>"$scratch/err" &
runner=$!
until_hints 900
wait_for "$scratch/err" "frame: $scratch/lib/libEGL.so.1: .*in place" 600

cost_before=$(cost $runner)

# watched NAME SECONDS: of a program's threads, looked at every 50 ms: how many were raised at some time, in how many hundredths of
# the looks one was raised in the second half, the lowest nice value, and CPU seconds that raised ones used together
watched() {
	python3 - "$2" "$(sed -n 's/^tid //p' "$scratch/$1.out" | tr '\n' ' ')" <<'PYTHON'
import os, sys, time
tids = [int(t) for t in sys.argv[2].split()]
def look():
    seen = {}
    for t in tids:
        try:
            f = open(f'/proc/{t}/task/{t}/stat').read().rsplit(')', 1)[1].split()
            seen[t] = (int(f[16]), int(f[11]) + int(f[12]))
        except OSError:
            pass
    return seen
begin = time.monotonic()
ever, raised, looks, used, low, before = set(), 0, 0, 0, 0, look()
while time.monotonic() - begin < float(sys.argv[1]):
    time.sleep(0.05)
    now = look()
    late = time.monotonic() - begin > float(sys.argv[1]) / 2
    for t in now:
        low = min(low, now[t][0])
        if now[t][0] < 0: ever.add(t)
        if now[t][0] < 0 and t in before and before[t][0] < 0: used += now[t][1] - before[t][1]
    if late:
        looks += 1
        raised += any(now[t][0] < 0 for t in now)
    before = now
print(len(ever), raised * 100 // max(looks, 1), low, round(used / os.sysconf('SC_CLK_TCK'), 2), round(time.monotonic() - begin, 2))
PYTHON
}

# One that sleeps but for a moment now and then presents, and never again.
# until_raised: presents until it is, some times at most: beside much other work it may have no time to be seen at it
until_raised() {
	for _ in 1 2 3 4 5 6; do
		echo >&7
		read -r ever _ low _ <<<"$(watched light 2)"
		[ "$ever" = 0 ] || return
	done
}
until_raised
say_measured "a thread that presented twelve frames: raised $ever, to nice $low"
is "a thread that presents is raised for it" "$ever" 1
holds "a hint's nice value has a bound" test "$low" -ge -10
echo >&5
read -r ever share low used_s span_s <<<"$(watched spin 4)"
say_measured "one that spins after twelve frames: raised in $share % of the looks after two seconds; it used $used_s s of CPU in $span_s s while it was raised"
# On a busy machine it takes long until it has burnt: what counts is the CPU time that it had by it.
holds "a thread that spins after a few frames has less than a second of CPU by being urgent" awk "BEGIN { exit !($used_s < 1) }"
kill "$spinner"
echo >&6
read -r ever share low used_s span_s <<<"$(watched many 5)"
# A budget of one second may be spent at once; it is looked at five times a second, so that all CPUs can be used as long unseen.
is_in_budget() { awk "BEGIN { exit !($used_s <= $budget * ($span_s + 1) + $(nproc) * 0.2) }"; }
budget=$(nproc | awk '{ print ($1 / 2 > 0.75 ? $1 / 2 : 0.75) }')
say_measured "$threads threads that each want 30 % of a CPU after twelve frames: $ever were raised at some time; raised ones used $used_s s of CPU in $span_s s, the budget is $budget CPUs"
holds "all urgent threads of a user together use no more than their budget" is_in_budget
kill "$many"
if cat "$scratch"/6553[12].out >"$scratch/grouped.out" && [ "$(grep -c '^tid ' "$scratch/grouped.out")" = $((2 * grouped_each)) ]; then
	# As until_raised.
	for _ in 1 2 3 4; do
		echo >&4
		echo >&9
		read -r ever share low used_s span_s <<<"$(watched grouped 5)"
		[ "$ever" = 0 ] || break
	done
	say_measured "$((2 * grouped_each)) threads of two users in one control group that each want 30 % of a CPU: $ever were raised at some time; raised ones used $used_s s of CPU in $span_s s, the budget is $budget CPUs"
	holds "threads of two users in one control group are raised" test "$ever" -ge 1
	holds "two users in one control group have one budget together" is_in_budget
	# shellcheck disable=SC2046 # each is a word
	kill $(cat "$group"/*/cgroup.procs)
else
	skip "two users in one control group have one budget together" "there is no control group of version 2 to make one in: $(cat "$scratch/grouped.out")"
fi
users=$(sed -n 's/^tid //p' "$scratch/subusers.out" | while read -r tid; do awk '/^Uid/ { print $2 }' "/proc/$tid/status"; done | sort -u | wc -l)
is "burners of six users that one user may be are at work" "$users" 6
for _ in 1 2 3 4 5 6; do echo >&8; done
read -r ever share low used_s span_s <<<"$(watched subusers 5)"
say_measured "12 threads of six users of one user's namespace: $ever were raised at some time; raised ones used $used_s s of CPU in $span_s s, the budget is $budget CPUs"
holds "a user's users in a namespace of his own have no budget besides his" is_in_budget
read -r ever share _ _ <<<"$(watched light 2)"
say_measured "seconds after the only frames: raised in $share % of the looks"
is "a thread that presented once is not urgent for ever" "$share" 0
until_raised
is "a thread that presents again is raised again" "$ever" 1
costs_as_before "a run beside burners" $runner "$cost_before"
kill -TERM $runner
wait $runner
done_testing

#!/usr/bin/env bash
# Filters as lists, given several times, and as patterns: what they let through, and what is said when that is nothing.
. tests/tap.sh

# watched OPTION...: names of the threads that were watched while three programs ran, with the names of their threads, which no other
# program's on this machine has
watched() {
	: >"$scratch/err"
	"$tactus" tasks --json --report "$scratch/rows" --force "$@" 2>"$scratch/err" &
	local watcher=$!
	wait_for "$scratch/err" watching
	for name in sieve-one sieve-two sieve-three; do
		build/workloads/threads 5 0 $name
	done
	kill -INT $watcher
	wait $watcher
	json 'sorted({r["comm"] for r in rows})' <"$scratch/rows"
}
is "-c given twice watches threads of both names" "$(watched -c sieve-one -c sieve-two)" "['sieve-one', 'sieve-two']"
is "-c with a list watches threads of every name on it" "$(watched -c sieve-one,sieve-three)" "['sieve-one', 'sieve-three']"
is "-c with a pattern watches every thread whose name fits" "$(watched -c 'sieve-t[gwh][or]*')" "['sieve-three', 'sieve-two']"
is "-c with a pattern and a name watches both" "$(watched -c 'sieve-?ne,sieve-two')" "['sieve-one', 'sieve-two']"
is "-c with a pattern leaves out names that do not fit" "$(watched -c 'sieve-on' -c 'sieve-tw' -c 'sieve-thre?')" "['sieve-three']"

build/workloads/pace 5000 100 60000 >/dev/null &
first=$!
build/workloads/pace 5000 100 60000 >/dev/null &
second=$!
build/workloads/pace 5000 100 60000 >/dev/null &
third=$!
wait_for /proc/$third/comm pace
is "-p with a list watches every process on it, and no other" \
	"$("$tactus" tasks -p $first,$second -d 0.5 --json | json 'sorted({r["pid"] for r in rows}) == sorted(['$first,$second'])')" True
is "-p given twice watches both processes" \
	"$("$tactus" tasks -p $first -p $third -d 0.5 --json | json 'sorted({r["pid"] for r in rows}) == sorted(['$first,$third'])')" True
kill $first $second $third

root=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)
if mkdir "$root/tactus-a-$$" "$root/tactus-b-$$" "$root/tactus-c-$$" 2>/dev/null; then
	: >"$scratch/err"
	"$tactus" tasks --json --cgroup "$root/tactus-[ab]-$$" >"$scratch/rows" 2>"$scratch/err" &
	watcher=$!
	wait_for "$scratch/err" watching
	for group in a b c; do
		sh -c "echo \$\$ >$root/tactus-$group-$$/cgroup.procs; exec build/workloads/threads 5 0 in-$group"
	done
	kill -INT $watcher
	wait $watcher
	is "--cgroup with a pattern watches threads of every group that fits" "$(json 'sorted({r["comm"] for r in rows})' <"$scratch/rows")" "['in-a', 'in-b']"
	rmdir "$root/tactus-a-$$" "$root/tactus-b-$$" "$root/tactus-c-$$"
else
	skip "--cgroup with a pattern watches threads of every group that fits" "no cgroup can be made here"
fi
ends "--cgroup with a pattern that no group fits ends with an error" 1 'no cgroup fits tactus-none-\*' "$tactus" tasks --cgroup 'tactus-none-*' -d 0.1
like "-c that no thread matches says so" "$("$tactus" tasks -c no-such -d 0.1 2>&1)" 'no thread that ran matched -c no-such'
"$tactus" tasks -c a-program-of-a-long-name -d 0.1 >/dev/null 2>"$scratch/err"
like "-c of a name that is too long says what is watched" "$(cat "$scratch/err")" "at most 15 bytes: watching 'a-program-of-a-'"
ends "-c of a pattern that no name can match is bad usage" 2 'no thread can match' "$tactus" tasks -c '????????????????' -d 0.1
ends "-c of an empty name is bad usage" 2 'matches no thread' "$tactus" tasks -c a,, -d 0.1
ends "-p of a list with a word is bad usage" 2 "pid 'x' is not a number" "$tactus" tasks -p "$$,x" -d 0.1
ends "-p beside a command is bad usage" 2 'not both' "$tactus" tasks -p $$ -- true
ends "-C of a CPU that is not there ends with an error" 1 "there is no CPU 1023: this machine has 0 to $(($(getconf _NPROCESSORS_CONF) - 1))" "$tactus" tasks -C 1023 -d 0.1
is "-C given twice watches both CPUs" "$("$tactus" events -C 0 -C $(($(getconf _NPROCESSORS_ONLN) - 1)) --json -d 0.5 2>/dev/null | json '{r["cpu"] for r in rows if r["event"] == "switch"} <= {0, '$(($(getconf _NPROCESSORS_ONLN) - 1))'}')" True
done_testing

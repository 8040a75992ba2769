# Tracepoints of drivers that this machine does not have: source it after tests/tap.sh. In a mount namespace of its own a command sees
# tracepoints of system calls, whose arguments a program chooses, as tracepoints of a driver, with formats that the test writes.

tracing=/sys/kernel/tracing

# can_pose SYSCALL...: whether this kernel has their tracepoints
can_pose() {
	local call
	for call in "$@"; do [ -e "$tracing/events/syscalls/sys_enter_$call/id" ] || return 1; done
}
# field NAME TYPE OFFSET SIZE: as the kernel writes it
field() { printf '\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:0;\n' "$2" "$1" "$3" "$4"; }
# poses CATEGORY NAME SYSCALL: standard input is its format
poses() {
	mkdir -p "$scratch/events/$1/$2"
	cat >"$scratch/events/$1/$2/format"
	cat "$tracing/events/syscalls/sys_enter_$3/id" >"$scratch/events/$1/$2/id"
}
# posed CATEGORY COMMAND...: sees the tracepoints that were put there, also those that are put there later
# shellcheck disable=SC2016 # The inner shell's.
posed() {
	unshare -m bash -c 'mkdir -p "$0/true" && mount --bind '$tracing' "$0/true" && mount -t tmpfs none '$tracing'/events &&
		ln -s "$0"/true/events/* "$0/events/$1" '$tracing'/events/ 2>/dev/null; shift; exec "$@"' "$scratch" "$@"
}
# end_posed PID: of a `posed` in the background, whose shell keeps SIGINT from itself
end_posed() {
	kill -INT "$(pgrep -P "$1" || echo "$1")"
	wait "$1"
}

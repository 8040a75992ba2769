#!/usr/bin/env bash
# Bad input and a poor environment: each gives one clear line, the right exit status and a clean end.
# Missing BTF, tracefs and rights are made in a mount namespace or by dropping rights, not faked.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

ends "tactus without a command is bad usage" 2 'tactus: no command: try' "$tactus"
ends "an unknown command is bad usage" 2 "tactus: frobnicate: no such command" "$tactus" frobnicate
ends "an unknown option is bad usage" 2 "tactus: cpus: there is no option '--frob' \\(see 'tactus cpus --help'\\)" "$tactus" cpus --frob
ends "an unknown short option is bad usage" 2 "tactus: cpus: there is no option '-Q'" "$tactus" cpus -Q
ends "an option that the command does not take is named" 2 "'-n'" "$tactus" record -o file -n 3
ends "an option without its value is bad usage" 2 "tactus: cpus: option '-d' needs a value: SECONDS" "$tactus" cpus -d
ends "a negative duration is bad usage" 2 "duration '-1' is out of range" "$tactus" cpus -d -1
ends "a duration of 0 is bad usage" 2 "duration '0' is out of range" "$tactus" cpus -d 0
ends "a huge duration is bad usage" 2 "duration '9{20}' is out of range" "$tactus" cpus -d 99999999999999999999
ends "a duration that is no number is bad usage" 2 "duration 'soon' is not a number of seconds" "$tactus" run -d soon
ends "a command to watch without -- is bad usage" 2 "unexpected word 'ls': put '--' before" "$tactus" cpus ls
ends "-- without a command to watch is bad usage" 2 "no command after '--'" "$tactus" cpus --
ends "a command to watch is bad usage for doctor" 2 "tactus: doctor: unexpected word" "$tactus" doctor -- ls
ends "a command to watch that does not exist ends with status 127" 127 'tactus: /nonexistent: No such file' "$tactus" cpus -- /nonexistent
ends "a command to watch that is not in PATH ends with status 127" 127 'tactus: no-such-command: No such file' "$tactus" cpus -- no-such-command
ends "a command to watch that can't be executed ends with status 126" 126 'tactus: /etc/passwd: Permission denied' "$tactus" cpus -- /etc/passwd
ends "a folder as a command to watch ends with status 126" 126 'tactus: /tmp: Permission denied' "$tactus" cpus -- /tmp

for command in "" cpus doctor run; do
	# shellcheck disable=SC2086
	help=$("$tactus" $command --help)
	is "help of '$command' ends with status 0" $? 0
	like "help of '$command' shows examples" "$help" '^ *Examples:'
done
like "--version tells a version of three numbers" "$("$tactus" --version)" '^tactus [0-9]+\.[0-9]+\.[0-9]+$'

"$tactus" cpus -- sh -c 'exit 42' >/dev/null
is "cpus passes on its command's exit status" $? 42
"$tactus" cpus -- sh -c 'kill -TERM $$' >/dev/null
is "cpus of a command that a signal ended ends with 128 and the signal" $? 143
"$tactus" cpus -d 0.3 -- sleep 60 2>"$scratch/out"
is "cpus ends a command that outlasts -d" $? 143
like "cpus of a command that outlasts -d shows its table" "$(cat "$scratch/out")" '^all '
# Named by how long they sleep, so that nobody else's are meant.
left() { pgrep -fx "sleep $1" | wc -l; }
gone() {
	local i
	for ((i = 0; i < 600; i++)); do
		[ "$(left "$1")" != 0 ] || return 0
		sleep 0.1
	done
	return 1
}
"$tactus" cpus -d 0.3 -- sh -c "sleep 71$$ & sleep 72$$" 2>"$scratch/err"
like "cpus that ends a command says so" "$(cat "$scratch/err")" 'the time is up: sh and what it started get SIGTERM'
holds "what a command started in the background is ended with it" gone 71$$
holds "what a command waits for is ended with it" gone 72$$
"$tactus" cpus -d 0.3 -- sh -c "trap '' TERM; sleep 73$$ & wait; wait" 2>"$scratch/err"
is "a command that ignores SIGTERM is killed" $? 137
like "cpus that kills a command says so" "$(cat "$scratch/err")" 'sh did not end within 5 s: SIGKILL'
holds "what a killed command started is killed with it" gone 73$$
script -qec "$tactus cpus -d 0.3 -- sh -c 'sleep 74$$ & sleep 75$$'" /dev/null >"$scratch/out" </dev/null
holds "in front of a terminal, what a command started is ended with it" gone 74$$
like "in front of a terminal, the table comes after that" "$(cat "$scratch/out")" '^all '
is "a watched command blocks and ignores the signals that it would without tactus" \
	"$("$tactus" cpus -- grep -E '^Sig(Blk|Ign)' /proc/self/status | grep ^Sig)" "$(grep -E '^Sig(Blk|Ign)' /proc/self/status)"

drop_root() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"; }
cp "$tactus" "$scratch/tactus" && chmod 755 "$scratch" "$scratch/tactus"
ends "cpus without root names the capabilities that it lacks" 1 'tactus: cpus: .*needs CAP_BPF and CAP_PERFMON: run it as root' drop_root "$scratch/tactus" cpus -d 1
ends "run of a command without root names the capabilities that it lacks" 1 'needs CAP_BPF and CAP_PERFMON' drop_root "$scratch/tactus" run -- true
drop_root "$scratch/tactus" doctor --json >"$scratch/out"
is "doctor without root ends with status 1" $? 1
is "doctor without root says in JSON that the main job cannot run" "$(json '(d["can_run"], d["sensors"][0]["state"])' <"$scratch/out")" "(False, 'off')"

# without PATHS... -- COMMAND...: the command in a mount namespace where the folders are empty
without() {
	local hidden=()
	while [ "$1" != -- ]; do hidden+=("$1"); shift; done
	shift
	unshare -m bash -c 'n=$1; shift; for ((; n > 0; n--)); do [ ! -e "$1" ] || mount -t tmpfs none "$1"; shift; done; exec "$@"' \
		- ${#hidden[@]} "${hidden[@]}" "$@"
}
without /sys/kernel/btf -- "$tactus" doctor --json >"$scratch/out"
is "doctor's status without BTF says that the main job can't run" $? 1
is "switches are seen by the classic tracepoint where there is no BTF" "$(json '[d["sensors"][0][k] for k in ("state","hook")]' <"$scratch/out")" \
	"['fallback', 'tracepoint/sched/sched_switch']"
like "the reason says that BTF is missing and what is lost by it" "$(json 'd["sensors"][0]["reason"]' <"$scratch/out")" \
	'no BTF.*costs more'
without /sys/kernel/btf -- "$tactus" run -d 0.2 >"$scratch/out" 2>&1
is "run without BTF ends with status 1, as doctor said" $? 1
like "run says in one line that BTF is missing" "$(cat "$scratch/out")" '^tactus: run: cannot watch the scheduler: .*no BTF'
mounts=$(cat /proc/self/mounts)
without /sys/kernel/btf /sys/kernel/tracing /sys/kernel/debug -- "$tactus" cpus --json -- hackbench -l 20 >"$scratch/out" 2>&1
is "cpus with neither BTF nor a mounted tracefs ends with status 0" $? 0
counted=$(grep '^{' "$scratch/out" | json 'sum(r["switches"] for r in rows)')
say_measured "$counted switches by the fallback hook"
holds "cpus with neither BTF nor a mounted tracefs counts switches" test "$counted" -gt 100
is "cpus without a mounted tracefs leaves the machine's mounts as they were" "$(cat /proc/self/mounts)" "$mounts"
without /sys/fs/bpf -- "$tactus" cpus -d 0.1 >"$scratch/out"
is "cpus without bpffs ends with status 0" $? 0

"$tactus" cpus -d 0.2 | head -n 1 >"$scratch/out"
is "cpus whose reader goes away ends with status 0" "${PIPESTATUS[0]}" 0
"$tactus" run -d 60 --json 2>/dev/null | head -n 1 >"$scratch/out"
is "run whose reader goes away ends with status 0" "${PIPESTATUS[0]}" 0
ends "cpus onto a full disk ends with an error" 1 'tactus: standard output: No space left' sh -c "exec '$tactus' cpus -d 0.1 >/dev/full"
ends "cpus with a closed standard output ends with an error" 1 'tactus: standard output: Bad file' sh -c "exec '$tactus' cpus -d 0.1 >&-"

# An interrupted cpus still shows what it has counted.
for signal in INT TERM; do
	rm -f "$scratch/err"
	: >"$scratch/out"
	: >"$scratch/err"
	"$tactus" cpus >"$scratch/out" 2>"$scratch/err" &
	wait_for "$scratch/err" watching
	kill -$signal $!
	wait $!
	is "SIG$signal ends cpus with status 0" $? 0
	like "cpus that SIG$signal ended shows its table" "$(cat "$scratch/out")" '^all '
done
: >"$scratch/out"
"$tactus" cpus -- sh -c 'echo begun; exec sleep 60' >"$scratch/out" &
wait_for "$scratch/out" begun
kill -TERM $!
wait $!
is "SIGTERM to cpus is passed on to its command" $? 143
done_testing

#!/usr/bin/env bash
# Bad input and a poor environment: each gives one clear line, the right exit status and a clean end.
# Missing BTF, tracefs and rights are made in a mount namespace or by dropping rights, not faked.
. tests/tap.sh

ends "no command" 2 'tactus: no command: try' "$tactus"
ends "an unknown command" 2 "tactus: frobnicate: no such command" "$tactus" frobnicate
ends "an unknown option" 2 "tactus: cpus: unknown option.*'--frob'.*--help" "$tactus" cpus --frob
ends "an unknown short option" 2 "tactus: cpus: unknown option.*'-Q'" "$tactus" cpus -Q
ends "an unknown option before others" 2 "'-n'" "$tactus" record -o file -n 3
ends "an option without its value" 2 "tactus: cpus: .*without its value: '-d'" "$tactus" cpus -d
ends "a negative duration" 2 "duration '-1' is out of range" "$tactus" cpus -d -1
ends "a duration of 0" 2 "duration '0' is out of range" "$tactus" cpus -d 0
ends "a huge duration" 2 "duration '9{20}' is out of range" "$tactus" cpus -d 99999999999999999999
ends "a duration that is no number" 2 "duration 'soon' is not a number of seconds" "$tactus" run -d soon
ends "a command without --" 2 "unexpected word 'ls': put '--' before" "$tactus" cpus ls
ends "-- without a command" 2 "no command after '--'" "$tactus" cpus --
ends "a word that doctor does not take" 2 "tactus: doctor: unexpected word" "$tactus" doctor -- ls
ends "a command that does not exist" 127 'tactus: /nonexistent: No such file' "$tactus" cpus -- /nonexistent
ends "a command that is not found in PATH" 127 'tactus: no-such-command: No such file' "$tactus" cpus -- no-such-command
ends "a command that can't be executed" 126 'tactus: /etc/passwd: Permission denied' "$tactus" cpus -- /etc/passwd
ends "a folder as a command" 126 'tactus: /tmp: Permission denied' "$tactus" cpus -- /tmp

for command in "" cpus doctor run; do
	# shellcheck disable=SC2086
	help=$("$tactus" $command --help)
	is "help of '$command' succeeds" $? 0
	like "and shows examples" "$help" '^ *Examples:'
done
like "the version" "$("$tactus" --version)" '^tactus [0-9]+\.[0-9]+\.[0-9]+$'

"$tactus" cpus -- sh -c 'exit 42' >/dev/null
is "the command's exit status" $? 42
"$tactus" cpus -- sh -c 'kill -TERM $$' >/dev/null
is "a command that a signal ended" $? 143
"$tactus" cpus -d 0.3 -- sleep 60 >"$scratch/out"
is "a command that outlasts -d is ended" $? 143
like "and the table is there" "$(cat "$scratch/out")" '^all '
is "the command sees the signals that it would see without tactus" \
	"$("$tactus" cpus -- grep -E '^Sig(Blk|Ign)' /proc/self/status | grep ^Sig)" "$(grep -E '^Sig(Blk|Ign)' /proc/self/status)"

drop_root() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"; }
cp "$tactus" "$scratch/tactus" && chmod 755 "$scratch" "$scratch/tactus"
ends "no root" 1 'tactus: cpus: .*needs CAP_BPF and CAP_PERFMON: run it as root' drop_root "$scratch/tactus" cpus -d 1
ends "no root, with a command" 1 'needs CAP_BPF and CAP_PERFMON' drop_root "$scratch/tactus" run -- true
drop_root "$scratch/tactus" doctor --json >"$scratch/out"
is "doctor without root: the main job cannot run" $? 1
is "and says so in JSON" "$(json '(d["can_run"], d["sensors"][0]["state"])' <"$scratch/out")" "(False, 'off')"

# without PATHS... -- COMMAND...: the command in a mount namespace where the folders are empty
without() {
	local hidden=()
	while [ "$1" != -- ]; do hidden+=("$1"); shift; done
	shift
	unshare -m bash -c 'n=$1; shift; for ((; n > 0; n--)); do [ ! -e "$1" ] || mount -t tmpfs none "$1"; shift; done; exec "$@"' \
		- ${#hidden[@]} "${hidden[@]}" "$@"
}
without /sys/kernel/btf -- "$tactus" doctor --json >"$scratch/out"
is "without BTF doctor's status says that the main job can't run" $? 1
is "without BTF switches are seen by the classic tracepoint" "$(json '[d["sensors"][0][k] for k in ("state","hook")]' <"$scratch/out")" \
	"['fallback', 'tracepoint/sched/sched_switch']"
like "the reason says that BTF is missing and what is lost by it" "$(json 'd["sensors"][0]["reason"]' <"$scratch/out")" \
	'no BTF.*costs more'
without /sys/kernel/btf -- "$tactus" run -d 0.2 >"$scratch/out" 2>&1
is "without BTF run ends with status 1, as doctor said" $? 1
like "run says in one line that BTF is missing" "$(cat "$scratch/out")" '^tactus: run: cannot watch the scheduler: .*no BTF'
mounts=$(cat /proc/self/mounts)
without /sys/kernel/btf /sys/kernel/tracing /sys/kernel/debug -- "$tactus" cpus --json -- hackbench -l 20 >"$scratch/out" 2>&1
is "neither BTF nor a mounted tracefs: cpus works" $? 0
counted=$(grep '^{' "$scratch/out" | json 'sum(r["switches"] for r in rows)')
say_measured "$counted switches by the fallback hook"
holds "and counts" test "$counted" -gt 100
is "and the machine's mounts are as they were" "$(cat /proc/self/mounts)" "$mounts"
without /sys/fs/bpf -- "$tactus" cpus -d 0.1 >"$scratch/out"
is "no bpffs: cpus works" $? 0

"$tactus" cpus -d 0.2 | head -n 1 >"$scratch/out"
is "a reader that goes away" "${PIPESTATUS[0]}" 0
"$tactus" run -d 60 --json 2>/dev/null | head -n 1 >"$scratch/out"
is "a run whose reader goes away ends" "${PIPESTATUS[0]}" 0
ends "a full disk" 1 'tactus: standard output: No space left' sh -c "exec '$tactus' cpus -d 0.1 >/dev/full"
ends "a closed standard output" 1 'tactus: standard output: Bad file' sh -c "exec '$tactus' cpus -d 0.1 >&-"

# An interrupted cpus still shows what it has counted.
for signal in INT TERM; do
	"$tactus" cpus >"$scratch/out" 2>"$scratch/err" &
	wait_for "$scratch/err" watching
	kill -$signal $!
	wait $!
	is "SIG$signal ends cpus with status 0" $? 0
	like "and the table is there" "$(cat "$scratch/out")" '^all '
done
"$tactus" cpus -- sleep 30 >"$scratch/out" &
sleep 0.7
kill -TERM $!
wait $!
is "SIGTERM while a command runs is passed on to it" $? 143
done_testing

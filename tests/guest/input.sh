#!/usr/bin/env bash
# Input devices and who reads them, where devices can be made (uinput): by each hook in turn, with every way to read.
# Runs in the VM. With TACTUS_CLOCK=virtual: a mouse at 8 kHz, and nothing else.
. tests/tap.sh
. tests/guest/click.sh

modprobe -a evdev uinput 2>/dev/null
for _ in $(seq 100); do [ -e /dev/uinput ] && break; sleep 0.1; done

# Loading programs and starting Python take seconds in an emulated guest: only the sensor under test is started, and
# what a run printed is read once.
others=launch,gpu,wine,frame,socket,sound,names
hook_in_use() {
	TACTUS_SKIP_HOOKS="$TACTUS_SKIP_HOOKS,launch:,gpu:,wine:,frame:,socket:,sound:" "$tactus" doctor --json |
		grep -o '"name":"input","hook":"[^"]*"' | cut -d '"' -f 8
}
# role_of COMM FIELD: of the thread of that name, in the last run; FIELD: 2 role, 3 kind of evidence, 4 input_reads, 5 evidence
role_of() { grep "^$1:" "$scratch/roles" | cut -d : -f "$2"; }
# truth COMM WORD: what the thread itself says of WORD
truth() { sed -n "s/^$1 .* $2 \([0-9]*\).*/\1/p" "$scratch/out"; }
read_roles() {
	grep '^{' "$scratch/out" | json '"\n".join("%s:%s:%s:%s:%s" % (r["comm"], r["role"], r["evidence_kind"], r["input_reads"], r["evidence"])
		for r in rows)' >"$scratch/roles"
}
# plays KIND REPORTS RATE: the device and its readers, watched from before they are there to after they are gone
plays() {
	"$tactus" roles -v --json -n all --without "$others" -- build/workloads/mouse "$1" "$2" "$3" 1 >"$scratch/out" 2>"$scratch/err"
	is "$1: watching it ends well" $? 0
	read_roles
}
# is_registered KIND PRODUCT
is_registered() {
	local event
	event=$(sed -n 's/^device \(event[0-9]*\) .*/\1/p' "$scratch/out")
	is "$1: registered with its kind, vendor, product and name, which breaks no line" \
		"$(grep -c "^tactus: input: $event: $1 1209:$2 'Tactus test $1\"?H: Handlers=event0'$" "$scratch/err")" 1
	is "$1: every event and report is counted, and it is told that it went" \
		"$(grep "^tactus: input: $event: sent" "$scratch/err")" \
		"tactus: input: $event: sent $(truth device events) events in $(truth device reports) reports"
}
# is_reader COMM KIND
is_reader() {
	is "$1 is for input" "$(role_of "$1" 2)" input
	is "$1 is for input because of what it does" "$(role_of "$1" 3)" io
	like "$1: the evidence names the device and the times" "$(role_of "$1" 5)" "^reads a (game )?$2, $(role_of "$1" 4) times"
}
# The last time that a reader slept, the device's going ended it.
counts_wakeups() {
	local reads slept
	reads=$(role_of "$1" 4) slept=$(truth "$1" slept)
	say_measured "$1 slept $slept times and was seen to wake for input or read it $reads times, of $(truth device reports) reports"
	between "$1: each wake-up by the device is counted, and nothing else" $((slept - 1)) "$reads" "$(truth device reports)"
}
reads_nothing() {
	is "$1 reads no device" "$(role_of "$1" 4)" 0
	holds "$1 is not taken for a reader" test "$(role_of "$1" 3)" != io
}

# sees HOOK REPORTS RATE READER...: live and from its recording; one reader is the only one
sees() {
	local said=$scratch/out device hook=$1 run=(build/workloads/mouse mouse "$2" "$3" 1) readers
	shift 3
	readers=("$@")
	[ $# -gt 1 ] || run+=("$1")
	set -- "$hook"
	"$tactus" input --json -n all -o "$scratch/recording" -- "${run[@]}" >"$said" 2>"$scratch/err"
	is "$1: watching input ends well" $? 0
	is "$1: not one event was lost" "$(grep -c "events were lost" "$scratch/err")" 0
	sed 's/^/# /' "$scratch/err"
	grep '^{"record"' "$said" >"$scratch/live"
	device=$(grep '"row":"device"' "$scratch/live" | grep '"kind":"mouse"')
	# number NAME <JSON
	number() { grep -o "\"$1\":[0-9.]*" | cut -d : -f 2; }
	is "$1: every report is counted" "$(number reports <<<"$device")" "$(truth device reports)"
	is "$1: every event is counted" "$(number events <<<"$device")" "$(truth device events)"
	like "$1: the device is shown with its name and numbers" "$device" '"id":"1209:7a01".*"name":"Tactus test mouse'
	say_measured "$1: $(number reports <<<"$device") reports, $(number reports_per_s <<<"$device") a second, one every $(number interval_p50_ns <<<"$device") ns (p50)"
	for comm in "${readers[@]}"; do
		reader=$(grep '"row":"reader"' "$scratch/live" | grep "\"comm\":\"$comm\"")
		wakes=$(number wakes <<<"$reader")
		say_measured "$1: $comm ran $(number delay_p50_ns <<<"$reader") ns (p50), $(number delay_p99_ns <<<"$reader") ns (p99) after the report, $wakes times"
		between "$1: $comm is counted each time that the device woke it" $(($(truth "$comm" slept) * 9 / 10)) "$wakes" "$(truth device reports)"
		holds "$1: $comm has a time from report to run" test "$(number delay_p50_ns <<<"$reader")" -gt 0
	done
	is "$1: no other thread is shown as a reader" "$(grep -c '"row":"reader"' "$scratch/live")" "${#readers[@]}"
	is "$1: a recording says the same" "$("$tactus" input -i "$scratch/recording" --json -n all 2>&1)" "$(cat "$scratch/live")"
}

if [ "${TACTUS_CLOCK:-real}" = virtual ]; then
	# Only there is the rate that of the program, whatever else the host does.
	sees fentry 8000 8000 by-epoll
	holds "a mouse at 8 kHz is shown with that rate" test "$(grep '"kind":"mouse"' "$scratch/live" | number reports_per_s | cut -d . -f 1)" -ge 7900
	done_testing
	exit
fi

sleepers="by-read by-poll by-select by-epoll by-nested"
say_measured "$(find /dev/input -name "event*" 2>/dev/null | wc -l) input devices before the first of ours"

for hook in fentry kprobe; do
	echo "# hook $hook"
	[ $hook = fentry ] || export TACTUS_SKIP_HOOKS=input:fentry
	is "the input sensor takes $hook" "$(hook_in_use)" $hook/input_event
	plays mouse 2000 1000
	is_registered mouse 7a01
	for comm in $sleepers; do
		is_reader "$comm" mouse
		counts_wakeups "$comm"
	done
	is_reader by-look mouse
	reads=$(role_of by-look 4)
	say_measured "by-look woke $(truth by-look slept) times by the clock and found something to read $reads times"
	between "by-look: reads without a wake-up are counted, at most one a turn" 100 "$reads" "$(truth by-look slept)"
	reads_nothing unrelated
	reads_nothing sender
done

unset TACTUS_SKIP_HOOKS
for kind in keyboard:7a02 pad:7a03; do
	plays ${kind%:*} 100 100
	is_registered ${kind%:*} ${kind#*:}
	is_reader by-epoll ${kind%:*}
	counts_wakeups by-epoll
	reads_nothing unrelated
done

echo "# tactus input"
# shellcheck disable=SC2086
sees fentry 1000 1000 $sleepers
TACTUS_SKIP_HOOKS=input:fentry sees kprobe 1000 8000 by-poll

"$tactus" run --actuator none --json --without "$others,learned,feed" -- build/workloads/mouse mouse 1500 500 1 by-poll >"$scratch/out" 2>"$scratch/err"
is "tactus run with a mouse ends well" $? 0
hits=$(grep -o '"input_reads":[0-9]*' "$scratch/out" | tail -n 1 | cut -d : -f 2)
say_measured "tactus run counts $hits reads of a mouse so far, the reader slept $(truth by-poll slept) times"
between "tactus run counts what the input hook saw" 1 "$hits" "$(truth by-poll slept)"

answers ""

echo "# devices read by the program itself"
export TACTUS_SKIP_HOOKS=input:fentry,input:kprobe
is "the input sensor reads devices itself where no hook is to be had" "$(hook_in_use)" evdev
ends "input says why it can't watch by that" 1 'tactus: input: cannot watch input devices and who reads them: fentry/input_event: switched off' "$tactus" input -d 1
# The kernel keeps 64 events for a reader: so slowly that a host that is busy elsewhere for a tenth of a second loses none.
plays mouse 800 200
is_registered mouse 7a01
for comm in $sleepers; do
	is_reader "$comm" mouse
	reads=$(role_of "$comm" 4)
	say_measured "$comm was found waiting for the device $reads times"
	between "$comm: found waiting often enough, and not for ever" 8 "$reads" 64
done
reads_nothing unrelated
reads_nothing sender
unset TACTUS_SKIP_HOOKS

# Without any hook the rest still works, and gives its best answer.
TACTUS_SKIP_HOOKS=input: "$tactus" roles --json -n all --without "$others" -- build/workloads/mouse mouse 300 300 1 >"$scratch/out" 2>"$scratch/err"
is "roles ends well without the input sensor" $? 0
read_roles
is "no reader is known as one without the input sensor" "$(role_of by-poll 4)" 0
is "the kernel logged no warning under the input sensor" "$(dmesg | grep -cE 'WARNING|BUG:')" 0
done_testing

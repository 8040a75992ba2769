#!/usr/bin/env bash
# 'make run' and 'make demo' over a tactus and a VM that only speak: where the job runs, and the table of before and after.
. tests/tap.sh

tree=$scratch/tree
mkdir -p "$tree"/{tools,vm,build,bin,image}
cp tools/{run,demo,lib}.sh "$tree/tools/"
# program FILE: from standard input
program() { cat >"$tree/$1" && chmod 755 "$tree/$1"; }
program bin/qemu-system-x86_64 <<<'#!/bin/sh'
echo 9.8.7-made-up >"$tree/image/release"
ln -s . "$tree/boot"

program build/tactus <<'END'
#!/bin/sh
echo "$*" >>called
case $1 in
doctor) exit "$(cat doctor)" ;;
run)
	[ "$(cat doctor)" != 0 ] || { echo "watching as process $PPID's child $$"; exit 7; }
	echo "tactus: sched: bpf() is not permitted" >&2
	echo "tactus: a second line" >&2
	exit 1 ;;
esac
END
program vm/kernel.sh <<'END'
#!/bin/sh
echo "kernel $1" >>called
echo boot
END
program vm/run.sh <<'END'
#!/bin/sh
echo "vm $KERNEL $CLOCK $CPUS $CMD" >>called
cat lines
exit "$(cat vm-status)"
END
whole_lines() {
	cat <<-'END'
		result eevdf idle-periodic round=1 p50_us=2 p99_us=63.6 worst_us=40
		result eevdf periodic round=1 p50_us=900 p99_us=1634.0 worst_us=1900
		result eevdf frames60 round=1 turns=241 late=240 p99_us=77777
		tactus: a line of the guest's own
		status 12 s  3 threads are urgent
		result tactus periodic round=1 enabled_s=1.2 p50_us=30 p99_us=71.7 worst_us=99
		result tactus frames60 round=1 enabled_s=1.2 turns=239 late=0 p99_us=88888
	END
}
# try DOCTOR VM-STATUS COMMAND...: leaves status, $scratch/out, $scratch/err and what was called behind
try() {
	echo "$1" >"$tree/doctor"
	echo "$2" >"$tree/vm-status"
	: >"$tree/called"
	shift 2
	(cd "$tree" && exec env -u KERNEL PATH="$tree/bin:$PATH" TMPDIR="$scratch" "$@") >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
}
called() { grep -E "$1" "$tree/called"; }

whole_lines >"$tree/lines"
try 0 0 tools/run.sh
is "make run where the machine allows it runs tactus run, whose exit status is its own" $status 7
like "make run where the machine allows it shows what tactus run prints" "$(cat "$scratch/out")" '^watching as process'
is "make run where the machine allows it boots no VM" "$(called '^(vm|kernel)')" ""
is "make run says that it runs here, and how to end it" "$(cat "$scratch/err")" "==> tactus run (Ctrl-C ends it)"

try 1 0 tools/run.sh
is "make run where the machine does not allow it runs in a VM to its end" $status 0
is "make run in a VM says first what is missing here" "$(head -n 1 "$scratch/err")" "==> 'tactus run' can't watch threads here: sched: bpf() is not permitted"
is "make run tells an ordinary user, and nobody else, that root could run it here" "$(grep -c "'sudo make run'" "$scratch/err")" "$((EUID != 0))"
like "make run says that it goes on in a VM" "$(cat "$scratch/err")" '==> so it runs in a VM here, beside a small load'
run_table=$(cat "$scratch/out")

try 0 0 tools/demo.sh
is "make demo runs to its end" $status 0
is "make demo boots the newest of Debian's kernels" "$(called ^kernel)" "kernel debian-newest"
like "make demo runs its loads by the virtual clock on one CPU, under both schedulers" "$(called ^vm)" \
	"^vm debian-newest virtual 1 .*bench/latency/guest.sh 1 'eevdf tactus' idle-periodic periodic frames60\$"
is "make demo prints a table of before and after with the figures of the VM" "$(cat "$scratch/out")" "
on Linux 9.8.7-made-up, one CPU                                                    the kernel's scheduler   tactus run
a thread that wakes every 5 ms, alone                                              63.6 us late (p99)       
a thread that wakes every 5 ms, beside 3 hogs                                      1634.0 us late (p99)     71.7 us late (p99)
a game's loop with a worker and sound, 60 frames a second, beside a fork storm     240 of 241 frames late   0 of 239 frames late"
is "make run in a VM prints the table that make demo prints" "$run_table" "$(cat "$scratch/out")"
is "make demo says each figure as it comes, of whom it is and under which load" "$(grep -c "^==> .*, .*: [0-9].* late" "$scratch/err")" 5
is "make demo passes on what tactus run says in the VM" "$(grep 'urgent' "$scratch/err")" "    12 s  3 threads are urgent"
is "make demo passes on lines that it does not know" "$(grep 'own$' "$scratch/err")" "tactus: a line of the guest's own"
is "make demo leaves no file behind" "$(find "$scratch" -maxdepth 1 -name 'tmp.*')" ""

try 0 0 env KERNEL=debian-6.18 tools/demo.sh
is "make demo boots the kernel that KERNEL names" "$(called . | cut -d ' ' -f 1-2 | xargs)" "kernel debian-6.18 vm debian-6.18"

try 0 125 tools/demo.sh
is "make demo whose VM dies ends with an error" $status 1
is "make demo whose VM dies says so at its end" "$(tail -n 1 "$scratch/err")" "tactus: demo: the VM did not get to its end: see above"
is "make demo whose VM dies prints no table" "$(cat "$scratch/out")" ""

whole_lines | grep -v 'tactus frames60' >"$tree/lines"
try 0 0 tools/demo.sh
is "make demo without one of the figures ends with an error" $status 1
is "make demo without one of the figures names it" "$(tail -n 1 "$scratch/err")" "tactus: demo: the VM printed no figure of 'tactus frames60': see above"
is "make demo without one of the figures prints no table" "$(cat "$scratch/out")" ""
whole_lines | sed '/tactus periodic/s/p99_us.*//' >"$tree/lines"
try 0 0 tools/demo.sh
is "make demo with a figure that is empty names it" "$(tail -n 1 "$scratch/err")" "tactus: demo: the VM printed no figure of 'tactus periodic': see above"
done_testing

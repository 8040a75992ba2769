#!/usr/bin/env bash
# The VM runner itself: what a guest is given, that its output and status arrive whole, and how it fails.
# Boots a dozen guests of a few seconds each.
. tests/tap.sh

# vm NAME=VALUE...: runs a guest; leaves out, err and status behind.
vm() {
	status=0
	env TMPDIR="$scratch/tmp" "$@" vm/run.sh >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
	out=$(cat "$scratch/out")
	err=$(cat "$scratch/err")
}

# What a guest says of itself. The guest expands it, not this script.
# shellcheck disable=SC2016
probe='
uname -r
echo "$HOME $TERM $LANG $TACTUS_VM $(id -u) $(hostname) $(nproc) $PWD"
awk "\$2 !~ /^\/(tmp|boot|usr|lib)/ {print \$3, \$2}" /proc/mounts | sort | tr "\n" " "
echo
cat /sys/kernel/sched_ext/state 2>/dev/null || echo none
cat /sys/class/net/lo/flags
grep -h ^CONFIG_BPF_SYSCALL "/boot/config-$(uname -r)"
echo spoilt >vm/spoilt && rm vm/run.sh && cat vm/spoilt
hackbench -g 2 -l 20 >/dev/null && echo ran
exit 7'

mounts="bpf /sys/fs/bpf cgroup2 /sys/fs/cgroup debugfs /sys/kernel/debug devpts /dev/pts devtmpfs /dev \
mqueue /dev/mqueue overlay / proc /proc securityfs /sys/kernel/security sysfs /sys tmpfs /dev/shm tmpfs /run \
tracefs /sys/kernel/tracing "

# The n-th line of what the guest said.
said() { sed -n "$1p" "$scratch/out"; }

# guest_is_complete KERNEL CPUS RELEASE-REGEX SCHED_EXT
guest_is_complete() {
	local kernel=$1 cpus=$2
	vm/kernel.sh "$kernel" >/dev/null
	vm KERNEL="$kernel" CPUS="$cpus" CMD="$probe"
	is "$kernel: the command's status is ours" "$status" 7
	is "$kernel: nothing on stderr" "$err" ''
	like "$kernel: the release" "$(said 1)" "$3"
	is "$kernel: environment, user, host name, CPUs, folder" "$(said 2)" \
		"/root dumb C.UTF-8 $kernel 0 tactus-vm $cpus $PWD"
	is "$kernel: file systems" "$(said 3)" "$mounts"
	is "$kernel: sched_ext" "$(said 4)" "$4"
	is "$kernel: the loopback network is up" "$(said 5)" 0x9
	is "$kernel: its configuration lies in /boot" "$(said 6)" CONFIG_BPF_SYSCALL=y
	is "$kernel: the checkout can be written to" "$(said 7)" spoilt
	holds "$kernel: what the guest writes and removes is untouched here" test ! -e vm/spoilt -a -e vm/run.sh
	is "$kernel: hackbench" "$(said 8)" ran
}

# A checkout elsewhere: in /tmp, which a guest otherwise has empty, on a file system of its own, with a space.
checkout_in_tmp() {
	local top elsewhere
	top=$(mktemp -d /tmp/tactus-test.XXXXXX)
	elsewhere="$top/a checkout"
	mount -t tmpfs elsewhere "$top"
	mkdir "$elsewhere"
	cp -r vm tools "$elsewhere"
	echo seen >"$elsewhere/file"
	status=0
	out=$(cd "$elsewhere" && CMD='cat file && pwd' vm/run.sh 2>&1) || status=$?
	is "a checkout below /tmp, on another file system, is seen" "$status: $out" "0: seen
$elsewhere"
	umount "$top"
	rmdir "$top"
}

output_arrives_whole() {
	local sum
	sum=$(seq 1 300000 | md5sum)
	is "two megabytes arrive whole" "$(CMD='seq 1 300000' vm/run.sh | md5sum)" "$sum"
	is "and so they do for a reader who comes late" "$(CMD='seq 1 300000' vm/run.sh | { sleep 6; md5sum; })" "$sum"
	is "bytes are not changed" "$(CMD='cat /bin/bash' vm/run.sh | md5sum)" "$(md5sum </bin/bash)"
}

# Times at which the lines of a guest arrive, in whole seconds.
output_is_live() {
	local first last
	read -r first last < <(CMD='echo one; sleep 4; echo two' vm/run.sh |
		while read -r _; do printf '%s ' "$EPOCHSECONDS"; done)
	holds "output comes when it is printed, not at the end" test "$((last - first))" -ge 3
}

failures_are_told() {
	vm LIMIT=15 CMD='echo started; sleep 100'
	is "a guest that takes too long: status" "$status" 124
	is "a guest that takes too long: its output until then" "$out" started
	like "a guest that takes too long: the message" "$err" '^tactus: vm: no answer after 15 s, guest ended'
	vm CMD='echo c >/proc/sysrq-trigger; sleep 100'
	is "a guest that panics: status" "$status" 125
	like "a guest that panics: the message" "$err" '^tactus: vm: the guest ended without a status'
	like "a guest that panics: the console's last lines" "$err" 'Kernel panic'
	vm CMD='(sleep 100; echo late) & kill -9 $$'
	is "a command ended by a signal, with a child left behind" "$status" 137
}

# shellcheck disable=SC2317 # holds calls it
# Waits up to ten seconds until so many processes work for guests of this test.
wait_for_processes() {
	local i
	for ((i = 0; i < 100; i++)); do
		[ "$(pgrep -c -f "$scratch/tmp/")" != "$1" ] || return 0
		sleep 0.1
	done
	pgrep -a -f "$scratch/tmp/"
	return 1
}

ends_with_its_caller() {
	local caller
	TMPDIR=$scratch/tmp CMD='sleep 100' vm/run.sh &
	caller=$!
	holds "QEMU runs while its caller does" wait_for_processes 2
	kill "$caller"
	status=0
	wait "$caller" || status=$?
	is "a caller that is told to end does: status" "$status" 143
	holds "and takes QEMU along" wait_for_processes 0
}

settings_are_checked() {
	ends "no command" 2 '^tactus: CMD: ' env -u CMD vm/run.sh
	ends "an unknown kernel" 2 '^tactus: KERNEL=none: ' env CMD=true KERNEL=none vm/run.sh
	ends "no CPUs" 2 '^tactus: CPUS=0: ' env CMD=true CPUS=0 vm/run.sh
	ends "too many CPUs" 2 '^tactus: CPUS=65: ' env CMD=true CPUS=65 vm/run.sh
	ends "CPUs in words" 2 '^tactus: CPUS=two: ' env CMD=true CPUS=two vm/run.sh
	ends "an unknown clock" 2 '^tactus: CLOCK=fast: ' env CMD=true CLOCK=fast vm/run.sh
	ends "two CPUs on the virtual clock" 2 '^tactus: CPUS=2: ' env CMD=true CLOCK=virtual CPUS=2 vm/run.sh
	ends "no time at all" 2 '^tactus: LIMIT=0: ' env CMD=true LIMIT=0 vm/run.sh
	ends "a limit in words" 2 '^tactus: LIMIT=1h: ' env CMD=true LIMIT=1h vm/run.sh
	ends "a size in words" 2 '^tactus: MEM=much: ' env CMD=true MEM=much vm/run.sh
}

mkdir "$scratch/tmp"
settings_are_checked
guest_is_complete scx 4 '^6\.12\.' disabled
guest_is_complete debian-6.1 2 '^6\.1\..*-amd64$' none
guest_is_complete debian-6.12 2 '^6\.12\..*-amd64$' none
vm CLOCK=virtual CMD='nproc'
is "the virtual clock has one CPU" "$status: $out" "0: 1"
# shellcheck disable=SC2016
is "make hands a dollar on unchanged" "$(make -s vm CMD='x="a  b"; echo "$x" $((6 * 7)) "$HOME"' 2>&1)" 'a  b 42 /root'
output_arrives_whole
output_is_live
failures_are_told
ends_with_its_caller
checkout_in_tmp
is "no guest has left temporary files" "$(ls -A "$scratch/tmp")" ''
done_testing

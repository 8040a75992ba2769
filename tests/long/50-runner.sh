#!/usr/bin/env bash
# The VM runner itself: what a guest is given, that its output and status arrive whole, and how it fails.
# Boots a dozen guests of a few seconds each.
# kernel: debian-6.1 debian-6.12 debian-6.18 debian-newest
. tests/tap.sh

cache=$(. tools/lib.sh && printf '%s' "$cache")
export KERNEL=debian-6.18

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
	holds "$kernel: what the guest writes is not here" test ! -e vm/spoilt
	holds "$kernel: what the guest removes is still here" test -e vm/run.sh
	is "$kernel: hackbench" "$(said 8)" ran
}

# A checkout elsewhere: in /tmp, which a guest otherwise has empty, on a file system of its own, with a space.
checkout_in_tmp() {
	local top elsewhere
	if [ "$(id -u)" != 0 ]; then
		skip "a checkout below /tmp, on another file system, is seen" "only root can mount one"
		return
	fi
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
	sum=$(cat /bin/bash <(seq 1 300000) | md5sum)
	is "three megabytes of any bytes arrive unchanged" "$(CMD='cat /bin/bash; seq 1 300000' vm/run.sh | md5sum)" "$sum"
	is "three megabytes arrive whole at a reader who comes late" \
		"$(CMD='cat /bin/bash; seq 1 300000' vm/run.sh | { sleep 6; md5sum; })" "$sum"
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
	holds "a caller that is told to end takes QEMU along" wait_for_processes 0
}

# A user who may not see into root's home or cache: with a copy of the checkout, and with the kernels that are here already.
ordinary_user_has_a_guest() {
	local home=$scratch/ordinary user words
	if [ "$(id -u)" != 0 ]; then
		skip "an ordinary user's guest runs tactus as root" "all of this ran as an ordinary user"
		return
	fi
	user=(setpriv --reuid nobody --regid nogroup --clear-groups env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$home" TMPDIR="$home/tmp")
	mkdir -p "$home/tmp" "$home/tactus/build" "$home/cache/kernel"
	cp -r vm tools "$home/tactus"
	cp "$tactus" "$home/tactus/build/tactus"
	chown -R nobody "$home"
	chmod 711 "$scratch"
	ends "a checkout in a folder that its user may not list is refused" 1 "^tactus: $scratch: you may not list" \
		bash -c 'cd "$1" && shift && exec "$@"' - "$home/tactus" "${user[@]}" CMD=true KERNEL="$KERNEL" vm/run.sh
	chmod 755 "$scratch"
	words='id -u; cat /etc/shadow 2>&1; echo kept >~/file; cat ~/file; build/tactus --version'
	status=0
	out=$(cd "$home/tactus" && unshare -m bash -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - \
		"$cache/kernel" "$home/cache/kernel" \
		"${user[@]}" TACTUS_CACHE="$home/cache" KERNEL="$KERNEL" CMD="$words" vm/run.sh 2>&1) || status=$?
	is "an ordinary user's guest runs tactus as root, keeps files in root's home, reads nothing that the user may not" \
		"$status: $out" "0: 0
cat: /etc/shadow: Permission denied
kept
$("$tactus" --version)"
}

# Debian's archive as apt-cache would tell of it: one whole kernel of one package and one of three, and remains of others.
archive_of_remains() {
	mkdir -p "$scratch/fakes" "$scratch/archive/apt"
	touch "$scratch/archive/apt/asked"
	cat >"$scratch/archive/list" <<-'END'
		linux-image-6.18.9+deb13-amd64 6.18.9-1 167000000
		linux-image-6.18.15+deb13-amd64 6.18.15-1 167000000
		linux-image-6.18.15+deb13-rt-amd64 6.18.15-1 167000000
		linux-image-6.19.6+deb13-amd64 6.19.6-1 1500
		linux-binary-6.19.6+deb13-amd64 6.19.6-1 14000000
		linux-base-7.2.12+deb13-amd64 7.2.12-1 1000000
		linux-binary-7.2.12+deb13-amd64 7.2.12-1 14000000
		linux-modules-7.2.12+deb13-amd64 7.2.12-1 159000000
		linux-image-7.2.12+deb13-amd64 7.2.12-1 1500
		linux-image-7.2.13+deb13-amd64 7.2.13-1 1500
	END
	cat >"$scratch/fakes/apt-cache" <<-END
		#!/bin/sh
		case " \$* " in *" search "*) exec cat "$scratch/archive/list" ;; esac
		while read -r name version size; do
			case " \$* " in *" \$name "*) printf 'Package: %s\nVersion: %s\nSize: %s\n\n' "\$name" "\$version" "\$size" ;; esac
		done <"$scratch/archive/list"
	END
	chmod +x "$scratch/fakes/apt-cache"
}

# found SERIES EXACT: "STATUS RELEASE" of what would be taken
found() {
	local words status=0
	words=$(PATH=$scratch/fakes:$PATH TACTUS_CACHE=$scratch/archive vm/kernel-debian.sh find "$1" "$2" 1 2>"$scratch/err") || status=$?
	printf '%s %s' "$status" "$(printf '%s\n' "$words" | cut -d ' ' -f 2)"
}

kernels_are_chosen() {
	archive_of_remains
	is "of a series its newest kernel is taken" "$(found 6.18 no)" "0 6.18.15+deb13-amd64"
	is "of a series in several packages the newest kernel that has them all is taken" "$(found 7.2 no)" "0 7.2.12+deb13-amd64"
	is "the newest kernel of all is the newest whole one" "$(found newest no)" "0 7.2.12+deb13-amd64"
	is "in place of a series that is gone the nearest newer one is taken" "$(found 6.17 no)" "0 6.18.15+deb13-amd64"
	like "a kernel that is taken for another is named" "$(cat "$scratch/err")" 'debian-6.17: .* is taken: debian-6.18$'
	is "in place of a series whose packages are not all there the nearest newer one is taken" "$(found 6.19 no)" "0 7.2.12+deb13-amd64"
	is "a series that is gone has an exit status of its own where no other will do" "$(found 6.19 yes)" "3 "
	like "a series that is gone is named" "$(cat "$scratch/err")" '^tactus: KERNEL=debian-6.19: '
	is "a series that is gone with no newer one has the same exit status" "$(found 7.3 no)" "3 "
	is "debian-newest is no older than debian-6.18" \
		"$(cat "$(vm/kernel.sh debian-6.18)/image/release" "$(vm/kernel.sh debian-newest)/image/release" | sort -V | tail -n 1)" \
		"$(cat "$(vm/kernel.sh debian-newest)/image/release")"
}

# What is broken off is not taken for whole; who can't install says what is missing. Functions stand for apt and dpkg here.
setup_is_careful() {
	ends "a missing program for one who is not root: its package is named" 1 "as root run 'apt-get install qemu-system-x86'" \
		bash -c '. tools/lib.sh; dpkg-query() { :; }; id() { echo 1000; }; install_packages qemu-system-x86'
	out=$(TACTUS_CACHE=$scratch/broken bash -c '. tools/lib.sh
		apt-cache() { echo "Size: 7000000"; }
		apt-get() { echo half >"linux_1_amd64.deb"; return 1; }
		download_deb machine linux 1; echo "$? $(deb_file linux 1)"
		apt-get() { echo whole >"linux_1_amd64.deb"; }
		download_deb machine linux 1; echo "$? $(cat "$(deb_file linux 1)")"' 2>"$scratch/err")
	is "a package whose download broke off is not there, and comes whole the next time" "$out" "1 
0 whole"
	like "a download is said with its size, and that it happens once" "$(cat "$scratch/err")" 'downloading linux 1, 7 MB \(once:'
	out=$(TACTUS_CACHE=$cache http_proxy=http://127.0.0.1:9 vm/kernel.sh debian-6.18 2>&1)
	is "a kernel that is in the cache is used without a word" "$out" "$(readlink -f "$out")"
}

settings_are_checked() {
	ends "no command" 2 '^tactus: CMD: ' env -u CMD vm/run.sh
	ends "an unknown kernel is refused with the list of those known" 2 \
		'^tactus: KERNEL=none: not one of debian-6.1 debian-6.12 .* debian-7.2 debian-newest scx( |$)' env CMD=true KERNEL=none vm/run.sh
	ends "no CPUs" 2 '^tactus: CPUS=0: ' env CMD=true CPUS=0 vm/run.sh
	ends "too many CPUs" 2 '^tactus: CPUS=65: ' env CMD=true CPUS=65 vm/run.sh
	ends "CPUs in words" 2 '^tactus: CPUS=two: ' env CMD=true CPUS=two vm/run.sh
	ends "an unknown clock" 2 '^tactus: CLOCK=fast: ' env CMD=true CLOCK=fast vm/run.sh
	ends "a topology with a second option" 2 '^tactus: TOPOLOGY=' env CMD=true TOPOLOGY='cores=2 -S' vm/run.sh
	ends "no time at all" 2 '^tactus: LIMIT=0: ' env CMD=true LIMIT=0 vm/run.sh
	ends "a limit in words" 2 '^tactus: LIMIT=1h: ' env CMD=true LIMIT=1h vm/run.sh
	ends "a size in words" 2 '^tactus: MEM=much: ' env CMD=true MEM=much vm/run.sh
}

mkdir "$scratch/tmp"
settings_are_checked
kernels_are_chosen
setup_is_careful
guest_is_complete debian-6.1 2 '^6\.1\..*-amd64$' none
IN_TURNS=yes guest_is_complete debian-6.12 4 '^6\.12\..*-amd64$' none
IN_TURNS=yes guest_is_complete debian-newest 2 '^[67]\.[0-9]+\..*-amd64$' disabled
vm CLOCK=virtual CMD='nproc'
is "the virtual clock has one CPU unless told otherwise" "$status: $out" "0: 1"
siblings_of='nproc; cat /sys/devices/system/cpu/cpu3/topology/thread_siblings_list /sys/devices/system/cpu/cpu3/cache/index3/shared_cpu_list'
vm CLOCK=virtual CPUS=4 KERNEL=debian-newest TOPOLOGY=sockets=2,cores=2 CMD="$siblings_of"
is "four CPUs on the virtual clock can have two caches" "$status: $(echo "$out" | xargs)" "0: 4 3 2-3"
vm CLOCK=virtual CPUS=4 KERNEL=debian-newest TOPOLOGY=cores=2,threads=2 CMD="$siblings_of"
is "four CPUs on the virtual clock can be two pairs of SMT siblings" "$status: $(echo "$out" | xargs)" "0: 4 2-3 0-3"
# shellcheck disable=SC2016
is "make hands a dollar on unchanged" "$(make -s vm CMD='x="a  b"; echo "$x" $((6 * 7)) "$HOME"' 2>&1)" 'a  b 42 /root'
output_arrives_whole
output_is_live
failures_are_told
ends_with_its_caller
checkout_in_tmp
ordinary_user_has_a_guest
is "no guest has left temporary files" "$(ls -A "$scratch/tmp")" ''
done_testing

#!/usr/bin/env bash
# Runs the shell command CMD as root in a VM with a kernel of choice; its output and exit status become ours.
# Read from the environment: CMD, KERNEL, CPUS, CLOCK, LIMIT, MEM, APPEND for more kernel parameters (tactus_init=/lib/systemd/systemd
# makes that the first process), TOPOLOGY for the CPUs as
# QEMU's -smp describes them (sockets=2,cores=2), and IN_TURNS=yes, by which CPUs are emulated one after another: at half the
# speed, but as safely as on hardware. GPU=virtio gives the guest such a GPU, GPU=virgl one whose commands this machine renders, without any
# GPU of its own: by Mesa's llvmpipe, for a window on a display that nobody sees (packages qemu-system-gui and xvfb).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/lib.sh
. "$here/../tools/lib.sh"

kernel=${KERNEL:-scx}
clock=${CLOCK:-real}
limit=${LIMIT:-300}
memory=${MEM:-2G}
most_cpus=64
most_seconds=86400
attend_pid=
xvfb_pid=
work=

refuse() { printf 'tactus: %s\n' "$*" >&2; exit 2; }

# is_number TEXT MOST
is_number() { [[ $1 =~ ^[1-9][0-9]{0,5}$ ]] && (($1 <= $2)); }

check_settings() {
	[ -n "${CMD:-}" ] || refuse "CMD: no command: say CMD='...'"
	case $clock in
	real) cpus=${CPUS:-2} ;;
	virtual) cpus=${CPUS:-1} ;;
	*) refuse "CLOCK=$clock: not one of real, virtual" ;;
	esac
	is_number "$cpus" "$most_cpus" || refuse "CPUS=$cpus: not a number from 1 to $most_cpus"
	is_number "$limit" "$most_seconds" || refuse "LIMIT=$limit: not a number of seconds from 1 to $most_seconds"
	[[ $memory =~ ^[1-9][0-9]{0,5}[MG]$ ]] || refuse "MEM=$memory: not a size like 512M or 2G"
	[[ ${TOPOLOGY:-cores=1} =~ ^[a-z]+=[0-9]+(,[a-z]+=[0-9]+)*$ ]] || refuse "TOPOLOGY=$TOPOLOGY: not like sockets=2,cores=2,threads=1"
	case ${GPU:-none} in none | virtio | virgl) ;; *) refuse "GPU=$GPU: not one of virtio, virgl" ;; esac
	case $(pwd -P)/ in
	/dev/* | /proc/* | /sys/*) refuse "$(pwd -P): a guest has its own /dev, /proc and /sys: work in another folder" ;;
	esac
}

# QEMU shows the guest nothing of a folder that it may pass through but not list.
check_ways() {
	local folder
	for folder in "$(pwd -P)" "$(realpath -m "$cache")"; do
		while folder=$(dirname "$folder") && [ "$folder" != / ]; do
			[ ! -e "$folder" ] || [ -r "$folder" ] ||
				die "$folder: you may not list this folder, so that a guest sees nothing in it: work in another, with TACTUS_CACHE in another"
		done
	done
}

# QEMU's options take a comma for their end unless it is doubled.
escaped() { printf '%s' "${1//,/,,}"; }

# Bringing CPUs up one by one is four times quicker here at 16 of them. Under load the guest's watch over its clock
# might cry wolf and change to a slow one, or find at its start that no timer works. Newer stock kernels try out their ciphers
# as they boot, which is nothing to us.
kernel_parameters="quiet panic=-1 oops=panic cpuhp.parallel=0 cryptomgr.notests"
x86_parameters="console=ttyS0 tsc=reliable no_timer_check"
arm64_parameters="console=ttyAMA0"

# Sets what differs between machines. A boot folder with a root of its own is for arm64.
choose_machine() {
	machine=(qemu-system-x86_64 -cpu max)
	machine_parameters=$x86_parameters
	# Emulation copies and clears byte by byte where a CPU says that this is quick, walks every level of page tables, and pays for each
	# mitigation of what it does not have. By the virtual clock all stays as it is, so that figures can be compared.
	if [ "$clock" = real ]; then
		machine=(qemu-system-x86_64 -cpu 'max,-erms,-fsrm,-la57')
		machine_parameters+=" mitigations=off init_on_alloc=0"
	fi
	over=()
	if [ ! -e "$1/root" ]; then
		[ "$(uname -m)" = x86_64 ] || refuse "KERNEL=$kernel: for x86-64 machines, whose programs it runs; take KERNEL=debian-arm64"
		[ "$clock" = real ] || [ "$cpus" = 1 ] || share_virtual_clock
		return
	fi
	[ "$clock" = real ] || [ "$cpus" = 1 ] || refuse "KERNEL=$kernel: on the virtual clock it has one CPU"
	machine=(qemu-system-aarch64 -M 'virt,gic-version=3' -cpu 'max,pauth-impdef=on')
	machine_parameters=$arm64_parameters
	over=(
		-fsdev "local,id=over,path=$(escaped "$(realpath "$1/root")"),security_model=none,readonly=on,multidevs=remap"
		-device 'virtio-9p-pci,fsdev=over,mount_tag=over'
	)
}

# Before version 10, QEMU's CPUs run for milliseconds each in their turn. With the HPET, the kernel takes the APIC's timer for
# broken, since the two clocks stand still at different times.
share_virtual_clock() {
	local words
	# One from the cache takes its libraries from the machine's own.
	command -v qemu-system-x86_64 >/dev/null || install_packages qemu-system-x86
	words=$("$here/qemu.sh") || exit 1
	mapfile -t machine <<<"$words"
	machine+=(-cpu max)
	machine_parameters+=" nohpet"
}

# Fills qemu_words. The host's root is exported with all that is mounted in it; remapped inode numbers keep files of
# different file systems apart.
compose() {
	local boot=$1
	local pace=(-accel 'tcg,thread=multi')
	[ "${IN_TURNS:-}" != yes ] || pace=(-accel 'tcg,thread=single')
	[ "$clock" = real ] || pace=(-accel 'tcg,thread=single' -icount 'shift=1,sleep=off')
	qemu_words=(
		"${machine[@]}" -nodefaults -no-user-config "${display[@]}" -no-reboot
		"${pace[@]}" -smp "$cpus${TOPOLOGY:+,$TOPOLOGY}" -m "$memory"
		-kernel "$boot/vmlinuz" -initrd "$boot/initramfs"
		-append "$kernel_parameters $machine_parameters ${APPEND:-}"
		-chardev "file,id=console,path=$(escaped "$work/console")" -serial chardev:console
		-chardev 'socket,id=line,fd=3' -device virtio-serial-pci -device 'virtserialport,chardev=line'
		-fsdev 'local,id=host,path=/,security_model=none,readonly=on,multidevs=remap'
		-device 'virtio-9p-pci,fsdev=host,mount_tag=host' "${over[@]}" "${gpu[@]}"
	)
}

# Sets what the guest's GPU takes. What is shown nowhere is rendered nowhere.
choose_gpu() {
	display=(-display none)
	gpu=()
	case ${GPU:-none} in
	virtio) gpu=(-device virtio-gpu-pci) ;;
	virgl)
		install_packages qemu-system-gui xvfb libgl1-mesa-dri
		Xvfb -displayfd 4 -screen 0 800x600x24 -nolisten tcp 4>"$work/display" 2>/dev/null &
		xvfb_pid=$!
		until [ -s "$work/display" ]; do
			kill -0 "$xvfb_pid" 2>/dev/null || die "GPU=virgl: Xvfb does not start"
			sleep 0.1
		done
		DISPLAY=:$(cat "$work/display")
		export DISPLAY LIBGL_ALWAYS_SOFTWARE=1
		display=(-display 'sdl,gl=on')
		gpu=(-device virtio-gpu-gl-pci)
		;;
	esac
}

# shellcheck disable=SC2317 # a trap calls it
end_all() {
	[ -z "$attend_pid" ] || kill "$attend_pid" 2>/dev/null || true
	[ -z "$xvfb_pid" ] || kill "$xvfb_pid" 2>/dev/null || true
	[ -z "$work" ] || rm -rf "$work"
}

# Shows why there is no status: what QEMU and the guest's kernel said last.
show_traces() {
	tail -n 20 "$work/said" >&2
	tr -d '\r' <"$work/console" | tail -n "$1" >&2
}

report() {
	local ended_with=$1 word='' status=''
	[ ! -s "$work/outcome" ] || read -r word status <"$work/outcome"
	case $word in
	status)
		exit "$status" ;;
	limit)
		printf 'tactus: vm: no answer after %s s, guest ended (raise LIMIT=...)\n' "$limit" >&2
		show_traces 10
		exit 124 ;;
	lost)
		printf 'tactus: vm: the guest ended without a status; its last words:\n' >&2
		show_traces 60
		exit 125 ;;
	*)
		# Whoever read our output went away, or the machine could not be started.
		cat "$work/said" >&2
		exit "$((ended_with ? ended_with : 125))" ;;
	esac
}

main() {
	local boot status=0
	check_settings
	check_ways
	boot=$("$here/kernel.sh" "$kernel")
	choose_machine "$boot"
	command -v "${machine[0]}" >/dev/null ||
		case ${machine[0]} in *-aarch64) install_packages qemu-system-arm ;; *) install_packages qemu-system-x86 ;; esac
	trap end_all EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	work=$(mktemp -d "${TMPDIR:-/tmp}/tactus-vm.XXXXXX")
	touch "$work/console"
	choose_gpu
	compose "$boot"
	# In the background, because bash hears signals only while it waits.
	"$boot/attend" "$work/outcome" "$limit" "$(pwd -P)" "$(realpath -m "$cache")" "$kernel" "$(realpath "$boot/image")" \
		"${qemu_words[@]}" 2>"$work/said" </dev/null &
	attend_pid=$!
	wait "$attend_pid" || status=$?
	attend_pid=
	report "$status"
}

main

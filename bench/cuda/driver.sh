#!/usr/bin/env bash
# What hooks on the kernel's functions cost, in a VM in virtual time: an ioctl with a hook of each kind on a function inside it,
# and the CPU time that it takes to put on 6 and 74 hooks. The kernel's own functions stand for a driver's: the VM's module has no
# BTF. Prints a table.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${1:-}" != inside ]; then
	CMD="bench/cuda/driver.sh inside" CLOCK=virtual LIMIT=900 exec vm/run.sh
fi

tactus=build/tactus
scratch=$(mktemp -d)
# ioctl_ns OPTION...: with tactus beside it, or without
ioctl_ns() {
	if [ $# = 0 ]; then
		build/workloads/ioctls /dev/null 20000
	else
		"$tactus" cuda --json --no-ioctls "$@" -- build/workloads/ioctls /dev/null 20000 2>"$scratch/err"
	fi | sed -n 's/ioctl_ns=//p'
}
# put_on_ms HOOK PATTERN: the CPU time of a whole run that ends at once
put_on_ms() {
	local TIMEFORMAT='%U %S'
	{ time "$tactus" cuda --no-ioctls ${2:+--driver-by $1 --driver "$2"} -- true >/dev/null 2>"$scratch/err"; } 2>"$scratch/time"
	awk '{ printf "%d ", ($1 + $2) * 1000 }' "$scratch/time"
	sed -n 's/.*cuda: \([0-9]*\) of \([0-9]*\) functions.*/\2/p' "$scratch/err"
}
echo "an ioctl, in ns of virtual time:"
ioctl_ns >/dev/null
printf '  %-40s %s\n' "with no hook" "$(ioctl_ns)"
printf '  %-40s %s\n' "tactus cuda, no hook on the driver" "$(ioctl_ns --api none)"
for way in fentry kprobe.multi kprobe; do
	case $way in
	fentry) by=fentry skip= ;;
	kprobe.multi) by=kprobe skip= ;;
	*) by=kprobe skip=cuda:kprobe.multi ;;
	esac
	printf '  %-40s %s\n' "$way, with its end" "$(TACTUS_SKIP_HOOKS=$skip ioctl_ns --driver vmlinux:security_file_ioctl --driver-by $by)"
	printf '  %-40s %s\n' "$way, counted only" "$(TACTUS_SKIP_HOOKS=$skip ioctl_ns --count vmlinux:security_file_ioctl --driver-by $by)"
done
echo "CPU time of 'tactus cuda -- true', in ms:"
printf '  %-40s %s\n' "no hook on the driver" "$(put_on_ms)"
for pattern in 'vmlinux:vfs_r*' 'vmlinux:vfs_*'; do
	for by in fentry kprobe; do
		read -r ms functions < <(put_on_ms $by "$pattern")
		printf '  %-40s %s\n' "$functions functions by $by" "$ms"
	done
	read -r ms functions < <(TACTUS_SKIP_HOOKS=cuda:kprobe.multi put_on_ms kprobe "$pattern")
	printf '  %-40s %s\n' "$functions functions, one kprobe each" "$ms"
done
rm -rf "$scratch"

#!/usr/bin/env bash
# A machine whose service schedules by sched_ext loses its power and boots a kernel without: from what lay on the disk the service starts by itself, gives hints, and
# knows what it had learned.
# kernel: debian-7.2 debian-6.12
. tests/tap.sh
. tests/kernel.sh

here=$(pwd -P)
if ! packaging/deb.sh "$here/build/packages/reboot" 1 >"$scratch/package" 2>"$scratch/err"; then
	flunk "the package is built" "$(tail -n 20 "$scratch/err")"
	done_testing
fi
# boots KERNEL STATE WORDS...: a guest whose disk has the state; what it says goes to $scratch/boot
boots() {
	local kernel=$1 state=$2 status
	shift 2
	APPEND="tactus_init=$here/tests/guest/installed_init.sh container= SYSTEMD_UNIT_PATH=$here/tests/guest/systemd:/etc/systemd/system:/run/systemd/system systemd.unit=multi-user.target systemd.show_status=0${state:+ tactus_state=$state}" \
		CMD="tests/guest/reboot.sh $*" KERNEL=$kernel CPUS=${CPUS:-1} LIMIT=${LIMIT:-1800} IN_TURNS=${IN_TURNS:-yes} guest >"$scratch/boot"
	status=$?
	sed '/^# state begins/,/^# state ends/d' "$scratch/boot" | name_failures "$kernel"
	is "on $kernel the boot's checks come to their end" "$status" 0
}
boots debian-7.2 '' before "$(head -n 1 "$scratch/package")"
sed -n '/^# state begins/,/^# state ends/s/^# \([A-Za-z0-9+/=]*\)\r*$/\1/p' "$scratch/boot" | base64 -d | gunzip >"$here/build/packages/reboot/state.tar"
say_measured "what the power left: $(tar -tf "$here/build/packages/reboot/state.tar" | wc -l) files"
boots debian-6.12 "$here/build/packages/reboot/state.tar" after
done_testing

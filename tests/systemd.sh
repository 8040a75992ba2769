# shellcheck shell=bash
# A real systemd in a container of this machine's own files, or of those of container_root: sourced after tests/tap.sh by tests that are root. And one in a guest.
# In the container processes have numbers of their own, and cgroups; what it writes goes to memory.

# systemd_in_guest: the next guest boots a real systemd
systemd_in_guest() {
	local here
	here=$(pwd -P)
	# An empty 'container' says that it is in none, whatever this machine's files look like.
	export APPEND="tactus_init=/lib/systemd/systemd container= SYSTEMD_UNIT_PATH=$here/tests/guest/systemd:/run/systemd/system systemd.unit=tactus-test.target systemd.show_status=0"
}
# service_on KERNEL: a guest with that kernel boots a real systemd, which installs, runs, upgrades and removes the package. Source kernel.sh too.
service_on() {
	local here
	here=$(pwd -P)
	systemd_in_guest
	if ! packaging/deb.sh "$here/build/packages/old" 1 >"$scratch/old" 2>"$scratch/err" || ! packaging/deb.sh "$here/build/packages/new" 2 >"$scratch/new" 2>"$scratch/err"; then
		flunk "the packages are built" "$(tail -n 20 "$scratch/err")"
		return
	fi
	CPUS=${CPUS:-2} LIMIT=${LIMIT:-1800} on_kernel "$1" "guest/service:$(head -n 1 "$scratch/old"):$(head -n 1 "$scratch/new")"
}

# container_boot TARGET: sets container to the process that is its first, or fails
container_boot() {
	local here top=$scratch/container
	here=$(pwd -P)
	container_group=$(findmnt -t cgroup2 -no TARGET | head -n 1)/tactus-test-$$
	mkdir "$top" "$container_group" || return 1
	cat >"$scratch/boot" <<-'END'
		set -e
		top=$1 here=$2 target=$3 files=$5
		echo $$ >"$4/cgroup.procs"
		mount --make-rprivate /
		mount -t tmpfs tmpfs "$top"
		mkdir "$top/upper" "$top/work" "$top/root"
		mount -t overlay overlay -o "lowerdir=$files,upperdir=$top/upper,workdir=$top/work" "$top/root"
		cd "$top/root"
		mkdir -p "./$here"
		mount --rbind "$here" "./$here"
		mount --rbind /dev dev
		mount --rbind /sys sys
		mount -t tmpfs -o mode=755 tmpfs run
		# For images that are built: here services are started. What the machine itself starts is not.
		rm -rf usr/sbin/policy-rc.d etc/systemd/system/*
		exec unshare --fork --pid --cgroup --uts --kill-child bash -c '
			set -e
			mount -t proc proc proc
			umount -l sys/fs/cgroup
			mount -t cgroup2 cgroup2 sys/fs/cgroup
			exec chroot . env -i container=tactus PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 SYSTEMD_UNIT_PATH="$1/tests/guest/systemd:/etc/systemd/system:/run/systemd/system" \
				/lib/systemd/systemd --unit="$2" --show-status=no --log-target=journal' - "$here" "$target"
	END
	unshare --mount bash "$scratch/boot" "$top" "$here" "$1" "$container_group" "${container_root:-/}" >"$scratch/systemd" 2>&1 &
	container_shell=$!
	for _ in $(seq 300); do
		container=$(pgrep -P $container_shell systemd) && [ -e "/proc/$container/root/run/systemd/private" ] && return 0
		sleep 0.1
	done
	flunk "a container boots a real systemd" "$(cat "$scratch/systemd")"
	return 1
}
# in_container COMMAND...: as root, from the same folder
in_container() { nsenter -t "$container" -m -p -C -u -r -w"$(pwd -P)" -- "$@"; }
# container_test SCRIPT WORDS...: a test's script in the container; its results pass through
container_test() {
	local status name=$1
	in_container bash "$@" >"$scratch/results" 2>"$scratch/err"
	status=$?
	grep -E '^(ok|not ok|#)' "$scratch/results"
	checks=$((checks + $(grep -cE '^(ok|not ok)' "$scratch/results"))) failures=$((failures + $(grep -c '^not ok' "$scratch/results")))
	is "the test $name in the container comes to its end" "$status $(tail -n 1 "$scratch/results" | cut -c 1-3)" "0 1.."
	[ "$status" = 0 ] || tail -n 20 "$scratch/err" | sed 's/^/# /'
}
container_end() {
	[ -z "${container_shell:-}" ] || kill -KILL "$container_shell" "${container:-$container_shell}" 2>/dev/null
	wait "${container_shell:-}" 2>/dev/null
	for _ in $(seq 50); do
		find "$container_group" -depth -type d -exec rmdir {} + 2>/dev/null
		[ -e "$container_group" ] || return 0
		sleep 0.1
	done
}

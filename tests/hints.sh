# shellcheck shell=bash
# What threads have by hints: source it after tests/tap.sh. A hint is a nice value and, since Linux 6.12, a slice; before that a thread
# tells of no slice, or of 0 ns.

# attr TID: its policy, nice value and slice in ns
attr() { build/workloads/attr "$@"; }
nice_of() { attr "$1" 2>/dev/null | cut -d' ' -f2; }
slice_of() { attr "$1" 2>/dev/null | cut -d' ' -f3; }
# Who was made nicer is not raised: so a test that was started with nice is.
renice -n 0 -p $$ >/dev/null
usual_slice=$(slice_of $$)
slices=''
! is_linux 6.12 || slices=slices

# until_hints TENTHS: until the run whose stderr is $scratch/err gives hints, with slices where the kernel has them
until_hints() {
	wait_for "$scratch/err" "hints to the kernel's scheduler: $slices" "$1"
}
# has_hint TID: the nice value of -9, and a fraction of the usual slice. Leaves what it has in $scratch/had.
has_hint() {
	local has
	attr "$1" >"$scratch/had" 2>/dev/null || return 1
	read -ra has <"$scratch/had"
	[ "${has[1]}" = -9 ] || return 1
	[ -z "$slices" ] || [ "${has[2]}" -le $((usual_slice / 3)) ]
}
has_none() { [ "$(attr "$1" 2>/dev/null)" = "0 0 $usual_slice" ]; }
# until_hint TID, until_none TID: a minute at most
until_hint() { until_it_has has_hint "$1"; }
until_none() { until_it_has has_none "$1"; }
until_it_has() {
	local looks
	for ((looks = 0; looks < 1200; looks++)); do
		! "$@" || return 0
		sleep 0.05
	done
	echo "thread $2 has $(attr "$2"), usually 0 0 $usual_slice"
	return 1
}

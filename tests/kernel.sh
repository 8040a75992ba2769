# shellcheck shell=bash
# Tests inside a guest: sourced by tests/vm/*.sh and tests/long/*.sh after tests/tap.sh.

# on_kernel NAME SCRIPT...: tests/SCRIPT.sh one after another in one guest with that kernel, since a boot takes as long as many a
# test. A script's words follow after colons: guest/sound:files. CPUS, CLOCK and LIMIT are taken from the environment.
# CPUs are emulated in turns unless IN_TURNS says no: a guest takes one of this machine's CPUs then, and cannot die of code that
# one of its CPUs patches while another runs it, which attaching hooks does all the time.
# The guest's own results pass through; one that failed is told with the kernel and the script that it belongs to.
on_kernel() {
	local kernel=$1 script command='' status
	shift
	[ "${CLOCK:-real}" = real ] || command="export TACTUS_CLOCK=virtual; "
	for script in "$@"; do
		command+="echo '# script $script'; SECONDS=0; tests/${script%%:*}.sh $(arguments_of "$script") || status=1; "
		command+="echo \"# $script took \$SECONDS s of the guest's time\"; "
	done
	CMD="status=0; $command exit \$status" KERNEL=$kernel LIMIT=${LIMIT:-1500} IN_TURNS=${IN_TURNS:-yes} guest | name_failures "$kernel"
	status=${PIPESTATUS[0]}
	is "on $kernel every script ended well: $*" "$status" 0
}
name_failures() {
	local line script=''
	while IFS= read -r line; do
		case $line in
		'# script '*) script=${line#\# script } ;;
		'not ok '*) line=${line/ - / - on $1, $script: } ;;
		esac
		printf '%s\n' "$line"
	done
}
# Words that a script's name carries behind colons; 'image' stands for the folder of the kernel's own files.
arguments_of() {
	local word
	[[ $1 == *:* ]] || return 0
	for word in $(tr : ' ' <<<"${1#*:}"); do
		[ "$word" != image ] || word=$(readlink -f "$(vm/kernel.sh "$kernel")/image")
		printf "'%s' " "$word"
	done
}

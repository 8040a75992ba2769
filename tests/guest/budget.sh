#!/usr/bin/env bash
# What urgent threads of one user, or of one control group, may run together, under the scheduler and by hints, by the virtual clock. Two
# CPUs, on which four threads that want three tenths of one each sleep enough not to burn: it is the budget alone, one CPU, that can hold
# them. Nobody is beside them: who loses the CPU to a hog has not slept when it gets it back, and burns. Runs in the VM.
# Usage: budget.sh [scx|hints]
. tests/tap.sh
. tests/guest/scheduler.sh

chmod 755 "$scratch"
cp build/workloads/pace "$scratch/by-clock"
# Urgent by the user's word, whatever they do.
printf '[roles]\nby-clock = render\n' >"$scratch/conf"
top=/sys/fs/cgroup
mountpoint -q $top || mount -t cgroup2 none $top
# Two levels down, as services are; each user in a group of his own in there.
mkdir -p $top/outer/inner/{65531,65532}
# as_users GROUP USER...: who starts the threads that come, one after the other
as_users() {
	# shellcheck disable=SC2016 # The inner shell's.
	them=(bash -c 'for user in ${2//,/ }; do mkdir "$0/$user" 2>/dev/null && break; done; user=${user#*-}
		[ -z "$1" ] || echo $$ >"$1/$user/cgroup.procs"
		exec setpriv --reuid $user --regid $user --clear-groups "${@:3}"' "$(mktemp -d -p "$scratch")" "$1" "$2")
}
# held_back HOW COUNT: of so many threads, how often one was held back in the time after the first five seconds; in $scratch/held and $scratch/got
held_back() {
	by_clock 0 "$2" 1500 "$scratch/by-clock" "${them[@]}"
	case $1 in
	scx) json 'sum(r["over_budget"] for r in rows)' <"$scratch/stats" ;;
	hints) echo $(($(json 'rows[-1]["hints"]["taken_back"]' <"$scratch/stats") - taken_back)) ;;
	esac >"$scratch/held"
	read -r took _ <"$scratch/got"
	read -r held <"$scratch/held"
}
# Of those that ended before.
taken_so_far() { [ "$1" = scx ] || taken_back=$("$tactus" stats -d 1.5 --json | json 'rows[-1]["hints"]["taken_back"]'); }
# budgets HOW WORDS
budgets() {
	local how=$1 words=$2 took held taken_back=0
	taken_so_far "$how"
	as_users '' 1-65531,2-65531,3-65531,4-65531
	held_back "$how" 4
	say_measured "four urgent ones of one user that want 1.5 of every 5 ms each got $took ms together in 5 s, $words; held back $held times"
	holds "urgent threads of a user that want more than his budget are held back $words" test "$held" -ge 1
	taken_so_far "$how"
	# Of a user who owes nothing.
	as_users '' 1-65533,2-65533
	held_back "$how" 2
	say_measured "two of another user got $took ms, $words; held back $held times"
	is "urgent threads within their user's budget are not held back $words" "$held" 0
	taken_so_far "$how"
	as_users '' 1-65531,2-65531,3-65532,4-65532
	held_back "$how" 4
	say_measured "two of each of two users got $took ms, $words; held back $held times"
	is "urgent threads of two users are not held back where each keeps to his budget $words" "$held" 0
	taken_so_far "$how"
	as_users $top/outer/inner 1-65531,2-65531,3-65532,4-65532
	held_back "$how" 4
	say_measured "the same in one control group got $took ms, $words; held back $held times"
	holds "urgent threads of two users that want more than their control group's budget are held back $words" test "$held" -ge 1
}

is "the guest has two CPUs" "$(nproc)" 2
if [ "${1:-scx}" = scx ]; then
	"$tactus" run --compare off --without launch,gpu,wine,input,frame,socket,sound --config "$scratch/conf" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	is "a run with a rule of the user's takes over" "$(state_within 600 enabled)" enabled
	budgets scx "under the scheduler"
	stop_run
fi
if [ "${1:-hints}" = hints ]; then
	: >"$scratch/err"
	"$tactus" run --actuator hints --compare off --without launch,gpu,wine,input,frame,socket,sound,learned --config "$scratch/conf" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	wait_for "$scratch/err" "hints to the kernel's scheduler"
	budgets hints "by hints"
	stop_run
fi
done_testing

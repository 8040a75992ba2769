#!/usr/bin/env bash
# An urgent thread that never sleeps, on eight CPUs under the scheduler: it stays urgent while its user's such threads use no more than
# one of them. By the virtual clock. Runs in the VM.
. tests/tap.sh
. tests/guest/scheduler.sh

chmod 755 "$scratch"
cp build/workloads/pace "$scratch/feeder"
printf '[roles]\nfeeder = render\n' >"$scratch/conf"
him=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# burn COUNT: what so many feeders, which never sleep, got together beside two hogs a CPU, in percent of a CPU; in $scratch/got
burn() {
	local i was=0 is=0 began ended feeders=()
	for ((i = 0; i < 16; i++)); do hog nice -n 0; done
	for ((i = 0; i < $1; i++)); do
		"${him[@]}" "$scratch/feeder" 0 1 900000 >/dev/null &
		feeders+=($!)
		load+=($!)
	done
	sleep 1.5
	began=$(date +%s%3N)
	for i in "${feeders[@]}"; do was=$((was + $(ran_ms "$i"))); done
	sleep 2
	for i in "${feeders[@]}"; do is=$((is + $(ran_ms "$i"))); done
	ended=$(date +%s%3N)
	echo $(((is - was) * 100 / (ended - began))) >"$scratch/got"
	end_load
}

is "the guest has eight CPUs" "$(nproc)" 8
burn 1
alone=$(cat "$scratch/got")
"$tactus" run --compare off --without launch,gpu,wine,input,frame,socket,sound --config "$scratch/conf" >"$scratch/out" 2>"$scratch/err" &
pid=$!
is "a run with a rule of the user's takes over" "$(state_within 600 enabled)" enabled
burn 1
one=$(cat "$scratch/got")
burn 3
three=$(cat "$scratch/got")
say_measured "a thread that never sleeps got $alone % of a CPU by the kernel's own scheduler, $one % by tactus; three of one user $three % together"
# A CPU for itself is 2.1 times its share beside two hogs a CPU; looking takes a while there, so that shares are compared.
holds "an urgent thread that never sleeps gets twice its share, nearly, where its user may burn a CPU" test $((one * 10)) -ge $((alone * 18))
holds "three urgent threads of one user that never sleep have no CPU each" test $((three * 10)) -le $((alone * 55))
stop_run
done_testing

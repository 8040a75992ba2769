#!/usr/bin/env bash
# Under the scheduler, by the virtual clock: a thread that wakes every 5 ms has a mutex soon that a thread holds which never sleeps,
# beside three hogs. Runs in a VM.
. tests/tap.sh
. tests/guest/scheduler.sh

start_run
for _ in 1 2 3; do hog nice -n 0; done
build/bench/locks 3 2 >"$scratch/locks"
end_load
stop_run
contended=$(sed -n 's/.*\bcontended=\([0-9]*\).*/\1/p' "$scratch/locks") longest_us=$(sed -n 's/.*\bmax_us=\([0-9]*\).*/\1/p' "$scratch/locks")
say_measured "$(cat "$scratch/locks")"
holds "a thread that takes a mutex every 5 ms finds it held at least 10 times" test "$contended" -ge 10
# The holder needs 1 ms for it. Where it waits behind the hogs with the mutex in its hands, that is 36 ms.
holds "a thread that takes a mutex has it before its next turn is due, whoever never sleeps holds it" test "$longest_us" -lt 5000
done_testing

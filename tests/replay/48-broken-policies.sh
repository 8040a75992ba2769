#!/usr/bin/env bash
# Properties of the scheduler in the simulator catch a policy that is broken on purpose, in a few ways; tests/long has more of them, and more loads. No root.
. tests/tap.sh
. tests/broken.sh
export LOADS=300
holds "the property test builds of the simulator alone" whole
holds "300 random loads on the scheduler as it is break nothing" "$scratch/whole"
breaks "never-ends-turns-by-a-timer" "one that is no hog waits" tactus_turns.c 's/^	run->turn_timer_ns = 0;$/	run->turn_timer_ns = 0, left_ns = 0;/'
breaks "lets-who-is-first-wait-though-a-turn-is-over" "one that is no hog waits" tactus_turns.c 's/^	run->turn_over = .*;$/	return false;/'
breaks "forgets-threads-of-one-CPU" "no CPU is idle while a thread waits" tactus_policy.c 's/^	return tactus->runs\[cpu\].own_waits;$/	return false;/'
breaks "wakes-no-idle-CPU" "no CPU is idle while a thread waits" tactus_policy.c 's/idle = tactus_pick_idle(machine, thread);/idle = -1;/'
breaks "never-preempts" "light urgent threads wait for no thread" tactus_place.c 's/return !run->kicked \&\& !run->is_given/return 0 \&\& !run->is_given/'
done_testing

#!/usr/bin/env bash
# Properties of the scheduler in the simulator are worth what they catch: each fails on a policy that is broken on purpose, and none on the one that is not.
. tests/tap.sh

. tests/broken.sh

export LOADS=${LOADS:-1000}
holds "the property test builds of the simulator alone" whole
holds "$LOADS random loads on the scheduler as it is break nothing" "$scratch/whole"
breaks "never-looks-for-late-threads" "no thread waits longer" tactus_queues.c \
	's/if (!tier_looks_for_late(run->late_at_ns, run->looked_ns))/if (1)/'
breaks "charges-all-weights-alike" "hogs get CPU time by their weights" tactus_urgency.c 's/entity->vtime += cost;/entity->vtime += ran_ns;/'
breaks "never-preempts" "light urgent threads wait for no thread" tactus_place.c 's/return !run->kicked \&\& !run->is_given/return 0 \&\& !run->is_given/'
breaks "takes-who-was-light-as-it-woke-for-light" "in 16 s hogs get CPU time by their weights" tactus_place.c 's/tier_is_still_light(entity->is_light, entity->burst_ns, light_ns)/entity->is_light/'
breaks "wakes-no-idle-CPU" "no CPU is idle while a thread waits" tactus_policy.c 's/idle = tactus_pick_idle(machine, thread);/idle = -1;/'
breaks "overtakes-whoever-was-given-an-idle-CPU" "no CPU is idle while a thread waits" tactus_policy.c 's/tactus->runs\[cpu\].is_given = 1;//'
breaks "ends-each-turn-as-it-begins" "nothing goes on for ever" tactus_policy.c \
	's/run->since_ns = run->looked_ns = now_ns;/run->since_ns = run->looked_ns = now_ns, thread->slice_left_ns = 0, sim_resched_now(machine, cpu);/'
breaks "never-ends-turns-by-a-timer" "one that is no hog waits" tactus_turns.c 's/^	run->turn_timer_ns = 0;$/	run->turn_timer_ns = 0, left_ns = 0;/'
breaks "lets-who-is-first-wait-though-a-turn-is-over" "one that is no hog waits" tactus_turns.c 's/^	run->turn_over = .*;$/	return false;/'
breaks "forgets-threads-of-one-CPU" "no CPU is idle while a thread waits" tactus_policy.c 's/^	return tactus->runs\[cpu\].own_waits;$/	return false;/'
done_testing

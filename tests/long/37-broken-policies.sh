#!/usr/bin/env bash
# Properties of the scheduler in the simulator are worth what they catch: each fails on a policy that is broken on purpose, and none on the one that is not.
. tests/tap.sh

# node distances and capacities are the machine's; a simulated one has its own.
printf 'int node_distances_read(void) { return 0; }\nint capacities_read(void) { return 0; }\n' >"$scratch/apart.c"

# build FOLDER: the property test of the sources there
build() {
	(cd "$1" && gcc -std=gnu11 -O1 -w -D_GNU_SOURCE tests/unit/sim_property_test.c src/sim/*.c src/sched/scx_places.c "$scratch/apart.c" src/base/say.c src/base/hash.c -o test -lm)
}
copy() {
	mkdir "$1" "$1/tests" "$1/src" && cp -r core "$1/" && cp -r tests/unit "$1/tests/" && cp -r src/sim src/sched src/base "$1/src/"
}

copy "$scratch/whole"
holds "the property test builds of the simulator alone" build "$scratch/whole"
holds "300 random loads on the scheduler as it is break nothing" env LOADS=300 "$scratch/whole/test"

# breaks NAME 'PROPERTY' FILE 'SED': that change is made, and that property does not hold any more
breaks() {
	local folder=$scratch/$1 seen
	copy "$folder"
	sed -i "$4" "$folder/src/sim/$3"
	if cmp -s "$folder/src/sim/$3" "src/sim/$3"; then
		fails "the policy is broken: $1" true
		return
	fi
	build "$folder"
	LOADS=${LOADS:-300} timeout 120 "$folder/test" >"$scratch/said" 2>&1
	seen=$(grep -E "^not ok.*$2" "$scratch/said" | head -n 1)
	say_measured "$1: ${seen:-nothing failed}"
	like "a policy that $1 is found out: $2" "$seen" "$2"
}
breaks "never-looks-for-late-threads" "no thread waits longer" tactus_queues.c \
	's/if (!tier_looks_for_late(run->late_at_ns, run->looked_ns))/if (1)/'
breaks "charges-all-weights-alike" "hogs get CPU time by their weights" tactus_urgency.c 's/entity->vtime += cost;/entity->vtime += ran_ns;/'
breaks "never-preempts" "light urgent threads wait for no thread" tactus_place.c 's/return !run->kicked \&\& !is_rt \&\&/return 0 \&\& !run->kicked \&\& !is_rt \&\&/'
breaks "wakes-no-idle-CPU" "no CPU is idle while a thread waits" tactus_policy.c 's/idle = tactus_pick_idle(machine, thread);/idle = -1;/'
breaks "ends-each-turn-as-it-begins" "nothing goes on for ever" tactus_policy.c \
	's/run->since_ns = run->looked_ns = now_ns;/run->since_ns = run->looked_ns = now_ns, thread->slice_left_ns = 0, sim_resched_now(machine, cpu);/'
done_testing

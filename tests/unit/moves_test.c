// SPDX-License-Identifier: GPL-2.0
/* core/move.h and model/moves.c: causes from facts, and how long moved threads took to run. */
#include <stdlib.h>

#include "../../src/model/moves.h"
#include "tap.h"

enum { ONE = 10, OTHER = 11, BY = 5, US = 1000 };

static struct threads threads;
static struct moves moves;
static struct cpu_place places[4] = { { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 2, 2, 0, 1 }, { 3, 3, 1, 1 } };
static struct move done;
static u64 now_ns;

static bool take(struct event_header *event)
{
	struct wait ended;

	threads_take(&threads, event, &ended);
	return moves_take(&moves, &threads, event, &done);
}

static bool move(u32 tid, u16 from, u16 to, u8 facts)
{
	struct event_migrate event = {
		.head = { now_ns, tid, to, EVENT_MIGRATE, facts }, .by_tid = BY, .from_cpu = from, .to_cpu = to
	};

	return take(&event.head);
}

static bool turn(u16 cpu, u32 from, u16 state, u32 to)
{
	struct event_switch event = { .head = { now_ns, from, cpu, EVENT_SWITCH, 0 },
				      .next_tid = to,
				      .prev_state = state };

	return take(&event.head);
}

static bool wake(u32 tid, u16 cpu)
{
	struct event_wakeup event = { .head = { now_ns, tid, cpu, EVENT_WAKEUP, 0 }, .target_cpu = cpu };

	return take(&event.head);
}

static void begin(void)
{
	now_ns = NSEC_PER_SEC;
	moves = (struct moves){ 0 };
	threads_init(&threads, places, 4);
	turn(0, 0, 0, ONE);
	now_ns += 100 * US;
}

static void test_causes(void)
{
	is(move_cause(0), MOVE_UNKNOWN, "an older recording tells no cause");
	is(move_cause(MOVE_TOLD), MOVE_BY_BALANCE, "nothing else happens: balance");
	is(move_cause(MOVE_TOLD | MOVE_STOPPED), MOVE_BY_BALANCE, "a running thread that is pushed: balance");
	is(move_cause(MOVE_TOLD | MOVE_WAKING), MOVE_BY_WAKEUP, "it wakes: placement");
	is(move_cause(MOVE_TOLD | MOVE_IN_EXEC | MOVE_STOPPED), MOVE_BY_EXEC, "stopped in an exec: exec");
	is(move_cause(MOVE_TOLD | MOVE_IN_EXEC), MOVE_BY_BALANCE, "taken from a queue in an exec: balance");
	is(move_cause(MOVE_TOLD | MOVE_IN_EXEC | MOVE_WAKING), MOVE_BY_WAKEUP, "woken in an exec: placement");
	is(move_cause(MOVE_TOLD | MOVE_IN_EXEC | MOVE_WAKING | MOVE_STOPPED), MOVE_BY_EXEC, "by the stopper: exec");
	is(move_cause(MOVE_TOLD | MOVE_BARRED | MOVE_WAKING), MOVE_BY_AFFINITY, "barred in its sleep: affinity");
	is(move_cause(MOVE_TOLD | MOVE_BARRED | MOVE_STOPPED), MOVE_BY_AFFINITY, "barred as it runs: affinity");
	is(move_cause(MOVE_TOLD | MOVE_CPU_GOES | MOVE_BARRED), MOVE_BY_HOTPLUG, "its CPU goes: hotplug");
}

static void test_outcomes(void)
{
	begin();
	turn(0, ONE, 0, OTHER);
	ok(!move(ONE, 0, 3, MOVE_TOLD), "a move's outcome is open");
	now_ns += 7 * US;
	ok(turn(3, 0, 0, ONE), "until it runs");
	is(done.to_run_ns, 7 * US, "so long after");
	is(done.cause, MOVE_BY_BALANCE, "for this reason");
	is(done.distance, DISTANCE_CROSS, "so far");
	is(done.by_tid, BY, "by this one");
	is(done.after, MOVE_RAN, "and it ran");
	turn(3, ONE, 0, 0);
	move(ONE, 3, 2, MOVE_TOLD);
	ok(move(ONE, 2, 1, MOVE_TOLD | MOVE_BARRED), "moved again before it runs");
	is(done.after, MOVE_MOVED_ON, "the first is told as that");
	is(done.to_cpu, 2, "with where it was to go");
	ok(!turn(0, OTHER, 1, 0), "others' switches do not matter");
	now_ns += 3 * US;
	ok(turn(1, 0, 0, ONE) && done.cause == MOVE_BY_AFFINITY && done.to_run_ns == 3 * US, "the second is its own");
	is(moves.all.moves, 3, "three in all");
	is(moves.causes[MOVE_BY_BALANCE].moves, 2, "two by balance");
	is(threads_by_tid(&threads, ONE)->moves->sums.to_run_max_ns, 7 * US, "the longest");
	threads_free(&threads);
}

static void test_asleep(void)
{
	size_t at = 0, len;
	const struct thread **list;

	begin();
	turn(0, ONE, 1, 0);
	now_ns += 50 * US;
	move(ONE, 0, 1, MOVE_TOLD);
	now_ns += 1000 * US;
	wake(ONE, 1);
	now_ns += 4 * US;
	ok(turn(1, 0, 0, ONE) && done.asleep, "moved in its sleep");
	is(done.to_run_ns, 4 * US, "counts from its wake-up");
	turn(1, ONE, 1, 0);
	move(ONE, 1, 2, MOVE_TOLD | MOVE_WAKING);
	now_ns += 2 * US;
	wake(ONE, 2);
	now_ns += 4 * US;
	ok(turn(2, 0, 0, ONE) && !done.asleep, "moved because it wakes");
	is(done.to_run_ns, 6 * US, "counts from the decision");
	turn(2, ONE, 0, 0);
	move(ONE, 2, 0, MOVE_TOLD);
	ok(moves_left(&moves, &threads, &at, &done) && done.after == MOVE_NOT_RUN, "one is left at the end");
	ok(!moves_left(&moves, &threads, &at, &done), "and only one");
	ok(!move(ONE, 0, 77, MOVE_TOLD), "a CPU that is none does no harm");
	list = moves_sorted(&threads, &len);
	ok(list && len == 1 && list[0]->tid == ONE, "who moved");
	free(list);
	threads_free(&threads);
}

int main(void)
{
	test_causes();
	test_outcomes();
	test_asleep();
	return tap_end();
}

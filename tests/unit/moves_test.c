// SPDX-License-Identifier: GPL-2.0
/* core/move.h and model/moves.c: causes from facts, and how long moved threads took to run. */
#include <stdlib.h>

#include "../../src/model/moves.h"
#include "tap.h"

enum { ONE = 10, OTHER = 11, BY = 5, US = 1000 };

static struct threads threads;
static struct moves moves;
static struct cpu_topology topology[4] = { { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 2, 2, 0, 1 }, { 3, 3, 1, 1 } };
static struct move done;
static u64 now_ns;

static bool take(struct event_header *event)
{
	struct wait ended;

	threads_handle(&threads, event, &ended);
	return moves_handle(&moves, &threads, event, &done);
}

static bool move(u32 tid, u16 from, u16 to, u8 facts)
{
	struct event_migrate event = {
		.head = { now_ns, tid, to, EVENT_MIGRATE, facts }, .by_tid = BY, .from_cpu = from, .to_cpu = to
	};

	return take(&event.head);
}

static bool on_switch(u16 cpu, u32 from, u16 state, u32 to)
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
	threads_init(&threads, topology, 4);
	on_switch(0, 0, 0, ONE);
	now_ns += 100 * US;
}

static void test_causes(void)
{
	is(move_cause(0), MOVE_UNKNOWN, "an older recording tells no cause");
	is(move_cause(MOVE_KNOWN), MOVE_BY_BALANCE, "thread that moves without another reason moves by balance");
	is(move_cause(MOVE_KNOWN | MOVE_STOPPED), MOVE_BY_BALANCE, "running thread that is pushed moves by balance");
	is(move_cause(MOVE_KNOWN | MOVE_WAKING), MOVE_BY_WAKEUP, "thread that wakes moves by placement");
	is(move_cause(MOVE_KNOWN | MOVE_IN_EXEC | MOVE_STOPPED), MOVE_BY_EXEC, "stopped in an exec: exec");
	is(move_cause(MOVE_KNOWN | MOVE_IN_EXEC), MOVE_BY_BALANCE, "taken from a queue in an exec: balance");
	is(move_cause(MOVE_KNOWN | MOVE_IN_EXEC | MOVE_WAKING), MOVE_BY_WAKEUP,
	   "thread woken in an exec moves by placement");
	is(move_cause(MOVE_KNOWN | MOVE_IN_EXEC | MOVE_WAKING | MOVE_STOPPED), MOVE_BY_EXEC,
	   "thread moved by the stopper in an exec moves by exec");
	is(move_cause(MOVE_KNOWN | MOVE_NOT_ALLOWED | MOVE_WAKING), MOVE_BY_AFFINITY,
	   "thread that may not run where it was, and sleeps, moves by affinity");
	is(move_cause(MOVE_KNOWN | MOVE_NOT_ALLOWED | MOVE_STOPPED), MOVE_BY_AFFINITY,
	   "thread whose CPU is taken from its affinity as it runs moves by affinity");
	is(move_cause(MOVE_KNOWN | MOVE_CPU_GOES | MOVE_NOT_ALLOWED), MOVE_BY_HOTPLUG,
	   "thread whose CPU goes moves by hotplug");
}

static void test_outcomes(void)
{
	begin();
	on_switch(0, ONE, 0, OTHER);
	ok(!move(ONE, 0, 3, MOVE_KNOWN), "a move's outcome is open");
	now_ns += 7 * US;
	ok(on_switch(3, 0, 0, ONE), "move is told once the thread runs");
	is(done.to_run_ns, 7 * US, "move is told with the time until the thread ran");
	is(done.cause, MOVE_BY_BALANCE, "move is told with its cause");
	is(done.distance, DISTANCE_CROSS, "move is told with its distance");
	is(done.by_tid, BY, "move is told with who moved the thread");
	is(done.after, MOVE_RAN, "move is told as followed by a run");
	on_switch(3, ONE, 0, 0);
	move(ONE, 3, 2, MOVE_KNOWN);
	ok(move(ONE, 2, 1, MOVE_KNOWN | MOVE_NOT_ALLOWED), "thread may be moved again before it runs");
	is(done.after, MOVE_MOVED_ON, "first of two moves is told as followed by another");
	is(done.to_cpu, 2, "move that another follows is told with where it went");
	ok(!on_switch(0, OTHER, 1, 0), "switches of other threads end no move");
	now_ns += 3 * US;
	ok(on_switch(1, 0, 0, ONE), "second move is told once the thread runs");
	is(done.cause, MOVE_BY_AFFINITY, "second move has its own cause");
	is(done.to_run_ns, 3 * US, "second move has its own time until the run");
	is(moves.all.moves, 3, "moves of all causes are counted");
	is(moves.causes[MOVE_BY_BALANCE].moves, 2, "moves by balance are counted");
	is(threads_by_tid(&threads, ONE)->moves->sums.to_run_max_ns, 7 * US,
	   "thread keeps its longest time from a move to a run");
	threads_free(&threads);
}

static void test_asleep(void)
{
	size_t at = 0, len;
	const struct thread **list;

	begin();
	on_switch(0, ONE, 1, 0);
	now_ns += 50 * US;
	move(ONE, 0, 1, MOVE_KNOWN);
	now_ns += 1000 * US;
	wake(ONE, 1);
	now_ns += 4 * US;
	ok(on_switch(1, 0, 0, ONE), "move of a sleeping thread is told once it runs");
	ok(done.asleep, "move of a thread in its sleep is told as that");
	is(done.to_run_ns, 4 * US, "time to run of a sleeping thread counts from its wake-up");
	on_switch(1, ONE, 1, 0);
	move(ONE, 1, 2, MOVE_KNOWN | MOVE_WAKING);
	now_ns += 2 * US;
	wake(ONE, 2);
	now_ns += 4 * US;
	ok(on_switch(2, 0, 0, ONE), "move of a waking thread is told once it runs");
	ok(!done.asleep, "move of a waking thread is not told as in its sleep");
	is(done.to_run_ns, 6 * US, "time to run counts from the decision to move");
	on_switch(2, ONE, 0, 0);
	move(ONE, 2, 0, MOVE_KNOWN);
	ok(moves_left(&moves, &threads, &at, &done), "move without a run is left at the end");
	is(done.after, MOVE_NOT_RUN, "move left at the end is told as without a run");
	ok(!moves_left(&moves, &threads, &at, &done), "only one move is left at the end");
	ok(!move(ONE, 0, 77, MOVE_KNOWN), "a CPU that is none does no harm");
	list = moves_sorted(&threads, &len);
	is(list ? len : 0, 1, "list of moved threads has one");
	is(len ? list[0]->tid : 0, ONE, "list of moved threads has the one that moved");
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

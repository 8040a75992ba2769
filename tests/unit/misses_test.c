// SPDX-License-Identifier: GPL-2.0
/* core/miss.h and model/misses.c: a thread with a clock in a made stream, late for several reasons, and streams with
 * gaps. */
#include <stdlib.h>

#include "../../core/role.h"
#include "../../src/model/misses.h"
#include "tap.h"

enum { PLAYER = 10, MATE = 11, HOG = 99, PID = 10, US = 1000, MS = 1000000 };
enum { PERIOD_MS = 10 };

static struct threads threads;
static struct misses misses;
static struct cpu_topology topology[2];
static struct miss found[MISSES_AT_ONCE];
static u32 len, total;
static u64 now_ns, due_ns;

static void take(struct event_header *event)
{
	struct wait ended;

	threads_handle(&threads, event, &ended);
	len = misses_handle(&misses, &threads, event, found);
	total += len;
}

static void add_thread(u32 tid, u32 pid)
{
	struct event_thread event = { .head = { now_ns, tid, 0, EVENT_THREAD, 0 }, .start_ns = tid, .pid = pid };

	take(&event.head);
}

static void on_switch(u32 from, u16 state, u32 to)
{
	struct event_switch event = { .head = { now_ns, from, 0, EVENT_SWITCH, 0 },
				      .next_tid = to,
				      .prev_state = state };

	take(&event.head);
}

static void wake(u32 waker, u8 flags)
{
	struct event_wakeup event = { .head = { now_ns, PLAYER, 0, EVENT_WAKEUP, flags }, .waker_tid = waker };

	take(&event.head);
}

/* The next period: its timer fires, it runs 50 us later for 1 ms and sleeps. */
static void timer(void)
{
	due_ns += PERIOD_MS * (u64)MS;
	now_ns = due_ns;
	wake(0, 0);
	now_ns += 50 * US;
	on_switch(0, 0, PLAYER);
	now_ns += MS;
	on_switch(PLAYER, 1, 0);
}

static void begin(bool of_all)
{
	due_ns = now_ns = NSEC_PER_SEC;
	misses = (struct misses){ .of_all = of_all };
	threads_init(&threads, topology, 2);
	add_thread(PLAYER, PID);
	add_thread(MATE, PID);
	add_thread(HOG, HOG);
	total = 0;
	for (int i = 0; i < 40; i++)
		timer();
	is(total, 0, "a thread that keeps its clock misses nothing");
}

static void end(void)
{
	misses_free(&misses);
	threads_free(&threads);
}

static void test_waits(void)
{
	begin(true);
	now_ns = due_ns + 8 * MS;
	on_switch(0, 0, HOG);
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(HOG, 0);
	now_ns += 6 * MS;
	on_switch(HOG, 0, PLAYER);
	is(len, 1, "six of ten milliseconds late is a miss");
	is(found[0].verdict.kind, MISS_WAITED, "thread kept from its CPU is told to have waited");
	is(found[0].verdict.expected_ns, due_ns, "thread that waited was due when its timer fired");
	is(found[0].verdict.late_ns, 6 * MS, "thread that waited 6 ms is late by 6 ms");
	is(found[0].verdict.periods, 1, "thread that waited 6 ms of 10 missed one period");
	is(found[0].behind_tid, HOG, "thread that waited has the hog in its way");
	now_ns += MS;
	on_switch(PLAYER, 1, 0);
	is(len, 0, "thread done before its next period has not overrun");
	timer();
	is(total, 1, "period after a miss is on time");
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	now_ns += 2 * MS;
	on_switch(0, 0, PLAYER);
	is(len, 0, "within a quarter is on time");
	end();
}

static void test_pushed_off(void)
{
	begin(true);
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	on_switch(0, 0, PLAYER);
	now_ns += MS;
	on_switch(PLAYER, 0, HOG);
	now_ns = due_ns + 34 * MS;
	on_switch(HOG, 0, PLAYER);
	is(len, 1, "thread pushed off over its next periods missed them");
	is(found[0].verdict.expected_ns / US, (due_ns + PERIOD_MS * MS) / US,
	   "thread pushed off was due at its next period");
	is(found[0].verdict.late_ns / MS, 24, "thread pushed off for 34 ms is 24 ms late");
	is(found[0].verdict.periods, 3, "thread pushed off for 34 ms missed three periods");
	is(found[0].behind_tid, HOG, "thread pushed off has the hog in its way");
	now_ns += 3 * MS;
	on_switch(PLAYER, 1, 0);
	is(len, 0, "thread that has caught up misses nothing more");
	due_ns += 3 * PERIOD_MS * (u64)MS;
	timer();
	is(total, 1, "thread that was pushed off goes on by the same clock");
	end();
}

static void test_overruns(void)
{
	begin(true);
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	on_switch(0, 0, PLAYER);
	now_ns += 18 * MS;
	on_switch(PLAYER, 1, 0);
	is(len, 1, "thread at work 8 ms after its next period missed that");
	is(found[0].verdict.kind, MISS_OVERRAN, "thread at work after its next period is told to have overrun");
	is(found[0].verdict.late_ns / MS, 7, "thread that overran by 8 ms began its next period 7 ms late at least");
	is(found[0].behind_tid, PLAYER, "thread that overran was in its own way");
	/* It sleeps for so long, not until then: another phase. */
	due_ns = now_ns - MS;
	for (int i = 0; i < 5; i++)
		timer();
	is(total, 1, "new phase is no miss");
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	now_ns += 4 * MS;
	on_switch(0, 0, PLAYER);
	is(len, 1, "lateness in a new phase is found at once");
	is(found[0].culprit, CULPRIT_IDLE, "thread late on an idle CPU has nobody in its way");
	end();
}

static void test_other_wakeups(void)
{
	begin(true);
	for (int i = 0; i < 30; i++) {
		timer();
		/* Half way to the next period a mate wakes it, and it waits long for a CPU. */
		now_ns = due_ns + 5 * MS;
		wake(MATE, 0);
		now_ns += 4 * MS;
		on_switch(0, 0, PLAYER);
		on_switch(PLAYER, 1, 0);
	}
	is(total, 0, "a wake-up by its own process is no period");
	timer();
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(MATE, EVENT_FLAG_BY_INTERRUPT);
	now_ns += 4 * MS;
	on_switch(0, 0, PLAYER);
	is(len, 1, "an interrupt that met its own process is one");
	on_switch(PLAYER, 1, 0);
	total = 0;
	for (int i = 0; i < 5; i++) {
		timer();
		now_ns = due_ns + 3 * MS;
		wake(HOG, 0);
		now_ns += 4 * MS;
		on_switch(0, 0, PLAYER);
		on_switch(PLAYER, 1, 0);
	}
	is(total, 0, "a wake-up from elsewhere between two periods is none");
	end();
}

static void test_faults(void)
{
	struct event_lost lost = { .head = { 0, 0, 0, EVENT_LOST, 0 }, .count = 5 };
	const struct thread **list;
	size_t rows;

	begin(true);
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	/* That it ran is lost, and 7 periods. */
	now_ns += 5 * MS;
	lost.head.time_ns = now_ns;
	take(&lost.head);
	due_ns += 7 * PERIOD_MS * (u64)MS;
	now_ns = due_ns;
	on_switch(0, 0, PLAYER);
	is(len, 0, "wake-up after a loss of events is no miss");
	on_switch(PLAYER, 1, 0);
	timer();
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	now_ns += 5 * MS;
	on_switch(0, 0, PLAYER);
	is(len, 1, "miss after a loss of events is found");
	on_switch(PLAYER, 1, 0);
	/* A pause of a minute, then as before. */
	due_ns += 60 * (u64)NSEC_PER_SEC;
	total = 0;
	for (int i = 0; i < 20; i++)
		timer();
	is(total, 0, "pause of a minute is no miss");
	/* The clock of another CPU is behind. */
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	now_ns -= 20 * US;
	on_switch(0, 0, PLAYER);
	is(len, 0, "a run before its wake-up is on time");
	on_switch(PLAYER, 1, 0);
	list = misses_sorted(&misses, &threads, &rows);
	is(list ? rows : 0, 1, "thread with a clock is in the list");
	is(rows ? list[0]->clock->misses : 0, 1, "thread with a clock has its one miss in the list");
	free(list);
	end();
	begin(false);
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	now_ns += 6 * MS;
	on_switch(0, 0, PLAYER);
	is(len, 0, "a thread of no urgent role is not told of unless all are");
	is(threads_by_tid(&threads, PLAYER)->clock->periods, 0, "a period without a say in misses is not counted");
	end();
}

/* Its role is known only from some time on. */
static void test_roles(void)
{
	struct event_role role = { .role = ROLE_AUDIO, .confidence = 90, .tier = TIER_LATENCY_CRITICAL };
	const struct thread_clock *clock;

	begin(true);
	clock = threads_by_tid(&threads, PLAYER)->clock;
	is(clock->critical_periods, 0, "no period of a thread without a role is a critical one");
	role.head = (struct event_header){ now_ns, PLAYER, 0, EVENT_ROLE, 0 };
	take(&role.head);
	for (int i = 0; i < 5; i++)
		timer();
	is(clock->critical_periods, 5, "periods are critical ones from when a thread is known to be urgent");
	ok(clock->periods > 20, "all periods count where all threads do: %lu", (unsigned long)clock->periods);
	now_ns = due_ns += PERIOD_MS * (u64)MS;
	wake(0, 0);
	now_ns += 6 * MS;
	on_switch(0, 0, PLAYER);
	is(clock->critical_misses, 1, "a miss of an urgent thread is a critical one");
	misses_restart(&misses, &threads);
	is(clock->periods + clock->misses + clock->critical_periods + clock->critical_misses, 0,
	   "counting that begins anew has neither periods nor misses");
	end();
}

int main(void)
{
	test_waits();
	test_pushed_off();
	test_overruns();
	test_other_wakeups();
	test_faults();
	test_roles();
	return tap_end();
}

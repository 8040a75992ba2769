// SPDX-License-Identifier: GPL-2.0
/* What ends a sleep, and what begins and ends a thread: a display's periods, I/O, fork and exit. Events by hand become
 * work, and that is done again on a CPU of another speed, where the truth can be computed by hand.
 */
#include "sim_load.h"
#include "tap.h"

enum { MS = NSEC_PER_MSEC, DEAD = 0x10, SLEEPS = 1, IN_IO = 2 };

static void switches(struct work *work, u64 at_us, u32 from, u32 state, u32 to)
{
	struct event_switch event = { { at_us * 1000, from, 0, EVENT_SWITCH, 0 }, to, (u16)state, 121, 121 };

	work_take(work, &event.head);
}

static void interrupt_wakes(struct work *work, u64 at_us, u32 tid)
{
	struct event_wakeup event = { { at_us * 1000, tid, 0, EVENT_WAKEUP, EVENT_FLAG_BY_INTERRUPT }, 0, 0, 121 };

	work_take(work, &event.head);
}

static u64 near_ms(u64 ns)
{
	return (ns + MS / 2) / MS;
}

/* What the machine tells of one thread. */
struct told {
	u32 tid;
	u64 new_thread_ns, new_wakeup_ns, ended_ns; /* 0: it was not told */
	u64 runs, first_run_ns, last_run_ns;
};

static void listen(void *data, const struct event_header *event)
{
	const struct event_switch *to = (const void *)event;
	struct told *told = data;

	if (event->kind == EVENT_SWITCH && to->next_tid == told->tid) {
		told->runs++;
		told->first_run_ns = told->first_run_ns ? told->first_run_ns : event->time_ns;
		told->last_run_ns = event->time_ns;
	}
	if (event->tid != told->tid)
		return;
	if (event->kind == EVENT_THREAD && event->flags & EVENT_FLAG_NEW)
		told->new_thread_ns = event->time_ns;
	if (event->kind == EVENT_WAKEUP && event->flags & EVENT_FLAG_NEW)
		told->new_wakeup_ns = event->time_ns;
	if (event->kind == EVENT_SWITCH && to->prev_state & DEAD)
		told->ended_ns = event->time_ns;
}

/* On one CPU at such a part of full speed. */
static struct machine run_at(const struct work *work, u32 capacity, struct told *told)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = &policy_eevdf, .kernel = SCX_KERNEL(7, 2), .seed = 1 };
	struct machine machine = { .handle = listen, .data = told };

	sim_topology_flat(&topology, 1);
	topology.capacity[0] = (u16)capacity;
	if (machine_run(&machine, work, &topology, &params))
		exit(1);
	return machine;
}

/* It runs for 3 ms, or for 3.5, and sleeps for 7 or 6.5 until a display begins its next period of 10 ms, twenty times.
 * Seen from outside it may also be a timer that goes by the clock: what tells is the display's event. */
static void record_display(struct work *work, bool is_display)
{
	work_init(work, "7.2", NULL, 1, MS, 0);
	switches(work, 1000, 0, 0, 10);
	switches(work, 2000, 10, SLEEPS, 0);
	for (u32 i = 1; i <= 20; i++) {
		struct event_vblank vblank = { .head = { (u64)i * 10 * MS, 10, 0, EVENT_VBLANK, 0 } };

		interrupt_wakes(work, i * 10000, 10);
		if (is_display)
			work_take(work, &vblank.head);
		switches(work, i * 10000, 0, 0, 10);
		switches(work, i * 10000 + (i % 2 ? 3000 : 3500), 10, SLEEPS, 0);
	}
	switches(work, 215000, 0, 0, 0);
	if (work_end(work))
		exit(1);
}

static void test_display(void)
{
	struct told slow = { .tid = 10 };
	struct machine machine;
	struct work work;
	u64 of_period = 0;

	record_display(&work, false);
	is(work.threads[0].vsync_ns, 0, "a thread that no display woke sleeps for none");
	work_free(&work);
	record_display(&work, true);
	is(work.threads[0].vsync_ns / MS, 10, "thread that a display wakes has the period of that display");
	/* Told of the display alone: the clock that is found in the times of its wake-ups is out of the way. */
	for (u32 i = 0; i < work.threads[0].len; i++) {
		struct step *step = &work.threads[0].steps[i];

		of_period += step->kind == STEP_SLEEP_PERIOD;
		if (step->kind == STEP_SLEEP_PERIOD)
			step->kind = STEP_SLEEP_UNTIL;
	}
	work.threads[0].loop_to = 0;
	/* At a quarter of the speed 12 or 14 ms of each 10: it begins at 1, 10, 30, 50, ... 210 ms. */
	machine = run_at(&work, CAPACITY_MOST / 4, &slow);
	printf("# display: %" PRIu64 " sleeps are of its clock, slow: %" PRIu64 " runs, the last at %" PRIu64 " ms\n",
	       of_period, slow.runs, slow.last_run_ns / MS);
	is(slow.runs, 12, "a thread that takes longer than a display's period is woken by every second one");
	is(slow.last_run_ns % (10 * MS), 0, "thread that was late for a display is woken as a later period begins");
	machine_free(&machine);
	/* What has no display runs at once when it is late. */
	work.threads[0].vsync_ns = 0;
	slow = (struct told){ .tid = 10 };
	machine = run_at(&work, CAPACITY_MOST / 4, &slow);
	ok(machine.threads[0].ran_ns > 195 * (u64)MS,
	   "a thread of which each sleep ends at its own time catches up where it is late: %" PRIu64 " of 214 ms",
	   machine.threads[0].ran_ns / MS);
	machine_free(&machine);
	work_free(&work);
}

/* Runs of other lengths, sleeps of the same: a timer that is set anew each time, were it not for the display. */
static void test_display_is_no_timer(void)
{
	for (u32 with = 0; with < 2; with++) {
		struct work work;
		u64 at_us = 1000, for_a_time = 0;

		work_init(&work, "7.2", NULL, 1, MS, 0);
		for (u32 i = 0; i < 20; i++) {
			struct event_vblank vblank = { .head = { at_us * 1000, 10, 0, EVENT_VBLANK, 0 } };

			switches(&work, at_us, 0, 0, 10);
			if (with)
				work_take(&work, &vblank.head);
			at_us += 1000 + i * 137 % 3000;
			switches(&work, at_us, 10, SLEEPS, 0);
			at_us += 5000;
			interrupt_wakes(&work, at_us, 10);
		}
		is(work_end(&work), 0, "sleeps of equal length %s a display become work", with ? "for" : "without");
		for (u32 i = 0; i < work.threads[0].len; i++)
			for_a_time += work.threads[0].steps[i].kind == STEP_SLEEP_FOR;
		if (with)
			is(for_a_time, 0, "sleeps of equal length that a display ended are not for a time");
		else
			ok(for_a_time >= 18, "sleeps of equal length that a timer ended are for that time: %" PRIu64,
			   for_a_time);
		work_free(&work);
	}
}

static const struct step *first_sleep(const struct work *work)
{
	const struct step *step = work->threads[0].steps;

	while (!step_is_sleep(step))
		step++;
	return step;
}

/* It runs for 2 ms, waits for I/O for 5, runs for 1 more. At half the speed it asks at 5 ms, has it at 10, ends at 12.
 */
static void test_io(void)
{
	for (u32 state = SLEEPS; state <= IN_IO; state++) {
		bool is_io = state == IN_IO;
		struct told told = { .tid = 10 };
		struct machine machine;
		struct work work;

		work_init(&work, "7.2", NULL, 1, MS, 0);
		switches(&work, 1000, 0, 0, 10);
		switches(&work, 3000, 10, state, 0);
		interrupt_wakes(&work, 8000, 10);
		switches(&work, 8000, 0, 0, 10);
		switches(&work, 9000, 10, SLEEPS, 0);
		switches(&work, 40000, 0, 0, 0);
		is(work_end(&work), 0, "events of a thread that sleeps once become work");
		is(first_sleep(&work)->kind, is_io ? STEP_SLEEP_FOR : STEP_SLEEP_UNTIL,
		   is_io ? "an interrupt that ends an uninterruptible sleep is I/O, which takes as long again"
			 : "an interrupt that ends another sleep comes at its time");
		machine = run_at(&work, CAPACITY_MOST / 2, &told);
		is(told.last_run_ns / MS, is_io ? 10 : 8,
		   is_io ? "I/O that a slower thread asks for later is done later by as much"
			 : "what comes at its time wakes a slower thread then");
		is(machine.cpus[0].idle_since_ns / MS, is_io ? 12 : 10,
		   "a thread that slept once ends its second run %s", is_io ? "5 ms of I/O later" : "at its time");
		machine_free(&machine);
		work_free(&work);
	}
}

/* The parent runs for 2 ms, starts a child, runs for 1 more; the child runs for 3 ms and ends. */
static void record_fork(struct work *work)
{
	struct event_thread child = {
		.head = { 3 * MS, 11, 0, EVENT_THREAD, EVENT_FLAG_NEW }, .pid = 11, .parent_tid = 10, .start_ns = 3 * MS
	};
	struct event_wakeup wakes = {
		{ 3 * MS, 11, 0, EVENT_WAKEUP, EVENT_FLAG_NEW | EVENT_FLAG_BY_THREAD }, 10, 0, 121
	};

	work_init(work, "7.2", NULL, 1, MS, 0);
	switches(work, 1000, 0, 0, 10);
	work_take(work, &child.head);
	work_take(work, &wakes.head);
	switches(work, 4000, 10, SLEEPS, 11);
	switches(work, 7000, 11, DEAD, 0);
	switches(work, 30000, 0, 0, 0);
	if (work_end(work))
		exit(1);
}

static void test_fork_and_exit(void)
{
	struct told half = { .tid = 11 }, slowest = { .tid = 11 };
	struct machine machine;
	struct work work;

	record_fork(&work);
	is(work.len, 2, "of a fork both threads are met");
	is(work.threads[1].begins, BEGIN_NEW, "thread that another starts is not there before");
	machine = run_at(&work, CAPACITY_MOST / 2, &half);
	is(half.new_thread_ns / MS, 5,
	   "at half the speed a child begins when its parent has done twice as long as much");
	is(half.new_wakeup_ns / MS, 5, "the first wake-up of a child is told as that of a new thread");
	/* 2 ms of the parent and 6 of its own are left then, in whatever order. */
	is(near_ms(half.ended_ns), 13, "a child that has done its work ends, and that is told");
	is(machine.threads[1].state, SIM_GONE, "thread that has ended is gone");
	is(near_ms(machine.threads[1].ran_ns), 6, "child's 3 ms take 6 at half the speed");
	is(near_ms(machine.cpus[0].idle_since_ns), 13, "CPU of a child that has ended is idle");
	machine_free(&machine);
	/* 2 ms take 40: the window ends before. */
	machine = run_at(&work, CAPACITY_MOST / 20, &slowest);
	is(slowest.new_thread_ns, 0, "a parent that does not come to its fork starts no child");
	is(machine.threads[1].state, SIM_UNBORN, "child of a fork that is not reached is not born");
	machine_free(&machine);
	work_free(&work);
}

int main(void)
{
	test_display();
	test_display_is_no_timer();
	test_io();
	test_fork_and_exit();
	return tap_end();
}

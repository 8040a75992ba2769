// SPDX-License-Identifier: GPL-2.0
/* model/inversions.c: who waited behind a thread of lower priority: wake-ups, preemptions, moves, losses. */
#include <stdlib.h>

#include "../../src/model/inversions.h"
#include "tap.h"

enum { URGENT = 10, LOW = 20, LOWER = 30, CPUS = 4, ASLEEP = 1 };
enum { DEADLINE = 0, RT_50 = 50, NICE_MINUS_10 = 111, NICE_0 = 121, NICE_10 = 131 };
#define MS(count) ((u64)(count)*NSEC_PER_MSEC)

static struct threads threads;
static struct inversions inversions;

static void take(const void *event)
{
	struct wait ended;

	threads_handle(&threads, event, &ended);
	inversions_handle(&inversions, &threads, event);
}

static void add(u32 tid, const char *comm, u8 flags)
{
	struct event_thread event = { .head = { .time_ns = 1, .tid = tid, .kind = EVENT_THREAD }, .start_ns = tid };

	event.head.flags = flags;
	event.pid = tid;
	strncpy(event.comm.text, comm, COMM_LEN - 1);
	take(&event);
}

static void add_thread(u32 tid, const char *comm)
{
	add(tid, comm, 0);
}

static void add_bystander(u32 tid, const char *comm)
{
	add(tid, comm, EVENT_FLAG_BYSTANDER);
}

static void wake(u64 now_ns, u32 tid, u16 cpu, u16 prio)
{
	struct event_wakeup event = { .head = { .time_ns = now_ns, .tid = tid, .cpu = 3, .kind = EVENT_WAKEUP } };

	event.target_cpu = cpu;
	event.prio = prio;
	take(&event);
}

static void switch_to(u64 now_ns, u16 cpu, u32 prev, u8 prev_prio, u16 state, u32 next, u8 next_prio)
{
	struct event_switch event = { .head = { .time_ns = now_ns, .tid = prev, .cpu = cpu, .kind = EVENT_SWITCH } };

	event.head.flags = prev && !state ? EVENT_FLAG_PREEMPTED : 0;
	event.prev_state = state;
	event.next_tid = next;
	event.prev_prio = prev_prio;
	event.next_prio = next_prio;
	take(&event);
}

static void move(u64 now_ns, u32 tid, u16 from, u16 to)
{
	struct event_migrate event = { .head = { .time_ns = now_ns, .tid = tid, .cpu = to, .kind = EVENT_MIGRATE } };

	event.from_cpu = from;
	event.to_cpu = to;
	take(&event);
}

static void sample(u64 now_ns, u16 cpu, u32 tid, u32 prio, u8 flags)
{
	struct event_sample event = { .head = { .time_ns = now_ns, .tid = tid, .cpu = cpu, .kind = EVENT_SAMPLE } };

	event.head.flags = flags;
	event.prio = prio;
	take(&event);
}

static void begin(void)
{
	static const struct cpu_topology topology[CPUS];

	if (threads_init(&threads, topology, CPUS) || inversions_init(&inversions, CPUS, MS(1)))
		abort();
	add_thread(URGENT, "urgent");
	add_thread(LOW, "low");
	add_thread(LOWER, "lower");
}

static void end(void)
{
	inversions_free(&inversions);
	threads_free(&threads);
}

/* One thread runs from 10 to 20 ms on CPU 0 while another waits there from 12 ms on. */
static void play_one(u32 runner_prio, u32 waiter_prio)
{
	begin();
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, (u8)runner_prio);
	wake(MS(12), URGENT, 0, (u16)waiter_prio);
	switch_to(MS(20), 0, LOW, (u8)runner_prio, ASLEEP, URGENT, (u8)waiter_prio);
	inversions_end(&inversions, &threads);
}

static void test_one_inversion(void)
{
	const struct inversion **list;

	play_one(NICE_0, RT_50);
	is(inversions.pairs_len, 1, "inversion of two threads is one pair");
	list = inversions_sorted(&inversions);
	is(list[0]->waiter->tid, URGENT, "pair names the urgent thread as who waited");
	is(list[0]->runner->tid, LOW, "pair names the less urgent thread as who ran");
	is(list[0]->waiter_prio, RT_50, "pair has the waiter's priority");
	is(list[0]->runner_prio, NICE_0, "pair has the runner's priority");
	is(list[0]->times, 1, "pair that occurred once is counted once");
	is(list[0]->total_ns, MS(8), "pair that occurred once lasted as long as wait and run together did");
	is(list[0]->longest_ns, MS(8), "pair that occurred once has it as the longest");
	is(list[0]->longest_at_ns, MS(20), "longest inversion ended with the switch");
	free(list);
	end();
}

static void count_alert(void *data, const struct inversion_now *now)
{
	struct inversion_now *last = data;

	*last = *now;
	last->cpu++;
}

static void test_alerts(void)
{
	struct inversion_now last = { 0 };

	begin();
	inversions.alert = (struct inversion_alert){ MS(5), count_alert, &last };
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, NICE_0);
	wake(MS(12), URGENT, 0, RT_50);
	inversions_ongoing(&inversions, &threads, MS(16));
	is(last.cpu, 0, "an inversion that has not lasted long enough is alerted to by nobody");
	inversions_ongoing(&inversions, &threads, MS(18));
	is(last.lasted_ns, MS(6), "an inversion that is asked about while it lasts has lasted until then");
	last = (struct inversion_now){ 0 };
	switch_to(MS(20), 0, LOW, NICE_0, ASLEEP, URGENT, RT_50);
	is(last.cpu, 0, "an inversion that was alerted to is not again when it ends");
	switch_to(MS(21), 0, URGENT, RT_50, ASLEEP, LOW, NICE_0);
	wake(MS(22), URGENT, 0, RT_50);
	switch_to(MS(29), 0, LOW, NICE_0, ASLEEP, URGENT, RT_50);
	is(last.lasted_ns, MS(7), "an inversion that nobody asked about while it lasted is alerted to as it ends");
	is(last.runner ? last.runner->tid : 0, LOW, "an alert has who ran");
	end();
}

/* With a filter: switches of who is not watched are sent only while a watched thread waits for the CPU. */
static void test_alerts_of_bystanders(void)
{
	struct inversion_now last = { 0 };

	begin();
	inversions.alert = (struct inversion_alert){ MS(5), count_alert, &last };
	add_bystander(LOW, "low");
	add_bystander(LOWER, "lower");
	switch_to(MS(10), 0, URGENT, NICE_0, ASLEEP, LOW, NICE_10);
	/* LOW went unseen, and one as urgent as the waiter came. */
	wake(MS(12), URGENT, 0, NICE_0);
	inversions_ongoing(&inversions, &threads, MS(22));
	is(last.cpu, 0, "who may have left the CPU unseen is not alerted to");
	switch_to(MS(22), 0, LOWER, NICE_0, ASLEEP, URGENT, NICE_0);
	is(last.cpu, 0, "a wait that ends with one as urgent on the CPU is not alerted to");
	switch_to(MS(23), 0, URGENT, NICE_0, ASLEEP, LOW, NICE_10);
	wake(MS(24), URGENT, 0, NICE_0);
	inversions_ongoing(&inversions, &threads, MS(30));
	switch_to(MS(31), 0, LOWER, NICE_10, 0, LOW, NICE_10);
	is(last.runner ? last.runner->tid : 0, LOWER, "who is seen to leave is alerted to then, by its name");
	is(last.lasted_ns, MS(7), "an inversion by one that came unseen has lasted for all of the wait");
	inversions_ongoing(&inversions, &threads, MS(37));
	is(last.runner ? last.runner->tid : 0, LOW, "who was seen to come during the wait is alerted to while it runs");
	end();
}

static void test_priorities(void)
{
	static const struct {
		u32 runner, waiter;
		size_t pairs;
		const char *what;
	} cases[] = {
		{ NICE_0, NICE_0, 0, "the same priority is no inversion" },
		{ NICE_MINUS_10, NICE_0, 0, "nor is a more urgent runner" },
		{ NICE_10, NICE_MINUS_10, 1, "nice 10 before nice -10 is" },
		{ NICE_MINUS_10, RT_50, 1, "any nice before real time is" },
		{ RT_50, DEADLINE, 1, "real time before deadline is" },
		{ DEADLINE, RT_50, 0, "deadline before real time is not" },
		{ RT_50, RT_50, 0, "real time of the same priority is not" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		play_one(cases[i].runner, cases[i].waiter);
		is(inversions.pairs_len, cases[i].pairs, "pairs are as many as expected: %s", cases[i].what);
		end();
	}
	is(prio_class(DEADLINE), PRIO_DEADLINE, "priority 0 is a deadline thread's");
	is(prio_class(1), PRIO_REALTIME, "priority 1 is a realtime thread's");
	is(prio_class(100), PRIO_REALTIME, "priority 100 is a realtime thread's");
	is(prio_class(101), PRIO_NICE, "priority 101 is a nice value's");
}

static void test_short_ones_and_idle(void)
{
	begin();
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, NICE_0);
	wake(MS(20) - 999999, URGENT, 0, RT_50);
	switch_to(MS(20), 0, LOW, NICE_0, ASLEEP, URGENT, RT_50);
	is(inversions.pairs_len, 0, "shorter than the threshold does not count");
	switch_to(MS(21), 0, URGENT, RT_50, ASLEEP, 0, NICE_0);
	wake(MS(22), URGENT, 0, RT_50);
	switch_to(MS(30), 0, 0, NICE_0, 0, URGENT, RT_50);
	is(inversions.pairs_len, 0, "an idle CPU is in nobody's way");
	end();
}

static void test_one_after_the_other(void)
{
	const struct inversion **list;

	begin();
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, NICE_0);
	wake(MS(11), URGENT, 0, RT_50);
	switch_to(MS(14), 0, LOW, NICE_0, ASLEEP, LOWER, NICE_10);
	switch_to(MS(19), 0, LOWER, NICE_10, ASLEEP, LOW, NICE_0);
	switch_to(MS(21), 0, LOW, NICE_0, ASLEEP, URGENT, RT_50);
	list = inversions_sorted(&inversions);
	is(inversions.pairs_len, 2, "wait behind two threads is two pairs");
	is(list[0]->runner->tid + list[1]->runner->tid, LOW + LOWER, "wait behind two threads is told of each of them");
	is(list[0]->total_ns, MS(5), "3 + 2 ms and 5 ms: both totals are 5 ms");
	is(list[1]->total_ns, MS(5), "second runner of one wait has its time");
	is(list[0]->runner->tid == LOW ? list[0]->times : list[1]->times, 2, "runner that came back is counted twice");
	is(list[0]->runner->tid == LOW ? list[0]->longest_ns : list[1]->longest_ns, MS(3),
	   "runner that came back has 3 ms at most");
	free(list);
	end();
}

static void test_preempted_waiter(void)
{
	const struct inversion **list;

	begin();
	switch_to(MS(10), 1, 0, NICE_0, 0, URGENT, NICE_MINUS_10);
	switch_to(MS(12), 1, URGENT, NICE_MINUS_10, 0, LOW, NICE_10);
	switch_to(MS(15), 1, LOW, NICE_10, 0, URGENT, NICE_MINUS_10);
	list = inversions_sorted(&inversions);
	is(inversions.pairs_len, 1, "a thread that was pushed off waits too");
	is(list[0]->total_ns, MS(3), "wait behind a new runner counts from the switch on");
	free(list);
	switch_to(MS(20), 1, URGENT, NICE_MINUS_10, ASLEEP, LOW, NICE_10);
	switch_to(MS(29), 1, LOW, NICE_10, ASLEEP, 0, NICE_0);
	list = inversions_sorted(&inversions);
	is(list[0]->times, 1, "runner that went to sleep adds no inversion");
	free(list);
	end();
}

static void test_moved_waiter(void)
{
	const struct inversion **list;

	begin();
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, NICE_0);
	switch_to(MS(10), 1, 0, NICE_0, 0, LOWER, NICE_0);
	wake(MS(11), URGENT, 0, RT_50);
	move(MS(14), URGENT, 0, 1);
	switch_to(MS(19), 0, LOW, NICE_0, ASLEEP, 0, NICE_0);
	switch_to(MS(20), 1, LOWER, NICE_0, ASLEEP, URGENT, RT_50);
	list = inversions_sorted(&inversions);
	is(inversions.pairs_len, 2, "a waiter that was moved waited on both CPUs");
	is(list[0]->runner->tid, LOWER, "longer part of a wait is told with the runner on the second CPU");
	is(list[0]->total_ns, MS(6), "wait after a move counts from the move to the run");
	is(list[1]->runner->tid, LOW, "wait before a move is told with the runner on the first CPU");
	is(list[1]->total_ns, MS(3), "wait before a move counts up to the move only");
	free(list);
	end();
}

static void test_edges_of_the_window(void)
{
	const struct inversion **list;

	begin();
	sample(MS(5), 0, LOW, NICE_0, 0);
	wake(MS(7), URGENT, 0, RT_50);
	sample(MS(17), 0, LOW, NICE_0, EVENT_FLAG_CLOSING);
	is(inversions.pairs_len, 0, "a run that goes on is not counted yet");
	inversions_end(&inversions, &threads);
	list = inversions_sorted(&inversions);
	is(inversions.pairs_len, 1, "run that goes on is counted at the end");
	is(list[0]->total_ns, MS(10), "run that goes on counts up to the window's end");
	free(list);
	end();
}

static void test_nothing_is_made_up(void)
{
	struct event_lost lost = { .head = { .time_ns = MS(13), .kind = EVENT_LOST }, .count = 3 };
	const struct inversion **list;

	begin();
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, NICE_0);
	wake(MS(11), URGENT, 0, RT_50);
	take(&lost);
	switch_to(MS(20), 0, LOW, NICE_0, ASLEEP, 0, NICE_0);
	is(inversions.pairs_len, 0, "loss of events leaves nobody waiting");
	end();
	begin();
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, NICE_0);
	wake(MS(11), URGENT, 0, RT_50);
	switch_to(MS(20), 0, LOWER, NICE_10, ASLEEP, URGENT, RT_50);
	list = inversions_sorted(&inversions);
	is(inversions.pairs_len, 1, "leaver that was never seen to come was there when the wait began");
	is(list[0]->runner->tid, LOWER, "runner of a filtered wait is who leaves");
	is(list[0]->total_ns, MS(9), "wait behind an unseen runner counts from its start");
	free(list);
	end();
	begin();
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, NICE_0);
	wake(MS(11), URGENT, 0, RT_50);
	switch_to(MS(20), 0, LOW, RT_50, ASLEEP, URGENT, RT_50);
	is(inversions.pairs_len, 0, "a runner that has inherited the waiter's priority is not in its way");
	end();
}

static void test_many_waiters(void)
{
	enum { WAITERS = 3000, FIRST = 1000 };

	begin();
	for (u32 i = 0; i < WAITERS; i++)
		add_thread(FIRST + i, "many");
	switch_to(MS(10), 0, 0, NICE_0, 0, LOW, NICE_0);
	for (u32 i = 0; i < WAITERS; i++)
		wake(MS(11) + i, FIRST + i, 0, RT_50);
	for (u32 i = 0; i < WAITERS; i += 2)
		move(MS(11) + WAITERS + i, FIRST + i, 0, 1);
	switch_to(MS(20), 0, LOW, NICE_0, ASLEEP, 0, NICE_0);
	is(inversions.pairs_len, WAITERS / 2, "waiters that stayed are counted, those that left in time are not");
	end();
}

int main(void)
{
	test_one_inversion();
	test_alerts();
	test_alerts_of_bystanders();
	test_priorities();
	test_short_ones_and_idle();
	test_one_after_the_other();
	test_preempted_waiter();
	test_moved_waiter();
	test_edges_of_the_window();
	test_nothing_is_made_up();
	test_many_waiters();
	return tap_end();
}

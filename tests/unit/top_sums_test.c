// SPDX-License-Identifier: GPL-2.0
/* core/sums.h and model/top_sums.c: one made schedule goes into 'tactus top' switch by switch, and into another one as
 * the kernel half adds it up. Both have to show the same. */
#include <stdlib.h>
#include <string.h>

#include "../../src/model/top_rows.h"
#include "../../src/model/top_sums.h"
#include "tap.h"

enum { THREADS = 5, CPUS = 2, US = 1000, FIRST_TID = 100 };

/* The kernel half's of one thread and of one CPU. */
static struct thread_account accounts[THREADS];
static struct thread_sums sums[THREADS];
static struct recent_runs recent[CPUS];
static u64 busy_ns[CPUS], switches[CPUS];
static int on_cpu[CPUS]; /* -1: idle */

static struct threads threads;
static struct top by_switches, by_sums;
static struct cpu_topology topology[CPUS];
static u64 now_ns, seed = 7;

static u64 random_below(u64 most)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % most;
}

static u32 tid_of(int thread)
{
	return thread < 0 ? 0 : FIRST_TID + (u32)thread;
}

static void take(struct event_header *event)
{
	struct wait ended;
	bool waited;

	event->time_ns = now_ns;
	top_advance(&by_switches, &threads, now_ns);
	waited = threads_handle(&threads, event, &ended);
	top_handle(&by_switches, &threads, event, waited ? &ended : NULL);
}

static void begin(void)
{
	now_ns = NSEC_PER_SEC;
	memset(accounts, 0, sizeof(accounts));
	memset(sums, 0, sizeof(sums));
	memset(recent, 0, sizeof(recent));
	memset(busy_ns, 0, sizeof(busy_ns));
	memset(switches, 0, sizeof(switches));
	threads_init(&threads, topology, CPUS);
	top_init(&by_switches, CPUS, NULL);
	top_init(&by_sums, CPUS, NULL);
	top_advance(&by_sums, &threads, now_ns);
	top_sums_begin(&by_sums);
	for (int cpu = 0; cpu < CPUS; cpu++)
		on_cpu[cpu] = -1;
	for (int i = 0; i < THREADS; i++) {
		struct event_thread event = { .head = { 0, tid_of(i), 0, EVENT_THREAD, 0 },
					      .start_ns = 1 + (u64)i,
					      .pid = FIRST_TID };

		take(&event.head);
	}
}

static void end(void)
{
	top_free(&by_switches);
	top_free(&by_sums);
	threads_free(&threads);
}

static void wake(int thread, u32 waker_tid)
{
	struct event_wakeup event = { .head = { 0, tid_of(thread), 0, EVENT_WAKEUP, EVENT_FLAG_BY_THREAD },
				      .waker_tid = waker_tid };

	thread_woken(&accounts[thread], now_ns, waker_tid, 120);
	take(&event.head);
}

static void switch_to(u32 cpu, int next, bool sleeps)
{
	int prev = on_cpu[cpu];
	struct event_switch event = { .head = { 0, tid_of(prev), (u16)cpu, EVENT_SWITCH, 0 },
				      .next_tid = tid_of(next),
				      .prev_state = sleeps };

	recent_switch(&recent[cpu], tid_of(prev), now_ns);
	switches[cpu]++;
	if (prev >= 0)
		thread_run_ends(&accounts[prev], now_ns, sleeps, 0, 120);
	if (next >= 0) {
		struct thread_account *account = &accounts[next];
		u32 kind = account->wait_kind;
		struct sums_wait wait = { .kind = kind, .to_ns = now_ns, .cpu = cpu, .waker_tid = account->waker_tid };

		wait.wait_ns = thread_run_begins(account, now_ns, cpu, 120);
		if (kind != WAIT_NONE)
			sums_waited(&sums[next], &recent[cpu], &wait);
	}
	on_cpu[cpu] = next;
	take(&event.head);
}

static void hand_over(void)
{
	for (int i = 0; i < THREADS; i++) {
		struct sums_row row = { .head = { .start_ns = 1 + (u64)i, .tid = tid_of(i), .pid = FIRST_TID } };

		row.head.waker_known = 1;
		row.head.waker_tid = accounts[i].waker_tid;
		sums_since(&row.head, &sums[i], &accounts[i], now_ns);
		row.sums = sums[i];
		top_sums_add(&by_sums, &threads, &row);
		sums_restart(&sums[i], &row.head);
	}
	for (u32 cpu = 0; cpu < CPUS; cpu++) {
		top_sums_add_cpu(&by_sums, cpu, busy_ns[cpu], switches[cpu], tid_of(on_cpu[cpu]));
		busy_ns[cpu] = switches[cpu] = 0;
	}
}

static void pass(u64 ns)
{
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		busy_ns[cpu] += on_cpu[cpu] >= 0 ? ns : 0;
	now_ns += ns;
}

/* Whoever can run and does not; -1: nobody. */
static int waiting(void)
{
	int first = (int)random_below(THREADS);

	for (int i = 0; i < THREADS; i++)
		if (accounts[(first + i) % THREADS].wait_since_ns)
			return (first + i) % THREADS;
	return -1;
}

/* Exactly a second of threads that wake, wait, run, are pushed off and sleep. */
static void play_second(void)
{
	u64 until_ns = now_ns + NSEC_PER_SEC;

	while (now_ns + 5000 * US < until_ns) {
		int thread = (int)random_below(THREADS);
		u32 cpu = (u32)random_below(CPUS);

		pass(1 + random_below(random_below(4) ? 50 * US : 5000 * US));
		if (!accounts[thread].run_since_ns && !accounts[thread].wait_since_ns)
			wake(thread, tid_of((thread + 1) % THREADS));
		pass(1 + random_below(30 * US));
		if (now_ns < until_ns)
			switch_to(cpu, waiting(), random_below(2));
	}
	pass(until_ns - now_ns);
	top_advance(&by_switches, &threads, now_ns);
	hand_over();
	top_turn(&by_sums, &threads, now_ns);
}

static void test_same(void)
{
	struct top_choice choice = { .group = TOP_ONLY_THREADS };
	struct top_rows seen = { 0 }, added = { 0 };
	u32 same = 0, waits = 0, behind = 0, named = 0;

	begin();
	for (int second = 0; second < 4; second++)
		play_second();
	is(by_sums.turns, by_switches.turns, "a top by sums has as many turns as one by switches");
	is(by_sums.all.switches, by_switches.all.switches, "a top by sums counts every switch");
	is(by_sums.all.wakeups, by_switches.all.wakeups, "a top by sums counts every wake-up");
	top_rows_make(&seen, &by_switches, &threads, &choice);
	top_rows_make(&added, &by_sums, &threads, &choice);
	is(added.len, seen.len, "a top by sums shows as many threads as one by switches");
	for (size_t i = 0; i < seen.len && i < added.len; i++) {
		const struct top_row *one = &seen.all[i], *other = &added.all[i];
		const struct top_thread *thread = top_find(&by_switches, one->tid);

		same += one->tid == other->tid && one->cpu_hundredths == other->cpu_hundredths;
		waits += one->wait.waits == other->wait.waits && one->wait.p50_ns == other->wait.p50_ns &&
			 one->wait.p99_ns == other->wait.p99_ns && one->wait.max_ns == other->wait.max_ns;
		behind += thread->culprits[0].amount != 0;
		named += top_find(&by_sums, one->tid)->culprits[0].amount != 0;
	}
	is(same, THREADS, "the CPU time of each thread by sums is that by switches");
	is(waits, THREADS, "p50, p99 and worst of each thread's waits by sums are those by switches");
	is(named, behind, "a thread with a long wait has somebody behind whom it waited, by sums as by switches");
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		is(by_sums.cpus[cpu].percent, by_switches.cpus[cpu].percent, "a CPU is as busy by sums as by switches");
	printf("# measured: %lu waits of %lu switches\n", (unsigned long)by_sums.all.wakeups,
	       (unsigned long)by_sums.all.switches);
	top_rows_free(&seen);
	top_rows_free(&added);
	end();
}

static void test_behind(void)
{
	struct top_thread *waiter;

	begin();
	switch_to(0, 1, false);
	pass(10 * US);
	wake(0, tid_of(2));
	pass(3000 * US);
	switch_to(0, 2, true);
	pass(200 * US);
	switch_to(0, 0, true);
	hand_over();
	waiter = top_find(&by_sums, tid_of(0));
	is(waiter->culprits[0].tid, tid_of(1), "who had the CPU for most of a wait was in the way, not who ran last");
	is(waiter->culprits[0].amount, 3000 * US,
	   "who was in the way is charged with the part of the wait in which it ran");
	is(by_sums.waits_taken, 1, "a wait of 3 ms is kept as a long one");
	is(by_sums.waits[0].behind_tid, tid_of(1), "the long wait that is kept says who was in the way");
	is(by_sums.waits[0].waker_tid, tid_of(2), "the long wait that is kept says who had woken the thread");
	is(waiter->wakers[0].tid, tid_of(2), "a thread's last waker is known by sums");
	end();
}

static void test_idle_and_unknown(void)
{
	struct recent_runs runs = { 0 };
	u32 tid;
	u64 ns;

	begin();
	ok(!recent_behind(&runs, 0, 1000, &tid, &ns), "a CPU of which nothing is known was in nobody's way");
	recent_switch(&runs, 5, 1000);
	ok(!recent_behind(&runs, 0, 1000, &tid, &ns), "a run of which the beginning is not known was in nobody's way");
	recent_switch(&runs, 0, 1000 + 500 * US);
	ok(recent_behind(&runs, 1000, 1000 + 500 * US, &tid, &ns),
	   "a CPU that was idle while a thread waited is known");
	is(tid, 0, "a CPU that was idle while a thread waited was in nobody's hands");
	recent_switch(&runs, 6, 1000 + 510 * US);
	is(runs.taken, 1, "a run of 10 us is not kept, since it is in nobody's way");
	switch_to(1, 3, true);
	hand_over();
	by_sums.frozen = true;
	pass(1000 * US);
	wake(2, tid_of(3));
	pass(1000 * US);
	switch_to(1, 2, true);
	hand_over();
	is(by_sums.waits_taken, 0, "while the screen is frozen no wait is added to what it lists");
	is(top_find(&by_sums, tid_of(2))->now.wakeups, 1, "while the screen is frozen counts go on");
	end();
}

static void test_way_back(void)
{
	begin();
	switch_to(0, 0, false);
	pass(100 * US);
	wake(1, tid_of(0));
	top_sums_end(&by_switches, &threads, now_ns);
	pass(700000 * US);
	switch_to(0, 1, true);
	is(by_switches.waits_taken, 0, "a wait that began before every switch was read again is not made up");
	is(threads.cpus[0].tid, tid_of(1), "the first switch that is read again says who runs");
	end();
}

/* A thread on a clock of 10 ms is woken and runs at once; then its switches are not sent for a second. */
static void test_unsent(void)
{
	struct sums_row row = {
		.head = { .start_ns = 1, .tid = tid_of(0), .pid = FIRST_TID, .runs = 5000, .unsent = 1 }
	};

	begin();
	by_switches.miss_model.of_all = true;
	for (int i = 0; i < 100; i++) {
		wake(0, 0);
		pass(US);
		switch_to(0, 0, true);
		pass(9999 * US);
		if (i < 99)
			switch_to(0, -1, true);
	}
	is(by_switches.misses_taken, 0, "a thread that runs as its timer wants has no misses");
	top_sums_add(&by_switches, &threads, &row);
	pass(NSEC_PER_SEC);
	switch_to(0, -1, true);
	is(by_switches.misses_taken, 0,
	   "a thread whose switches were not sent for a second has not missed that second");
	end();
}

int main(void)
{
	test_same();
	test_behind();
	test_idle_and_unknown();
	test_way_back();
	test_unsent();
	return tap_end();
}

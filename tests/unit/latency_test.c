// SPDX-License-Identifier: GPL-2.0
/* model/latency.c: waits of both kinds, per thread and process, single long waits and who was in the way. */
#include <stdlib.h>

#include "../../src/model/latency.h"
#include "tap.h"

enum { GAME = 10, GAME_AUDIO = 11, BUILD = 20, SHELL = 30, NICE_0 = 121, ASLEEP = 1, CPUS = 4 };
#define MS(count) ((u64)(count)*NSEC_PER_MSEC)

static struct threads threads;
static struct latency latency;

static void take(const void *event)
{
	struct wait ended;
	bool has_ended = threads_handle(&threads, event, &ended);

	latency_handle(&latency, &threads, event, has_ended ? &ended : NULL);
}

static void add_thread(u32 tid, u32 pid, const char *comm)
{
	struct event_thread event = { .head = { .time_ns = 1, .tid = tid, .kind = EVENT_THREAD }, .start_ns = tid };

	event.pid = pid;
	strncpy(event.comm.text, comm, COMM_LEN - 1);
	take(&event);
}

static void wake(u64 now_ns, u32 tid, u32 waker, u16 cpu)
{
	struct event_wakeup event = { .head = { .time_ns = now_ns, .tid = tid, .cpu = cpu, .kind = EVENT_WAKEUP } };

	event.waker_tid = waker;
	event.target_cpu = cpu;
	event.prio = NICE_0;
	take(&event);
}

static void switch_to(u64 now_ns, u16 cpu, u32 prev, u16 state, u32 next)
{
	struct event_switch event = { .head = { .time_ns = now_ns, .tid = prev, .cpu = cpu, .kind = EVENT_SWITCH } };

	event.head.flags = prev && !state ? EVENT_FLAG_PREEMPTED : 0;
	event.prev_state = state;
	event.next_tid = next;
	event.prev_prio = NICE_0;
	event.next_prio = NICE_0;
	take(&event);
}

static void sample(u64 now_ns, u16 cpu, u32 tid)
{
	struct event_sample event = { .head = { .time_ns = now_ns, .tid = tid, .cpu = cpu, .kind = EVENT_SAMPLE } };

	event.prio = NICE_0;
	take(&event);
}

static void begin(u64 over_ns)
{
	static const struct cpu_topology topology[CPUS];

	if (threads_init(&threads, topology, CPUS))
		abort();
	latency_init(&latency, over_ns);
	add_thread(GAME, GAME, "game");
	add_thread(GAME_AUDIO, GAME, "audio");
	add_thread(BUILD, BUILD, "cc1");
	add_thread(SHELL, SHELL, "sh");
}

static void end(void)
{
	latency_free(&latency);
	threads_free(&threads);
}

/* The game is woken while the build runs, waits 7 ms, and later gives way to the build, which it waits for again. */
static void play_game_and_build(void)
{
	sample(MS(1), 0, BUILD);
	wake(MS(10), GAME, SHELL, 0);
	switch_to(MS(17), 0, BUILD, 0, GAME);
	switch_to(MS(20), 0, GAME, 0, BUILD);
	switch_to(MS(24), 0, BUILD, ASLEEP, GAME);
}

static void test_both_kinds_of_waits(void)
{
	begin(0);
	play_game_and_build();
	is(latency.woken.total, 1, "game waited once after a wake-up");
	is(latency.woken.max, MS(7), "wait after a wake-up took 7 ms");
	is(latency.preempted.total, 2, "waits after preemptions are the build's and the game's");
	is(latency.preempted.max, MS(4), "longer wait after a preemption took 4 ms");
	is(latency.preempted.sum, MS(3 + 4), "waits after preemptions took 7 ms in all");
	is(latency.longest_len, 0, "single waits are not kept if none was asked for");
	end();
}

static void test_single_waits(void)
{
	const struct long_wait *wait;

	begin(MS(3));
	play_game_and_build();
	latency_order_waits(&latency);
	is(latency.longest_len, 2, "waits longer than 3 ms are listed, the one of just 3 ms is not");
	wait = &latency.longest[0];
	is(wait->to_ns, MS(17), "first wait ended at 17 ms");
	is(wait->wait_ns, MS(7), "first wait took 7 ms");
	is(wait->tid, GAME, "first wait was the game's");
	is_text(wait->comm.text, "game", "first wait has the name of who waited");
	is(wait->culprit, CULPRIT_THREAD, "first wait was behind a thread");
	is(wait->behind_tid, BUILD, "first wait was behind the build");
	is_text(wait->behind_comm.text, "cc1", "first wait has the name of who ran");
	is(wait->kind, WAIT_WOKEN, "first wait came after a wake-up");
	is(wait->waker_tid, SHELL, "first wait names who woke the thread");
	is_text(wait->waker_comm.text, "sh", "first wait has the name of who woke the thread");
	wait = &latency.longest[1];
	is(wait->kind, WAIT_PREEMPTED, "second wait came after a preemption");
	is(wait->behind_tid, BUILD, "second wait was behind the build");
	is(wait->waker_tid, 0, "wait after a preemption has no waker");
	end();
}

static void test_culprit_is_who_ran_longest(void)
{
	begin(MS(1));
	sample(MS(1), 0, BUILD);
	wake(MS(5), GAME, 0, 0);
	switch_to(MS(6), 0, BUILD, ASLEEP, SHELL);
	switch_to(MS(8), 0, SHELL, ASLEEP, GAME_AUDIO);
	switch_to(MS(9), 0, GAME_AUDIO, ASLEEP, SHELL);
	switch_to(MS(10), 0, SHELL, ASLEEP, GAME);
	is(latency.longest_len, 1, "wait over the limit is the only one listed");
	is(latency.longest[0].behind_tid, SHELL, "runs of one thread in a wait count together");
	is(latency.longest[0].waker_tid, 0, "wait after an interrupt has no waker");
	end();
	begin(MS(1));
	sample(MS(1), 0, BUILD);
	wake(MS(19), GAME, SHELL, 0);
	switch_to(MS(20), 0, BUILD, ASLEEP, SHELL);
	switch_to(MS(23), 0, SHELL, ASLEEP, GAME);
	is(latency.longest[0].behind_tid, SHELL, "run before a wait began does not count");
	end();
}

static void test_idle_and_unknown(void)
{
	begin(MS(1));
	switch_to(MS(1), 0, BUILD, ASLEEP, 0);
	wake(MS(2), GAME, SHELL, 0);
	switch_to(MS(6), 0, 0, 0, GAME);
	is(latency.longest[0].culprit, CULPRIT_IDLE, "a CPU that was idle all the time");
	end();
	begin(MS(1));
	wake(MS(2), GAME, SHELL, 0);
	switch_to(MS(6), 0, BUILD, ASLEEP, GAME);
	is(latency.longest[0].culprit, CULPRIT_UNKNOWN, "wait before the first event has no known culprit");
	end();
}

static void test_many_runs_in_one_wait(void)
{
	u64 now_ns = MS(2);

	begin(MS(1));
	sample(MS(1), 0, BUILD);
	wake(now_ns, GAME, SHELL, 0);
	for (int i = 0; i < 4 * HISTORY_RUNS; i++, now_ns += NSEC_PER_MSEC)
		switch_to(now_ns, 0, i % 2 ? SHELL : BUILD, ASLEEP, i % 2 ? BUILD : SHELL);
	switch_to(now_ns + MS(700), 0, BUILD, ASLEEP, GAME);
	is(latency.longest[0].behind_tid, BUILD, "wait with more runs than are remembered is behind the last ones");
	end();
}

static void test_longest_are_kept(void)
{
	u64 now_ns = MS(10), shortest_ns = ~0ULL;
	bool ordered = true;

	begin(MS(1));
	sample(MS(1), 0, BUILD);
	for (u32 i = 0; i < LATENCY_WAITS_KEPT + 500; i++) {
		wake(now_ns, GAME, SHELL, 0);
		now_ns += MS(2) + (i * 7919 % 1500) * NSEC_PER_USEC;
		switch_to(now_ns, 0, BUILD, ASLEEP, GAME);
		switch_to(now_ns + 10, 0, GAME, ASLEEP, BUILD);
		now_ns += 20;
	}
	latency_order_waits(&latency);
	for (u32 i = 0; i < latency.longest_len; i++) {
		ordered &= !i || latency.longest[i - 1].to_ns < latency.longest[i].to_ns;
		shortest_ns = latency.longest[i].wait_ns < shortest_ns ? latency.longest[i].wait_ns : shortest_ns;
	}
	is(latency.longest_len, LATENCY_WAITS_KEPT, "list of longest waits is bounded");
	is(latency.not_listed, 500, "waits that are not on the list are counted");
	is(shortest_ns, MS(2) + 500 * NSEC_PER_USEC, "list of longest waits has the longest");
	ok(ordered, "longest waits are in the order of time");
	end();
}

static void test_rows(void)
{
	struct latency_row *rows;
	size_t len;

	begin(0);
	sample(MS(1), 0, BUILD);
	wake(MS(2), GAME_AUDIO, SHELL, 0);
	switch_to(MS(2) + 1000, 0, BUILD, ASLEEP, GAME_AUDIO);
	wake(MS(3), GAME, GAME_AUDIO, 0);
	switch_to(MS(9), 0, GAME_AUDIO, ASLEEP, GAME);
	wake(MS(10), BUILD, GAME, 0);
	switch_to(MS(12), 0, GAME, ASLEEP, BUILD);
	rows = latency_rows(&latency, &threads, false, &len);
	is(len, 3, "rows are as many as the threads that waited");
	is(rows ? rows[0].tid : 0, GAME, "rows have the thread with the worst wait first");
	is(rows ? rows[1].tid : 0, BUILD, "rows have the thread with the second worst wait second");
	is(rows ? rows[2].tid : 0, GAME_AUDIO, "rows have the thread with the least wait last");
	is(rows ? rows[0].summary.max_ns : 0, MS(6), "first row has its worst wait");
	is(rows ? rows[0].summary.p50_ns : 0, MS(6), "row of one wait has it as all its percentiles");
	is(rows ? rows[2].summary.max_ns : 0, 1000, "last row has the least wait");
	free(rows);
	rows = latency_rows(&latency, &threads, true, &len);
	is(len, 2, "rows by process are as many as the processes that waited");
	is(rows ? rows[0].pid : 0, GAME, "rows by process begin with the game");
	is_text(rows ? rows[0].comm.text : "", "game", "row of a process has its first thread's name");
	is(rows ? rows[0].summary.waits : 0, 2, "row of a process has the waits of both its threads");
	is(rows ? rows[0].summary.max_ns : 0, MS(6), "row of a process has the worst wait of its threads");
	is(rows ? rows[0].summary.p50_ns : 0, hist_slot_high(hist_slot(1000)),
	   "row of a process has the median of both its threads");
	free(rows);
	end();
	begin(0);
	ok(!latency_rows(&latency, &threads, false, &len), "latency without waits has no rows");
	is(len, 0, "latency without waits has zero rows");
	end();
}

/* A thread's own histogram grows both ways and still gives the same numbers as a whole one. */
static void test_percentiles_of_a_thread(void)
{
	struct latency_summary want;
	struct latency_row *rows;
	u64 now_ns = MS(1);
	size_t len;

	begin(0);
	sample(now_ns, 0, BUILD);
	for (u64 i = 1; i <= 1000; i++) {
		now_ns += 100;
		wake(now_ns, GAME, SHELL, 0);
		now_ns += (i * 617 % 1000 + 1) * (i * 617 % 1000 + 1) * 50;
		switch_to(now_ns, 0, BUILD, ASLEEP, GAME);
		switch_to(now_ns + 10, 0, GAME, ASLEEP, BUILD);
		now_ns += 10;
	}
	want = latency_summary(&latency.woken);
	rows = latency_rows(&latency, &threads, false, &len);
	is(want.waits, 1000, "thousand waits are all counted");
	is(want.wait_ns, latency.woken.sum, "sum of a thousand waits is right");
	ok(rows, "waits of a thread have a row");
	is(rows ? rows[0].summary.waits : 0, want.waits, "thread with all waits has their number");
	is(rows ? rows[0].summary.wait_ns : 0, want.wait_ns, "thread with all waits has their sum");
	is(rows ? rows[0].summary.p50_ns : 0, want.p50_ns, "thread with all waits has their median");
	is(rows ? rows[0].summary.p90_ns : 0, want.p90_ns, "thread with all waits has their p90");
	is(rows ? rows[0].summary.p95_ns : 0, want.p95_ns, "thread with all waits has their p95");
	is(rows ? rows[0].summary.p99_ns : 0, want.p99_ns, "thread with all waits has their p99");
	is(rows ? rows[0].summary.p999_ns : 0, want.p999_ns, "thread with all waits has their p99.9");
	is(rows ? rows[0].summary.max_ns : 0, want.max_ns, "thread with all waits has the longest");
	ok(want.p50_ns >= 12500000, "median of a thousand waits is not too short");
	ok(want.p50_ns <= 12500000 * 9 / 8, "median of a thousand waits is right within a slot");
	ok(want.p999_ns >= 49900050, "p99.9 of a thousand waits is not too short");
	ok(want.p999_ns <= want.max_ns, "p99.9 of a thousand waits is not above the longest");
	is(want.max_ns, 50000000, "longest of a thousand waits is exact");
	free(rows);
	end();
}

int main(void)
{
	test_both_kinds_of_waits();
	test_single_waits();
	test_culprit_is_who_ran_longest();
	test_idle_and_unknown();
	test_many_runs_in_one_wait();
	test_longest_are_kept();
	test_rows();
	test_percentiles_of_a_thread();
	return tap_end();
}

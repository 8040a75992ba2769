// SPDX-License-Identifier: GPL-2.0
/* core/account.h's accounts of threads, model/threads.c and model/tasks.c: events in, numbers out. */
#include "../../src/model/tasks.h"
#include "../../src/model/threads.h"
#include "tap.h"

enum { GAME = 100, RENDER = 101, BUILD = 200, NORMAL = 121 };

static struct threads threads;
static struct wait ended;
static struct cpu_topology topology[4] = { { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 2, 0, 0, 1 }, { 3, 3, 1, 1 } };

static bool take(const void *event)
{
	return threads_handle(&threads, event, &ended);
}

static void add_thread(u64 at_ns, u32 tid, u32 pid, u64 start_ns, const char *name, u8 flags)
{
	struct event_thread event = { .head = { at_ns, tid, 0, EVENT_THREAD, flags },
				      .start_ns = start_ns,
				      .pid = pid };

	strncpy(event.comm.text, name, COMM_LEN - 1);
	take(&event);
}

static bool switch_at(u64 at_ns, u16 cpu, u32 prev, u16 state, u8 flags, u32 next)
{
	struct event_switch event = { .head = { at_ns, prev, cpu, EVENT_SWITCH, flags },
				      .next_tid = next,
				      .prev_state = state,
				      .prev_prio = NORMAL,
				      .next_prio = NORMAL };

	return take(&event);
}

static void wake_at(u64 at_ns, u32 tid, u32 waker, u16 cpu)
{
	struct event_wakeup event = {
		.head = { at_ns, tid, 0, EVENT_WAKEUP, 0 }, .waker_tid = waker, .target_cpu = cpu, .prio = NORMAL
	};

	take(&event);
}

static void move(u32 tid, u16 from, u16 to)
{
	struct event_migrate event = { .head = { 1, tid, 0, EVENT_MIGRATE, 0 }, .from_cpu = from, .to_cpu = to };

	take(&event);
}

static const struct thread_account *account(u32 tid)
{
	return &threads_by_tid(&threads, tid)->account;
}

static void begin(void)
{
	threads_init(&threads, topology, 4);
	add_thread(1, GAME, GAME, 7, "game", 0);
	add_thread(1, RENDER, GAME, 8, "render", 0);
	add_thread(1, BUILD, BUILD, 9, "cc1", 0);
}

static void test_a_life(void)
{
	begin();
	wake_at(1000, GAME, BUILD, 0);
	ok(switch_at(1300, 0, 0, 0, 0, GAME), "a thread that gets a CPU ends its wait");
	is(ended.to_ns - ended.from_ns, 300, "wait that ended took 300 ns");
	is(ended.waker_tid, BUILD, "wait that ended began with a wake-up by the build");
	ok(!switch_at(1500, 0, GAME, 0, EVENT_FLAG_PREEMPTED, BUILD), "thread not seen to wait ends no wait");
	is(account(GAME)->cpu_ns, 200, "game ran 200 ns before it was pushed off");
	is(account(GAME)->involuntary, 1, "game pushed off counts as involuntary");
	ok(switch_at(1900, 0, BUILD, 1, 0, GAME), "game that gets the CPU back ends a wait");
	is(ended.kind, WAIT_PREEMPTED, "wait of the game pushed off came after a preemption");
	is(account(GAME)->preempt_wait_ns, 400, "wait of the game pushed off cost 400 ns");
	is(account(GAME)->wake_wait_ns, 300, "told apart from those after the wake-up");
	is(account(GAME)->wait_max_ns, 400, "game keeps its worst wait");
	is(account(GAME)->wait_max_at_ns, 1900, "game keeps when its worst wait ended");
	is(account(BUILD)->voluntary, 1, "build that went to sleep by itself counts as voluntary");
	switch_at(2000, 0, GAME, 1, EVENT_FLAG_PREEMPTED, 0);
	is(account(GAME)->involuntary, 2, "thread pushed off on its way to sleep left against its will");
	ok(account(GAME)->wait_since_ns == 2000, "thread pushed off on its way to sleep waits, since it can still run");
	wake_at(2050, GAME, BUILD, 0);
	is(account(GAME)->wakeups, 1, "a wake-up of a thread that can run is none");
	switch_at(2100, 0, 0, 0, 0, GAME);
	switch_at(2200, 0, GAME, STATE_DEAD, 0, 0);
	ok(threads_by_tid(&threads, GAME)->ended, "a dead thread has ended");
	is(account(GAME)->runs, 3, "game ran three times");
	threads_free(&threads);
}

static void test_window_edges(void)
{
	struct event_sample sample = { .head = { 500, GAME, 2, EVENT_SAMPLE, 0 }, .prio = NORMAL };

	begin();
	take(&sample);
	is(account(GAME)->cpus[0], 1 << 2, "thread found on CPU 2 has that CPU in its set");
	sample.head.time_ns = 800;
	sample.head.flags = EVENT_FLAG_CLOSING;
	take(&sample);
	is(account(GAME)->cpu_ns, 300, "a run over the whole window counts as long as the window");
	is(account(GAME)->runs, 0, "run over the whole window is no run that ended");
	threads_free(&threads);
}

static void test_reused_tid_and_exec(void)
{
	struct event_tid_change exec = { .head = { 50, GAME, 0, EVENT_TID_CHANGE, 0 }, .old_tid = RENDER, .pid = GAME };
	struct thread *old;

	begin();
	old = threads_by_tid(&threads, BUILD);
	add_thread(10, BUILD, BUILD, 99, "make", 0);
	ok(threads_by_tid(&threads, BUILD) != old, "a reused tid is another thread");
	is(threads.len, 4, "thread of a reused tid is kept");
	old = threads_by_tid(&threads, RENDER);
	take(&exec);
	ok(threads_by_tid(&threads, GAME) == old, "an exec by a thread takes over the tid of its process");
	ok(!threads_by_tid(&threads, RENDER), "exec by a thread leaves its own tid");
	threads_free(&threads);
}

static void test_bystanders_have_no_account(void)
{
	begin();
	add_thread(1, 300, 300, 5, "other", EVENT_FLAG_BYSTANDER);
	switch_at(1000, 0, 0, 0, 0, 300);
	switch_at(2000, 0, 300, 1, 0, GAME);
	is(account(300)->cpu_ns + account(300)->voluntary, 0, "nothing is counted of a bystander");
	threads_free(&threads);
}

static void test_unseen_switch(void)
{
	struct event_unseen_switch missed = { .head = { 2000, GAME, 0, EVENT_UNSEEN_SWITCH, 0 }, .since_ns = 1400 };

	begin();
	wake_at(1000, GAME, 0, 0);
	ok(take(&missed), "a switch that was not seen ends a wait");
	is(ended.to_ns - ended.from_ns, 400, "wait found in the kernel counts up to when the run began");
	switch_at(2000, 0, GAME, 1, 0, 0);
	is(account(GAME)->cpu_ns, 600, "run found in the kernel counts from its beginning");
	threads_free(&threads);
}

static void test_places_and_scores(void)
{
	struct thread_account none = { 0 };

	begin();
	move(GAME, 0, 1);
	move(GAME, 1, 2);
	move(GAME, 2, 3);
	move(GAME, 3, 60000);
	is(account(GAME)->migrations[DISTANCE_CORE], 1, "move to a sibling is counted as such");
	is(account(GAME)->migrations[DISTANCE_LLC], 1, "move within a cache is counted as such");
	is(account(GAME)->migrations[DISTANCE_CROSS], 1, "move across nodes is counted as such");
	is(thread_migrations(account(GAME)), 3, "a CPU that does not exist is no place");
	is(account_affinity_score(&none), 100, "thread that never ran has affinity 100");
	none.runs = 4;
	none.migrations[DISTANCE_CROSS] = 4;
	is(account_affinity_score(&none), 0, "thread that crosses nodes before every run has affinity 0");
	none.migrations[DISTANCE_CROSS] = 1;
	is(account_affinity_score(&none), 75, "thread that crosses nodes before one of four runs has affinity 75");
	none.migrations[DISTANCE_CROSS] = 0;
	none.migrations[DISTANCE_CORE] = 4;
	is(account_affinity_score(&none), 75, "every run, but to a sibling: 75");
	threads_free(&threads);
}

static void test_rows(void)
{
	struct tasks tasks;

	begin();
	switch_at(1000, 0, 0, 0, 0, GAME);
	switch_at(2000, 0, GAME, 1, 0, RENDER);
	switch_at(5000, 0, RENDER, 1, 0, 0);
	is(tasks_from_threads(&tasks, &threads, false), 0, "tasks are made from threads");
	tasks_sort(&tasks, TASKS_BY_CPU);
	is(tasks.len, 2, "tasks are only those that were active");
	is(tasks.all[0].first->tid, RENDER, "tasks have the one with most CPU time first");
	tasks_free(&tasks);
	tasks_from_threads(&tasks, &threads, true);
	is(tasks.len, 1, "tasks by process are one for two threads");
	is(tasks.all[0].sum->cpu_ns, 4000, "task of a process has the sum of its threads");
	is(tasks.all[0].first->tid, GAME, "task of a process has the first thread's name");
	tasks_free(&tasks);
	threads_free(&threads);
}

static void test_many_threads(void)
{
	bool found = true;

	threads_init(&threads, topology, 4);
	for (u32 tid = 1; tid <= 20000; tid++)
		add_thread(tid, tid, tid, tid, "t", 0);
	for (u32 tid = 1; tid <= 20000; tid++)
		found &= threads_by_tid(&threads, tid) && threads_by_tid(&threads, tid)->tid == tid;
	ok(found, "thread among 20,000 is found by its tid");
	ok(!threads_by_tid(&threads, 20001), "tid beyond 20,000 threads is not found");
	threads_free(&threads);
}

/* A hundred thousand that come and go beside one that stays. */
static void test_forgetting(void)
{
	size_t most = 0;

	begin();
	threads.ended_most = 100;
	add_thread(1, GAME, GAME, 7, "game", 0);
	for (u32 i = 0; i < 100000; i++) {
		u32 tid = 1000 + i % 30000;

		add_thread(10 + i * 2ULL, tid, 1000, 10 + i, "short", 0);
		switch_at(10 + i * 2ULL, 0, GAME, 0, EVENT_FLAG_PREEMPTED, tid);
		switch_at(11 + i * 2ULL, 0, tid, STATE_DEAD, 0, GAME);
		most = threads.len > most ? threads.len : most;
	}
	ok(most <= 2 * 100 + 4, "threads that ended are forgotten: at most %zu of 100000 were known at a time", most);
	ok(threads.len > 100, "the last threads that ended are still known: %zu", threads.len);
	is_text(threads_by_tid(&threads, GAME)->comm.text, "game", "thread that lives is not forgotten");
	ok(account(GAME)->runs >= 99999, "account of a thread that lives goes on while others are forgotten");
	is_text(threads_by_tid(&threads, 1000 + 99999 % 30000)->comm.text, "short", "last thread that ended is known");
	ok(!threads_by_tid(&threads, 1000 + 99000 % 30000), "thread that ended long ago is forgotten");
	threads_free(&threads);
}

static void test_crowds(void)
{
	threads_init(&threads, topology, 4);
	for (u32 tid = 1; tid <= THREADS_MOST + 10; tid++)
		add_thread(tid, tid, 1, 1, "one", 0);
	is(threads.len, THREADS_MOST, "threads beyond the most are not kept");
	is(threads.refused, 10, "threads beyond the most are counted");
	threads_free(&threads);
	threads_init(&threads, topology, 4);
	threads.ended_most = 100;
	for (u32 tid = 1; tid <= THREADS_MOST + 10; tid++)
		add_thread(tid, tid, 1, 1, "one", 0);
	ok(threads.len <= THREADS_MOST, "crowd whose ends were lost is bounded");
	is(threads.refused, 0, "crowd whose ends were lost keeps nobody new out");
	ok(threads_by_tid(&threads, THREADS_MOST + 10), "newest thread of a crowd is known");
	threads_free(&threads);
}

int main(void)
{
	test_a_life();
	test_window_edges();
	test_reused_tid_and_exec();
	test_bystanders_have_no_account();
	test_unseen_switch();
	test_places_and_scores();
	test_rows();
	test_many_threads();
	test_forgetting();
	test_crowds();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0
/* core/awaited.h and core/role_awaited.h: urgency follows the work through pools of any width, over pipes, barriers and
 * chains of processes, however seldom each of many is waited for, and goes when the edge dies. Threads of a small model
 * wake each other; what the kernel half does at a wake-up is done here with the same functions. */
#include "../../core/role_awaited.h"
#include "tap.h"

enum { ONES_MOST = 40, LOOK_NS = NSEC_PER_SEC, TEAM = 16 };

struct one {
	struct role_state role;
	struct thread_account account;
	struct kin kin;
	u32 tid, waker_tid;
	u64 urgent_ns; /* first urgent then; 0: never */
	u32 falls;     /* urgent and then not */
	u32 is_urgent;
	u32 was_awaited; /* ever */
};

struct scene {
	struct one all[ONES_MOST];
	u32 len;
	u64 now_ns, looked_ns;
	u64 seed;
};

static struct scene scene;

static void begins(void)
{
	memset(&scene, 0, sizeof(scene));
	scene.now_ns = scene.looked_ns = 100ull * NSEC_PER_SEC;
	scene.seed = 1;
}

static u32 draw(u32 below)
{
	scene.seed = scene.seed * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(scene.seed >> 33) % below;
}

static struct one *add(u32 pid, u32 parent_pid)
{
	struct one *one = &scene.all[scene.len++];

	one->tid = 1000 + scene.len;
	one->kin = (struct kin){ pid ? pid : one->tid, parent_pid };
	one->role.facts.has = pid ? 0 : HAS_FIRST_THREAD;
	one->role.first_ns = scene.now_ns;
	one->account.charged_ns = scene.now_ns;
	role_window_begins(&one->role, &one->account, scene.now_ns);
	role_answers(&one->role);
	return one;
}

/* One that gives a GPU something to do, and goes on with it. */
static void submits(struct one *one)
{
	one->role.facts.gpu_submits++;
}

static void answers(struct one *one)
{
	u32 was = one->is_urgent;

	role_answers(&one->role);
	one->is_urgent = one->role.answer.tier == TIER_LATENCY_CRITICAL;
	one->was_awaited |= one->role.facts.has & HAS_AWAITED;
	one->falls += was && !one->is_urgent;
	if (one->is_urgent && !one->urgent_ns)
		one->urgent_ns = scene.now_ns;
}

static void judges(struct one *one)
{
	if (!role_is_due(&one->role, &one->account, scene.now_ns, ROLE_WAKEUPS_DEFAULT))
		return;
	role_judge(&one->role, &one->account, scene.now_ns);
	answers(one);
}

/* Time goes on. Once a second all are looked at, as those that neither sleep nor switch are. */
static void passes(u64 span_ns)
{
	scene.now_ns += span_ns;
	if (scene.now_ns < scene.looked_ns + LOOK_NS)
		return;
	scene.looked_ns = scene.now_ns;
	for (u32 i = 0; i < scene.len; i++)
		judges(&scene.all[i]);
}

static void sleeps(struct one *one)
{
	thread_run_ends(&one->account, scene.now_ns, 1, 0, 121);
}

/* `waker` NULL: an interrupt. */
static void wakes(struct one *waker, struct one *woken)
{
	struct wait_end end = { .now_ns = scene.now_ns, .waiter_tid = woken->tid, .tid = waker ? waker->tid : 0 };

	if (woken->account.run_since_ns)
		return;
	if (waker && waker->kin.pid == woken->kin.pid)
		role_is_asked_within(&woken->role, &waker->role);
	if (waker) {
		end.was_asked = waker->waker_tid == woken->tid;
		end.group = awaited_group(woken->kin, waker->kin, (int)end.was_asked);
	}
	if (woken->role.answer.tier == TIER_LATENCY_CRITICAL) {
		end.slept_us = slept_us(&woken->account, scene.now_ns);
		role_wait_ends(&woken->role, waker ? &waker->role : NULL, &end);
	}
	woken->waker_tid = waker ? waker->tid : 0;
	thread_woken(&woken->account, scene.now_ns, woken->waker_tid, 121);
	judges(woken);
	thread_run_begins(&woken->account, scene.now_ns, 0, 121);
}

struct outcome {
	u32 urgent; /* now, of so many */
	u32 falls;
	u64 last_ns; /* until the last of them was */
};

static struct outcome outcome_of(const struct one *first, u32 len)
{
	struct outcome all = { 0 };

	for (u32 i = 0; i < len; i++) {
		all.urgent += first[i].is_urgent;
		all.falls += first[i].falls;
		if (first[i].urgent_ns > all.last_ns)
			all.last_ns = first[i].urgent_ns;
	}
	return all;
}

static u32 ms(u64 ns)
{
	return (u32)(ns / NSEC_PER_MSEC);
}

/* A launching thread takes a batch of each of its workers in turn, processes of its own, over pipes, and asks that one
 * for the next. All of a batch's time but half a millisecond is the worker's. */
static void train(struct one *trainer, struct one *workers, u32 len, u64 step_ns, u32 steps)
{
	for (u32 i = 0; i < steps; i++) {
		struct one *worker = &workers[i % len];

		sleeps(trainer);
		passes(step_ns - NSEC_PER_MSEC / 2);
		wakes(worker, trainer);
		sleeps(worker);
		submits(trainer);
		passes(NSEC_PER_MSEC / 2);
		wakes(trainer, worker);
	}
}

static struct one *begin_training(u32 len, struct one **workers)
{
	struct one *trainer;

	begins();
	trainer = add(0, 500);
	trainer->role.facts.gpu_submits = 20;
	*workers = &scene.all[scene.len];
	for (u32 i = 0; i < len; i++)
		thread_run_begins(&add(0, trainer->tid)->account, scene.now_ns, 0, 121);
	answers(trainer);
	thread_run_begins(&trainer->account, scene.now_ns, 0, 121);
	return trainer;
}

/* Each worker is waited for every few seconds at least. */
static void test_loaders(void)
{
	static const u32 widths[] = { 1, 4, 6, 8, 16, 32 }, rates[] = { 5, 20, 100, 500 };

	for (u32 w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
		for (u32 r = widths[w] > 16; r < sizeof(rates) / sizeof(rates[0]); r++) {
			u32 width = widths[w], rate = rates[r];
			struct one *workers, *trainer = begin_training(width, &workers);
			u64 from_ns = scene.now_ns;
			struct outcome seen;

			train(trainer, workers, width, NSEC_PER_SEC / rate, 60 * rate);
			seen = outcome_of(workers, width);
			printf("# measured: %u workers, %u steps a second: %u urgent, the last after %u ms, %u falls\n",
			       width, rate, seen.urgent, seen.last_ns ? ms(seen.last_ns - from_ns) : 0, seen.falls);
			is(seen.urgent, width, "pool of %u that feeds a trainer of %u steps a second is urgent", width,
			   rate);
			is(seen.falls, 0, "pool of %u that feeds a trainer of %u steps a second stays urgent", width,
			   rate);
		}
}

/* Threads of one process meet at a barrier: the last of them wakes all, and the first thread wakes them for the next
 * part. */
static void compute(struct one *master, struct one *team, u32 len, u32 regions)
{
	for (u32 i = 0; i < regions; i++) {
		u64 region_ns = (4000 + draw(25000)) * (u64)NSEC_PER_USEC;
		u32 last = draw(len + 1);

		for (u32 j = 0; j < len; j++)
			wakes(master, &team[j]);
		passes(region_ns / 2);
		for (u32 j = 0; j < len; j++)
			if (j != last)
				sleeps(&team[j]);
		if (last < len) {
			sleeps(master);
			passes(region_ns / 4);
			wakes(&team[last], master);
			for (u32 j = 0; j < len; j++)
				if (j != last)
					wakes(&team[last], &team[j]);
			for (u32 j = 0; j < len; j++)
				sleeps(&team[j]);
		} else {
			for (u32 j = 0; j < len; j++)
				wakes(master, &team[j]);
			for (u32 j = 0; j < len; j++)
				sleeps(&team[j]);
			passes(region_ns / 4);
		}
		submits(master);
		passes(region_ns / 4);
	}
}

static void test_teams(void)
{
	static const u32 widths[] = { 3, 7, 15, 31 };

	for (u32 w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		struct one *master, *team;
		struct outcome seen;
		u64 from_ns;

		begins();
		master = add(0, 500);
		master->role.facts.gpu_submits = 20;
		answers(master);
		thread_run_begins(&master->account, scene.now_ns, 0, 121);
		team = &scene.all[scene.len];
		for (u32 i = 0; i < widths[w]; i++)
			add(master->tid, 500);
		from_ns = scene.now_ns;
		compute(master, team, widths[w], 60 * 60);
		seen = outcome_of(team, widths[w]);
		printf("# measured: team of %u: %u urgent, the last after %u ms, %u falls\n", widths[w] + 1,
		       seen.urgent, seen.last_ns ? ms(seen.last_ns - from_ns) : 0, seen.falls);
		is(seen.urgent, widths[w], "team of %u that an urgent thread meets at a barrier is urgent",
		   widths[w] + 1);
		is(seen.falls, 0, "team of %u that an urgent thread meets at a barrier stays urgent", widths[w] + 1);
	}
}

/* decode | filter | play, each of which sleeps until the one before it has something, and never wakes that one. */
static void test_chain(void)
{
	struct one *decode, *filter, *play, *stranger;

	begins();
	decode = add(0, 500);
	filter = add(0, 500);
	play = add(0, 500);
	stranger = add(0, INIT_PID);
	play->role.facts.audio_writes = 20;
	answers(play);
	for (u32 i = 0; i < 50 * 20; i++) {
		play->role.facts.audio_writes++;
		wakes(NULL, decode);
		passes((1 + draw(20000)) * NSEC_PER_USEC);
		wakes(decode, filter);
		sleeps(decode);
		passes(4 * NSEC_PER_MSEC);
		wakes(filter, play);
		sleeps(filter);
		passes(2 * NSEC_PER_MSEC);
		sleeps(play);
		wakes(stranger, play);
		passes(2 * NSEC_PER_MSEC);
		sleeps(play);
		passes(2 * NSEC_PER_MSEC);
	}
	ok(filter->is_urgent, "process that hands an urgent one its work over a pipe is urgent");
	ok(decode->is_urgent, "process that hands work to that one is urgent");
	is(filter->falls + decode->falls, 0, "chain of three processes stays urgent");
	ok(!stranger->is_urgent, "stranger that wakes an urgent process as often is not urgent");
}

/* Four threads that serve whoever asks, one request after another: `every`-th is an urgent thread's. The batch one
 * works on its own between two requests. */
static void serve(struct one *urgent, struct one *batch, struct one *pool, u32 every, u32 requests)
{
	for (u32 i = 0; i < requests; i++) {
		struct one *client = i % every ? batch : urgent, *worker = &pool[draw(4)];

		if (client == urgent)
			wakes(NULL, client);
		wakes(client, worker);
		sleeps(client);
		passes((1 + draw(9)) * (1 + draw(2)) * (u64)NSEC_PER_MSEC / 2);
		wakes(worker, client);
		sleeps(worker);
		submits(urgent);
		passes((1 + draw(3000)) * NSEC_PER_USEC);
		if (client == urgent)
			sleeps(client);
	}
}

static void mix(u32 every, int is_one_process, struct one **pool, struct one **batch)
{
	struct one *urgent;

	begins();
	urgent = add(0, 500);
	*batch = add(is_one_process ? urgent->tid : 0, is_one_process ? 500 : 600);
	*pool = &scene.all[scene.len];
	for (u32 i = 0; i < 4; i++)
		add(is_one_process ? urgent->tid : 900, 1);
	urgent->role.facts.gpu_submits = 20;
	answers(urgent);
	thread_run_begins(&(*batch)->account, scene.now_ns, 0, 121);
	serve(urgent, *batch, *pool, every, 200 * 60);
}

static void test_mixed(void)
{
	struct one *pool, *batch;
	struct outcome seen;

	for (int is_one_process = 0; is_one_process < 2; is_one_process++) {
		const char *where = is_one_process ? "of its process" : "of another process";

		mix(3, is_one_process, &pool, &batch);
		seen = outcome_of(pool, 4);
		is(seen.urgent, 4, "pool %s that serves an urgent thread in a third of its work is urgent", where);
		is(seen.falls, 0, "pool %s that serves an urgent thread in a third of its work stays urgent", where);
		is(batch->was_awaited, 0, "batch thread that is served by the same pool %s is not waited for", where);
		mix(40, is_one_process, &pool, &batch);
		seen = outcome_of(pool, 4);
		is(seen.urgent, 0, "pool %s that serves an urgent thread in a fortieth of its work is not urgent",
		   where);
		is(batch->was_awaited, 0, "batch thread that such a pool %s serves is not waited for", where);
	}
}

/* They go on with something else. */
static void wander(struct one *first, u32 len, u64 span_ns)
{
	for (u64 end_ns = scene.now_ns + span_ns; scene.now_ns < end_ns;) {
		struct one *one = &first[draw(len)];

		wakes(NULL, one);
		passes((1 + draw(3000)) * NSEC_PER_USEC);
		sleeps(one);
	}
}

/* Until nobody of them is urgent, at most a minute. */
static u64 until_none(struct one *first, u32 len)
{
	u64 from_ns = scene.now_ns;

	while (outcome_of(first, len).urgent && scene.now_ns < from_ns + 60ull * NSEC_PER_SEC)
		wander(first, len, NSEC_PER_SEC / 10);
	return scene.now_ns - from_ns;
}

static void test_dead_edges(void)
{
	struct one *workers, *trainer = begin_training(8, &workers);
	struct one *others;
	u64 span_ns, from_ns;

	train(trainer, workers, 8, 10 * NSEC_PER_MSEC, 1000);
	is(outcome_of(workers, 8).urgent, 8, "pool of eight is urgent while it is waited for");
	span_ns = until_none(workers, 8);
	printf("# measured: a fast pool is urgent for %u ms after its last turn\n", ms(span_ns));
	ok(span_ns <= 7ull * NSEC_PER_SEC, "pool that nobody waits for any more is not urgent after seven seconds");
	trainer = begin_training(16, &workers);
	train(trainer, workers, 16, 200 * NSEC_PER_MSEC, 300);
	span_ns = until_none(workers, 16);
	printf("# measured: a slow pool is urgent for %u ms after its last turn\n", ms(span_ns));
	ok(span_ns <= 21ull * NSEC_PER_SEC, "slow pool that nobody waits for any more is not urgent after 21 seconds");

	trainer = begin_training(8, &workers);
	others = &scene.all[scene.len];
	for (u32 i = 0; i < 8; i++)
		add(trainer->tid, 500);
	train(trainer, workers, 8, 10 * NSEC_PER_MSEC, 1000);
	from_ns = scene.now_ns;
	for (u32 i = 0; i < 125; i++) {
		train(trainer, others, 8, 10 * NSEC_PER_MSEC, 8);
		for (u32 j = 0; j < 8; j++) {
			wakes(NULL, &workers[j]);
			passes((1 + draw(100)) * NSEC_PER_USEC);
			sleeps(&workers[j]);
		}
	}
	is(outcome_of(workers, 8).urgent, 0, "pool is not urgent ten seconds after its trainer took another");
	is(outcome_of(others, 8).urgent, 8, "pool that the trainer waits for instead is urgent");
	printf("# measured: the last of the new pool after %u ms\n", ms(outcome_of(others, 8).last_ns - from_ns));
}

/* One of the process that tells the launching thread something now and then is no part of the pool beside it. */
static void test_others(void)
{
	struct one *workers, *trainer = begin_training(0, &workers), *tells, *counts;

	for (u32 i = 0; i < 4; i++)
		thread_run_begins(&add(trainer->tid, 500)->account, scene.now_ns, 0, 121);
	tells = add(trainer->tid, 500);
	counts = add(0, 500);
	for (u32 i = 0; i < 60; i++) {
		train(trainer, workers, 4, 5 * NSEC_PER_MSEC, 200);
		sleeps(trainer);
		wakes(NULL, tells);
		wakes(tells, trainer);
		sleeps(tells);
		passes(NSEC_PER_MSEC);
		sleeps(trainer);
		wakes(NULL, counts);
		wakes(counts, trainer);
		sleeps(counts);
	}
	is(outcome_of(workers, 4).urgent, 4, "pool of threads is urgent beside one that tells something now and then");
	is(tells->urgent_ns, 0, "thread that wakes an urgent one of its process once a second is never urgent");
	is(counts->urgent_ns, 0, "process of the same parent that wakes an urgent one once a second is never urgent");
}

static void test_bounds(void)
{
	struct edges edges = { 0 };
	struct edge_turn turn = { 0 };
	u32 strong = 0, groups = 0;

	for (u32 i = 1; i <= 100000; i++) {
		edges_wait(&edges, i % 7 ? 100 : ~0u, i * (u64)NSEC_PER_MSEC);
		strong += edge_ended(&edges, &turn, GROUP_OTHER | i % 1000, (u64)1 << 32 | i, i % 7 ? 100 : ~0u) >
			  EDGE_WEAK;
	}
	for (u32 i = 0; i < EDGES; i++)
		groups += edges.to[i].group != 0;
	is(strong, 0, "thread that a thousand processes wake in turn waits for none of them");
	is(groups, EDGES, "thread that a thousand processes wake keeps its few edges");
	for (u32 i = 0; i < 64; i++)
		is(count_bits(~0ull >> i), 64 - i, "count of %u bits is right", 64 - i);
	is(awaited_group((struct kin){ 7, 1 }, (struct kin){ 8, 1 }, 0), 0,
	   "processes that were left to init are no siblings");
	is(awaited_group((struct kin){ 7, 5 }, (struct kin){ 8, 5 }, 0), GROUP_SIBLINGS,
	   "processes of one parent are siblings");
	is(awaited_group((struct kin){ 7, 5 }, (struct kin){ 8, 6 }, 0), 0, "process of nobody's is a stranger");
}

int main(void)
{
	test_loaders();
	test_teams();
	test_chain();
	test_mixed();
	test_dead_edges();
	test_others();
	test_bounds();
	return tap_end();
}

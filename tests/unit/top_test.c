// SPDX-License-Identifier: GPL-2.0
/* model/top.c, top_waits.c and top_rows.c: made streams in which it is known what each second has to show. */
#include <stdlib.h>

#include "../../core/role.h"
#include "../../src/model/top_rows.h"
#include "tap.h"

enum { GAME = 10, HELPER = 11, HOG = 99, CPUS = 2, US = 1000, MS = 1000000 };

static struct threads threads;
static struct top top;
static struct cpu_topology topology[CPUS];
static u64 now_ns;
static u32 explained;

static void explain(char *into, size_t size, const struct threads *all, const struct late_frame *late)
{
	(void)all;
	(void)late;
	explained++;
	snprintf(into, size, "because");
}

static void take(struct event_header *event)
{
	struct wait ended;
	bool waited;

	event->time_ns = now_ns;
	top_advance(&top, &threads, now_ns);
	waited = threads_handle(&threads, event, &ended);
	top_handle(&top, &threads, event, waited ? &ended : NULL);
}

static void add_thread(u32 tid, u32 pid, const char *name)
{
	struct event_thread event = { .head = { 0, tid, 0, EVENT_THREAD, 0 }, .start_ns = tid, .pid = pid };

	snprintf(event.comm.text, sizeof(event.comm.text), "%s", name);
	take(&event.head);
}

static void on_switch(u16 cpu, u32 from, u16 state, u32 to)
{
	struct event_switch event = { .head = { 0, from, cpu, EVENT_SWITCH, 0 }, .next_tid = to, .prev_state = state };

	take(&event.head);
}

static void wake(u32 tid, u32 waker, u8 flags)
{
	struct event_wakeup event = { .head = { 0, tid, 0, EVENT_WAKEUP, flags }, .waker_tid = waker };

	take(&event.head);
}

static void begin(void)
{
	now_ns = NSEC_PER_SEC;
	threads_init(&threads, topology, CPUS);
	top_init(&top, CPUS, explain);
	add_thread(GAME, GAME, "game");
	add_thread(HELPER, GAME, "helper");
	add_thread(HOG, HOG, "hog");
}

static void end(void)
{
	top_free(&top);
	threads_free(&threads);
}

static struct top_row row_of(const struct top_choice *choice, u32 tid, bool is_process)
{
	struct top_row found = { 0 };
	struct top_rows rows = { 0 };

	if (top_rows_make(&rows, &top, &threads, choice))
		return found;
	for (size_t i = 0; i < rows.len; i++)
		if (rows.all[i].tid == tid && rows.all[i].is_process == is_process)
			found = rows.all[i];
	top_rows_free(&rows);
	return found;
}

static void test_cpu_time(void)
{
	struct top_choice choice = { 0 };

	begin();
	on_switch(0, 0, 0, HOG);
	now_ns += 1500 * (u64)MS;
	on_switch(0, HOG, 1, GAME);
	is(top.turns, 1, "a turn ends with the first event after its second");
	is(top.cpus[0].percent, 100, "a CPU with a thread that ran all the second is busy");
	is(row_of(&choice, HOG, false).cpu_hundredths, 10000,
	   "a thread that runs across a turn's end has what lies before it");
	now_ns += 250 * (u64)MS;
	on_switch(0, GAME, 1, 0);
	now_ns += 250 * (u64)MS;
	top_advance(&top, &threads, now_ns);
	is(top.turns, 2, "a turn ends without an event when its time is up");
	is(row_of(&choice, HOG, false).cpu_hundredths, 5000,
	   "a thread's rest of a run counts in the turn that it is in");
	is(top.cpus[0].percent, 75, "a CPU's busy time is that of its threads");
	is(top.cpus[0].shown_tid, 0, "a CPU that is idle at a turn's end shows nobody");
	is(top.cpus[1].seen, 0, "a CPU without an event is not seen");
	end();
}

/* The game waits for the hog so long, once, after it was woken by the helper. */
static void wait_behind_hog(u64 wait_ns)
{
	on_switch(0, 0, 0, HOG);
	now_ns += MS;
	wake(GAME, HELPER, EVENT_FLAG_BY_THREAD);
	now_ns += wait_ns;
	on_switch(0, HOG, 1, GAME);
	now_ns += MS;
	on_switch(0, GAME, 1, 0);
}

static void test_waits(void)
{
	struct top_choice choice = { 0 };
	struct top_row row;
	u64 from_ns;

	begin();
	from_ns = now_ns;
	for (int i = 0; i < 98; i++)
		wait_behind_hog(50 * US);
	wait_behind_hog(8 * MS);
	wait_behind_hog(40 * MS);
	is(row_of(&choice, GAME, false).wait.waits, 0, "waits of a turn that goes on are not shown");
	top_advance(&top, &threads, from_ns + NSEC_PER_SEC);
	row = row_of(&choice, GAME, false);
	is(row.wait.waits, 100, "a turn's waits are shown when it has ended");
	is_between(50 * US, row.wait.p50_ns, 60 * US - 1, "half of the waits lie below the p50, to an eighth");
	is_between(8 * MS, row.wait.p99_ns, 9 * MS - 1, "the p99 is the second longest of 100 waits, to an eighth");
	is(row.wait.max_ns, 40 * MS, "the worst wait is exact");
	is(row.worst_ns[TOP_SHOWN - 1], 40 * MS, "the sparkline ends with the last turn's worst wait");
	is(row.worst_ns[TOP_SHOWN - 2], 0, "the sparkline is empty before the first turn");
	is(row.behind.tid, HOG, "a thread that waited has the one that had its CPU behind its waits");
	is(top_find(&top, GAME)->wakers[0].tid, HELPER, "a thread that woke another is among its wakers");
	is(top.waits_taken, 2, "waits shorter than 100 us are not listed");
	is(top.waits[1].wait_ns, 40 * MS, "a listed wait has its length");
	top_advance(&top, &threads, from_ns + 10 * (u64)NSEC_PER_SEC);
	is(row_of(&choice, GAME, false).wait.waits, 100, "waits count for ten turns");
	choice.idle_too = true;
	top_advance(&top, &threads, from_ns + 11 * (u64)NSEC_PER_SEC);
	row = row_of(&choice, GAME, false);
	is(row.tid, GAME, "an idle thread is shown if idle ones are asked for");
	is(row.wait.waits, 0, "waits that are older than ten turns are forgotten");
	is(row.wait.max_ns, 0, "the worst wait is forgotten with its turn");
	choice.idle_too = false;
	is(row_of(&choice, GAME, false).tid, 0, "an idle thread is not shown by default");
	end();
}

static void test_rows(void)
{
	struct top_choice choice = { .group = TOP_TREE };
	struct event_role role = { .head = { 0, HELPER, 0, EVENT_ROLE, 0 }, .role = ROLE_RENDER };
	struct top_rows rows = { 0 };

	begin();
	role.tier = TIER_LATENCY_CRITICAL;
	take(&role.head);
	on_switch(0, 0, 0, GAME);
	on_switch(1, 0, 0, HOG);
	now_ns += 200 * (u64)MS;
	on_switch(0, GAME, 1, HELPER);
	now_ns += 100 * (u64)MS;
	on_switch(0, HELPER, 1, 0);
	on_switch(1, HOG, 1, 0);
	top_finish(&top, &threads, now_ns);
	top_rows_make(&rows, &top, &threads, &choice);
	is(rows.len, 4, "a tree has a row for each thread and one for a process of several");
	is(rows.all[0].tid, GAME, "processes are sorted by what their threads do together, then by their number");
	is(rows.all[0].is_process, 1, "a process of several threads comes before them");
	is(rows.all[0].cpu_hundredths, 10000, "a process has the CPU time of its threads");
	is(rows.all[0].tier, TIER_LATENCY_CRITICAL, "a process has the tier of its most urgent thread");
	is(rows.all[1].tid, GAME, "threads are sorted below their process");
	is(rows.all[2].is_last, 1, "the last thread below a process is marked");
	is(rows.all[3].is_process, 0, "a process of one thread is one row");
	top_rows_free(&rows);
	choice.reversed = true;
	choice.order = TOP_BY_TID;
	choice.group = TOP_ONLY_THREADS;
	top_rows_make(&rows, &top, &threads, &choice);
	is(rows.len, 3, "threads alone are one row each");
	is(rows.all[0].tid, HOG, "a reversed order begins with the other end");
	top_rows_free(&rows);
	choice.group = TOP_ONLY_PROCESSES;
	top_rows_make(&rows, &top, &threads, &choice);
	is(rows.len, 2, "processes alone are one row each");
	top_rows_free(&rows);
	end();
}

static size_t rows_with(const char *filter)
{
	struct top_choice choice = { .group = TOP_ONLY_THREADS };
	struct top_rows rows = { 0 };
	size_t len;

	snprintf(choice.filter, sizeof(choice.filter), "%s", filter);
	if (top_rows_make(&rows, &top, &threads, &choice))
		return 0;
	len = rows.len;
	top_rows_free(&rows);
	return len;
}

static void test_filter(void)
{
	struct event_role role = { .head = { 0, HELPER, 0, EVENT_ROLE, 0 }, .role = ROLE_RENDER };

	begin();
	take(&role.head);
	on_switch(0, 0, 0, GAME);
	on_switch(0, GAME, 1, HELPER);
	on_switch(0, HELPER, 1, HOG);
	now_ns += 100 * (u64)MS;
	on_switch(0, HOG, 1, 0);
	top_finish(&top, &threads, now_ns);
	is(rows_with(""), 3, "no filter shows all threads");
	is(rows_with("HEL"), 1, "a filter finds a part of a name in either case");
	is(rows_with("game"), 2, "a filter that finds a process shows its threads");
	is(rows_with("render"), 1, "a filter finds a role");
	is(rows_with("99"), 1, "a filter finds a tid");
	is(rows_with("9"), 0, "a filter does not find a part of a tid");
	is(rows_with("nothing such"), 0, "a filter may find nothing");
	end();
}

static void test_counts(void)
{
	struct event_submit submit = { .head = { 0, GAME, 0, EVENT_SUBMIT, 0 } };
	struct event_cuda_launch launch = { .head = { 0, GAME, 0, EVENT_CUDA_LAUNCH, 0 } };
	struct event_decision push = { .head = { 0, GAME, 0, EVENT_DECISION, 0 }, .what = DECISION_PREEMPT };
	struct event_lost lost = { .head = { 0, 0, 0, EVENT_LOST, 0 }, .count = 7 };
	struct top_choice choice = { .group = TOP_ONLY_THREADS };
	struct top_row row;

	begin();
	for (int i = 0; i < 30; i++)
		take(&submit.head);
	for (int i = 0; i < 10; i++)
		take(&launch.head);
	take(&push.head);
	take(&lost.head);
	now_ns += NSEC_PER_SEC / 2;
	top_finish(&top, &threads, now_ns);
	row = row_of(&choice, GAME, false);
	is(row.submits_tenths, 600, "submits are a rate of the time that the turn really took");
	is(row.launches_tenths, 200, "launches are a rate of the time that the turn really took");
	is(row.pushes, 1, "a thread for which another was pushed off a CPU shows that");
	is(top.all.lost, 7, "events that were lost are counted");
	end();
}

static void test_frames(void)
{
	struct event_frame frame = { .head = { 0, GAME, 0, EVENT_FRAME, 0 } };
	struct top_choice choice = { .group = TOP_ONLY_THREADS };
	u64 from_ns;

	begin();
	from_ns = now_ns;
	explained = 0;
	for (int i = 0; i < 180; i++) {
		/* One of them takes three times as long. */
		now_ns = from_ns + (u64)(i < 150 ? i : i + 2) * 16666667;
		frame.number = (u64)i + 1;
		frame.interval_ns = i == 150 ? 3 * 16666667 : 16666667;
		take(&frame.head);
	}
	is(top.turns, 3, "three seconds of frames are three turns");
	is(top.presenters_len, 1, "a process that presents is listed");
	is_between(570, top.presenters[0].fps_tenths, 610, "frames a second are those of the last turn");
	is(row_of(&choice, GAME, false).fps_tenths, top.presenters[0].fps_tenths,
	   "the thread that presents shows its process's rate");
	is(row_of(&choice, HELPER, false).fps_tenths, 0, "a thread that does not present shows no rate");
	is(top.late_taken, 1, "a frame that took three times as long is late");
	is(explained, 1, "a late frame is explained once");
	is_text(top.late[0].words, "because", "a late frame has its reason in words");
	is(top.frame_model.times_len < 100, 1, "times of frames are kept for one turn only");
	top_advance(&top, &threads, now_ns + 12 * (u64)NSEC_PER_SEC);
	is(top.presenters_len, 0, "a process that presented nothing for ten seconds is not listed");
	end();
}

static void test_freeze(void)
{
	struct top_choice choice = { .group = TOP_ONLY_THREADS };
	u64 turns;

	begin();
	on_switch(0, 0, 0, HOG);
	now_ns += NSEC_PER_SEC;
	top_advance(&top, &threads, now_ns);
	turns = top.turns;
	top.frozen = true;
	now_ns += 5 * (u64)NSEC_PER_SEC;
	wait_behind_hog(30 * MS);
	is(top.turns, turns, "no turn ends while it is frozen");
	is(top.waits_taken, 0, "no wait is listed while it is frozen");
	is(row_of(&choice, HOG, false).cpu_hundredths, 10000, "what is shown stays while it is frozen");
	now_ns += 100 * (u64)MS;
	top_thaw(&top, &threads, now_ns);
	is(top.turns, turns + 1, "all that came while it was frozen is one turn");
	ok(row_of(&choice, HOG, false).cpu_hundredths <= 10000, "no thread has more than one CPU after a freeze");
	is_between(now_ns + 1, top.turn_at_ns, now_ns + TOP_TURN_NS, "turns go on by the same clock after a freeze");
	end();
}

static void test_ended(void)
{
	struct top_choice choice = { .group = TOP_ONLY_THREADS };

	begin();
	on_switch(0, 0, 0, HOG);
	now_ns += MS;
	on_switch(0, HOG, STATE_DEAD, 0);
	top_advance(&top, &threads, now_ns + NSEC_PER_SEC);
	ok(row_of(&choice, HOG, false).ended, "a thread that has just ended is shown as one that did");
	top_advance(&top, &threads, now_ns + 5 * (u64)NSEC_PER_SEC);
	is(row_of(&choice, HOG, false).tid, 0, "a thread that ended some seconds ago is forgotten");
	end();
}

static void test_reuse_and_bounds(void)
{
	struct event_thread again = { .head = { 0, GAME, 0, EVENT_THREAD, 0 }, .start_ns = 4711, .pid = GAME };
	struct top_choice choice = { .group = TOP_ONLY_THREADS };

	begin();
	wait_behind_hog(30 * MS);
	take(&again.head);
	on_switch(0, 0, 0, GAME);
	now_ns += MS;
	on_switch(0, GAME, 1, 0);
	/* CPUs that the machine does not have, as a recording may claim. */
	on_switch(4000, GAME, 1, HOG);
	top_finish(&top, &threads, now_ns);
	is(row_of(&choice, GAME, false).wait.waits, 0, "a thread with a tid of another has none of its waits");
	now_ns += 3600ULL * 24 * NSEC_PER_SEC;
	ok(top_advance(&top, &threads, now_ns), "a gap of a day ends a turn");
	ok(top.turns < 200, "a gap of a day is leapt over");
	now_ns += NSEC_PER_SEC;
	for (int i = 0; i < TOP_KEPT_TURNS + 3; i++) {
		now_ns += NSEC_PER_SEC;
		top_advance(&top, &threads, now_ns);
	}
	is(top.len, 0, "threads that did nothing for a minute are forgotten");
	now_ns = ~0ULL - 5;
	ok(top_advance(&top, &threads, now_ns), "a time at the end of all numbers ends a turn");
	ok(!top_advance(&top, &threads, ~0ULL), "no turn ends after the end of all numbers");
	is(top_place(0, 4, 0), (u64)-1, "nothing is found where nothing was taken");
	is(top_place(6, 4, 0), 1, "the newest of six in four places is in the second");
	is(top_place(6, 4, 4), (u64)-1, "what was written over is not found");
	end();
}

int main(void)
{
	test_cpu_time();
	test_waits();
	test_rows();
	test_filter();
	test_counts();
	test_frames();
	test_freeze();
	test_ended();
	test_reuse_and_bounds();
	return tap_end();
}

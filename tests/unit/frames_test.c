// SPDX-License-Identifier: GPL-2.0
/* model/frames.c and model/path.c: late frames in a made stream, each for another reason, and streams with gaps. */
#include <string.h>

#include "../../src/model/frames.h"
#include "tap.h"

enum { GAME = 10, HELPER = 11, HOG = 99, PID = 10, MS = 1000000 };

static struct threads threads;
static struct frames frames;
static struct cpu_topology topology[2];
static u64 now_ns;
static u8 wake_flags;
static struct late_frame late;
static const struct frame_process *process;

static bool take(struct event_header *event)
{
	struct wait ended;

	threads_handle(&threads, event, &ended);
	return frames_handle(&frames, &threads, event, &late, &process);
}

static void add_thread(u32 tid, u32 pid, const char *comm)
{
	struct event_thread event = { .head = { now_ns, tid, 0, EVENT_THREAD, 0 }, .start_ns = tid, .pid = pid };

	memcpy(event.comm.text, comm, strlen(comm));
	take(&event.head);
}

static void on_switch(u16 cpu, u32 from, u16 state, u32 to)
{
	struct event_switch event = { .head = { now_ns, from, cpu, EVENT_SWITCH, 0 },
				      .next_tid = to,
				      .prev_state = state };

	event.prev_prio = event.next_prio = 121;
	take(&event.head);
}

static void wake(u32 tid, u32 waker, u16 cpu)
{
	struct event_wakeup event = { .head = { now_ns, tid, cpu, EVENT_WAKEUP, wake_flags },
				      .waker_tid = waker,
				      .target_cpu = cpu };

	event.prio = 121;
	take(&event.head);
}

static bool present(void)
{
	struct event_frame event = { .head = { now_ns, GAME, 0, EVENT_FRAME, 0 } };

	return take(&event.head);
}

static void pass(u32 ms)
{
	now_ns += (u64)ms * MS;
}

/* A frame of 20 ms: 5 of work, 15 asleep until a timer. */
static bool usual_frame(void)
{
	bool is_late;

	pass(5);
	is_late = present();
	on_switch(0, GAME, 1, 0);
	pass(15);
	wake(GAME, 0, 0);
	on_switch(0, 0, 0, GAME);
	return is_late;
}

static void begin(bool explains)
{
	u32 wrong = 0;

	now_ns = NSEC_PER_SEC;
	threads_init(&threads, topology, 2);
	frames_init(&frames, explains);
	add_thread(GAME, PID, "game");
	add_thread(HELPER, PID, "helper");
	add_thread(HOG, 99, "hog");
	on_switch(0, 0, 0, GAME);
	for (int i = 0; i < 40; i++)
		wrong += usual_frame();
	is(wrong, 0, "usual frames are not late");
}

static void end(void)
{
	frames_free(&frames);
	threads_free(&threads);
}

static void test_own_work(void)
{
	begin(true);
	pass(25);
	ok(present(), "a frame that worked 20 ms longer is late");
	is(late.late_ns, 20 * MS, "frame that worked 20 ms longer is 20 ms late");
	ok(late.has_cause, "late frame that worked longer has a cause");
	is(late.cause.kind, PATH_RAN, "late frame that worked longer is late since it ran");
	is(late.cause.tid, GAME, "late frame that worked longer is late by its own thread");
	is(late.cause.ns, 25 * MS, "frame's own run is told with its length");
	is(late.usual_ns, 5 * MS, "frame's usual run is told with its length");
	is(process->late, 1, "process counts its one late frame");
	is(process->dropped, 1, "process counts the one period without a frame");
	end();
}

static void test_behind_another(void)
{
	begin(true);
	pass(2);
	on_switch(0, GAME, 0, HOG);
	pass(17);
	on_switch(0, HOG, 0, GAME);
	pass(3);
	ok(present(), "a frame whose thread waited is late");
	is(late.cause.kind, PATH_WAITED, "frame kept from its CPU is late since it waited");
	is(late.cause.tid, GAME, "frame kept from its CPU names its own thread as who waited");
	is(late.cause.other_tid, HOG, "frame kept from its CPU names who had it");
	is(late.cause.ns, 17 * MS, "frame kept waiting tells how long");
	end();
}

/* The game waits for its helper, which waits for the hog. */
static void test_chain(void)
{
	begin(true);
	on_switch(1, 0, 0, HELPER);
	pass(1);
	on_switch(0, GAME, 1, 0);
	on_switch(1, HELPER, 0, HOG);
	pass(18);
	on_switch(1, HOG, 0, HELPER);
	pass(2);
	wake(GAME, HELPER, 0);
	on_switch(0, 0, 0, GAME);
	pass(1);
	ok(present(), "a frame whose thread waited for another is late");
	is(late.cause.kind, PATH_WAITED, "frame whose helper was kept from its CPU is late since that waited");
	is(late.cause.tid, HELPER, "frame whose helper was kept from its CPU names the helper");
	is(late.cause.other_tid, HOG, "frame whose helper was kept from its CPU names who had it");
	is(late.cause.ns, 18 * MS, "wait of a helper behind a third thread is told with its length");
	end();
}

static void test_sleeping_helper(void)
{
	begin(true);
	on_switch(1, 0, 0, HELPER);
	pass(1);
	on_switch(0, GAME, 1, 0);
	on_switch(1, HELPER, 1, 0);
	pass(30);
	wake(HELPER, 0, 1);
	on_switch(1, 0, 0, HELPER);
	pass(1);
	wake(GAME, HELPER, 0);
	on_switch(0, 0, 0, GAME);
	ok(present(), "a frame whose thread waited for one that slept is late");
	is(late.cause.kind, PATH_SLEPT, "frame that waited for a sleeping helper is late since that slept");
	is(late.cause.tid, HELPER, "frame that waited for a sleeping helper names the helper");
	end();
}

/* Where the kernel says that it was the thread itself that woke it. */
static void test_server(void)
{
	begin(true);
	pass(1);
	on_switch(0, GAME, 1, 0);
	on_switch(1, 0, 0, HOG);
	pass(30);
	wake_flags = EVENT_FLAG_BY_THREAD;
	wake(GAME, HOG, 0);
	wake_flags = 0;
	on_switch(0, 0, 0, GAME);
	ok(present(), "a frame whose thread waited for another process is late");
	is(late.cause.kind, PATH_RAN, "frame that waited for another process is late since that ran");
	is(late.cause.tid, HOG, "frame that waited for another process names its thread");
	is(late.cause.ns, 30 * MS, "run of another process is told with its length");
	end();
	begin(true);
	on_switch(1, 0, 0, HELPER);
	pass(1);
	on_switch(0, GAME, 1, 0);
	pass(30);
	wake_flags = EVENT_FLAG_BY_INTERRUPT;
	wake(GAME, HELPER, 0);
	wake_flags = 0;
	on_switch(0, 0, 0, GAME);
	ok(present(), "frame whose sleep was ended by an interrupt is late");
	is(late.cause.kind, PATH_SLEPT, "frame whose sleep was ended by an interrupt is late since it slept");
	is(late.cause.tid, GAME, "frame whose sleep was ended by an interrupt names its own thread");
	is(late.cause.other_tid, 0, "frame whose sleep was ended by an interrupt names nobody that it waited for");
	end();
}

/* The wake-up is told on the CPU of the one that is woken, after its waker has gone to sleep. */
static void test_server_asleep_again(void)
{
	begin(true);
	pass(1);
	on_switch(0, GAME, 1, 0);
	on_switch(1, 0, 0, HOG);
	pass(30);
	on_switch(1, HOG, 1, 0);
	pass(2);
	wake_flags = EVENT_FLAG_BY_THREAD;
	wake(GAME, HOG, 0);
	wake_flags = 0;
	on_switch(0, 0, 0, GAME);
	ok(present(), "a frame whose thread waited for one that sleeps again is late");
	is(late.cause.kind, PATH_RAN, "frame that waited for a thread that sleeps again is late since that ran");
	is(late.cause.tid, HOG, "frame that waited for a thread that sleeps again names that");
	is(late.cause.ns, 30 * MS, "run of a thread that sleeps again is told with its length");
	end();
	begin(true);
	on_switch(1, 0, 0, HOG);
	pass(1);
	on_switch(1, HOG, 1, 0);
	on_switch(0, GAME, 1, 0);
	pass(30);
	wake_flags = EVENT_FLAG_BY_THREAD;
	wake(GAME, HOG, 0);
	wake_flags = 0;
	on_switch(0, 0, 0, GAME);
	ok(present(), "frame that waited for a thread not seen to run is late");
	is(late.cause.kind, PATH_SLEPT, "frame that waited for a thread not seen to run is late since it slept");
	is(late.cause.tid, GAME, "frame that waited for a thread not seen to run names its own thread");
	is(late.cause.other_tid, HOG, "frame that waited for a thread not seen to run names who woke it");
	end();
}

/* Wakers of other processes may have been interrupted by what really woke it. */
static void test_stranger(void)
{
	begin(true);
	pass(1);
	on_switch(0, GAME, 1, HOG);
	pass(30);
	wake(GAME, HOG, 0);
	on_switch(0, HOG, 0, GAME);
	ok(present(), "a frame whose thread slept too long is late");
	is(late.cause.kind, PATH_SLEPT, "frame woken by a thread of unknown time is late since it slept");
	is(late.cause.tid, GAME, "frame woken by a thread of unknown time names its own thread");
	is(late.cause.other_tid, HOG, "frame woken by a thread of unknown time names who woke it");
	end();
}

/* Pieces missing, times that go backwards, threads that nobody introduced. */
static void test_gaps(void)
{
	struct event_frame unknown = { .head = { 5, 4711, 0, EVENT_FRAME, 0 } };
	struct path path;

	begin(true);
	pass(30);
	wake(GAME, 4711, 7);
	on_switch(1, 4711, 1, 4712);
	ok(present(), "events of strangers do no harm");
	take(&unknown.head);
	now_ns -= 50 * MS;
	ok(!present(), "a frame before the last one is not late");
	path_walk(&path, &threads, &frames.history, 31337, 1, 2);
	is(path.kinds_ns[PATH_UNKNOWN][PATH_OWN], 1, "time of an unknown thread is unknown");
	path_walk(&path, &threads, &frames.history, GAME, 0, now_ns + 1000);
	ok(path.kinds_ns[PATH_UNKNOWN][PATH_OWN] > 0, "time before the first event is unknown in the path of a frame");
	end();
}

static void test_times(void)
{
	struct frame_times times;

	begin(false);
	times = frame_times(frames.processes, 0);
	is(times.len, 39, "an interval between each two frames");
	is(times.p50_ns, 20 * MS, "median of even frames is their interval");
	is(times.max_ns, 20 * MS, "longest of even frames is their interval");
	is(times.low1_ns, 20 * MS, "slowest hundredth of even frames is their interval");
	is(times.sum_ns, 39 * 20ull * MS, "sum of even frames is right");
	pass(180);
	present();
	times = frame_times(frames.processes, 0);
	is(times.p50_ns, 20 * MS, "single long frame does not change the median");
	is(times.p99_ns, times.max_ns, "single long frame is the tail");
	ok(times.max_ns > 180 * MS, "single long frame is the longest");
	is(frame_times(frames.processes, 1000).len, 0, "past the end there is none");
	frames_turn_over(&frames);
	is(frame_times(frames.processes, frames.processes->line_from).len, 0, "new line of a process begins empty");
	end();
}

/* A frame event as the kernel half makes it. */
static bool frame(u32 tid, u64 number, u64 interval_ns)
{
	struct event_frame event = { .head = { now_ns, tid, 0, EVENT_FRAME, 0 },
				     .number = number,
				     .interval_ns = interval_ns };

	return take(&event.head);
}

static void test_two_threads(void)
{
	u32 wrong = 0, found = 0;

	begin(false);
	/* Two windows, each with a thread: one every 20 ms, one every 50. */
	for (int i = 0; i < 100; i++) {
		pass(10);
		wrong += i != 60 && i % 2 == 0 && frame(GAME, 0, 0);
		found += i != 60 && i == 62 && late.tid == GAME && late.late_ns == 20 * MS;
		wrong += i % 5 == 0 && frame(HELPER, 0, 0);
	}
	is(found, 1, "thread that left a frame out is late beside one that did not");
	is(wrong, 1, "threads that keep their pace beside one that does not are not late");
	if (ok(process->streams, "threads that present have a pace"))
		ok(process->streams->next, "threads that present have a pace of their own");
	end();
}

static void test_lost(void)
{
	struct event_lost lost = { .head = { 0, 0, 0, EVENT_LOST, 0 }, .count = 3 };
	u32 wrong = 0;
	u64 number = 0;

	begin(false);
	for (int i = 0; i < 60; i++) {
		pass(20);
		number++;
		lost.head.time_ns = now_ns;
		if (i >= 30 && i < 33)
			take(&lost.head);
		else
			wrong += frame(HELPER, number, number > 1 ? 20 * MS : 0);
	}
	is(wrong, 0, "frame after lost ones is right again");
	pass(40);
	ok(frame(HELPER, number + 1, 40 * MS), "late frame after lost ones is late");
	is(late.late_ns, 20 * MS, "frame after lost ones is late by what it took longer");
	end();
}

static void test_minute(void)
{
	u32 wrong = 0;

	begin(true);
	now_ns += 60 * (u64)NSEC_PER_SEC;
	ok(!present(), "a frame after a minute is not late");
	is(process->pauses, 1, "minute without frames counts as a pause");
	on_switch(0, GAME, 1, 0);
	pass(15);
	wake(GAME, 0, 0);
	on_switch(0, 0, 0, GAME);
	for (int i = 0; i < 40; i++)
		wrong += usual_frame();
	is(wrong, 0, "frames after a pause keep the pace");
	/* The next one is stamped by a CPU whose clock is behind. */
	now_ns -= 6 * MS;
	ok(!present(), "a frame before the last one is not late");
	now_ns += 6 * MS;
	for (int i = 0; i < 10; i++)
		wrong += usual_frame();
	is(wrong, 0, "frames after one out of order are not late");
	end();
}

static void test_vblank_began(void)
{
	struct vblank_clock clock = { 0 };

	is(vblank_began(&clock, 5, 1000), 1000,
	   "vertical blank of a display of which nothing is known is when it is told");
	vblank_seen(&clock, 10, 100 * NSEC_PER_MSEC);
	is(vblank_began(&clock, 11, 118 * NSEC_PER_MSEC), 118 * NSEC_PER_MSEC,
	   "vertical blank of a display whose period is not known is when it is told");
	vblank_seen(&clock, 11, 116 * NSEC_PER_MSEC);
	is(vblank_began(&clock, 12, 134 * NSEC_PER_MSEC), 132 * NSEC_PER_MSEC,
	   "vertical blank that is told 2 ms late was one period after the last");
	is(vblank_began(&clock, 11, 117 * NSEC_PER_MSEC), 116 * NSEC_PER_MSEC,
	   "vertical blank that was seen already is when it was");
	is(vblank_began(&clock, 14, 165 * NSEC_PER_MSEC), 164 * NSEC_PER_MSEC,
	   "vertical blank three periods after the last that was seen is three periods later");
	is(vblank_began(&clock, 12, 150 * NSEC_PER_MSEC), 150 * NSEC_PER_MSEC,
	   "vertical blank that is told a period late is when it is told");
	is(vblank_began(&clock, 12, 131 * NSEC_PER_MSEC), 131 * NSEC_PER_MSEC,
	   "vertical blank is not later than when it is told");
	is(vblank_began(&clock, 20, 300 * NSEC_PER_MSEC), 300 * NSEC_PER_MSEC,
	   "vertical blank long after the last that was seen is when it is told");
	is(vblank_began(&clock, 9, 120 * NSEC_PER_MSEC), 120 * NSEC_PER_MSEC,
	   "vertical blank with a number before the last is when it is told");
}

static void vblank(u32 tid, u32 display, u32 seq, u64 at_ns)
{
	struct event_vblank event = {
		.head = { now_ns, tid, 0, EVENT_VBLANK, 0 }, .at_ns = at_ns, .seq = seq, .display = display
	};

	take(&event.head);
}

/* A display of 55.5 Hz, which is nobody's rate. */
enum { ODD_NS = 18 * MS };

static void test_flips(void)
{
	u32 seq = 0xfffffff0u, wrong = 0; /* the counter goes round */

	begin(false);
	for (int i = 0; i < 60; i++, seq++) {
		now_ns += ODD_NS;
		vblank(0, 1, 7 * (u32)i, now_ns / 2);
		vblank(0, 0, seq, now_ns);
		if (i)
			vblank(HELPER, 0, seq, now_ns);
		wrong += frame(HELPER, 0, 0);
	}
	is(wrong, 0, "process that flips at the display's pace is never late");
	is(process->target_ns, ODD_NS, "process that flips has its display's period as target");
	is(process->vblanks_missed, 0, "process that keeps its display's pace missed no vertical blank");
	now_ns += 3 * ODD_NS;
	seq += 2;
	vblank(0, 0, seq, now_ns);
	vblank(HELPER, 0, seq, now_ns);
	ok(frame(HELPER, 0, 0), "a flip that comes two periods later is late");
	is(process->vblanks_missed, 2, "vertical blanks without a flip are counted as missed");
	is(process->dropped, 2, "periods without a flip agree with the intervals");
	now_ns += 60 * (u64)NSEC_PER_SEC;
	vblank(HELPER, 0, seq + 3600, now_ns);
	is(process->vblanks_missed, 2, "pause misses no vertical blanks");
	end();
}

static void test_near_display(void)
{
	u32 wrong = 0;

	begin(false);
	for (int i = 0; i < 60; i++) {
		now_ns += ODD_NS;
		vblank(0, 0, (u32)i, now_ns);
		if (i % 2)
			wrong += frame(HELPER, 0, 0);
	}
	is(wrong, 0, "process that shows each picture for two periods is not late");
	is(process->target_ns, 2 * ODD_NS, "process that shows each picture twice has twice the display's period");
	for (u32 display = 0; display < 2 * FRAMES_DISPLAYS; display++)
		vblank(0, display, 1, now_ns);
	ok(frames.displays_refused > 0, "displays that there is no room for are counted");
	end();
}

static void submit(u32 tid, u64 took_ns)
{
	struct event_submit event = { .head = { now_ns, tid, 0, EVENT_SUBMIT, 0 }, .took_ns = took_ns };

	take(&event.head);
}

static void test_gpu_calls(void)
{
	begin(true);
	for (int i = 0; i < 40; i++) {
		submit(GAME, MS);
		usual_frame();
	}
	submit(GAME, 2 * MS);
	submit(HELPER, 9 * MS);
	pass(25);
	submit(GAME, 19 * MS);
	ok(present(), "a frame whose thread was long in calls to the GPU's driver is late");
	is(late.gpu_ns, 21 * MS, "time in the GPU driver is told by the thread's own calls");
	ok(late.usual_gpu_ns > 900000, "usual time in the GPU driver is not too short");
	ok(late.usual_gpu_ns <= MS, "usual time in the GPU driver is not too long");
	end();
}

static void commit(u32 tid)
{
	struct event_commit event = { .head = { now_ns, tid, 0, EVENT_COMMIT, 0 } };

	take(&event.head);
}

static void served(u32 pid, u32 server_pid)
{
	struct event_served event = { .head = { now_ns, 0, 0, EVENT_SERVED, 0 }, .pid = pid, .server_pid = server_pid };

	take(&event.head);
}

/* The game presents, hands its picture over 2 ms later, and 6 ms after that somebody else presents. */
static void composed_frame(u32 presents_tid)
{
	pass(12);
	present();
	pass(2);
	commit(GAME);
	pass(6);
	if (presents_tid)
		frame(presents_tid, 0, 0);
}

static void test_compositor(void)
{
	enum { SERVER = 70, THREAD = 71 };
	struct event_thread server = { .head = { 0, THREAD, 0, EVENT_THREAD, EVENT_FLAG_BYSTANDER }, .pid = SERVER };
	struct event_lost lost = { .head = { 0, 0, 0, EVENT_LOST, 0 }, .count = 1 };
	const struct frame_process *game;
	u64 known;

	begin(false);
	game = process;
	take(&server.head);
	composed_frame(THREAD);
	is(frame_server_times(game).len, 0, "whom it presents to is not known: nothing is said");
	served(PID, SERVER);
	composed_frame(HOG);
	is(frame_server_times(game).len, 0, "process that was handed no picture is not the server");
	composed_frame(THREAD);
	is(frame_server_times(game).len, 1, "server that shows a client's picture is known");
	is(frame_server_times(game).p50_ns, 6 * MS, "server has a picture from its commit on");
	frame(THREAD, 0, 0);
	is(frame_server_times(game).len, 1, "a second time it shows nothing new");
	ok(!frames.processes->next || frames.processes->next->pid != SERVER, "server is in no row of its own");
	composed_frame(0);
	composed_frame(THREAD);
	is(frame_server_times(game).len, 2, "server that was handed two pictures before it presents shows one");
	composed_frame(0);
	take(&lost.head);
	frame(THREAD, 0, 0);
	is(frame_server_times(game).len, 2, "server's present among missing events is not told");
	for (int i = 0; i < 99; i++)
		composed_frame(THREAD);
	known = frame_server_times(game).len;
	is(known, 101, "server's times go on after a loss");
	is(frame_server_times(game).p99_ns, 6 * MS, "server's times keep their pace after a loss");
	served(PID, 0);
	composed_frame(THREAD);
	is(frame_server_times(game).len, known, "server that cannot be told is nobody");
	commit(4711);
	commit(HOG);
	is(game->frames, 40 + 6 + 99 + 1, "frames are counted whoever shows them");
	end();
}

int main(void)
{
	test_own_work();
	test_behind_another();
	test_chain();
	test_sleeping_helper();
	test_stranger();
	test_server();
	test_server_asleep_again();
	test_two_threads();
	test_lost();
	test_minute();
	test_flips();
	test_near_display();
	test_gpu_calls();
	test_compositor();
	test_gaps();
	test_times();
	test_vblank_began();
	return tap_end();
}

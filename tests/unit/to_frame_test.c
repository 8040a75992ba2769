// SPDX-License-Identifier: GPL-2.0
/* model/to_frame.c: from reports of a device to the frame that follows, by each way that there is, and where none
 * follows. */
#include <string.h>

#include "../../src/model/to_frame.h"
#include "tap.h"

enum { GAME = 10, HELPER = 11, SERVER = 50, FLIPPER = 51, OTHER = 90, MS = 1000000, MOUSE = 5 };

static struct threads threads;
static struct to_frames all;
static struct cpu_topology topology[2];
static struct to_frame done;
static u64 now_ns, sent;

static void take(struct event_header *event)
{
	struct wait ended;

	threads_handle(&threads, event, &ended);
	to_frames_handle(&all, &threads, event);
}

static void add_thread(u32 tid, u32 pid, const char *comm)
{
	struct event_thread event = { .head = { now_ns, tid, 0, EVENT_THREAD, 0 }, .start_ns = tid, .pid = pid };

	memcpy(event.comm.text, comm, strlen(comm));
	take(&event.head);
}

/* A report a millisecond ago: the thread runs for it now. */
static void read_by(u32 tid)
{
	struct event_input_wake event = { .head = { now_ns, tid, 0, EVENT_INPUT_WAKE, 0 },
					  .delay_ns = MS,
					  .device = MOUSE };

	take(&event.head);
}

static void wake(u32 tid, u32 waker_tid, u8 flags)
{
	struct event_wakeup event = { .head = { now_ns, tid, 0, EVENT_WAKEUP, flags }, .waker_tid = waker_tid };

	take(&event.head);
}

static void sleeps(u32 tid)
{
	struct event_switch event = { .head = { now_ns, tid, 0, EVENT_SWITCH, 0 }, .prev_state = 1 };

	take(&event.head);
}

static void present(u32 tid)
{
	struct event_frame event = { .head = { now_ns, tid, 0, EVENT_FRAME, 0 }, .number = ++sent };

	take(&event.head);
}

static void shown(u32 tid)
{
	struct event_vblank event = { .head = { now_ns, tid, 0, EVENT_VBLANK, 0 }, .at_ns = now_ns };

	take(&event.head);
}

static void pass(u32 ms)
{
	now_ns += (u64)ms * MS;
}

static bool next(void)
{
	return to_frames_next(&all, &threads, now_ns, &done);
}

static void begin(void)
{
	now_ns = 10ull * NSEC_PER_SEC;
	sent = 0;
	all = (struct to_frames){ 0 };
	threads_free(&threads);
	threads_init(&threads, topology, 2);
	add_thread(GAME, GAME, "game");
	add_thread(HELPER, GAME, "helper");
	add_thread(SERVER, SERVER, "server");
	add_thread(FLIPPER, SERVER, "flipper");
	add_thread(OTHER, OTHER, "other");
}

static void test_reader_presents(void)
{
	begin();
	read_by(GAME);
	pass(3);
	present(GAME);
	ok(!next(), "a frame waits for the display that may show it");
	pass(8);
	shown(GAME);
	ok(next(), "a frame that is shown ends a report's way");
	is(done.run_ns, 1 * MS, "a report has the time until its reader runs");
	is(done.present_ns, 4 * MS, "a report has the time until the present");
	is(done.shown_ns, 12 * MS, "a report has the time until the display shows the frame");
	is(done.device, MOUSE, "a report has its device");
	is_text(done.comm.text, "game", "a report has who presented");
	present(GAME);
	ok(!next(), "a frame without a report before it has no row");
	is(all.rows[0].shown_ns.total, 1, "a row counts its reports that were shown");
}

static void test_no_display(void)
{
	begin();
	read_by(GAME);
	present(GAME);
	pass(16);
	present(GAME);
	ok(!next(), "a frame waits for more than one other");
	pass(16);
	present(GAME);
	ok(next(), "a frame of which no display tells is told of");
	is(done.shown_ns, TO_FRAME_UNKNOWN, "a frame of which no display tells is not known to be shown");
	read_by(GAME);
	present(GAME);
	pass(300);
	ok(next(), "a frame waits for a display a quarter of a second at most");
	is(done.shown_ns, TO_FRAME_UNKNOWN, "a frame that waited in vain for a display is not known to be shown");
}

/* The helper reads; the game presents. */
static void test_another_thread_presents(void)
{
	begin();
	pass(10);
	read_by(HELPER);
	sleeps(HELPER);
	pass(2);
	present(GAME);
	pass(16);
	present(GAME);
	pass(4);
	shown(GAME);
	ok(next(), "a report that another thread of the process read has a frame");
	is(done.present_ns, 19 * MS,
	   "the frame that was under way when another thread read the report does not answer it");
	read_by(HELPER);
	pass(1);
	wake(GAME, HELPER, 0);
	pass(2);
	present(GAME);
	shown(GAME);
	ok(next(), "a report whose reader woke the thread that presents has a frame");
	is(done.present_ns, 4 * MS, "the thread that the reader woke answers with its next frame");
}

static void test_through_a_server(void)
{
	struct event_served served = { .head = { 0, 0, 0, EVENT_SERVED, 0 }, .pid = GAME, .server_pid = SERVER };
	struct event_commit commit = { .head = { 0, GAME, 0, EVENT_COMMIT, 0 } };

	begin();
	take(&served.head);
	read_by(SERVER);
	wake(GAME, SERVER, EVENT_FLAG_BY_THREAD);
	wake(OTHER, SERVER, EVENT_FLAG_BY_INTERRUPT);
	sleeps(SERVER);
	pass(5);
	present(GAME);
	commit.number = sent;
	commit.head.time_ns = now_ns;
	take(&commit.head);
	pass(3);
	present(FLIPPER);
	pass(2);
	present(OTHER);
	shown(FLIPPER);
	ok(next(), "a report that came through a server has a frame");
	is(done.pid, GAME, "a report that came through a server is the client's");
	is(done.present_ns, 6 * MS, "a report that came through a server has the client's present");
	is(done.shown_ns, 11 * MS, "a client's picture is shown by its server's flip");
	wake(OTHER, SERVER, EVENT_FLAG_BY_THREAD);
	present(OTHER);
	pass(300);
	ok(!next() || done.pid != OTHER, "whom a reader wakes after it slept has nothing of the report");
}

static void test_many_reports(void)
{
	begin();
	for (int i = 0; i < 8; i++) {
		read_by(GAME);
		pass(1);
	}
	present(GAME);
	shown(GAME);
	ok(next(), "a frame answers many reports");
	is(done.present_ns, 9 * MS, "of many reports before a frame the oldest counts");
	is(done.reports, 8, "reports that one frame answers are counted");
	ok(!next(), "a frame that answers many reports has one row");
}

static void test_nothing_follows(void)
{
	begin();
	read_by(OTHER);
	pass(1100);
	ok(!next(), "a report that no frame follows has no row");
	is(all.without_frame, 1, "a report that no frame follows is counted");
	for (u32 i = 0; i < 200; i++) {
		add_thread(1000 + i, 1000 + i, "many");
		read_by(1000 + i);
	}
	ok(all.refused, "reports for which there is no room are counted");
	is(all.ways_len, TO_FRAME_WAITING, "no more reports are on their way than there is room for");
}

int main(void)
{
	test_reader_presents();
	test_no_display();
	test_another_thread_presents();
	test_through_a_server();
	test_many_reports();
	test_nothing_follows();
	threads_free(&threads);
	return tap_end();
}

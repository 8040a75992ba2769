// SPDX-License-Identifier: GPL-2.0
/* model/frame_record.c: each part of a frame's record from a made stream, and none that the stream does not tell. */
#include <string.h>

#include "../../src/model/frames.h"
#include "tap.h"

enum { GAME = 10, HELPER = 11, SERVER = 50, HOG = 99, MS = 1000000, DISPLAY = 7 };

static struct threads threads;
static struct frames frames;
static struct cpu_topology topology[2];
static u64 now_ns, sent;
static struct frame_record record;
static const struct frame_process *process;
static struct late_frame late;

static void take(struct event_header *event)
{
	const struct frame_process *whose;
	struct wait ended;

	threads_handle(&threads, event, &ended);
	frames_handle(&frames, &threads, event, &late, &whose);
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
				      .prev_state = state,
				      .prev_prio = 121,
				      .next_prio = 121 };

	take(&event.head);
}

static void wake(u32 tid)
{
	struct event_wakeup event = { .head = { now_ns, tid, 0, EVENT_WAKEUP, EVENT_FLAG_BY_INTERRUPT }, .prio = 121 };

	take(&event.head);
}

static void present_by(u32 tid)
{
	struct event_frame event = { .head = { now_ns, tid, 0, EVENT_FRAME, 0 }, .number = ++sent };

	take(&event.head);
}

static void submit(u32 tid, u64 took_ns)
{
	struct event_submit event = { .head = { now_ns, tid, 0, EVENT_SUBMIT, 0 }, .took_ns = took_ns };

	take(&event.head);
}

static void fence(u32 tid, u64 took_ns, const char *timeline)
{
	struct event_fence event = { .head = { now_ns, tid, 0, EVENT_FENCE, 0 }, .took_ns = took_ns };

	memcpy(event.timeline.text, timeline, strlen(timeline));
	take(&event.head);
}

static void vblank(u32 tid, u32 seq)
{
	struct event_vblank event = {
		.head = { now_ns, tid, 0, EVENT_VBLANK, 0 }, .at_ns = now_ns, .seq = seq, .display = DISPLAY
	};

	take(&event.head);
}

static void pass(u32 ms)
{
	now_ns += (u64)ms * MS;
}

static bool next(u64 until_ns)
{
	return frames_next_record(&frames, until_ns, &record, &process);
}

static void skip_all(void)
{
	while (next(~0ull))
		;
}

static void begin(bool with_sched)
{
	now_ns = NSEC_PER_SEC;
	sent = 0;
	threads_init(&threads, topology, 2);
	frames_init(&frames, true);
	frames.keeps_records = true;
	add_thread(GAME, GAME, "game");
	add_thread(HELPER, GAME, "helper");
	add_thread(SERVER, SERVER, "server");
	add_thread(HOG, HOG, "hog");
	if (with_sched)
		on_switch(0, 0, 0, GAME);
}

static void end(void)
{
	frames_free(&frames);
	threads_free(&threads);
}

/* 20 ms: 5 of work, its present, 15 asleep until a timer. */
static void usual_frame(void)
{
	pass(5);
	present_by(GAME);
	on_switch(0, GAME, 1, 0);
	pass(15);
	wake(GAME);
	on_switch(0, 0, 0, GAME);
}

static void test_nothing_known(void)
{
	u32 known = 0;

	begin(false);
	present_by(GAME);
	ok(next(now_ns), "a frame of which no more can come is a record at once");
	is(record.frame.interval_ns, 0, "the first frame's record has no interval");
	for (int i = 0; i < 10; i++) {
		pass(20);
		present_by(GAME);
		next(now_ns);
		for (u32 part = 0; part < FRAME_PARTS; part++)
			known += record.parts_ns[part] != FRAME_UNKNOWN;
	}
	is(record.frame.interval_ns, 20 * MS, "a record has the frame's interval");
	is(record.frame.number, 11, "a record has the frame's number");
	is(known, 0, "frames without any other event have no part that is known");
	is(record.dropped, 0, "a frame on a display's pace that came in time has dropped no period");
	is(record.vblanks_missed, FRAME_UNKNOWN,
	   "a frame without a display's own clock has no count of missed vblanks");
	is(frame_part_times(process, FRAME_CPU).len, 0, "percentiles of a part that is not known are of nothing");
	end();
}

static void test_cpu(void)
{
	begin(true);
	on_switch(1, 0, 0, HOG);
	usual_frame();
	usual_frame();
	skip_all();
	on_switch(1, HOG, 0, HELPER);
	pass(2);
	on_switch(1, HELPER, 1, HOG);
	usual_frame();
	next(now_ns);
	is(record.parts_ns[FRAME_CPU], 9 * MS,
	   "a frame's CPU time is that of all threads of its process, one still running");
	add_thread(12, GAME, "late");
	take(&(struct event_lost){ .head = { now_ns, 0, 0, EVENT_LOST, 0 }, .count = 1 }.head);
	usual_frame();
	next(now_ns);
	is(record.parts_ns[FRAME_CPU], FRAME_UNKNOWN, "the CPU time of a frame in which events were lost is not known");
	usual_frame();
	usual_frame();
	next(now_ns);
	next(now_ns);
	is(record.parts_ns[FRAME_CPU], 5 * MS, "the CPU time of a frame after the loss is known again");
	is(frame_part_times(process, FRAME_CPU).max_ns, 9 * MS, "the longest CPU time is among the percentiles");
	end();
}

static void test_submit(void)
{
	begin(true);
	usual_frame();
	skip_all();
	pass(1);
	submit(GAME, MS / 2);
	pass(3);
	submit(HELPER, MS);
	usual_frame();
	next(now_ns);
	is(record.parts_ns[FRAME_SUBMIT], 6 * MS, "the last submit of any thread counts, from when its call began");
	usual_frame();
	next(now_ns);
	is(record.parts_ns[FRAME_SUBMIT], FRAME_UNKNOWN, "a submit before the last frame is not this one's");
	end();
}

static void test_gpu(void)
{
	begin(true);
	usual_frame();
	skip_all();
	/* Two at once from 1 to 4 ms, one from 5 on that ends in the next frame, 12 ms later. */
	pass(3);
	fence(GAME, 2 * MS, "gfx");
	pass(1);
	fence(HELPER, 2 * MS, "compute");
	fence(HOG, 4 * MS, "gfx");
	fence(GAME, 4 * MS, "CRTC:35-crtc-0");
	usual_frame();
	ok(!next(now_ns), "the record of a process with fences waits for those that are not signalled");
	now_ns -= 3 * MS;
	fence(GAME, 12 * MS, "gfx");
	pass(3);
	usual_frame();
	usual_frame();
	ok(next(now_ns), "a record waits no longer than for two more frames");
	is(record.frame.number, 2, "the record that has waited is that of the frame before");
	is(record.parts_ns[FRAME_GPU], 15 * MS,
	   "work of the GPU at once counts once, that of others and of the display not");
	ok(next(now_ns + NSEC_PER_SEC), "a record waits no longer than half a second");
	is(record.parts_ns[FRAME_GPU], FRAME_UNKNOWN, "the GPU time of a frame without a fence is not known");
	end();
}

static void test_gpu_gaps(void)
{
	begin(true);
	usual_frame();
	skip_all();
	for (int i = 0; i < 12; i++) {
		pass(1);
		fence(GAME, MS / 2, "gfx");
	}
	fence(GAME, 5 * MS + MS / 4, "compute");
	usual_frame();
	ok(next(~0ull), "at the end no record waits");
	is(record.parts_ns[FRAME_GPU], 34 * MS / 4,
	   "many spans of GPU work are added up, with one that reaches back over them");
	end();
}

static void test_compositor(void)
{
	struct event_served served = { .head = { now_ns, 0, 0, EVENT_SERVED, 0 }, .pid = GAME, .server_pid = SERVER };
	struct event_commit commit = { .head = { 0, GAME, 0, EVENT_COMMIT, 0 } };

	begin(true);
	take(&served.head);
	usual_frame();
	skip_all();
	pass(5);
	present_by(GAME);
	commit.number = sent;
	pass(1);
	commit.head.time_ns = now_ns;
	take(&commit.head);
	ok(!next(now_ns), "the record of a picture that was handed over waits for the compositor");
	pass(7);
	present_by(SERVER);
	if (ok(next(now_ns), "the record comes as soon as the compositor presents"))
		is(process->pid, GAME, "the record that comes when the compositor presents is the game's");
	is(record.parts_ns[FRAME_COMPOSITOR], 7 * MS, "the compositor's time is that from the commit to its present");
	end();
}

static void test_display(void)
{
	begin(true);
	for (u32 i = 0; i < 12; i++) {
		vblank(0, 100 + i);
		pass(12);
		present_by(GAME);
		pass(8);
		vblank(GAME, 101 + i);
		next(now_ns);
	}
	is(record.parts_ns[FRAME_PHASE], 12 * MS, "the phase is the time since the display's period began");
	is(record.parts_ns[FRAME_SHOWN], 8 * MS, "a flip is shown when the display says so");
	is(record.vblanks_missed, 0, "a flip for each vblank has missed none");
	pass(50);
	present_by(GAME);
	pass(10);
	vblank(GAME, 115);
	next(now_ns);
	is(record.vblanks_missed, 2, "a flip that came two vblanks late has missed two");
	is(record.parts_ns[FRAME_PHASE], 10 * MS, "the phase goes on by the period where no vblank was seen");
	end();
}

static void test_animation_error(void)
{
	begin(true);
	for (int i = 0; i < 10; i++)
		usual_frame();
	skip_all();
	pass(12);
	present_by(GAME);
	next(now_ns);
	is((s64)record.parts_ns[FRAME_ANIMATION_ERROR], 7 * MS,
	   "a frame begun on time and presented 7 ms late shows its world too late");
	on_switch(0, GAME, 1, 0);
	pass(8);
	wake(GAME);
	on_switch(0, 0, 0, GAME);
	pass(5);
	present_by(GAME);
	next(now_ns);
	is((s64)record.parts_ns[FRAME_ANIMATION_ERROR], -7 * MS,
	   "the frame after it, on time again, comes too soon by as much");
	/* Both began and were shown 13 ms later: it is late, and its world fits. */
	on_switch(0, GAME, 1, 0);
	pass(28);
	wake(GAME);
	on_switch(0, 0, 0, GAME);
	pass(5);
	present_by(GAME);
	next(now_ns);
	is((s64)record.parts_ns[FRAME_ANIMATION_ERROR], 0, "a frame that is late as a whole has no error of animation");
	is(frame_part_times(process, FRAME_ANIMATION_ERROR).max_ns, 7 * MS, "errors count by their amounts");
	end();
}

static void test_parts(void)
{
	u64 sum_ns = 0;

	begin(true);
	for (int i = 0; i < 10; i++)
		usual_frame();
	pass(2);
	on_switch(0, GAME, 0, HOG);
	pass(38);
	on_switch(0, HOG, 0, GAME);
	pass(33);
	present_by(GAME);
	is(late.parts_len, 3, "a late frame has as many parts as there were");
	is(late.parts[0].kind, PATH_WAITED, "the cause is the first of a late frame's parts");
	is(late.parts[0].ns, 38 * MS, "the first part has its length");
	is(late.parts[0].other_tid, HOG, "the first part has who was in the way");
	is(late.parts[1].kind, PATH_RAN, "the second part is the longest of the others");
	is(late.parts[1].ns, 35 * MS, "runs before and after the wait are one part");
	is(late.parts[2].ns, 15 * MS, "the last part is the sleep");
	for (u32 i = 0; i < late.parts_len; i++)
		sum_ns += late.parts[i].ns;
	is(sum_ns + late.rest_ns, late.interval_ns, "the parts add up to the frame");
	end();
}

int main(void)
{
	test_nothing_known();
	test_cpu();
	test_submit();
	test_gpu();
	test_gpu_gaps();
	test_compositor();
	test_display();
	test_animation_error();
	test_parts();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0
/* model/report.c and view/report_words.c: what a page shows adds up, stays bounded, and blames the right one. */
#include <stdlib.h>

#include "../../src/view/frame_words.h"
#include "../../src/view/report_words.h"
#include "tap.h"

enum { GAME = 10, BUILD = 20, SOUND = 30, NICE_0 = 121, ASLEEP = 1, CPUS = 2 };
#define MS(count) ((u64)(count)*NSEC_PER_MSEC)

static struct threads threads;
static struct frames frames;
static struct latency latency;
static struct cuda cuda;
static struct steps steps;
static struct misses misses;
static struct report *report;
static struct cpu_topology topology[CPUS];

static void take(const void *event)
{
	const struct frame_process *process = NULL;
	struct late_frame frame;
	struct wait ended;
	bool waited = threads_handle(&threads, event, &ended);
	struct miss missed[MISSES_AT_ONCE];
	u32 missed_len = misses_handle(&misses, &threads, event, missed);

	frames_handle(&frames, &threads, event, &frame, &process);
	latency_handle(&latency, &threads, event, waited ? &ended : NULL);
	for (u32 i = 0; i < missed_len; i++)
		report_take_miss(report, &threads, &missed[i]);
	report_handle(report, &threads, &frames, event, waited ? &ended : NULL, process ? &frame : NULL, process);
}

static void add_thread(u32 tid, const char *comm)
{
	struct event_thread event = { .head = { .time_ns = MS(1), .tid = tid, .kind = EVENT_THREAD }, .start_ns = tid };

	event.pid = tid;
	strncpy(event.comm.text, comm, COMM_LEN - 1);
	take(&event);
}

static void give_role(u32 tid, u8 role)
{
	struct event_role event = { .head = { .time_ns = MS(1), .tid = tid, .kind = EVENT_ROLE }, .role = role };

	take(&event);
}

static void wake(u64 now_ns, u32 tid)
{
	struct event_wakeup event = { .head = { .time_ns = now_ns, .tid = tid, .kind = EVENT_WAKEUP }, .prio = NICE_0 };

	take(&event);
}

static void switch_to(u64 now_ns, u32 prev, u16 state, u32 next)
{
	struct event_switch event = { .head = { .time_ns = now_ns, .tid = prev, .kind = EVENT_SWITCH },
				      .next_tid = next };

	event.head.flags = prev && !state ? EVENT_FLAG_PREEMPTED : 0;
	event.prev_state = state;
	event.prev_prio = event.next_prio = NICE_0;
	take(&event);
}

static void present(u64 now_ns, u32 tid, u64 interval_ns, u64 number)
{
	struct event_frame event = { .head = { .time_ns = now_ns, .tid = tid, .kind = EVENT_FRAME },
				     .interval_ns = interval_ns,
				     .number = number };

	take(&event);
}

static void begin(void)
{
	threads_init(&threads, topology, CPUS);
	frames_init(&frames, true);
	latency_init(&latency, 0);
	cuda_init(&cuda);
	report = report_new(CPUS, late_frame_words);
	add_thread(GAME, "game");
	add_thread(BUILD, "cc1");
	give_role(GAME, ROLE_RENDER);
	give_role(BUILD, ROLE_CPU_BOUND);
}

static void end(void)
{
	report_free(report);
	latency_free(&latency);
	frames_free(&frames);
	cuda_free(&cuda);
	misses_free(&misses);
	misses = (struct misses){ 0 };
	threads_free(&threads);
}

/* Frames of 10 ms in which the game runs 2 ms; every `bad`th begins 30 ms late, behind the compiler. Returns the end.
 */
static u64 play(u32 count, u32 bad)
{
	u64 now_ns = MS(2), last_ns = 0;

	switch_to(now_ns, 0, 0, BUILD);
	for (u32 i = 1; i <= count; i++) {
		u64 wait_ns = bad && i % bad == 0 ? MS(30) : NSEC_PER_USEC;

		now_ns += MS(8);
		wake(now_ns, GAME);
		now_ns += wait_ns;
		switch_to(now_ns, BUILD, 0, GAME);
		now_ns += MS(2);
		present(now_ns, GAME, last_ns ? now_ns - last_ns : 0, i);
		last_ns = now_ns;
		switch_to(now_ns, GAME, ASLEEP, BUILD);
	}
	return now_ns;
}

static u64 waits_counted(void)
{
	u64 sum = 0;

	for (u32 role = 0; role < ROLES; role++)
		for (u32 bin = 0; bin < REPORT_BINS; bin++)
			for (u32 octave = 0; octave < REPORT_OCTAVES; octave++)
				sum += report->waits[role][bin][octave];
	return sum;
}

static u64 cpu_time(u32 kind)
{
	u64 sum = 0;

	for (u32 bin = 0; bin < REPORT_BINS; bin++)
		sum += report->kinds_ns[bin][kind];
	return sum;
}

static void test_sums(void)
{
	u64 end_ns, account_ns;

	begin();
	end_ns = play(100, 10);
	report_end(report, &threads, end_ns);
	account_ns = threads_by_tid(&threads, GAME)->account.cpu_ns;
	is(cpu_time(ROLE_RENDER), account_ns, "CPU time of a role in the report is what its thread's account has");
	is(cpu_time(ROLE_CPU_BOUND), threads_by_tid(&threads, BUILD)->account.cpu_ns,
	   "CPU time of the other role is what its thread's account has");
	is(waits_counted(), latency.woken.total + latency.preempted.total,
	   "waits in the heat map are those of the latency model");
	is(report->pairs_len, 2, "pairs of waiter and culprit: the game behind cc1, and cc1 behind the game");
	ok(report->bins <= REPORT_BINS, "bins of the report have a bound (%u)", (unsigned int)report->bins);
	ok(report->bin_ns * report->bins >= end_ns - report->from_ns, "bins of the report cover all of the time");
	end();
}

static void test_late(void)
{
	const struct report_late *late;
	u64 covered_ns = 0;

	begin();
	report_end(report, &threads, play(100, 10));
	is(report->frames.late_all, frames.processes->late, "late frames of the report are those of the frames model");
	is(report->frames.late_len, report->frames.late_all, "late frames that are few all have a path");
	late = report->frames.late[0];
	for (u32 i = 0; i < late->steps_len; i++) {
		covered_ns += late->steps[i].to_ns - late->steps[i].from_ns;
		ok(!i || late->steps[i].from_ns >= late->steps[i - 1].to_ns,
		   "step %u of a path begins after the one before", i);
	}
	is(covered_ns + late->not_shown_ns, late->frame.interval_ns, "steps of a path cover the whole frame");
	ok(strstr(late->words, "behind cc1 [20]") != NULL, "words of a late frame name who was in the way: %s",
	   late->words);
	is(report->frames.causes_len, 1, "causes of frames that were all late for one reason are one");
	is(report->frames.causes[0].blame, REPORT_BLAME_CPU,
	   "blame for a frame that waited behind another is for want of a CPU");
	is(report->frames.causes[0].frames, report->frames.late_all, "frames by cause add up to all that were late");
	end();
}

static void test_many_frames(void)
{
	const struct report_presenter *presenter;
	struct late_frame frame = { .tid = GAME };
	u64 longest_ns = 0, at_ns = MS(5), before_ns = 0;
	int in_order = 1;
	u32 late = 0;

	begin();
	play(2, 0);
	for (u32 i = 0; i < 5 * REPORT_FRAMES; i++) {
		frame.at_ns = at_ns += MS(4);
		frame.interval_ns = i == 400000 ? MS(77) : MS(4) + i % 1000;
		frame.late_ns = i == 400000 ? MS(70) : 0;
		frame.number = i + 10;
		report_frames_take(&report->frames, &report->names, &threads, &frames, &frame, frames.processes);
	}
	presenter = &report->frames.presenters[0];
	for (size_t i = 0; i < presenter->len; i++) {
		longest_ns = presenter->all[i].interval_ns > longest_ns ? presenter->all[i].interval_ns : longest_ns;
		late += presenter->all[i].is_late;
		in_order &= presenter->all[i].at_ns > before_ns;
		before_ns = presenter->all[i].at_ns;
	}
	ok(presenter->len < REPORT_FRAMES, "frames that are kept of 655,360 are bounded: %zu", presenter->len);
	ok((u64)presenter->len * presenter->each >= 5 * REPORT_FRAMES,
	   "entries of several frames stand for all of them: %u each", presenter->each);
	is(longest_ns, MS(77), "the longest frame of all stays when frames are merged");
	is(late, 1, "a late frame stays marked when frames are merged, and no other is");
	ok(in_order, "merged frames are in order of time");
	end();
}

static void test_long_time(void)
{
	struct event_sample leap = { .head = { .tid = GAME, .kind = EVENT_SAMPLE } };
	u64 sum;

	begin();
	play(200, 5);
	sum = waits_counted();
	leap.head.time_ns = 3600ull * NSEC_PER_SEC;
	take(&leap);
	report_end(report, &threads, leap.head.time_ns);
	ok(report->bins <= REPORT_BINS, "bins of an hour are bounded: %u of %llu ms", report->bins,
	   (unsigned long long)(report->bin_ns / NSEC_PER_MSEC));
	is(waits_counted(), sum, "waits are all there when bins are folded");
	leap.head.time_ns = ~0ull;
	leap.head.flags = EVENT_FLAG_CLOSING;
	report->cpus[0] = (struct report_cpu){ .tid = GAME, .since_ns = MS(3), .kinds_ns = report->cpus[0].kinds_ns };
	take(&leap);
	ok(report->bins <= REPORT_BINS, "bins are bounded whatever time an event claims");
	end();
}

static void test_many_names(void)
{
	begin();
	for (u32 i = 0; i < 3 * REPORT_NAMES; i++) {
		struct comm comm = { "" };

		snprintf(comm.text, sizeof(comm.text), "thread-%u", i);
		report_name(&report->names, &comm);
	}
	is(report->names.len, REPORT_NAMES, "names that are kept are bounded");
	is(report_name(&report->names, &(struct comm){ "thread-1" }),
	   report_name(&report->names, &(struct comm){ "thread-1" }), "a name has the same number each time");
	is(report_name(&report->names, &(struct comm){ "thread-6000" }), REPORT_NAME_OTHERS,
	   "a name past the bound is among the others");
	end();
}

static void test_window(void)
{
	u64 end_ns;

	begin();
	end_ns = play(50, 5);
	report_restart(report, end_ns);
	frames_restart(&frames);
	is(waits_counted() + report->pairs_len + report->frames.late_all + cpu_time(ROLE_RENDER), 0,
	   "nothing of what was before the window is left");
	report_end(report, &threads, end_ns + MS(7));
	is(cpu_time(ROLE_CPU_BOUND), MS(7), "who ran as the window began has the CPU from there on");
	end();
}

static char said[VERDICT_KINDS][VERDICT_SIZE];

static void keep(void *data, enum verdict_kind kind, const char *words)
{
	(void)data;
	if (!said[kind][0])
		snprintf(said[kind], sizeof(said[kind]), "%s", words);
}

static void judge(u64 lost)
{
	struct verdict_of of = { .report = report,
				 .frames = &frames,
				 .latency = &latency,
				 .cuda = &cuda,
				 .steps = &steps,
				 .misses = &misses,
				 .threads = &threads,
				 .lost = lost };

	memset(said, 0, sizeof(said));
	report_verdict(&of, keep, NULL);
}

static void test_verdict(void)
{
	begin();
	report_end(report, &threads, play(100, 10));
	judge(0);
	printf("# %s\n# %s\n# %s\n", said[VERDICT_BAD], said[VERDICT_WHY], said[VERDICT_ADVICE]);
	ok(strstr(said[VERDICT_BAD], "frames of game"), "the verdict on late frames says whose they were");
	ok(strstr(said[VERDICT_BAD], "were late"), "the verdict on late frames says that they were late");
	ok(strstr(said[VERDICT_WHY], "waited for a CPU behind cc1"), "the verdict says who was in the way");
	ok(strstr(said[VERDICT_ADVICE], "tactus run"), "the advice against want of a CPU is to run tactus");
	ok(!said[VERDICT_GOOD][0], "the verdict on late frames praises nobody");
	end();
	begin();
	report_end(report, &threads, play(100, 0));
	judge(7);
	ok(strstr(said[VERDICT_GOOD], "None of 100 frames of game was late."),
	   "the verdict on frames in time says that none was late");
	is_text(said[VERDICT_BAD], "", "the verdict on frames in time has no blame");
	is_text(said[VERDICT_WHY], "", "the verdict on frames in time has no cause");
	is_text(said[VERDICT_ADVICE], "", "the verdict on frames in time has no advice");
	end();
	begin();
	report_end(report, &threads, play(2, 0));
	judge(0);
	is_text(said[VERDICT_NOTE], "game presented 2 frames, too few to say which are late.",
		"the verdict on frames that are too few to judge says so");
	is_text(said[VERDICT_GOOD], "", "frames that are too few to judge are no good verdict");
	end();
	begin();
	judge(0);
	ok(strstr(said[VERDICT_NOTE], "No program presented a frame"),
	   "the verdict on nothing says that there was nothing");
	end();
}

/* Sound every 5 ms, which takes 1 ms; from the 40th on every `bad`th begins 3 ms late, behind the compiler. Returns the
 * end. */
static u64 play_sound(u32 count, u32 bad)
{
	u64 now_ns = MS(2);

	add_thread(SOUND, "sound");
	give_role(SOUND, ROLE_AUDIO);
	switch_to(now_ns, 0, 0, BUILD);
	for (u32 i = 1; i <= count; i++, now_ns += MS(5)) {
		u64 wait_ns = i > 40 && bad && i % bad == 0 ? MS(3) : NSEC_PER_USEC;

		wake(now_ns, SOUND);
		switch_to(now_ns + wait_ns, BUILD, 0, SOUND);
		switch_to(now_ns + wait_ns + MS(1), SOUND, ASLEEP, BUILD);
	}
	return now_ns;
}

static void test_misses(void)
{
	begin();
	report_end(report, &threads, play_sound(140, 10));
	judge(0);
	printf("# %s\n# %s\n# %s\n", said[VERDICT_BAD], said[VERDICT_WHY], said[VERDICT_ADVICE]);
	ok(strstr(said[VERDICT_BAD], "sound (audio) ran too late in 10 of "),
	   "the verdict on missed periods says whose they were and how many");
	ok(strstr(said[VERDICT_BAD], "every 5.00 ms; it was late by up to 3.00 ms."),
	   "the verdict on missed periods says how long a period is, and how late the latest was");
	is_text(said[VERDICT_WHY], "In all 10 it waited for a CPU behind cc1 (10 times).",
		"the verdict on missed periods says who had the CPU");
	ok(strstr(said[VERDICT_ADVICE], "it lets threads that work by a timer go before cc1"),
	   "the advice on missed periods names who is to go later");
	report_restart(report, MS(1000));
	is(report->miss_causes_len, 0, "causes of misses before the window are forgotten");
	for (u32 i = 0; i < REPORT_MISS_CAUSES + 5; i++)
		report_take_miss(report, &threads, &(struct miss){ .tid = 1000 + i });
	is(report->miss_causes_len, REPORT_MISS_CAUSES, "causes of misses are bounded");
	is(report->misses_refused, 5, "misses for whose cause there is no room are counted");
	end();
	begin();
	report_end(report, &threads, play_sound(140, 0));
	judge(0);
	is_text(said[VERDICT_BAD], "", "the verdict on periods none of which was missed has no blame");
	ok(strstr(said[VERDICT_NOTE], "1 thread that works by a timer was always in time."),
	   "the verdict on periods none of which was missed says so");
	end();
}

/* Of steps as they were counted: 90 of 100 in time. */
static void test_steps(void)
{
	static u64 times_ns[] = { MS(4), MS(5), MS(30) };
	struct step_process loop = {
		.pid = GAME,
		.comm = { "python3" },
		.steps = 100,
		.slow = 10,
		.times_ns = times_ns,
		.times_len = 3,
		.slow_by = { [STEP_DATA] = 7, [STEP_CPU_WAIT] = 3 },
		.sum = { .wall_ns = MS(100),
			 .parts_ns = { [STEP_SYNC] = MS(60), [STEP_SLEPT] = MS(75), [STEP_DATA] = MS(20) } }
	};

	begin();
	steps.processes = &loop;
	judge(0);
	printf("# %s\n# %s\n# %s\n# %s\n", said[VERDICT_BAD], said[VERDICT_WHY], said[VERDICT_ADVICE],
	       said[VERDICT_NOTE]);
	ok(strstr(said[VERDICT_BAD], "10 of 100 training steps of python3 (10.0 %) were slow."),
	   "the verdict on slow steps says how many and whose");
	ok(strstr(said[VERDICT_WHY],
		  "In 3 of the 10 (30 %) the thread that launches waited for a CPU longer than usual."),
	   "the verdict on slow steps says what they went into");
	ok(strstr(said[VERDICT_ADVICE], "The loader is late"),
	   "the advice on slow steps is by what most of them waited for");
	ok(strstr(said[VERDICT_NOTE],
		  "For 60 % of the time of all steps, the thread that launches waited for the GPU."),
	   "time that a thread sleeps in a call that waits for the GPU counts as waiting for the GPU alone");
	loop.slow = 0;
	judge(0);
	ok(strstr(said[VERDICT_GOOD], "None of 100 training steps of python3 was slow."),
	   "steps none of which was slow are a good verdict");
	is_text(said[VERDICT_ADVICE], "", "the verdict on steps none of which was slow has no advice");
	steps.processes = NULL;
	end();
}

static void test_errors(void)
{
	struct cuda_error error = { .function = ~0u, .result = 1, .count = 3 };
	struct cuda_xid xid = { .code = 31 };

	begin();
	cuda.errors = &error;
	cuda.xids = &xid;
	judge(0);
	is_text(said[VERDICT_NOTE], "3 calls into CUDA failed: ? with CUDA_ERROR_INVALID_VALUE.",
		"the verdict on calls that failed says how many, and with what");
	ok(strstr(said[VERDICT_BAD], "Xid 31"), "the verdict on an error of the GPU says its number");
	cuda.errors = NULL;
	cuda.xids = NULL;
	end();
}

/* A span counts where it lies, and all of it. */
static void test_spans(void)
{
	u64 sum = 0, most = 0;

	begin();
	report_restart(report, MS(100));
	report_count_span(report, REPORT_SYNCHRONISATION_NS, MS(90), MS(190));
	report_count_span(report, REPORT_SYNCHRONISATION_NS, MS(10), MS(20));
	report_count_span(report, REPORT_SYNCHRONISATION_NS, MS(150), MS(150));
	for (u32 bin = 0; bin < REPORT_BINS; bin++) {
		sum += report->counts[REPORT_SYNCHRONISATION_NS][bin];
		if (bin && report->counts[REPORT_SYNCHRONISATION_NS][bin] > most)
			most = report->counts[REPORT_SYNCHRONISATION_NS][bin];
	}
	is(sum, MS(110), "spans that are counted are all there");
	is(most, report->bin_ns, "no stretch of time has more of a span than it is long");
	is(report->counts[REPORT_SYNCHRONISATION_NS][0], MS(20) + report->bin_ns,
	   "what of a span was before the beginning counts there");
	report_count_span(report, REPORT_SYNCHRONISATION_NS, 0, ~0ull);
	ok(report->bins <= REPORT_BINS, "a span's bins are bounded whatever time it claims");
	end();
}

static void test_blame(void)
{
	struct late_frame frame = { .tid = GAME, .late_ns = MS(10) };

	is(report_blame_of(&frame), REPORT_BLAME_UNKNOWN, "blame is for nobody where the cause is not known");
	frame.has_cause = true;
	frame.cause = (struct path_item){ .kind = PATH_RAN, .tid = GAME };
	is(report_blame_of(&frame), REPORT_BLAME_ITSELF,
	   "blame is its own where the thread that presents ran too long");
	frame.cause.tid = BUILD;
	is(report_blame_of(&frame), REPORT_BLAME_WORK, "blame is another thread's where that ran and was waited for");
	frame.gpu_ns = MS(9);
	is(report_blame_of(&frame), REPORT_BLAME_GPU, "blame is the GPU's where most of the excess was in its driver");
	frame.cause.kind = PATH_WAITED;
	is(report_blame_of(&frame), REPORT_BLAME_CPU, "blame is want of a CPU where it waited, in the driver or not");
}

int main(void)
{
	test_sums();
	test_late();
	test_many_frames();
	test_long_time();
	test_many_names();
	test_window();
	test_verdict();
	test_misses();
	test_steps();
	test_errors();
	test_spans();
	test_blame();
	return tap_end();
}

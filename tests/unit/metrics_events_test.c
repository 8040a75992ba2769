// SPDX-License-Identifier: GPL-2.0
/* model/metrics_events.c: what made events add to the figures, each cause and kind by its number, and that models which
 * stand behind the figures have room for who comes late, however many came and went before. */
#include <string.h>

#include "../../core/gpu_config.h"
#include "../../core/role.h"
#include "../../src/model/metrics_events.h"
#include "tap.h"

enum { GAME = 10, HELPER = 11, HOG = 99, LAUNCH = 1, WAIT, COPY, COLLECTIVE, FUNCTIONS };
enum { MANY = 5000, TURN_S = 10, FRAMES_OF_EACH = 12, LATE_OF_EACH = 1 };
#define MS(n) ((u64)(n)*NSEC_PER_MSEC)

static struct threads threads;
static struct metrics_events events;
static struct cpu_topology topology[2];
static u64 now_ns, steps_ended;

static void take(void *data)
{
	const struct step_process *process;
	struct event_header *event = data;
	struct wait ended;
	struct step step;

	event->time_ns = now_ns;
	threads_handle(&threads, event, &ended);
	steps_ended += metrics_events_handle(&events, &threads, event, &step, &process);
}

static void add_thread(u32 tid, u32 pid, const char *comm)
{
	struct event_thread event = {
		.head = { .tid = tid, .kind = EVENT_THREAD }, .start_ns = now_ns, .pid = pid, .parent_tid = 1
	};

	strncpy(event.comm.text, comm, COMM_LEN - 1);
	take(&event);
}

static void on_switch(u16 cpu, u32 from, u16 state, u32 to)
{
	struct event_switch event = { .head = { .tid = from, .cpu = cpu, .kind = EVENT_SWITCH },
				      .next_tid = to,
				      .prev_state = state,
				      .prev_prio = 121,
				      .next_prio = 121 };

	take(&event);
}

static void wake(u32 tid, u32 waker)
{
	struct event_wakeup event = { .head = { .tid = tid, .kind = EVENT_WAKEUP }, .waker_tid = waker, .prio = 121 };

	take(&event);
}

static void present(u32 tid)
{
	struct event_frame event = { .head = { .tid = tid, .kind = EVENT_FRAME }, .interval_ns = 1 };

	take(&event);
}

static void submit(u32 tid, u64 took_ns)
{
	struct event_submit event = { .head = { .tid = tid, .kind = EVENT_SUBMIT },
				      .took_ns = took_ns,
				      .driver = GPU_AMDGPU,
				      .work = GPU_WORK_COMMANDS };

	take(&event);
}

static void job(u8 flags, u64 took_ns, const char *timeline)
{
	struct event_fence event = { .head = { .kind = EVENT_FENCE, .flags = flags }, .took_ns = took_ns };

	memcpy(event.driver.text, "amdgpu", 6);
	strncpy(event.timeline.text, timeline, COMM_LEN - 1);
	take(&event);
}

static void call(u32 tid, u32 function, u64 duration_ns, u64 bytes)
{
	struct event_cuda_call event = { .head = { .tid = tid, .kind = EVENT_CUDA_CALL },
					 .duration_ns = duration_ns,
					 .function = function,
					 .bytes = bytes };

	take(&event);
}

static void launch(u32 tid, u64 kernel)
{
	struct event_cuda_launch event = { .head = { .tid = tid, .kind = EVENT_CUDA_LAUNCH },
					   .function = LAUNCH,
					   .kernel = kernel };

	take(&event);
}

static void name_functions(void)
{
	static const char *const names[FUNCTIONS] = { "", "cuLaunchKernel", "cuStreamSynchronize", "cuMemcpyHtoD_v2",
						      "ncclAllReduce" };

	for (u32 i = LAUNCH; i < FUNCTIONS; i++) {
		struct event_cuda_name event = { .head = { .kind = EVENT_CUDA_NAME },
						 .handle = i,
						 .what = CUDA_NAMED_FUNCTION };

		strncpy(event.name.text, names[i], LONG_NAME_LEN - 1);
		take(&event);
	}
}

static void pass(u64 ns)
{
	now_ns += ns;
}

/* Nobody asks for figures in any of these tests; all that happens is that more comes. */
static void pass_s(u64 s)
{
	pass(s * NSEC_PER_SEC);
	add_thread(1, 1, "init");
}

static void begin(void)
{
	now_ns = (u64)100 * NSEC_PER_SEC;
	steps_ended = 0;
	threads_init(&threads, topology, 2);
	threads.ended_most = THREADS_ENDED_FEW;
	metrics_events_init(&events, true);
	events.frames.explains = true;
	name_functions();
}

static void end(void)
{
	metrics_events_free(&events);
	threads_free(&threads);
}

/* A frame of 20 ms: 5 of work, 15 asleep until a timer. */
static void usual_frame(void)
{
	pass(MS(5));
	present(GAME);
	on_switch(0, GAME, 1, 0);
	pass(MS(15));
	wake(GAME, 0);
	on_switch(0, 0, 0, GAME);
}

static void begin_game(void)
{
	begin();
	add_thread(GAME, GAME, "game");
	add_thread(HELPER, GAME, "helper");
	add_thread(HOG, HOG, "hog");
	on_switch(0, 0, 0, GAME);
	for (u32 i = 0; i < 40; i++)
		usual_frame();
}

static u64 all_late(void)
{
	u64 late = 0;

	for (u32 cause = 0; cause < LATE_CAUSES; cause++)
		late += events.late[cause];
	return late;
}

static void late_by_itself(void)
{
	pass(MS(45));
	present(GAME);
}

static void late_behind_another(void)
{
	pass(MS(2));
	on_switch(0, GAME, 0, HOG);
	pass(MS(37));
	on_switch(0, HOG, 0, GAME);
	pass(MS(3));
	present(GAME);
}

static void late_by_its_helper(void)
{
	on_switch(1, 0, 0, HELPER);
	pass(MS(1));
	on_switch(0, GAME, 1, 0);
	pass(MS(40));
	wake(GAME, HELPER);
	on_switch(0, 0, 0, GAME);
	present(GAME);
}

static void late_asleep(void)
{
	pass(MS(5));
	on_switch(0, GAME, 1, 0);
	pass(MS(40));
	wake(GAME, 0);
	on_switch(0, 0, 0, GAME);
	present(GAME);
}

static void late_in_a_submit(void)
{
	pass(MS(45));
	submit(GAME, MS(40));
	present(GAME);
}

static void late_without_a_cause(void)
{
	events.frames.explains = false;
	pass(MS(45));
	present(GAME);
}

static void test_causes(void)
{
	static const struct {
		enum late_cause cause;
		void (*happens)(void);
	} cases[] = { { LATE_RAN, late_by_itself },	  { LATE_CPU_WAIT, late_behind_another },
		      { LATE_OTHER, late_by_its_helper }, { LATE_SLEPT, late_asleep },
		      { LATE_GPU, late_in_a_submit },	  { LATE_UNKNOWN, late_without_a_cause } };

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name = late_cause_name(cases[i].cause);

		begin_game();
		is(all_late(), 0, "frames on time before one that is late for '%s' are not counted as late", name);
		cases[i].happens();
		is(events.late[cases[i].cause], 1, "late frame is counted under its cause '%s'", name);
		is(all_late(), 1, "late frame of cause '%s' is counted under no other", name);
		is(events.frame_times.total, 41, "frames of a game with one late for '%s' are all timed", name);
		end();
	}
}

static u64 all_stalls(void)
{
	u64 stalls = 0;

	for (u32 kind = 0; kind < METRICS_STALLS; kind++)
		stalls += events.stalls[kind];
	return stalls;
}

static void test_stalls(void)
{
	begin();
	add_thread(GAME, GAME, "game");
	for (u32 i = 0; i < 40; i++) {
		pass(MS(10));
		submit(GAME, MS(1) / 10);
		job(0, MS(1), "gfx");
		job(EVENT_FLAG_QUEUED, MS(1), "gfx");
		job(EVENT_FLAG_RAN, MS(1), "gfx");
	}
	is(all_stalls(), 0, "submits and jobs of a steady length are no stalls");
	is(events.submitted[GPU_AMDGPU], 40, "submits are counted by driver");
	is(events.submit_ns[GPU_AMDGPU], MS(4), "time in submits is added up by driver");
	pass(MS(10));
	submit(GAME, MS(3));
	is(events.stalls[STALL_IOCTL], 1, "submit that hangs in the driver is counted as such");
	pass(MS(100));
	submit(GAME, MS(1) / 10);
	is(events.stalls[STALL_GAP], 1, "gap between submits is counted as such");
	job(0, MS(50), "gfx");
	is(events.stalls[STALL_FENCE], 1, "fence that is signalled late is counted as such");
	job(EVENT_FLAG_QUEUED, MS(50), "gfx");
	is(events.stalls[STALL_QUEUE], 1, "job that is queued for long is counted as such");
	pass(MS(100));
	job(EVENT_FLAG_RAN, MS(50), "gfx");
	is(events.stalls[STALL_RUN], 1, "job that runs for long is counted as such");
	is(all_stalls(), 5, "five stalls of five kinds are counted once each");
	end();
}

static void test_missed_timers(void)
{
	struct event_role role = { .head = { .tid = GAME, .kind = EVENT_ROLE }, .role = ROLE_AUDIO };
	u64 due_ns;

	begin();
	add_thread(GAME, GAME, "player");
	take(&role);
	due_ns = now_ns;
	for (u32 i = 0; i < 44; i++) {
		due_ns += MS(10);
		now_ns = due_ns;
		wake(GAME, 0);
		/* The last four come 8 ms too late. */
		now_ns += i < 40 ? MS(1) / 20 : MS(8);
		on_switch(0, 0, 0, GAME);
		now_ns += MS(1);
		on_switch(0, GAME, 1, 0);
	}
	is(events.missed[ROLE_AUDIO], 4, "timers that an audio thread missed are counted under its role");
	is(events.missed[ROLE_RENDER], 0, "timers that an audio thread missed are counted under no other role");
	end();
}

static void test_cuda(void)
{
	const struct metrics_cuda *of = events.of;

	begin();
	add_thread(20, 20, "trainer");
	add_thread(21, 20, "worker");
	add_thread(30, 30, "server");
	for (u32 i = 0; i < 7; i++)
		launch(i % 2 ? 20 : 21, 5);
	launch(30, 5);
	call(20, COPY, MS(1), 4096);
	call(21, COPY, MS(1), 1000);
	call(20, WAIT, MS(7), 0);
	call(20, COLLECTIVE, MS(9), 0);
	call(20, LAUNCH, MS(9), 0);
	is(events.of_len, 2, "CUDA's figures have one place for each process name");
	is_text(of[0].comm.text, "trainer", "CUDA's figures are by the name of the process, not of its thread");
	is(of[0].launches, 7, "launches of all threads of a process are added up");
	is(of[1].launches, 1, "launches of another process are its own");
	is(of[0].copies, 2, "copies of a process are counted");
	is(of[0].copied_bytes, 5096, "bytes that a process copied are added up");
	is(of[0].syncs, 1, "calls of a process that wait for the GPU are counted");
	is(of[0].sync_ns, MS(7), "time in calls that wait for the GPU is added up");
	is(of[0].collectives, 1, "collective calls of a process are counted");
	is(of[0].collective_ns, MS(9), "time in collective calls is added up");
	end();
}

/* One program after the other, of which nothing says that it ended. */
static void run_presenters(void)
{
	for (u32 i = 0; i < MANY; i++) {
		u32 tid = 1000 + i;

		add_thread(tid, tid, "player");
		for (u32 frame = 0; frame < FRAMES_OF_EACH; frame++) {
			pass(MS(20));
			submit(tid, MS(1) / 10);
			present(tid);
		}
		pass(MS(60));
		present(tid);
	}
}

static void test_many_presenters(void)
{
	begin();
	events.frames.explains = false;
	run_presenters();
	is(events.frame_times.total, (u64)MANY * (FRAMES_OF_EACH + 1),
	   "frames of 5,000 programs in turn are all timed");
	is(all_late(), (u64)MANY * LATE_OF_EACH, "late frames of 5,000 programs in turn are counted, one of each");
	is(events.frames.rows_refused, 0, "no frame of 5,000 programs in turn is without a row");
	is(events.submits.refused, 0, "no submit of 5,000 programs in turn is without a row");
	is_between(1, events.frames.rows_len, FRAMES_ROWS_MAX / 4, "rows of presenters are few after 5,000 programs");
	is_between(1, events.submits.len, SUBMIT_ROWS_MAX / 4, "rows of submits are few after 5,000 programs");
	is_between(0, events.frames.times_len, TURN_S * 100, "times of frames are those since the last turn");
	printf("# rows after 5,000 programs: %zu of presenters, %u of submits\n", events.frames.rows_len,
	       events.submits.len);
	pass_s(120);
	is(events.frames.rows_len, 0, "no row of a presenter is left after two silent minutes");
	is(events.submits.len, 0, "no row of submits is left after two silent minutes");
	end();
}

static void test_ended(void)
{
	begin_game();
	is_between(1, events.frames.rows_len, 8, "a game that presents has rows");
	on_switch(0, GAME, STATE_DEAD, 0);
	pass_s(TURN_S);
	is(events.frames.rows_len, 0, "a game that has ended leaves no row at the next turn");
	end();
	begin_game();
	submit(GAME, MS(1));
	pass_s(30);
	is(events.frames.rows_len, 2, "a game that pauses for half a minute keeps its rows");
	is(events.submits.len, 1, "a thread that submits nothing for half a minute keeps its row");
	end();
}

static void test_full(void)
{
	begin();
	events.frames.explains = false;
	for (u32 i = 0; i < FRAMES_ROWS_MAX; i++) {
		add_thread(1000 + i, 1000 + i, "player");
		present(1000 + i);
		submit(1000 + i, MS(1));
	}
	is(events.frames.rows_refused, FRAMES_ROWS_MAX / 2,
	   "frames of programs that are too many at once are counted as refused");
	add_thread(9, 9, "player");
	submit(9, MS(1));
	is(events.submits.refused, 1, "a submit of one thread too many at once is counted as refused");
	pass(6 * (u64)NSEC_PER_SEC);
	present(9);
	is(events.frames.rows_refused, FRAMES_ROWS_MAX / 2, "a program presents once too many others are silent");
	is(events.frames.rows_len, 2, "where rows had run out, those that are silent for six seconds go");
	end();
}

static void test_many_cuda_processes(void)
{
	u64 of_first = 0;

	begin();
	for (u32 i = 0; i < MANY; i++) {
		u32 pid = 1000 + 2 * i;

		add_thread(pid, pid, "train");
		add_thread(pid + 1, pid, "train");
		for (u32 step = 0; step < 40; step++) {
			for (u32 kernel = 1; kernel < 4; kernel++) {
				pass(MS(1));
				launch(pid, kernel);
			}
			call(pid + 1, COPY, MS(1), 1);
			call(pid, WAIT, MS(1), 0);
		}
		on_switch(0, pid, STATE_DEAD, 0);
		if (i == STEPS_PROCESSES - 1)
			of_first = steps_ended;
	}
	printf("# rows after 5,000 CUDA processes: %u, kernels %u, steps %u; %llu steps in all\n", events.cuda.rows_len,
	       events.cuda.kernels_len, events.steps.processes_len, (unsigned long long)steps_ended);
	is_between(STEPS_PROCESSES, of_first, STEPS_PROCESSES * 40, "the first 64 CUDA processes have training steps");
	is(steps_ended, of_first / STEPS_PROCESSES * MANY,
	   "steps of 5,000 CUDA processes in turn are found, as many of each");
	is(events.cuda.refused, 0, "no thread of 5,000 CUDA processes in turn is without a row");
	is(events.steps.refused, 0, "no step of 5,000 CUDA processes in turn is without a place");
	is_between(1, events.cuda.rows_len, METRICS_CUDA_ROWS, "rows of CUDA's are few after 5,000 processes");
	is_between(1, events.cuda.kernels_len, METRICS_CUDA_ROWS, "kernels are few after 5,000 CUDA processes");
	is(events.of[0].launches, MANY * 120ULL, "launches of 5,000 CUDA processes in turn are all counted");
	pass_s(120);
	is(events.cuda.rows_len, 0, "no row of CUDA's is left after two silent minutes");
	is(events.cuda.kernels_len, 0, "no kernel is left after two silent minutes");
	is(events.steps.processes_len, 0, "no process with steps is left after two silent minutes");
	end();
}

int main(void)
{
	test_causes();
	test_stalls();
	test_missed_timers();
	test_cuda();
	test_many_presenters();
	test_ended();
	test_full();
	test_many_cuda_processes();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0
/* Where a training step goes: the rhythm of launches, and slow steps named for what was really injected into them. The
 * stream is made here, by a small loop of which everything is known. */
#include "../../src/model/steps.h"

#include <stdlib.h>

#include "tap.h"

enum {
	TRAINER = 10,
	HOLDER = 11,   /* a thread of the same process */
	BACKWARD = 12, /* one that launches too */
	LOADER = 20,   /* a process of its own, the trainer's child */
	HOG = 30,
	LAUNCH = 1,
	SYNC,
	COPY,
	COPY_ASYNC,
	GRAPH,
	KERNELS = 6,
};

static struct cpu_topology topology[4];
static struct threads threads;
static struct cuda cuda;
static struct steps steps;
static u64 now_ns;
static struct step last;
static u64 ended, slow;

static void take(void *data)
{
	const struct step_process *process;
	struct event_header *event = data;
	struct wait wait;
	struct step step;

	event->time_ns = now_ns;
	threads_handle(&threads, event, &wait);
	cuda_handle(&cuda, &threads, event);
	if (!steps_handle(&steps, &threads, &cuda, event, &step, &process))
		return;
	ended++;
	slow += step.is_slow;
	if (step.is_slow)
		last = step;
}

static void pass_us(u64 us)
{
	now_ns += us * NSEC_PER_USEC;
}

static void make_thread(u32 tid, u32 pid, u32 parent, const char *comm)
{
	struct event_thread event = {
		.head = { .tid = tid, .kind = EVENT_THREAD }, .start_ns = tid, .pid = pid, .parent_tid = parent
	};

	memcpy(event.comm.text, comm, strlen(comm));
	take(&event);
}

static void switch_to(u16 cpu, u32 from, u32 to, u16 state, u8 flags)
{
	struct event_switch event = { .head = { .tid = from, .cpu = cpu, .kind = EVENT_SWITCH, .flags = flags },
				      .next_tid = to,
				      .prev_state = state,
				      .prev_prio = 121,
				      .next_prio = 121 };

	take(&event);
}

static void wake(u32 tid, u16 cpu, u32 waker, u8 flags)
{
	struct event_wakeup event = { .head = { .tid = tid, .cpu = cpu, .kind = EVENT_WAKEUP, .flags = flags },
				      .waker_tid = waker,
				      .target_cpu = cpu,
				      .prio = 121 };

	take(&event);
}

static void name(u64 number, const char *text)
{
	struct event_cuda_name event = { .head = { .kind = EVENT_CUDA_NAME },
					 .handle = number,
					 .what = CUDA_NAMED_FUNCTION };

	memcpy(event.name.text, text, strlen(text));
	take(&event);
}

static void launch(u32 tid, u64 kernel, u32 function)
{
	struct event_cuda_launch event = { .head = { .tid = tid, .kind = EVENT_CUDA_LAUNCH, .flags = EVENT_FLAG_ENTRY },
					   .kernel = kernel,
					   .function = function };

	take(&event);
}

static void range(u32 tid, const char *text)
{
	struct event_cuda_name event = { .head = { .tid = tid, .kind = EVENT_CUDA_NAME },
					 .pid = TRAINER,
					 .what = CUDA_NAMED_RANGE };

	memcpy(event.name.text, text, strlen(text));
	take(&event);
}

static void called(u32 tid, u32 function, u64 duration_us, u64 bytes, u32 copy)
{
	struct event_cuda_call event = { .head = { .tid = tid, .kind = EVENT_CUDA_CALL },
					 .duration_ns = duration_us * NSEC_PER_USEC,
					 .bytes = bytes,
					 .function = function,
					 .copy = copy,
					 .pid = TRAINER };

	take(&event);
}

static void begin(const char *marker)
{
	threads_init(&threads, topology, 4);
	cuda_init(&cuda);
	steps_init(&steps, marker);
	now_ns = NSEC_PER_SEC;
	ended = slow = 0;
	last = (struct step){ 0 };
	make_thread(TRAINER, TRAINER, 1, "trainer");
	make_thread(HOLDER, TRAINER, TRAINER, "holder");
	make_thread(BACKWARD, TRAINER, TRAINER, "backward");
	make_thread(LOADER, LOADER, TRAINER, "loader");
	make_thread(HOG, HOG, 1, "hog");
	name(LAUNCH, "cuLaunchKernel");
	name(SYNC, "cuStreamSynchronize");
	name(COPY, "cuMemcpyDtoH_v2");
	name(COPY_ASYNC, "cuMemcpyDtoHAsync_v2");
	name(GRAPH, "cuGraphLaunch");
	switch_to(0, 0, TRAINER, 0, 0);
}

static void end(void)
{
	steps_free(&steps);
	cuda_free(&cuda);
	threads_free(&threads);
}

/* What is put into a step. */
enum delay {
	DELAY_NONE,
	DELAY_DATA,
	DELAY_LOCK,
	DELAY_HOG,
	DELAY_SYNC,
	DELAY_COPY,
	DELAY_COPY_WAIT,
	DELAY_LOSS,
	DELAY_WORK,
	DELAY_TIMER
};

/* The trainer sleeps until another, which slept itself, wakes it. */
static void wait_for(u32 other, u64 us)
{
	switch_to(0, TRAINER, 0, 1, 0);
	pass_us(us);
	wake(other, 1, 0, EVENT_FLAG_BY_INTERRUPT);
	switch_to(1, 0, other, 0, 0);
	pass_us(100);
	wake(TRAINER, 0, other, EVENT_FLAG_BY_THREAD);
	switch_to(1, other, 0, 1, 0);
	pass_us(10);
	switch_to(0, 0, TRAINER, 0, 0);
}

static void wait_for_gpu(u32 function, u64 us, u64 bytes)
{
	switch_to(0, TRAINER, 0, 1, 0);
	pass_us(us);
	wake(TRAINER, 0, 0, EVENT_FLAG_BY_INTERRUPT);
	pass_us(5);
	switch_to(0, 0, TRAINER, 0, 0);
	called(TRAINER, function, us + 5, bytes, bytes ? COPY_DEVICE_TO_HOST : 0);
}

static void one_step(enum delay delay)
{
	enum { LONG_US = 20000 };

	wait_for(LOADER, delay == DELAY_DATA ? LONG_US : 500);
	for (u64 kernel = 1; kernel <= KERNELS; kernel++) {
		launch(TRAINER, kernel, LAUNCH);
		pass_us(100);
		/* The same in each of three layers. */
		for (int layer = 0; layer < 3; layer++, pass_us(50))
			launch(TRAINER, 100, LAUNCH);
	}
	if (delay == DELAY_WORK)
		pass_us(LONG_US);
	if (delay == DELAY_LOCK)
		wait_for(HOLDER, LONG_US);
	if (delay == DELAY_HOG) {
		switch_to(0, TRAINER, HOG, 0, EVENT_FLAG_PREEMPTED);
		pass_us(LONG_US);
		switch_to(0, HOG, TRAINER, 0, EVENT_FLAG_PREEMPTED);
	}
	if (delay == DELAY_TIMER) {
		switch_to(0, TRAINER, 0, 1, 0);
		pass_us(LONG_US);
		wake(TRAINER, 0, 0, EVENT_FLAG_BY_INTERRUPT);
		switch_to(0, 0, TRAINER, 0, 0);
	}
	if (delay == DELAY_COPY)
		wait_for_gpu(COPY, LONG_US, 64 << 20);
	if (delay == DELAY_LOSS)
		wait_for_gpu(COPY, LONG_US, 4);
	if (delay == DELAY_COPY_WAIT) {
		called(TRAINER, COPY_ASYNC, 20, 64 << 20, COPY_DEVICE_TO_HOST);
		wait_for_gpu(SYNC, LONG_US, 0);
	}
	wait_for_gpu(SYNC, delay == DELAY_SYNC ? LONG_US : 1000, 0);
}

static void test_causes(void)
{
	static const struct {
		enum delay delay;
		enum step_part part;
		const char *words;
		u32 tid, other_tid;
	} cases[] = {
		{ DELAY_DATA, STEP_DATA, "a DataLoader that sleeps", LOADER, 0 },
		{ DELAY_LOCK, STEP_LOCK, "a thread of its own that keeps it waiting", HOLDER, 0 },
		{ DELAY_HOG, STEP_CPU_WAIT, "a hog on its CPU", TRAINER, HOG },
		{ DELAY_SYNC, STEP_SYNC, "a GPU that takes longer", 0, 0 },
		{ DELAY_COPY, STEP_COPY, "a copy that returns when it is done", 0, 0 },
		{ DELAY_COPY_WAIT, STEP_COPY, "a wait right behind a large copy", 0, 0 },
		{ DELAY_LOSS, STEP_SYNC, "a copy of four bytes that waits for the GPU", 0, 0 },
		{ DELAY_WORK, STEP_RAN, "work of its own", TRAINER, 0 },
		{ DELAY_TIMER, STEP_SLEPT, "a sleep of its own", TRAINER, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(NULL);
		for (int step = 0; step < 60; step++)
			one_step(step == 50 ? cases[i].delay : DELAY_NONE);
		ok(ended >= 40, "steps with %s are found by the rhythm: %llu of 60", cases[i].words,
		   (unsigned long long)ended);
		is(slow, 1, "step into which %s was put is the only slow one", cases[i].words);
		is(last.part, cases[i].part, "step is slow for %s: %s", cases[i].words, step_part_name(last.part));
		ok(last.wall_ns > 20 * NSEC_PER_MSEC, "step that is slow for %s takes longer than that",
		   cases[i].words);
		is_between(20 * NSEC_PER_MSEC, last.parts_ns[last.part], 23 * NSEC_PER_MSEC - 1,
			   "step that is slow for %s spent that time so: %llu us", cases[i].words,
			   (unsigned long long)(last.parts_ns[last.part] / NSEC_PER_USEC));
		if (cases[i].tid)
			is(last.cause.tid, cases[i].tid, "step that is slow for %s names the thread", cases[i].words);
		if (cases[i].other_tid)
			is(last.cause.other_tid, cases[i].other_tid, "step that is slow for %s names who had the CPU",
			   cases[i].words);
		end();
	}
}

static void test_accounts(void)
{
	const struct step_process *process;

	begin(NULL);
	for (int step = 0; step < 60; step++)
		one_step(DELAY_NONE);
	process = steps.processes;
	is(slow, 0, "no step is slow where all are alike");
	is(process->sum.launches, process->steps * KERNELS * 4, "launches of each step are counted");
	is(process->sum.waits, process->steps, "waits for the GPU of each step are counted");
	is(process->sum.parts_ns[STEP_SYNC] / process->steps, 1005 * NSEC_PER_USEC,
	   "time in waits for the GPU is counted");
	is(process->sum.parts_ns[STEP_DATA] / process->steps, 600 * NSEC_PER_USEC,
	   "time until the DataLoader's data came is counted, its own sleep and its run");
	is(step_times(process).p50_ns, process->sum.wall_ns / process->steps, "median of equal steps is their length");
	is_between(1500 * NSEC_PER_USEC, process->sum.cpu_ns / process->steps, 1700 * NSEC_PER_USEC,
		   "CPU time of a step is that of the process's threads: %llu us",
		   (unsigned long long)(process->sum.cpu_ns / process->steps / NSEC_PER_USEC));
	end();
}

static void test_graphs_and_names(void)
{
	begin(NULL);
	for (int step = 0; step < 200; step++, pass_us(1000)) {
		launch(TRAINER, 7, GRAPH);
		launch(TRAINER, 100, LAUNCH);
	}
	is(steps.processes->rhythm.rank, BEAT_GRAPH, "launch of a graph marks the step where there is one");
	ok(ended > 100, "steps of one graph each are found: %llu of 200", (unsigned long long)ended);
	end();
	begin("Synchronize");
	for (int step = 0; step < 20; step++) {
		launch(TRAINER, 5, LAUNCH);
		pass_us(1000);
		called(TRAINER, SYNC, 10, 0, 0);
	}
	is(ended, 19, "steps begin with what the user says");
	end();
	begin(NULL);
	for (int step = 0; step < 5000; step++, pass_us(10))
		launch(TRAINER, 100, LAUNCH);
	is(ended, 0, "a loop of one launch alone is taken for no step");
	end();
	begin(NULL);
	srand(1);
	for (int i = 0; i < 5000; i++, pass_us(10))
		launch(TRAINER, 1 + (u64)(rand() % 40), LAUNCH);
	is(ended, 0, "launches in no order are taken for no step");
	end();
}

/* What the program itself names, by NVTX: a loop whose launches have no rhythm. */
static void test_ranges(void)
{
	char text[32];

	begin(NULL);
	srand(1);
	for (int step = 0; step < 200; step++) {
		snprintf(text, sizeof(text), "step %d", step);
		range(TRAINER, text);
		for (int i = 0; i < 4; i++, pass_us(100))
			launch(TRAINER, 1 + (u64)(rand() % 40), LAUNCH);
		range(TRAINER, "backward");
		launch(TRAINER, 100, LAUNCH);
	}
	is(steps.processes->rhythm.rank, BEAT_RANGE, "range that the program names marks the step");
	ok(ended > 150, "steps that the program names are found, whatever their numbers: %llu of 200",
	   (unsigned long long)ended);
	is(steps.processes->sum.launches, steps.processes->steps * 5, "launches of each named step are counted");
	end();
	begin("backward");
	for (int step = 0; step < 20; step++, pass_us(1000)) {
		range(TRAINER, "forward");
		range(TRAINER, "backward");
	}
	is(ended, 19, "steps begin with the range that the user says");
	end();
}

/* A loop of many launches, looked at for the first time with few steps in sight, of which the first has begun. */
static void test_ranges_come_second(void)
{
	u32 by_range = 0, most = 0, begun;
	char text[32];

	for (begun = 0; begun < 40; begun++) {
		begin(NULL);
		for (u64 kernel = begun; kernel < 40; kernel++, pass_us(5))
			launch(TRAINER, 300 + kernel, LAUNCH);
		for (int step = 0; step < 100; step++) {
			snprintf(text, sizeof(text), "step %d", step);
			range(TRAINER, text);
			for (u64 kernel = 0; kernel < 40; kernel++, pass_us(5))
				launch(TRAINER, 300 + kernel, LAUNCH);
		}
		by_range += steps.processes->rhythm.rank == BEAT_RANGE;
		most += ended >= 75;
		end();
	}
	is(by_range, begun, "range marks the step wherever in it the first look fell, of 40 places");
	is(most, begun, "most steps are found wherever in one the first look fell, of 40 places");
}

/* Layers inside a step, a figure printed every tenth step, and another thread that launches the half of it. */
static void test_shape(void)
{
	u64 marker = 0;

	begin(NULL);
	for (int step = 0; step < 100; step++) {
		for (u64 kernel = 1; kernel <= 3; kernel++, pass_us(10))
			launch(TRAINER, kernel, LAUNCH);
		for (int layer = 0; layer < 24; layer++)
			for (u64 kernel = 50; kernel < 60; kernel++, pass_us(5))
				launch(TRAINER, kernel, LAUNCH);
		for (u64 kernel = 70; kernel < 75; kernel++, pass_us(5))
			launch(BACKWARD, kernel, LAUNCH);
		if (step % 10 == 9)
			called(TRAINER, SYNC, 100, 0, 0);
	}
	marker = steps.processes->rhythm.period;
	is_between(247, marker, 249, "step of 24 layers is the step, not the layer: %llu launches",
		   (unsigned long long)marker);
	is(steps.processes->rhythm.marker_tid, TRAINER, "step is that of the process's first thread");
	is(steps.processes->sum.launches / steps.processes->steps, 248,
	   "launches of a second thread are the step's too");
	end();
}

static void test_other_loops(void)
{
	begin(NULL);
	for (int step = 0; step < 60; step++)
		one_step(DELAY_NONE);
	for (int step = 0; step < 300; step++) {
		for (u64 kernel = 200; kernel < 208; kernel++, pass_us(100))
			launch(TRAINER, kernel, LAUNCH);
	}
	is(steps.processes->rhythm.period, 8, "another loop that follows is found");
	ok(steps.processes->steps > 100, "steps of another loop that follows are counted by themselves: %llu of 300",
	   (unsigned long long)steps.processes->steps);
	end();
}

int main(void)
{
	test_causes();
	test_accounts();
	test_graphs_and_names();
	test_ranges();
	test_ranges_come_second();
	test_shape();
	test_other_loops();
	return tap_end();
}

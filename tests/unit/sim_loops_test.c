// SPDX-License-Identifier: GPL-2.0
/* src/sim/work_loops.c: work that was slowed down in a recording goes as fast under another policy as the same load
 * does when it is really run there. "Really" is a simulated machine too: of it all is known.
 */
#include <inttypes.h>

#include "sim_load.h"
#include "tap.h"

enum { MS = NSEC_PER_MSEC, PERIOD_NS = 16667000, TURNS = 400 };

static void take(void *work, const struct event_header *event)
{
	if (work)
		work_take(work, event);
}

/* CPU time that a thread got under a policy; what happened is taken into `recorded`, or NULL. */
static u64 ran_under(const struct work *work, const struct sim_policy *policy, u32 thread, struct work *recorded)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = policy, .kernel = SCX_KERNEL(6, 18), .raise = RAISE_INPUT, .seed = 1 };
	struct machine machine = { .handle = recorded ? take : NULL, .data = recorded };
	u64 ran_ns;

	if (recorded)
		work_init(recorded, "6.18", NULL, work->cpus_len, work->first_ns, 0);
	sim_topology_flat(&topology, work->cpus_len);
	if (machine_run(&machine, work, &topology, &params) || (recorded && work_end(recorded)))
		exit(1);
	ran_ns = machine.threads[thread].ran_ns;
	machine_free(&machine);
	return ran_ns;
}

static u32 index_of(const struct work *work, u32 tid)
{
	for (u32 i = 0; i < work->len; i++)
		if (work->threads[i].tid == tid)
			return i;
	exit(1);
}

/* Two hogs, and a thread that works for 4 ms and sleeps until the next 60th of a second. */
static void build_limiter(struct work *work)
{
	struct load load = { .cpus = 1, .span_ms = 5000, .len = 3, .threads = { { 0 }, { 0 }, { 0 } } };
	struct work_thread *limiter;

	load_build(work, &load);
	work->tick_ns = 4 * MS;
	limiter = &work->threads[2];
	limiter->goes_on = 0;
	limiter->period_ns = PERIOD_NS;
	limiter->phase_ns = 1234567;
	for (u32 i = 0; i < TURNS; i++) {
		load_step(work, 2, STEP_RUN, 4 * MS, 0);
		load_step(work, 2, STEP_SLEEP_PERIOD, 0, 0);
	}
	load_make_urgent(work, 2);
}

static void test_limiter(void)
{
	struct work work, recorded;
	const struct work_thread *limiter;
	u64 slow_ns, real_ns, predicted_ns;
	u32 index;

	build_limiter(&work);
	slow_ns = ran_under(&work, &policy_fifo, 2, &recorded);
	real_ns = ran_under(&work, &policy_tactus, 2, NULL);
	index = index_of(&recorded, work.threads[2].tid);
	limiter = &recorded.threads[index];
	predicted_ns = ran_under(&recorded, &policy_tactus, index, NULL);
	printf("# frame limiter: recorded %" PRIu64 " ms, under tactus %" PRIu64 ", predicted %" PRIu64
	       "; period %" PRIu64 " ns, phase %" PRIu64 "\n",
	       slow_ns / MS, real_ns / MS, predicted_ns / MS, limiter->period_ns, limiter->phase_ns);
	is_between(PERIOD_NS - 20000, limiter->period_ns, PERIOD_NS + 20000,
		   "the period of a frame limiter is found in a recording in which most were missed");
	ok(slow_ns * 3 < real_ns * 2, "frame limiter beside hogs gets less done under fifo than under tactus");
	is_between(real_ns * 95 / 100, predicted_ns, real_ns * 105 / 100,
		   "predicted from fifo, a frame limiter gets as much done under tactus as it really does");
	work_free(&recorded);
	ran_under(&work, &policy_tactus, 2, &recorded);
	index = index_of(&recorded, work.threads[2].tid);
	predicted_ns = ran_under(&recorded, &policy_fifo, index, NULL);
	printf("# from tactus: under fifo %" PRIu64 ", predicted %" PRIu64 "\n", slow_ns / MS, predicted_ns / MS);
	is_between(slow_ns * 90 / 100, predicted_ns, slow_ns * 110 / 100,
		   "predicted from tactus, a frame limiter misses as many periods under fifo as it really does");
	work_free(&recorded);
	work_free(&work);
}

static void test_closed_loop(void)
{
	struct load load = { .cpus = 1,
			     .span_ms = 4000,
			     .len = 3,
			     .threads = { { 0 }, { 0 }, { .kind = LOAD_PAIR, .run_us = 300, .is_urgent = 1 } } };
	struct work work, recorded;
	u64 slow_ns, real_ns, predicted_ns;
	u32 index;

	load_build(&work, &load);
	work.tick_ns = 4 * MS;
	slow_ns = ran_under(&work, &policy_fifo, 2, &recorded);
	real_ns = ran_under(&work, &policy_eevdf, 2, NULL);
	index = index_of(&recorded, work.threads[2].tid);
	predicted_ns = ran_under(&recorded, &policy_eevdf, index, NULL);
	printf("# closed loop: recorded %" PRIu64 " ms, under eevdf %" PRIu64 ", predicted %" PRIu64 "\n", slow_ns / MS,
	       real_ns / MS, predicted_ns / MS);
	ok(slow_ns * 2 < real_ns,
	   "two threads that wake each other beside hogs get less done under fifo than under eevdf");
	is_between(real_ns * 90 / 100, predicted_ns, real_ns * 110 / 100,
		   "predicted from fifo, a closed loop goes round as often under eevdf as it really does");
	ok(recorded.threads[index].loop_to > recorded.threads[index].loop_from, "a closed loop is found as one");
	index = index_of(&recorded, work.threads[0].tid);
	is(recorded.threads[index].loop_to, 0, "a hog is no loop");
	work_free(&recorded);
	work_free(&work);
}

/* It runs for 1 ms, gives work to a GPU, runs for another, and is woken 5 ms after it gave it. */
static void test_gpu(void)
{
	struct event_switch to_a = { { 1 * MS, 0, 0, EVENT_SWITCH, 0 }, 10, 0, 121, 121 };
	struct event_submit gives = { .head = { 2 * MS, 10, 0, EVENT_SUBMIT, 0 } };
	struct event_switch sleeps = { { 3 * MS, 10, 0, EVENT_SWITCH, 0 }, 0, 1, 121, 121 };
	struct event_wakeup wakes = { { 7 * MS, 10, 0, EVENT_WAKEUP, EVENT_FLAG_BY_INTERRUPT }, 0, 0, 121 };
	struct event_switch again = { { 7 * MS, 0, 0, EVENT_SWITCH, 0 }, 10, 0, 121, 121 };
	struct event_switch ends = { { 8 * MS, 10, 0, EVENT_SWITCH, 0 }, 0, 1, 121, 121 };
	struct event_switch idle = { { 40 * MS, 0, 0, EVENT_SWITCH, 0 }, 0, 0, 121, 121 };
	const struct event_header *const events[] = { &to_a.head,  &gives.head, &sleeps.head, &wakes.head,
						      &again.head, &ends.head,	&idle.head };
	struct sim_topology topology;
	struct sim_params params = { .policy = &policy_eevdf, .kernel = SCX_KERNEL(6, 18), .seed = 1 };
	struct machine machine = { 0 };
	const struct step *step;
	struct work work;

	work_init(&work, "6.18", NULL, 1, MS, 0);
	for (u32 i = 0; i < sizeof(events) / sizeof(*events); i++)
		work_take(&work, events[i]);
	is(work_end(&work), 0, "events of a thread that gives work to a GPU become work");
	for (step = work.threads[0].steps; !step_is_sleep(step); step++)
		;
	is(step->kind, STEP_SLEEP_GPU,
	   "a thread that gave work to a GPU and is woken by an interrupt sleeps until that is done");
	is(step->value, 5 * MS, "the wait for the GPU is so long after its work was handed over");
	sim_topology_flat(&topology, 1);
	topology.capacity[0] = CAPACITY_MOST / 2;
	is(machine_run(&machine, &work, &topology, &params), 0, "a machine of one slow CPU and a GPU runs");
	/* Given at 3 ms, slept at 5; the GPU is as fast as it was. */
	is(machine.threads[0].gave_ns / MS, 3, "thread on a CPU half as fast gives its work to the GPU later");
	is(machine.cpus[0].idle_since_ns / MS, 10,
	   "a wait for the GPU ends as long after its work was handed over as it did in the recording");
	machine_free(&machine);
	work_free(&work);
}

int main(void)
{
	test_limiter();
	test_closed_loop();
	test_gpu();
	return tap_end();
}

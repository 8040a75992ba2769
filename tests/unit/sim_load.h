/* SPDX-License-Identifier: GPL-2.0 */
/* Loads for a simulated machine, described by few numbers: hogs, threads that work by a timer, pairs that wake each
 * other.
 */
#ifndef TACTUS_TESTS_SIM_LOAD_H
#define TACTUS_TESTS_SIM_LOAD_H

#include <stdlib.h>
#include <string.h>

#include "../../core/role.h"
#include "../../core/sched_config.h"
#include "../../core/scx_config.h"
#include "../../src/sim/machine.h"
#include "../../src/sim/weights.h"

enum load_kind {
	LOAD_HOG,      /* runs on and on */
	LOAD_PERIODIC, /* runs for run_us every period_us */
	LOAD_SLEEPER,  /* runs for run_us, sleeps for period_us */
	LOAD_PAIR,     /* two that wake each other in turn, run_us each */
	LOAD_KINDS,
};

struct load_thread {
	u32 kind, period_us, run_us;
	s32 nice;
	u32 is_urgent, pinned_plus; /* to that CPU, plus one; 0: not */
	u32 is_bound;		    /* the kernel's, for that CPU */
	u32 kept_off;		    /* CPUs that it may not use, by bits */
};

enum { LOAD_THREADS_MOST = 16, LOAD_START_NS = 1000000000 };

struct load {
	u32 cpus, span_ms, len;
	struct load_thread threads[LOAD_THREADS_MOST];
	u32 credit, discount; /* of tactus's scheduler; 0: its own */
};

static inline void load_step(struct work *work, u32 thread, u32 kind, u64 value, u32 other)
{
	work_add_step(work, thread, (struct step){ .kind = (u8)kind, .value = value, .thread = other, .state = 1 });
}

static inline void load_make_urgent(struct work *work, u32 thread)
{
	struct event_role role = {
		.head = { .time_ns = work->first_ns, .tid = work->threads[thread].tid, .kind = EVENT_ROLE },
		.role = ROLE_AUDIO,
		.tier = TIER_LATENCY_CRITICAL,
		.boost = 1
	};

	work->kept = realloc(work->kept, work->kept_len + sizeof(role));
	work->timed = realloc(work->timed, (work->timed_len + 1) * sizeof(*work->timed));
	memcpy(work->kept + work->kept_len, &role, sizeof(role));
	work->timed[work->timed_len++] =
		(struct work_timed){ .time_ns = work->first_ns, .at = work->kept_len, .thread = thread + 1 };
	work->kept_len += sizeof(role);
}

static inline void load_keep_off(struct work_thread *thread, u32 kept_off)
{
	if (!kept_off)
		return;
	thread->kept_off = calloc(1, sizeof(*thread->kept_off));
	thread->kept_off[0] = kept_off;
}

static inline void load_fill(struct work *work, const struct load_thread *of, u32 thread, u64 end_ns)
{
	u64 period_ns = (u64)of->period_us * 1000, run_ns = (u64)of->run_us * 1000, at_ns = work->first_ns;

	switch (of->kind) {
	case LOAD_HOG:
		work->threads[thread].goes_on = 1;
		break;
	case LOAD_PERIODIC:
		for (at_ns += period_ns; at_ns < end_ns; at_ns += period_ns) {
			load_step(work, thread, STEP_SLEEP_UNTIL, at_ns, 0);
			load_step(work, thread, STEP_RUN, run_ns, 0);
		}
		break;
	case LOAD_SLEEPER:
		for (; at_ns < end_ns; at_ns += period_ns + run_ns) {
			load_step(work, thread, STEP_RUN, run_ns, 0);
			load_step(work, thread, STEP_SLEEP_FOR, period_ns, 0);
		}
		break;
	default:
		break;
	}
}

/* The first begins; each wakes the other and sleeps until it is woken. */
static inline void load_fill_pair(struct work *work, const struct load_thread *of, u32 a, u32 b, u64 end_ns)
{
	u64 run_ns = (u64)of->run_us * 1000;

	load_step(work, b, STEP_SLEEP_SIGNAL, 0, 0);
	for (u64 at_ns = work->first_ns; at_ns < end_ns; at_ns += 2 * run_ns) {
		load_step(work, a, STEP_RUN, run_ns, 0);
		load_step(work, a, STEP_WAKE, 0, b);
		load_step(work, a, STEP_SLEEP_SIGNAL, 0, 0);
		load_step(work, b, STEP_RUN, run_ns, 0);
		load_step(work, b, STEP_WAKE, 0, a);
		load_step(work, b, STEP_SLEEP_SIGNAL, 0, 0);
	}
}

static inline void load_build(struct work *work, const struct load *load)
{
	u64 end_ns = LOAD_START_NS + (u64)load->span_ms * NSEC_PER_MSEC;

	work_init(work, "6.18", NULL, load->cpus, LOAD_START_NS, 0);
	work->last_ns = end_ns;
	work->tick_ns = NSEC_PER_MSEC;
	for (u32 i = 0; i < load->len; i++) {
		const struct load_thread *of = &load->threads[i];
		u32 members = of->kind == LOAD_PAIR ? 2 : 1, first = work->len;

		for (u32 m = 0; m < members; m++) {
			u32 tid = 1000 + work->len;
			int index = work_add_thread(work, tid, tid, "load",
						    of->kind == LOAD_PERIODIC || m ? BEGIN_ASLEEP : BEGIN_RUNNABLE);

			work->threads[index].prio = (u32)(PRIO_NICE_0 + of->nice);
			work->threads[index].start_ns = tid;
			work->threads[index].only_cpu = of->pinned_plus ? (s32)(of->pinned_plus - 1) % (s32)load->cpus
									: -1;
			work->threads[index].is_kernel = of->is_bound != 0;
			load_keep_off(&work->threads[index], of->kept_off);
			load_fill(work, of, (u32)index, end_ns);
			if (of->is_urgent)
				load_make_urgent(work, (u32)index);
		}
		if (members == 2)
			load_fill_pair(work, of, first, first + 1, end_ns);
	}
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Loads for a simulated machine that chance draws, printed as tests keep them. */
#ifndef TACTUS_TESTS_SIM_RANDOM_LOAD_H
#define TACTUS_TESTS_SIM_RANDOM_LOAD_H

#include <stdio.h>

#include "sim_load.h"

static inline u32 chance(u64 *seed, u32 most)
{
	*seed = sim_hash(*seed, 1);
	return (u32)(*seed >> 20) % most;
}

/* What that CPU needs done by the kernel, now and then. */
static inline void make_bound(struct load_thread *thread, u32 pinned_plus)
{
	thread->kind = LOAD_PERIODIC;
	thread->run_us = 50 + thread->run_us % 200;
	thread->period_us = 5000 + thread->period_us;
	thread->nice = 0;
	thread->is_urgent = 0;
	thread->pinned_plus = pinned_plus;
	thread->is_bound = 1;
}

/* On one CPU, with a timer's thread first. */
static inline struct load hogs_and_one(u64 *seed, u32 span_ms)
{
	struct load load = { .cpus = 1, .span_ms = span_ms, .len = 2 + chance(seed, 4) };

	load.threads[0] = (struct load_thread){ .kind = LOAD_PERIODIC,
						.period_us = 10000 + chance(seed, 30) * 777,
						.run_us = 600 + chance(seed, 40) * 10 };
	return load;
}

static inline struct load random_load(u64 seed, u32 span_ms)
{
	struct load load = { .span_ms = span_ms };
	bool only_hogs = chance(&seed, 5) == 0, one_weight = only_hogs && chance(&seed, 2);

	if (!chance(&seed, 10))
		return hogs_and_one(&seed, span_ms);
	load.cpus = 1 + chance(&seed, only_hogs ? 8 : 12);
	/* With settings of its own now and then. */
	if (!chance(&seed, 4)) {
		load.credit = 2 + chance(&seed, 15);
		load.discount = 1 + chance(&seed, 32);
	}
	load.len = 1 + chance(&seed, LOAD_THREADS_MOST - 1);
	for (u32 i = 0; i < load.len; i++) {
		struct load_thread *thread = &load.threads[i];

		thread->kind = only_hogs ? LOAD_HOG : chance(&seed, LOAD_KINDS);
		thread->period_us = 1000 + chance(&seed, 30) * 777;
		thread->run_us = 50 + chance(&seed, 40) * 97;
		thread->nice = chance(&seed, 3) || one_weight ? 0 : (s32)chance(&seed, 20) - 10;
		thread->is_urgent = !only_hogs && chance(&seed, 4) == 0;
		if (thread->is_urgent && thread->kind != LOAD_PAIR && chance(&seed, 2)) {
			thread->kind = LOAD_PERIODIC;
			thread->run_us = 50 + chance(&seed, 4) * 50;
			thread->period_us = 5000;
		}
		thread->pinned_plus = chance(&seed, 12) ? 0 : 1 + chance(&seed, load.cpus);
	}
	if (!only_hogs && !chance(&seed, 3))
		for (u32 i = 0; i < load.len && i < 2; i++)
			make_bound(&load.threads[i], 1 + chance(&seed, load.cpus));
	return load;
}

static inline void print_load(const struct load *load)
{
	printf("#   { .cpus = %u, .span_ms = %u, .len = %u, .threads = {\n", load->cpus, load->span_ms, load->len);
	for (u32 i = 0; i < load->len; i++)
		printf("#     { %u, %u, %u, %d, %u, %u, %u, %u },\n", load->threads[i].kind, load->threads[i].period_us,
		       load->threads[i].run_us, load->threads[i].nice, load->threads[i].is_urgent,
		       load->threads[i].pinned_plus, load->threads[i].is_bound, load->threads[i].kept_off);
	printf("#   }, .credit = %u, .discount = %u },\n", load->credit, load->discount);
}

static inline bool same_thread(const struct load_thread *a, const struct load_thread *b)
{
	return a->kind == b->kind && a->period_us == b->period_us && a->run_us == b->run_us && a->nice == b->nice &&
	       a->is_urgent == b->is_urgent && a->pinned_plus == b->pinned_plus && a->is_bound == b->is_bound &&
	       a->kept_off == b->kept_off;
}

static inline bool same_load(const struct load *a, const struct load *b)
{
	if (a->cpus != b->cpus || a->span_ms != b->span_ms || a->len != b->len || a->credit != b->credit ||
	    a->discount != b->discount)
		return false;
	for (u32 i = 0; i < a->len; i++)
		if (!same_thread(&a->threads[i], &b->threads[i]))
			return false;
	return true;
}

#endif

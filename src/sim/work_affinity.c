// SPDX-License-Identifier: GPL-2.0
/* Which CPUs a thread may use, as far as a recording shows it: no event tells, but one that waits for long beside an
 * idle CPU, again and again, and never runs there, is kept from it. */
#include <stdlib.h>

#include "work_state.h"

enum {
	PINNED_NS = 3 * NSEC_PER_MSEC, /* one that waits so long beside a CPU that is idle as long may not run there */
	PINNED_VOTES = 2,	       /* where it has used one CPU only */
};

/* Of each thread that uses several CPUs or waits beside an idle one, by bits: where it ran, and how often, up to seven
 * times, it waited beside that CPU. */
enum { PLANE_RAN, PLANE_VOTES, PLANES = PLANE_VOTES + 3 };

static u32 words_for(const struct work *work)
{
	return (work->cpus_len + 63) / 64;
}

static u64 *planes_of(struct work *work, struct extracted *thread)
{
	if (!thread->planes)
		thread->planes = calloc((size_t)PLANES * words_for(work), sizeof(*thread->planes));
	work->failed |= !thread->planes;
	return thread->planes;
}

static void note_ran(struct work *work, struct extracted *thread, u32 cpu)
{
	u64 *planes = planes_of(work, thread);

	if (planes)
		planes[PLANE_RAN * words_for(work) + cpu / 64] |= 1ULL << cpu % 64;
}

void work_note_cpu(struct work *work, struct extracted *thread, u32 cpu)
{
	if (thread->ran && thread->cpu != cpu && !thread->cpus_seen) {
		thread->cpus_seen = 2;
		note_ran(work, thread, thread->cpu);
	}
	if (thread->cpus_seen || thread->planes)
		note_ran(work, thread, cpu);
}

static void count_vote(struct work *work, struct extracted *thread, u32 cpu)
{
	u32 words = words_for(work), word = cpu / 64;
	u64 *planes = planes_of(work, thread), carry = 1ULL << cpu % 64, bit = carry;

	for (u32 plane = PLANE_VOTES; planes && plane < PLANES; plane++) {
		u64 before = planes[plane * words + word];

		planes[plane * words + word] ^= carry;
		carry &= before;
	}
	/* Seven and one more are seven. */
	for (u32 plane = PLANE_VOTES; planes && carry && plane < PLANES; plane++)
		planes[plane * words + word] |= bit;
}

void work_vote_pinned(struct work *work, struct extracted *thread, u32 cpu, u64 now_ns)
{
	const struct work_state *state = work->state;
	bool beside_idle = false;

	if (now_ns - thread->waits_ns < PINNED_NS)
		return;
	for (u32 other = 0; other < work->cpus_len; other++)
		if (other != cpu && state->cpus[other].known && !state->cpus[other].tid &&
		    now_ns - state->cpus[other].since_ns > PINNED_NS) {
			count_vote(work, thread, other);
			beside_idle = true;
		}
	thread->pinned_votes += beside_idle;
}

void work_forget_cpus(struct extracted *thread)
{
	free(thread->planes);
	thread->planes = NULL;
	thread->pinned_votes = thread->cpus_seen = 0;
}

/* Those that it waited beside seven times and never used. */
static void keep_off(struct work *work, const struct extracted *thread, struct work_thread *of)
{
	u32 words = words_for(work);
	bool any = false;

	of->kept_off = calloc(words, sizeof(*of->kept_off));
	work->failed |= !of->kept_off;
	for (u32 word = 0; of->kept_off && word < words; word++) {
		u64 off = ~thread->planes[PLANE_RAN * words + word];

		for (u32 plane = PLANE_VOTES; plane < PLANES; plane++)
			off &= thread->planes[plane * words + word];
		of->kept_off[word] = off;
		any |= off != 0;
	}
	if (any)
		return;
	free(of->kept_off);
	of->kept_off = NULL;
}

void work_find_cpus(struct work *work, struct extracted *thread)
{
	struct work_thread *of = &work->threads[thread->index];

	of->only_cpu = kernel_cpu_of(of, work->cpus_len);
	if (of->only_cpu < 0 && !thread->cpus_seen && thread->ran && thread->pinned_votes >= PINNED_VOTES)
		of->only_cpu = (s32)thread->cpu;
	if (of->only_cpu < 0 && thread->cpus_seen)
		keep_off(work, thread, of);
	work->bound += of->only_cpu >= 0 && !of->is_kernel;
	work->kept_off += of->kept_off != NULL;
	work_forget_cpus(thread);
}

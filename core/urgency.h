/* SPDX-License-Identifier: GPL-2.0 */
/* What urgency may cost: a thread that burns has none for a while, and all urgent threads of one user, or of one
 * control group, may use so much together. Pure; src/sched/hints.c looks at threads and carries it out. */
#ifndef TACTUS_CORE_URGENCY_H
#define TACTUS_CORE_URGENCY_H

#include "tier.h"

enum {
	URGENCY_LOOK_NS = 200 * NSEC_PER_MSEC, /* urgent threads are looked at so often */
	URGENCY_CPU_PERCENT = 75,	       /* of one CPU: a user's urgent threads may use so much in any case */
	URGENCY_CPUS_PERCENT = 50,	       /* and so much of all CPUs */
	URGENCY_THREADS_MOST = 64,	       /* so many threads of one user are urgent at a time */
};

/* One thread, from look to look. */
struct urgency_watch {
	u64 looked_ns; /* 0: never yet */
	u64 cpu_ns;    /* its CPU time then */
	u64 barred_until_ns;
};

/* What one user, or one group, has left. It is filled as time goes on, up to a second's worth, and may be overdrawn by
 * as much, which has to be made up for. */
struct urgency_account {
	u64 filled_ns; /* 0: never yet */
	s64 left_ns;
};

/* What may be used in a time, on so many CPUs. */
core_fn u64 urgency_budget_ns(u32 cpus, u64 span_ns)
{
	u64 one_ns = span_ns / 100 * URGENCY_CPU_PERCENT, all_ns = span_ns / 100 * URGENCY_CPUS_PERCENT * cpus;

	return one_ns > all_ns ? one_ns : all_ns;
}

core_fn void urgency_fill(struct urgency_account *account, u32 cpus, u64 now_ns)
{
	s64 most_ns = (s64)urgency_budget_ns(cpus, NSEC_PER_SEC);
	u64 span_ns = now_ns - account->filled_ns;

	if (!account->filled_ns || span_ns >= 2 * NSEC_PER_SEC)
		account->left_ns = most_ns;
	else
		account->left_ns += (s64)urgency_budget_ns(cpus, span_ns);
	if (account->left_ns > most_ns)
		account->left_ns = most_ns;
	account->filled_ns = now_ns;
}

core_fn void urgency_charge(struct urgency_account *account, u32 cpus, u64 used_ns)
{
	s64 least_ns = -(s64)urgency_budget_ns(cpus, NSEC_PER_SEC);

	if (used_ns > NSEC_PER_SEC * (u64)(cpus ? cpus : 1))
		used_ns = NSEC_PER_SEC * (u64)(cpus ? cpus : 1);
	account->left_ns -= (s64)used_ns;
	if (account->left_ns < least_ns)
		account->left_ns = least_ns;
}

core_fn int urgency_is_spent(const struct urgency_account *account)
{
	return account->filled_ns && account->left_ns <= 0;
}

/* What a thread has used since the last look, at most all of the time. Nothing is known of the first one. */
core_fn u64 urgency_looked(struct urgency_watch *watch, u64 cpu_ns, u64 now_ns)
{
	u64 span_ns = watch->looked_ns ? now_ns - watch->looked_ns : 0;
	u64 used_ns = cpu_ns > watch->cpu_ns ? cpu_ns - watch->cpu_ns : 0;

	watch->looked_ns = now_ns;
	watch->cpu_ns = cpu_ns;
	return used_ns < span_ns ? used_ns : span_ns;
}

/* Nobody saw what a thread did that is gone: it may have used all of the time. */
core_fn u64 urgency_unseen_ns(const struct urgency_watch *watch, u64 now_ns)
{
	u64 span_ns = watch->looked_ns ? now_ns - watch->looked_ns : 0;

	return span_ns < NSEC_PER_SEC ? span_ns : NSEC_PER_SEC;
}

/* Whoever hardly sleeps needs no urgency to get on: the same measure as under sched_ext. A look that came too soon
 * tells nothing. */
core_fn int urgency_burns(u64 used_ns, u64 span_ns)
{
	return span_ns >= TIER_WATCH_NS && used_ns * 100 > span_ns * TIER_AWAKE_PERCENT;
}

core_fn void urgency_bar(struct urgency_watch *watch, u64 now_ns)
{
	watch->barred_until_ns = now_ns + TIER_BARRED_NS;
}

core_fn int urgency_is_barred(const struct urgency_watch *watch, u64 now_ns)
{
	return now_ns < watch->barred_until_ns;
}

/* Of threads in the order of what they used, the most first, so many have to go until the others stay within it. */
core_fn u32 urgency_too_many(const u64 *used_ns, u32 len, u64 budget_ns)
{
	u64 sum_ns = 0;
	u32 gone = 0;

	for (u32 i = 0; i < len; i++)
		sum_ns += used_ns[i];
	while (gone < len && sum_ns > budget_ns)
		sum_ns -= used_ns[gone++];
	return gone;
}

#endif

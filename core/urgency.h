/* SPDX-License-Identifier: GPL-2.0 */
/* Limits of urgency: a thread that burns CPU is throttled for a while, and all urgent threads of one user, or of one
 * control group, have a budget together. Pure; src/sched/hints.c looks at threads and carries it out. */
#ifndef TACTUS_CORE_URGENCY_H
#define TACTUS_CORE_URGENCY_H

#include "tier.h"

enum {
	URGENCY_LOOK_NS = 200 * NSEC_PER_MSEC, /* urgent threads are looked at so often */
	URGENCY_CPU_PERCENT = 75,	       /* of one CPU: a user's urgent threads may use so much in any case */
	URGENCY_CPUS_PERCENT = 50,	       /* and so much of all CPUs */
	URGENCY_BURN_CPUS = 8,		       /* of so many CPUs a user's urgent threads may burn one */
	URGENCY_THREADS_MOST = 64,	       /* so many threads of one user are urgent at a time */
	URGENCY_FILL_NS = 1 * NSEC_PER_MSEC,   /* an account is filled no more often: shares of less would get lost */
	URGENCY_THROTTLE_DOUBLES = 3, /* so many times the throttling of a thread that burns again and again doubles */
	URGENCY_PATIENT_LOOKS = 5,    /* an urgent thread that gets little CPU has so many looks to come to a sleep */
};

/* One thread, from look to look. */
struct urgency_watch {
	u64 looked_ns; /* 0: never yet */
	u64 cpu_ns;    /* its CPU time then */
	u64 awake_ns;  /* and how long it had waited for CPUs besides */
	u64 throttled_until_ns;
	u32 burnt;   /* so often, one after the other */
	u32 unslept; /* looks, one after the other, in which it hardly slept and others had the CPU meanwhile */
};

/* Between two looks. */
struct urgency_use {
	u64 span_ns;
	u64 cpu_ns;
	u64 awake_ns; /* on a CPU or waiting for one */
};

/* What is left of a user's, or a group's, budget. It is refilled as time goes on, up to that of one second, and may be
 * overdrawn by as much, which has to be made up for. */
struct urgency_account {
	u64 filled_ns; /* 0: never yet */
	s64 left_ns;
};

/* The budget for a span of time, on so many CPUs. */
core_fn u64 urgency_budget_ns(u32 cpus, u64 span_ns)
{
	u64 one_ns = span_ns / 100 * URGENCY_CPU_PERCENT, all_ns = span_ns / 100 * URGENCY_CPUS_PERCENT * cpus;

	return one_ns > all_ns ? one_ns : all_ns;
}

core_fn void urgency_fill(struct urgency_account *account, u32 cpus, u64 now_ns)
{
	s64 most_ns = (s64)urgency_budget_ns(cpus, NSEC_PER_SEC);
	u64 span_ns = now_ns - account->filled_ns;

	/* CPUs' clocks may differ by a little: the time may seem to be before. */
	if (account->filled_ns && (s64)span_ns < (s64)URGENCY_FILL_NS)
		return;
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
core_fn struct urgency_use urgency_looked(struct urgency_watch *watch, u64 cpu_ns, u64 wait_ns, u64 now_ns)
{
	u64 awake_ns = cpu_ns + wait_ns, most_ns = watch->looked_ns ? now_ns - watch->looked_ns : 0;
	struct urgency_use use = {
		.span_ns = most_ns,
		.cpu_ns = cpu_ns > watch->cpu_ns ? cpu_ns - watch->cpu_ns : 0,
		.awake_ns = awake_ns > watch->awake_ns ? awake_ns - watch->awake_ns : 0,
	};

	use.cpu_ns = use.cpu_ns < most_ns ? use.cpu_ns : most_ns;
	use.awake_ns = use.awake_ns < most_ns ? use.awake_ns : most_ns;
	watch->looked_ns = now_ns;
	watch->cpu_ns = cpu_ns;
	watch->awake_ns = awake_ns;
	return use;
}

/* What a thread did between the last look and its end is not known: it may have used all of the time. */
core_fn u64 urgency_unseen_ns(const struct urgency_watch *watch, u64 now_ns)
{
	u64 span_ns = watch->looked_ns ? now_ns - watch->looked_ns : 0;

	return span_ns < NSEC_PER_SEC ? span_ns : NSEC_PER_SEC;
}

/* A thread that is on a CPU nearly all the time needs no urgency to get on: the same measure as under sched_ext. One
 * that hardly sleeps because others have the CPU either takes all that it gets, or is late with its work and sleeps as
 * soon as it has caught up: to take its urgency away then would make it later still. So it has some looks to show
 * which, fewer each time it burnt. One that is not urgent may be awake because it gets no CPU. A look that came too
 * soon says nothing. */
core_fn int urgency_burns(struct urgency_watch *watch, const struct urgency_use *use, int is_urgent)
{
	u64 most_ns = use->span_ns / 100 * TIER_AWAKE_PERCENT;

	if (use->span_ns < TIER_WATCH_NS)
		return 0;
	if (!is_urgent || use->awake_ns <= most_ns) {
		watch->unslept = 0;
		return use->cpu_ns > most_ns;
	}
	watch->unslept++;
	return use->cpu_ns > most_ns || watch->unslept >= (u32)URGENCY_PATIENT_LOOKS >> watch->burnt;
}

/* What those of a user, or of a group, that burn may use together in a span of time. A thread that feeds a GPU may
 * never sleep, and one of many CPUs is no loss to others. */
core_fn u64 urgency_burn_budget_ns(u32 cpus, u64 span_ns)
{
	return span_ns * cpus / URGENCY_BURN_CPUS;
}

/* Whether they may go on, given what they used. */
core_fn int urgency_may_burn(u32 cpus, u64 span_ns, u64 burnt_ns)
{
	return burnt_ns <= urgency_burn_budget_ns(cpus, span_ns);
}

/* Whether a thread that urgent ones wait for may burn whatever its user's others do: it is late with work that somebody
 * waits for, and who has lost his urgency would wait behind those of his own chain that have theirs. What all urgent
 * threads use together has its budget anyway; where there is one CPU that is no bound. */
core_fn int urgency_may_burn_awaited(u32 cpus)
{
	return cpus > 1;
}

/* The same as an account, for who hears of each run as it ends and not of all of them at times: it is refilled as time
 * goes on, up to that of one look. Whoever burns takes a whole CPU, so with fewer than eight there is nothing to give.
 */
core_fn int urgency_burn_charge(struct urgency_account *account, u32 cpus, u64 ran_ns, u64 now_ns)
{
	s64 most_ns = (s64)urgency_burn_budget_ns(cpus, URGENCY_LOOK_NS);
	u64 span_ns = now_ns - account->filled_ns;

	if (!urgency_may_burn(cpus, URGENCY_LOOK_NS, URGENCY_LOOK_NS))
		return 0;
	if (!account->filled_ns || (s64)span_ns > (s64)URGENCY_LOOK_NS)
		span_ns = 2 * URGENCY_LOOK_NS;
	/* CPUs' clocks may differ by a little: the time may seem to be before. */
	if ((s64)span_ns > 0) {
		account->left_ns += (s64)urgency_burn_budget_ns(cpus, span_ns);
		account->filled_ns = now_ns;
	}
	if (account->left_ns > most_ns)
		account->left_ns = most_ns;
	account->left_ns -= (s64)(ran_ns < NSEC_PER_SEC ? ran_ns : NSEC_PER_SEC);
	if (account->left_ns < -most_ns)
		account->left_ns = -most_ns;
	return account->left_ns > 0;
}

core_fn void urgency_throttle(struct urgency_watch *watch, u64 now_ns)
{
	watch->throttled_until_ns = now_ns + TIER_THROTTLED_NS;
}

/* A thread that burns whenever it can is throttled for longer and longer; one that has not burnt for as long as it was
 * throttled starts afresh. */
core_fn void urgency_judge(struct urgency_watch *watch, int burns, u64 now_ns)
{
	u64 throttled_ns = (u64)TIER_THROTTLED_NS << watch->burnt;

	if (!burns) {
		if (watch->burnt && now_ns >= watch->throttled_until_ns + throttled_ns)
			watch->burnt = 0;
		return;
	}
	watch->throttled_until_ns = now_ns + throttled_ns;
	if (watch->burnt < URGENCY_THROTTLE_DOUBLES)
		watch->burnt++;
}

core_fn int urgency_is_throttled(const struct urgency_watch *watch, u64 now_ns)
{
	return now_ns < watch->throttled_until_ns;
}

/* Of threads sorted by what they used, the most first: how many have to go until the others stay within the budget. */
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

/* SPDX-License-Identifier: GPL-2.0 */
/* What is remembered of a kind of thread, and how: observations become votes, votes a prediction.
 * Pure: the kernel half makes observations of these forms, the program learns by these functions. */
#ifndef TACTUS_CORE_PROCDB_H
#define TACTUS_CORE_PROCDB_H

#include "role.h"

enum {
	LEARN_AGE = 8, /* a thread's averages tell something after so many runs */
	PROCDB_LEAST_OBSERVATIONS = 3,
	PROCDB_LEAST_PPM = 600000,	  /* behavioural confidence that a prediction needs, of a million */
	PROCDB_KERNEL_KINDS = 512,	  /* in each of the kernel's maps */
	PROCDB_DAYS = 4,		  /* of history with each profile */
	PROCDB_PPM = 1000000,		  /* all */
	PROCDB_FADED_VOTES = 6,		  /* that all days before count for, at most: ten new ones outvote them */
	PROCDB_TURN = 6,		  /* so many in a row that are otherwise: the kind has changed today */
	BRIEF_CPU_NS = 2 * NSEC_PER_MSEC, /* who ended before it could be judged and used less was nobody's burden */
	DAY_S = 24 * 3600,
};

#define PROCDB_FIGURE_MOST (1ULL << 60) /* larger ones in a file are cut, so that no sum overflows */

/* What the kernel half is to do. */
enum {
	LEARN_PREDICT = 1 << 0,
	LEARN_OBSERVE = 1 << 1,
	LEARN_ANY_PROGRAM = 1 << 2,  /* some predictions are for threads of a name in any program */
	LEARN_TIER_UPDATES = 1 << 3, /* report at once who has a learned tier, or is taken for batch */
};

struct learned_tier {
	u32 tid;
	u32 tier;
	u64 run_ns; /* that its kind runs at a time; 0: not known */
	u64 time_ns;
};

/* What a thread is known by: its name, and the end of the path of its program. Unused bytes are 0. No program: any. */
struct kind_key {
	struct comm comm;
	struct tail exe;
};

/* How a kind of thread runs. The order and meaning of PDDB, see model/procdb_format.h. */
struct kind_figures {
	u64 avg_runtime_ns; /* of one run, from a sleep to the next */
	u64 runtime_dev_ns; /* mean deviation from that */
	u64 wakeup_freq;    /* wake-ups a second */
	u64 csw_rate;	    /* switches away a second, of its own will or not */
};

/* What the kernel half saw of threads of one kind since it was asked last: votes, and the figures of the last thread.
 * A thread that turns out to be something else takes its first vote back, so votes can be negative here. */
struct kind_seen {
	s32 tier_votes[TIERS];
	s32 role_votes[ROLES];
	u32 threads; /* that were observed for the first time */
	u32 notes;   /* observations and corrections, to tell whether some were lost */
	u32 unused;
	struct kind_figures figures;
};

/* A prediction, as the kernel half finds it. The layout of PDDB's task_class_entry, with more in its padding. */
struct kind_guess {
	u8 tier;
	u8 role;	    /* ROLE_UNKNOWN: none is predicted */
	u8 confidence;	    /* behavioural, 0 to 100 */
	u8 role_confidence; /* likewise */
	u8 unused[4];
	struct kind_figures figures;
};

_Static_assert(sizeof(struct kind_guess) == 40, "as bpftool shows it, and the manual describes it");

/* One day's votes. */
struct profile_day {
	u16 day; /* since 1970; 0: none */
	u16 tier_votes[TIERS];
};

struct profile {
	struct kind_key key;
	u32 tier_votes[TIERS];
	u32 role_votes[ROLES];
	u32 observations;
	struct kind_figures figures;
	u64 first_seen_s; /* wall clock, since 1970 */
	u64 last_seen_s;
	u32 use_day;			      /* the database's day of use on which it was last seen */
	struct profile_day days[PROCDB_DAYS]; /* the newest first */
	/* In no file: */
	u32 predicted; /* its place among those in the kernel's map plus one */
	u32 marked;    /* is about to go */
	u32 contrary;  /* the last votes in a row that were for another tier or role than its own */
};

/* The thread's share in what is learned, kept with the thread by the kernel half. */
struct learner {
	struct tail exe;
	u64 since_ns; /* it runs this program since */
	/* The account as it was then, and at the last run. */
	u64 cpu_begin_ns, cpu_ns;
	u64 wait_begin_ns;
	u64 wakeups_begin, switches_begin;
	u64 run_avg_ns, run_dev_ns;
	u64 expected_run_ns; /* the average run that was predicted of it; 0: none was */
	u8 age;		     /* runs in the averages, up to LEARN_AGE */
	u8 observed;	     /* it has a vote: for this tier and role */
	u8 tier;
	u8 role;
	u8 has_run_whole; /* it has slept since, so there is an average */
	u8 unused[3];
};

/* The seed's moving average: 7/8 old, 1/8 new. */
core_fn u64 figure_merge(u64 old, u64 seen)
{
	return (old * 7 + seen) / 8;
}

core_fn u64 figure_cut(u64 value)
{
	return value < PROCDB_FIGURE_MOST ? value : PROCDB_FIGURE_MOST;
}

core_fn void figures_merge(struct kind_figures *figures, const struct kind_figures *seen)
{
	figures->avg_runtime_ns = figure_merge(figures->avg_runtime_ns, figure_cut(seen->avg_runtime_ns));
	figures->runtime_dev_ns = figure_merge(figures->runtime_dev_ns, figure_cut(seen->runtime_dev_ns));
	figures->wakeup_freq = figure_merge(figures->wakeup_freq, figure_cut(seen->wakeup_freq));
	figures->csw_rate = figure_merge(figures->csw_rate, figure_cut(seen->csw_rate));
}

core_fn void figures_cut(struct kind_figures *figures)
{
	figures->avg_runtime_ns = figure_cut(figures->avg_runtime_ns);
	figures->runtime_dev_ns = figure_cut(figures->runtime_dev_ns);
	figures->wakeup_freq = figure_cut(figures->wakeup_freq);
	figures->csw_rate = figure_cut(figures->csw_rate);
}

/* Neither more than fits nor fewer than none. */
core_fn u32 votes_add(u32 votes, s64 more)
{
	s64 sum = (s64)votes + more;

	return sum < 0 ? 0 : sum > 0xffffffffLL ? 0xffffffffu : (u32)sum;
}

core_fn u64 votes_sum(const u32 *votes, u32 len)
{
	u64 sum = 0;

	for (u32 i = 0; i < len; i++)
		sum += votes[i];
	return sum;
}

/* The one with the most votes, the last of several. */
core_fn u32 votes_winner(const u32 *votes, u32 len)
{
	u32 winner = 0;

	for (u32 i = 1; i < len; i++)
		if (votes[i] >= votes[winner])
			winner = i;
	return winner;
}

/* The winner's share, of a million. */
core_fn u64 votes_share_ppm(const u32 *votes, u32 len)
{
	u64 sum = votes_sum(votes, len);

	return sum ? votes[votes_winner(votes, len)] * (u64)PROCDB_PPM / sum : 0;
}

core_fn u32 profile_tier(const struct profile *profile)
{
	return votes_winner(profile->tier_votes, TIERS);
}

core_fn u32 profile_role(const struct profile *profile)
{
	return votes_winner(profile->role_votes, ROLES);
}

core_fn u64 profile_confidence_ppm(const struct profile *profile)
{
	return votes_share_ppm(profile->tier_votes, TIERS);
}

/* How alike its runs are: 1 minus deviation by average, not below 0. */
core_fn u64 profile_stability_ppm(const struct profile *profile)
{
	u64 average = profile->figures.avg_runtime_ns, deviation = profile->figures.runtime_dev_ns;

	if (deviation >= average)
		return 0;
	/* Both alike, until the product fits. */
	for (int i = 0; i < 64 && deviation >> 43; i++) {
		average >>= 1;
		deviation >>= 1;
	}
	return PROCDB_PPM - (deviation * PROCDB_PPM + average - 1) / average;
}

/* Runs that differ much make a prediction less sure, however much the votes agree: by half at the most. */
core_fn u64 profile_behavioural_ppm(const struct profile *profile, u64 share_ppm)
{
	if (profile->observations < PROCDB_LEAST_OBSERVATIONS)
		return 0;
	return share_ppm * (PROCDB_PPM + profile_stability_ppm(profile)) / (2 * (u64)PROCDB_PPM);
}

core_fn u64 profile_tier_ppm(const struct profile *profile)
{
	return profile_behavioural_ppm(profile, profile_confidence_ppm(profile));
}

core_fn u64 profile_role_ppm(const struct profile *profile)
{
	return profile_behavioural_ppm(profile, votes_share_ppm(profile->role_votes, ROLES));
}

core_fn int profile_is_confident(const struct profile *profile)
{
	return profile_tier_ppm(profile) >= PROCDB_LEAST_PPM;
}

/* What is predicted of a new thread of this kind, whose profile is confident. */
core_fn struct kind_guess profile_guess(const struct profile *profile)
{
	u64 role_ppm = profile_role_ppm(profile);
	struct kind_guess guess = { .tier = (u8)profile_tier(profile),
				    .confidence = (u8)(profile_tier_ppm(profile) / 10000),
				    .figures = profile->figures };

	if (role_ppm >= PROCDB_LEAST_PPM) {
		guess.role = (u8)profile_role(profile);
		guess.role_confidence = (u8)(role_ppm / 10000);
	}
	return guess;
}

/* The entry of a day, which begins with that if need be: older ones move down, the oldest goes. */
core_fn struct profile_day *profile_day_of(struct profile *profile, u64 now_s)
{
	u64 since_1970 = now_s / DAY_S;
	u16 day = (u16)(since_1970 < 0xffff ? since_1970 : 0xffff);

	for (int i = 0; i < PROCDB_DAYS; i++)
		if (profile->days[i].day == day)
			return &profile->days[i];
	for (int i = PROCDB_DAYS - 1; i > 0; i--)
		profile->days[i] = profile->days[i - 1];
	profile->days[0] = (struct profile_day){ .day = day };
	return &profile->days[0];
}

/* Scales votes down to at most PROCDB_FADED_VOTES. What rounding leaves over goes to what was seen last: a kind that is
 * seen once a day would else never change. */
core_fn void votes_fade(u32 *votes, u32 len, const s32 *seen)
{
	u64 sum = votes_sum(votes, len), left = PROCDB_FADED_VOTES;
	u32 last = votes_winner(votes, len);

	if (sum <= PROCDB_FADED_VOTES)
		return;
	for (u32 i = 0; i < len; i++)
		if (seen[i] > 0 && votes[i] && (seen[last] <= 0 || seen[i] > seen[last]))
			last = i;
	for (u32 i = 0; i < len; i++) {
		votes[i] = (u32)(votes[i] * (u64)PROCDB_FADED_VOTES / sum);
		left -= votes[i];
	}
	/* With three tiers and some roles more than one may be left: the winner has most of it anyway. */
	votes[last] += left ? 1 : 0;
	if (left > 1)
		votes[votes_winner(votes, len)] += (u32)left - 1;
}

/* What was seen before today, or before the kind changed, counts for a few votes, however many there were. */
core_fn void profile_fade(struct profile *profile, const struct kind_seen *seen)
{
	votes_fade(profile->tier_votes, TIERS, seen->tier_votes);
	votes_fade(profile->role_votes, ROLES, seen->role_votes);
}

/* How many of these are for another than `predicted`; 0 if one is for that. */
core_fn u32 votes_against(const s32 *seen, u32 len, u32 predicted)
{
	u32 against = 0;

	if (seen[predicted] > 0)
		return 0;
	for (u32 i = 0; i < len; i++)
		if (seen[i] > 0)
			against += (u32)seen[i];
	return against;
}

/* Counts how many in a row were otherwise. Returns whether the kind is another by now. A correction is one vote as a
 * first one is. */
core_fn int profile_turns(struct profile *profile, const struct kind_seen *seen)
{
	u32 tiers = votes_against(seen->tier_votes, TIERS, profile_tier(profile));
	u32 roles = votes_against(seen->role_votes, ROLES, profile_role(profile));

	if (!votes_sum(profile->tier_votes, TIERS))
		return 0;
	profile->contrary = tiers || roles ? votes_add(profile->contrary, tiers > roles ? tiers : roles) : 0;
	return profile->contrary >= PROCDB_TURN;
}

/* Adds what was seen of the kind up to now. */
core_fn void profile_learn(struct profile *profile, const struct kind_seen *seen, u64 now_s)
{
	struct profile_day *today = profile_day_of(profile, now_s);

	if (profile_turns(profile, seen))
		profile_fade(profile, seen);
	for (int i = 0; i < TIERS; i++) {
		s64 day_votes = (s64)today->tier_votes[i] + seen->tier_votes[i];

		profile->tier_votes[i] = votes_add(profile->tier_votes[i], seen->tier_votes[i]);
		today->tier_votes[i] = (u16)(day_votes < 0 ? 0 : day_votes > 0xffff ? 0xffff : day_votes);
	}
	for (int i = 0; i < ROLES; i++)
		profile->role_votes[i] = votes_add(profile->role_votes[i], seen->role_votes[i]);
	if (profile->observations)
		figures_merge(&profile->figures, &seen->figures);
	else
		profile->figures = seen->figures;
	figures_cut(&profile->figures);
	profile->observations = votes_add(profile->observations, seen->threads);
	if (!profile->first_seen_s)
		profile->first_seen_s = now_s;
	/* A clock that went back, or began in 1970, makes nothing older. */
	if (now_s > profile->last_seen_s)
		profile->last_seen_s = now_s;
}

/* How threads of a kind turned out of which a tier was predicted. A thread that turns out otherwise later takes its
 * first vote back, so this can be negative. */
core_fn void prediction_score(const struct kind_seen *seen, u32 predicted_tier, s64 *hits, s64 *misses)
{
	for (u32 i = 0; i < TIERS; i++)
		*(i == predicted_tier ? hits : misses) += seen->tier_votes[i];
}

/* Weighed by how often each was observed. */
core_fn u64 figure_mix(u64 a, u64 a_weight, u64 b, u64 b_weight)
{
	u64 sum = a_weight + b_weight;

	/* The parts first: a product of two could overflow. */
	return sum ? a / sum * a_weight + a % sum * a_weight / sum + b / sum * b_weight + b % sum * b_weight / sum : 0;
}

/* Adds another database's profile of the same kind. */
core_fn void profile_add(struct profile *profile, const struct profile *other)
{
	struct kind_figures *mine = &profile->figures;
	const struct kind_figures *its = &other->figures;
	u64 weight = profile->observations, its_weight = other->observations;

	if (!weight && !its_weight)
		weight = its_weight = 1;
	mine->avg_runtime_ns = figure_mix(mine->avg_runtime_ns, weight, its->avg_runtime_ns, its_weight);
	mine->runtime_dev_ns = figure_mix(mine->runtime_dev_ns, weight, its->runtime_dev_ns, its_weight);
	mine->wakeup_freq = figure_mix(mine->wakeup_freq, weight, its->wakeup_freq, its_weight);
	mine->csw_rate = figure_mix(mine->csw_rate, weight, its->csw_rate, its_weight);
	for (int i = 0; i < TIERS; i++)
		profile->tier_votes[i] = votes_add(profile->tier_votes[i], other->tier_votes[i]);
	for (int i = 0; i < ROLES; i++)
		profile->role_votes[i] = votes_add(profile->role_votes[i], other->role_votes[i]);
	profile->observations = votes_add(profile->observations, other->observations);
	if (other->first_seen_s && (!profile->first_seen_s || other->first_seen_s < profile->first_seen_s))
		profile->first_seen_s = other->first_seen_s;
	if (other->last_seen_s > profile->last_seen_s)
		profile->last_seen_s = other->last_seen_s;
	if (!profile->days[0].day || other->days[0].day > profile->days[0].day)
		for (int i = 0; i < PROCDB_DAYS; i++)
			profile->days[i] = other->days[i];
}

/* The kernel half's part: what one thread is observed to be. */

/* The thread begins to run its program. */
core_fn void learner_begin(struct learner *learner, const struct thread_account *account, u64 now_ns)
{
	learner->since_ns = now_ns;
	learner->cpu_begin_ns = learner->cpu_ns = account->cpu_ns;
	learner->wait_begin_ns = thread_wait_ns(account);
	learner->wakeups_begin = account->wakeups;
	learner->switches_begin = account->voluntary + account->involuntary;
	learner->run_avg_ns = learner->run_dev_ns = 0;
	learner->age = 0;
	learner->observed = 0;
	learner->has_run_whole = 0;
}

/* The thread has left its CPU and that is in the account. Who was pushed off goes on later: that was no run of its own
 * length, and beside other work no two would be alike. */
core_fn void learner_ran(struct learner *learner, const struct thread_account *account)
{
	u64 ran_ns = account->cpu_ns - learner->cpu_ns;
	u64 off_ns = ran_ns > learner->run_avg_ns ? ran_ns - learner->run_avg_ns : learner->run_avg_ns - ran_ns;

	learner->age += learner->age < LEARN_AGE;
	if (account->wait_kind == WAIT_PREEMPTED)
		return;
	learner->cpu_ns = account->cpu_ns;
	learner->run_dev_ns = learner->has_run_whole ? ewma(learner->run_dev_ns, off_ns) : 0;
	learner->run_avg_ns = learner->has_run_whole ? ewma(learner->run_avg_ns, ran_ns) : ran_ns;
	learner->has_run_whole = 1;
}

core_fn u64 per_second_of(u64 count, u64 span_ns)
{
	/* In microseconds, so that the product fits. */
	u64 span_us = span_ns / NSEC_PER_USEC;

	return span_us ? count * 1000000 / span_us : 0;
}

core_fn struct kind_figures learner_figures(const struct learner *learner, const struct thread_account *account,
					    u64 now_ns)
{
	u64 span_ns = span_between(learner->since_ns, now_ns);
	struct kind_figures figures = {
		.avg_runtime_ns = learner->has_run_whole ? learner->run_avg_ns
							 : account->cpu_ns - learner->cpu_begin_ns,
		.runtime_dev_ns = learner->run_dev_ns,
		.wakeup_freq = per_second_of(account->wakeups - learner->wakeups_begin, span_ns),
		.csw_rate = per_second_of(account->voluntary + account->involuntary - learner->switches_begin, span_ns),
	};

	return figures;
}

/* What the thread shows itself to be: by what it did, not by its name, by what the user said or by what was predicted
 * of it, which would confirm itself. One that lived too shortly to be judged well wanted a CPU all its life, or did
 * not. */
core_step int learner_judge(const struct learner *learner, const struct role_state *role,
			    const struct thread_account *account, u64 now_ns, struct role_answer *out)
{
	struct role_facts facts;
	struct role_answer answer;
	u64 cpu_ns, wanted_ns, span_ns;

	if (!learner || !role || !account || !out)
		return 0;
	facts = role->facts;
	span_ns = span_between(learner->since_ns, now_ns);
	cpu_ns = account->cpu_ns - learner->cpu_begin_ns;
	wanted_ns = cpu_ns + thread_wait_ns(account) - learner->wait_begin_ns;
	facts.user_role = facts.name_role = facts.learned_role = ROLE_UNKNOWN;
	facts.learned_confidence = 0;
	facts.has &= (u8)~HAS_LEARNED;
	answer = role_decide(&facts, &role->pattern);
	if (answer.confidence < ROLE_TRUSTED)
		answer.role = ROLE_UNKNOWN;
	if (answer.role == ROLE_UNKNOWN && answer.tier == TIER_INTERACTIVE && span_ns < ROLE_WINDOW_NS &&
	    cpu_ns >= BRIEF_CPU_NS && percent_of(wanted_ns, span_ns) >= DEMAND_BOUND_PERCENT) {
		answer.role = ROLE_CPU_BOUND;
		answer.tier = TIER_BATCH;
	}
	*out = answer;
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The timer that a thread works by, found in the wake-ups that come from outside its process: a timer
 * fires when it is due, whether the thread then gets a CPU or not. Other processes wake it in between, at any time, so
 * a gap is a period only once it has been confirmed: by gaps of one whole period in a row, or, of a thread that leaves
 * out periods, by all its latest gaps together. Pure, as everything in core. */
#ifndef TACTUS_CORE_TIMER_H
#define TACTUS_CORE_TIMER_H

#include "account.h"

enum {
	TIMER_MISSED_MOST = 8,	  /* a thread that overruns leaves out that many periods at most */
	TIMER_SLACK_PERCENT = 10, /* and how far the rest may be from a whole number of them */
	TIMER_PAUSES_MOST = 2, /* longer gaps are pauses that say nothing, unless more than so many follow each other */
	TIMER_GAPS = 24,       /* that are looked at together, */
	TIMER_GAPS_KEPT = 32,  /* a power of two */
	TIMER_LOOK_EVERY = 8,  /* after so many wake-ups each time, */
	TIMER_LOOK_SLACK_PERCENT = 6,
	TIMER_LOOKS_PART = 6,		     /* looks in a row that must show a part of the period that was found */
	TIMER_LEAST_NS = 50 * NSEC_PER_USEC, /* no timer is faster */
	/* Support of a period: each whole period in a row adds two, a wake-up in between takes one away. */
	TIMER_WHOLE = 2,
	TIMER_CONTRADICTED = 6,
	TIMER_CONFIRMED = 16, /* enough where no timer is found yet, or to leave it for an unrelated one */
	TIMER_CONFIRMED_PART =
		24, /* for one that is a part of the period found: others may wake it at just these times */
	TIMER_CONFIRMED_TIMES = 24, /* for one that is a multiple: it may overrun for a while */
	TIMER_TRUST_BEGIN = 16,	    /* the timer that was found: its periods add two, those left out take one away */
	TIMER_TRUST_MOST = 32,
	TIMER_SKIPS_MOST = 24, /* periods in a row, each with others left out before it: the timer has become slower */
	TIMER_RESIDUE_PERCENT = 88,  /* of periods on every k-th place: then the period is k times as long */
	TIMER_SPREAD_PERCENT = 55,   /* more than so many on every k-th place: not known */
	TIMER_SPREAD_2_PERCENT = 75, /* on every second, of which half are on by themselves */
};

struct timer {
	u64 heard_ns;	/* the last period; while no timer is found, the last wake-up */
	u64 gap_ns;	/* moving average of the time between periods; 0: no timer is found */
	u64 gap_dev_ns; /* and of the deviation from it */
	u64 periods;	/* wake-ups from outside, periods of a timer or not */
	u64 woken_ns;	/* the last of them */
	u64 whole_ns;	/* a gap that may be a period, and since when its next is awaited */
	u64 whole_since_ns;
	u32 support; /* for it */
	u32 kept;    /* periods of the timer that was found */
	u32 trust;   /* in it */
	u32 pauses;  /* in a row */
	u32 unlike;  /* since the last look there was something else than a period after one period */
	u32 gaps;    /* seen since the last look */
	u32 at;	     /* where the next goes of: */
	u32 gaps_ns[TIMER_GAPS_KEPT];
	u32 skips; /* periods in a row that followed others left out */
	u32 parts; /* looks in a row that showed a part of the period */
};

/* How many times `part` fits into `whole`, if the rest is at most that share of it; else 0. */
core_fn u64 times_within(u64 whole, u64 part, u64 slack_percent)
{
	u64 times = part ? (whole + part / 2) / part : 0, nearest = times * part;
	u64 off_ns = whole > nearest ? whole - nearest : nearest - whole;

	return off_ns * 100 <= part * slack_percent ? times : 0;
}

/* How many periods of `part` a gap is long, if it nearly is so; 0: it is not, or it is a pause. */
core_fn u64 times_near(u64 whole, u64 part)
{
	u64 times = times_within(whole, part, TIMER_SLACK_PERCENT);

	return times <= TIMER_MISSED_MOST ? times : 0;
}

/* The gaps that are looked at, the oldest first. */
core_fn u64 timer_gap_at(const struct timer *timer, u32 index)
{
	return timer->gaps_ns[(timer->at - TIMER_GAPS + index) & (TIMER_GAPS_KEPT - 1)];
}

/* All bits if the number is below zero, else none. The loops over gaps have no branches, or the kernel's verifier would
 * walk each way through all of them. */
core_fn u64 if_negative(u64 number)
{
	return (u64)((s64)number >> 63);
}

/* The gap of which all the latest are multiples, from the shortest; 0: there is none. Each may be off by its own
 * jitter, so the mean over all is taken. */
core_fn u64 timer_common_gap(const struct timer *timer)
{
	u64 shortest_ns = ~0u, span_ns = 0, steps = 0, wrong = 0, common_ns, slack_ns;

	for (u32 i = 0; i < TIMER_GAPS; i++) {
		u64 shorter_ns = timer_gap_at(timer, i) - shortest_ns;

		shortest_ns += shorter_ns & if_negative(shorter_ns);
	}
	if (shortest_ns < TIMER_LEAST_NS)
		return 0;
	for (u32 i = 0; i < TIMER_GAPS; i++) {
		u64 times = (timer_gap_at(timer, i) + shortest_ns / 2) / shortest_ns;

		wrong |= if_negative(TIMER_MISSED_MOST - times);
		span_ns += timer_gap_at(timer, i);
		steps += times;
	}
	common_ns = span_ns / (steps | !steps);
	if (wrong || !common_ns)
		return 0;
	slack_ns = common_ns * TIMER_LOOK_SLACK_PERCENT / 100;
	for (u32 i = 0; i < TIMER_GAPS; i++) {
		u64 times = (timer_gap_at(timer, i) + common_ns / 2) / common_ns;
		u64 off_ns = timer_gap_at(timer, i) - times * common_ns;

		wrong |= if_negative(slack_ns - off_ns) | if_negative(slack_ns + off_ns);
	}
	return wrong ? 0 : common_ns;
}

/* How the latest wake-ups lie on the places 0 to k - 1 of every k gaps. */
struct residues {
	u64 most;   /* wake-ups on one place */
	u64 places; /* that any are on */
};

core_fn struct residues timer_residues(const struct timer *timer, u64 common_ns, u32 k)
{
	struct residues found = { 0 };
	u64 on_place = 0; /* eight counts of eight bits */
	u64 place = 0;

	for (u32 i = 0; i < TIMER_GAPS; i++) {
		place = (place + (timer_gap_at(timer, i) + common_ns / 2) / common_ns) % k;
		on_place += 1ull << (place & 7) * 8;
	}
	for (u32 i = 0; i < 8; i++) {
		u64 fewer = found.most - (on_place >> i * 8 & 0xff);

		found.most -= fewer & if_negative(fewer);
		found.places += ((on_place >> i * 8 & 0xff) + 0xff) >> 8;
	}
	return found;
}

/* The period that all the latest gaps together show; 0: none. That all are multiples of a gap does not make it the
 * period: others who wake the thread at a third of it make such gaps too. Periods must fall on all places, not on every
 * k-th alone, nor on two of them, as two timers of one period would. */
core_fn u64 timer_of_gaps(const struct timer *timer)
{
	u64 common_ns = timer_common_gap(timer), period_ns = common_ns;

	if (!common_ns)
		return 0;
	for (u32 k = 2; k <= TIMER_MISSED_MOST; k++) {
		struct residues found = timer_residues(timer, common_ns, k);
		u32 most = k == 2 ? TIMER_SPREAD_2_PERCENT : TIMER_SPREAD_PERCENT;
		u32 places = k == 2 ? 2 : k / 2 > 3 ? k / 2 : 3;

		if (found.most * 100 >= TIMER_GAPS * TIMER_RESIDUE_PERCENT)
			period_ns = k * common_ns;
		else if (found.most * 100 > TIMER_GAPS * most || found.places < places)
			return period_ns > common_ns ? period_ns : 0;
	}
	return period_ns;
}

core_fn void timer_learned(struct timer *timer, u64 period_ns, u32 kept, u64 now_ns)
{
	timer->gap_ns = period_ns;
	timer->gap_dev_ns = 0;
	timer->heard_ns = now_ns;
	timer->kept = kept;
	timer->trust = TIMER_TRUST_BEGIN;
	timer->pauses = timer->parts = timer->skips = 0;
}

core_fn void timer_forgotten(struct timer *timer)
{
	timer->gap_ns = timer->gap_dev_ns = 0;
	timer->kept = timer->trust = timer->pauses = 0;
}

/* What a wake-up takes from the support of a gap that may be a period, so long after the last that supported it. One in
 * between is another's; one half way, or the second period without the first, says that the period is another. */
core_fn u32 timer_contradicts(const struct timer *timer, u64 since_ns)
{
	if (times_near(since_ns, timer->whole_ns) || times_near(since_ns * 2, timer->whole_ns) == 1)
		return TIMER_CONTRADICTED;
	return since_ns < timer->whole_ns ? 1 : ~0u;
}

/* Weighs the gap that may be a period: only one whole period after the last adds to its support. What was found already
 * needs none, so that it gives way to any other at once. */
core_fn void timer_supports(struct timer *timer, u64 gap_ns, u64 now_ns)
{
	u64 since_ns = span_between(timer->whole_since_ns, now_ns), times = times_near(since_ns, timer->whole_ns);
	u32 cost = timer_contradicts(timer, since_ns);

	if (times == 1) {
		timer->whole_ns = ewma(timer->whole_ns, since_ns);
		if (timer->support < TIMER_CONFIRMED_TIMES)
			timer->support += TIMER_WHOLE;
	} else if (timer->support < cost || times_near(timer->whole_ns, timer->gap_ns) == 1) {
		timer->whole_ns = gap_ns >= TIMER_LEAST_NS ? gap_ns : 0;
		timer->support = 0;
		times = 1;
	} else {
		timer->support -= cost;
	}
	if (times)
		timer->whole_since_ns = now_ns;
}

/* The support that it needs to be the period; ~0: it is that already. */
core_fn u32 timer_support_needed(const struct timer *timer)
{
	if (!timer->gap_ns)
		return TIMER_CONFIRMED;
	if (times_near(timer->whole_ns, timer->gap_ns) == 1)
		return ~0u;
	if (times_near(timer->whole_ns, timer->gap_ns))
		return TIMER_CONFIRMED_TIMES;
	return times_near(timer->gap_ns, timer->whole_ns) ? TIMER_CONFIRMED_PART : TIMER_CONFIRMED;
}

core_fn int timer_comes(struct timer *timer, u64 gap_ns, u64 now_ns)
{
	u64 off_ns = gap_ns > timer->gap_ns ? gap_ns - timer->gap_ns : timer->gap_ns - gap_ns;

	timer->gap_dev_ns = ewma(timer->gap_dev_ns, off_ns);
	timer->gap_ns = ewma(timer->gap_ns, gap_ns);
	timer->heard_ns = now_ns;
	timer->pauses = 0;
	timer->kept++;
	return 1;
}

/* A wake-up of a thread whose timer is found: whether it is a period. */
core_fn int timer_follows(struct timer *timer, u64 gap_ns, u64 now_ns)
{
	u64 since_ns = span_between(timer->heard_ns, now_ns), times = times_near(since_ns, timer->gap_ns);
	u64 trust = timer->trust + TIMER_WHOLE;
	int in_phase;

	if (times) {
		timer->unlike |= times > 1;
		timer->skips = times > 1 ? timer->skips + 1 : 0;
		timer->trust = trust < times			      ? 0
			       : trust + 1 - times < TIMER_TRUST_MOST ? trust + 1 - times
								      : TIMER_TRUST_MOST;
		if (timer->trust && timer->skips < TIMER_SKIPS_MOST)
			return timer_comes(timer, since_ns / times, now_ns);
		timer_forgotten(timer);
		return 0;
	}
	timer->unlike = 1;
	if (since_ns > timer->gap_ns * (TIMER_MISSED_MOST + 1)) {
		in_phase = times_within(since_ns, timer->gap_ns, TIMER_SLACK_PERCENT) > 0;
		timer->heard_ns = now_ns;
		if (timer->pauses++ >= TIMER_PAUSES_MOST)
			timer_forgotten(timer);
		return in_phase;
	}
	/* Who sleeps for so long, and not until then, has another phase after it was late, and the same timer. */
	if (times_near(gap_ns, timer->gap_ns) == 1)
		return timer_comes(timer, gap_ns, now_ns);
	return 0;
}

core_fn void timer_keeps_gap(struct timer *timer, u64 gap_ns)
{
	timer->gaps_ns[timer->at & (TIMER_GAPS_KEPT - 1)] = gap_ns < ~0u ? (u32)gap_ns : ~0u;
	timer->at++;
	timer->gaps++;
}

core_step int timer_looks_back(struct timer *timer, u64 now_ns)
{
	u64 period_ns;

	if (!timer)
		return 0;
	timer->gaps = 0;
	if (timer->gap_ns && !timer->unlike) {
		timer->parts = 0;
		return 0;
	}
	timer->unlike = 0;
	period_ns = timer_of_gaps(timer);
	timer->parts = times_near(timer->gap_ns, period_ns) > 1 ? timer->parts + 1 : 0;
	if (period_ns && times_near(period_ns, timer->gap_ns) != 1 &&
	    (!timer->parts || timer->parts >= TIMER_LOOKS_PART))
		timer_learned(timer, period_ns, TIMER_GAPS, now_ns);
	return 0;
}

/* It is woken from outside. Returns whether that is a period of the timer that was found. */
core_step int timer_heard(struct timer *timer, u64 now_ns)
{
	u64 gap_ns;
	int is_period = 0;

	if (!timer)
		return 0;
	gap_ns = span_between(timer->woken_ns, now_ns);
	timer->periods++;
	if (timer->woken_ns) {
		timer_keeps_gap(timer, gap_ns);
		timer_supports(timer, gap_ns, now_ns);
		if (timer->gap_ns)
			is_period = timer_follows(timer, gap_ns, now_ns);
		if (timer->support >= timer_support_needed(timer))
			timer_learned(timer, timer->whole_ns, timer->support / TIMER_WHOLE + 1, now_ns);
		if (timer->gaps >= TIMER_LOOK_EVERY)
			timer_looks_back(timer, now_ns);
	}
	timer->woken_ns = now_ns;
	if (!timer->gap_ns)
		timer->heard_ns = now_ns;
	return is_period;
}

#endif

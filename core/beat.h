/* SPDX-License-Identifier: GPL-2.0 */
/* The clock by which a thread asks to be woken, heard from the wake-ups that come from outside its process: a timer
 * fires when it is due, whether the thread then gets a CPU or not. Other processes wake it in between, at any time, so
 * a gap is a period only once it has been confirmed: by gaps of one whole period in a row, or, of a thread that leaves
 * out beats, by all its latest gaps together. Pure, as everything in core. */
#ifndef TACTUS_CORE_BEAT_H
#define TACTUS_CORE_BEAT_H

#include "account.h"

enum {
	BEAT_MISSED_MOST = 8,	 /* a thread that overruns leaves out that many beats at most */
	BEAT_SLACK_PERCENT = 10, /* and how far the rest may be from a whole number of them */
	BEAT_PAUSES_MOST = 2, /* longer gaps are pauses that say nothing, unless more than so many follow each other */
	BEAT_GAPS = 24,	      /* that are looked at together, */
	BEAT_GAPS_KEPT = 32,  /* a power of two */
	BEAT_LOOK_EVERY = 8,  /* after so many wake-ups each time, */
	BEAT_LOOK_SLACK_PERCENT = 6,
	BEAT_LOOKS_PART = 6,		    /* looks in a row that must show a part of the period that is heard */
	BEAT_LEAST_NS = 50 * NSEC_PER_USEC, /* no timer is faster */
	/* Support of a period: each whole period in a row adds two, a wake-up in between takes one away. */
	BEAT_WHOLE = 2,
	BEAT_CONTRADICTED = 6,
	BEAT_CONFIRMED = 16,	   /* enough where no clock is heard yet, or to leave it for an unrelated one */
	BEAT_CONFIRMED_PART = 24,  /* for one that is a part of what is heard: others may wake it at just these times */
	BEAT_CONFIRMED_TIMES = 24, /* for one that is a multiple: it may overrun for a while */
	BEAT_TRUST_BEGIN = 16,	   /* the clock that is heard: its beats add two, those left out take one away */
	BEAT_TRUST_MOST = 32,
	BEAT_SKIPS_MOST = 24, /* beats in a row, each with others left out before it: the clock has become slower */
	BEAT_RESIDUE_PERCENT = 88,  /* of beats on every k-th place: then the period is k times as long */
	BEAT_SPREAD_PERCENT = 55,   /* more than so many on every k-th place: not known */
	BEAT_SPREAD_2_PERCENT = 75, /* on every second, of which half are on by themselves */
};

struct beat {
	u64 heard_ns;	/* the last beat; while no clock is heard, the last wake-up */
	u64 gap_ns;	/* moving average of the time between beats; 0: no clock is heard */
	u64 gap_dev_ns; /* and of the deviation from it */
	u64 beats;	/* wake-ups from outside, beats of a clock or not */
	u64 woken_ns;	/* the last of them */
	u64 whole_ns;	/* a gap that may be a period, and since when its next is awaited */
	u64 whole_since_ns;
	u32 support; /* for it */
	u32 kept;    /* beats of the clock that is heard */
	u32 trust;   /* in it */
	u32 pauses;  /* in a row */
	u32 unlike;  /* since the last look there was something else than a beat after one period */
	u32 gaps;    /* seen since the last look */
	u32 at;	     /* where the next goes of: */
	u32 gaps_ns[BEAT_GAPS_KEPT];
	u32 skips; /* beats in a row that followed others left out */
	u32 parts; /* looks in a row that showed a part of the period */
};

/* How many times `part` fits into `whole`, if the rest is at most that share of it; else 0. */
core_fn u64 times_within(u64 whole, u64 part, u64 slack_percent)
{
	u64 times = part ? (whole + part / 2) / part : 0, nearest = times * part;
	u64 off_ns = whole > nearest ? whole - nearest : nearest - whole;

	return off_ns * 100 <= part * slack_percent ? times : 0;
}

/* How many beats of `part` a gap is long, if it nearly is so; 0: it is not, or it is a pause. */
core_fn u64 times_near(u64 whole, u64 part)
{
	u64 times = times_within(whole, part, BEAT_SLACK_PERCENT);

	return times <= BEAT_MISSED_MOST ? times : 0;
}

/* The gaps that are looked at, the oldest first. */
core_fn u64 beat_gap_at(const struct beat *beat, u32 index)
{
	return beat->gaps_ns[(beat->at - BEAT_GAPS + index) & (BEAT_GAPS_KEPT - 1)];
}

/* All bits if the number is below zero, else none. The loops over gaps have no branches, or the kernel's verifier would
 * walk each way through all of them. */
core_fn u64 if_negative(u64 number)
{
	return (u64)((s64)number >> 63);
}

/* The gap of which all the latest are multiples, from the shortest; 0: there is none. Each may be off by its own
 * jitter, so the mean over all is taken. */
core_fn u64 beat_common_gap(const struct beat *beat)
{
	u64 shortest_ns = ~0u, span_ns = 0, steps = 0, wrong = 0, common_ns, slack_ns;

	for (u32 i = 0; i < BEAT_GAPS; i++) {
		u64 shorter_ns = beat_gap_at(beat, i) - shortest_ns;

		shortest_ns += shorter_ns & if_negative(shorter_ns);
	}
	if (shortest_ns < BEAT_LEAST_NS)
		return 0;
	for (u32 i = 0; i < BEAT_GAPS; i++) {
		u64 times = (beat_gap_at(beat, i) + shortest_ns / 2) / shortest_ns;

		wrong |= if_negative(BEAT_MISSED_MOST - times);
		span_ns += beat_gap_at(beat, i);
		steps += times;
	}
	common_ns = span_ns / (steps | !steps);
	if (wrong || !common_ns)
		return 0;
	slack_ns = common_ns * BEAT_LOOK_SLACK_PERCENT / 100;
	for (u32 i = 0; i < BEAT_GAPS; i++) {
		u64 times = (beat_gap_at(beat, i) + common_ns / 2) / common_ns;
		u64 off_ns = beat_gap_at(beat, i) - times * common_ns;

		wrong |= if_negative(slack_ns - off_ns) | if_negative(slack_ns + off_ns);
	}
	return wrong ? 0 : common_ns;
}

/* How the latest wake-ups lie on the places 0 to k - 1 of every k gaps. */
struct residues {
	u64 most;   /* wake-ups on one place */
	u64 places; /* that any are on */
};

core_fn struct residues beat_residues(const struct beat *beat, u64 common_ns, u32 k)
{
	struct residues found = { 0 };
	u64 on_place = 0; /* eight counts of eight bits */
	u64 place = 0;

	for (u32 i = 0; i < BEAT_GAPS; i++) {
		place = (place + (beat_gap_at(beat, i) + common_ns / 2) / common_ns) % k;
		on_place += 1ull << (place & 7) * 8;
	}
	for (u32 i = 0; i < 8; i++) {
		u64 fewer = found.most - (on_place >> i * 8 & 0xff);

		found.most -= fewer & if_negative(fewer);
		found.places += ((on_place >> i * 8 & 0xff) + 0xff) >> 8;
	}
	return found;
}

/* The clock that all the latest gaps together show; 0: none. That all are multiples of a gap does not make it the
 * period: others who wake the thread at a third of it make such gaps too. Beats must fall on all places, not on every
 * k-th alone, nor on two of them, as two clocks of one period would. */
core_fn u64 beat_of_gaps(const struct beat *beat)
{
	u64 common_ns = beat_common_gap(beat), period_ns = common_ns;

	if (!common_ns)
		return 0;
	for (u32 k = 2; k <= BEAT_MISSED_MOST; k++) {
		struct residues found = beat_residues(beat, common_ns, k);
		u32 most = k == 2 ? BEAT_SPREAD_2_PERCENT : BEAT_SPREAD_PERCENT;
		u32 places = k == 2 ? 2 : k / 2 > 3 ? k / 2 : 3;

		if (found.most * 100 >= BEAT_GAPS * BEAT_RESIDUE_PERCENT)
			period_ns = k * common_ns;
		else if (found.most * 100 > BEAT_GAPS * most || found.places < places)
			return period_ns > common_ns ? period_ns : 0;
	}
	return period_ns;
}

core_fn void beat_learned(struct beat *beat, u64 period_ns, u32 kept, u64 now_ns)
{
	beat->gap_ns = period_ns;
	beat->gap_dev_ns = 0;
	beat->heard_ns = now_ns;
	beat->kept = kept;
	beat->trust = BEAT_TRUST_BEGIN;
	beat->pauses = beat->parts = beat->skips = 0;
}

core_fn void beat_forgotten(struct beat *beat)
{
	beat->gap_ns = beat->gap_dev_ns = 0;
	beat->kept = beat->trust = beat->pauses = 0;
}

/* What a wake-up takes from the support of a gap that may be a period, so long after the last that supported it. One in
 * between is another's; one half way, or the second beat without the first, says that the period is another. */
core_fn u32 beat_contradicts(const struct beat *beat, u64 since_ns)
{
	if (times_near(since_ns, beat->whole_ns) || times_near(since_ns * 2, beat->whole_ns) == 1)
		return BEAT_CONTRADICTED;
	return since_ns < beat->whole_ns ? 1 : ~0u;
}

/* Weighs the gap that may be a period: only one whole period after the last adds to its support. What is heard already
 * needs none, so that it gives way to any other at once. */
core_fn void beat_supports(struct beat *beat, u64 gap_ns, u64 now_ns)
{
	u64 since_ns = span_between(beat->whole_since_ns, now_ns), times = times_near(since_ns, beat->whole_ns);
	u32 cost = beat_contradicts(beat, since_ns);

	if (times == 1) {
		beat->whole_ns = ewma(beat->whole_ns, since_ns);
		if (beat->support < BEAT_CONFIRMED_TIMES)
			beat->support += BEAT_WHOLE;
	} else if (beat->support < cost || times_near(beat->whole_ns, beat->gap_ns) == 1) {
		beat->whole_ns = gap_ns >= BEAT_LEAST_NS ? gap_ns : 0;
		beat->support = 0;
		times = 1;
	} else {
		beat->support -= cost;
	}
	if (times)
		beat->whole_since_ns = now_ns;
}

/* The support that it needs to be the clock; ~0: it is that already. */
core_fn u32 beat_support_needed(const struct beat *beat)
{
	if (!beat->gap_ns)
		return BEAT_CONFIRMED;
	if (times_near(beat->whole_ns, beat->gap_ns) == 1)
		return ~0u;
	if (times_near(beat->whole_ns, beat->gap_ns))
		return BEAT_CONFIRMED_TIMES;
	return times_near(beat->gap_ns, beat->whole_ns) ? BEAT_CONFIRMED_PART : BEAT_CONFIRMED;
}

core_fn int beat_comes(struct beat *beat, u64 gap_ns, u64 now_ns)
{
	u64 off_ns = gap_ns > beat->gap_ns ? gap_ns - beat->gap_ns : beat->gap_ns - gap_ns;

	beat->gap_dev_ns = ewma(beat->gap_dev_ns, off_ns);
	beat->gap_ns = ewma(beat->gap_ns, gap_ns);
	beat->heard_ns = now_ns;
	beat->pauses = 0;
	beat->kept++;
	return 1;
}

/* A wake-up of a thread whose clock is heard: whether it is a beat. */
core_fn int beat_follows(struct beat *beat, u64 gap_ns, u64 now_ns)
{
	u64 since_ns = span_between(beat->heard_ns, now_ns), times = times_near(since_ns, beat->gap_ns);
	u64 trust = beat->trust + BEAT_WHOLE;
	int in_phase;

	if (times) {
		beat->unlike |= times > 1;
		beat->skips = times > 1 ? beat->skips + 1 : 0;
		beat->trust = trust < times			    ? 0
			      : trust + 1 - times < BEAT_TRUST_MOST ? trust + 1 - times
								    : BEAT_TRUST_MOST;
		if (beat->trust && beat->skips < BEAT_SKIPS_MOST)
			return beat_comes(beat, since_ns / times, now_ns);
		beat_forgotten(beat);
		return 0;
	}
	beat->unlike = 1;
	if (since_ns > beat->gap_ns * (BEAT_MISSED_MOST + 1)) {
		in_phase = times_within(since_ns, beat->gap_ns, BEAT_SLACK_PERCENT) > 0;
		beat->heard_ns = now_ns;
		if (beat->pauses++ >= BEAT_PAUSES_MOST)
			beat_forgotten(beat);
		return in_phase;
	}
	/* Who sleeps for so long, and not until then, has another phase after it was late, and the same clock. */
	if (times_near(gap_ns, beat->gap_ns) == 1)
		return beat_comes(beat, gap_ns, now_ns);
	return 0;
}

core_fn void beat_keeps_gap(struct beat *beat, u64 gap_ns)
{
	beat->gaps_ns[beat->at & (BEAT_GAPS_KEPT - 1)] = gap_ns < ~0u ? (u32)gap_ns : ~0u;
	beat->at++;
	beat->gaps++;
}

core_step int beat_looks_back(struct beat *beat, u64 now_ns)
{
	u64 period_ns;

	if (!beat)
		return 0;
	beat->gaps = 0;
	if (beat->gap_ns && !beat->unlike) {
		beat->parts = 0;
		return 0;
	}
	beat->unlike = 0;
	period_ns = beat_of_gaps(beat);
	beat->parts = times_near(beat->gap_ns, period_ns) > 1 ? beat->parts + 1 : 0;
	if (period_ns && times_near(period_ns, beat->gap_ns) != 1 && (!beat->parts || beat->parts >= BEAT_LOOKS_PART))
		beat_learned(beat, period_ns, BEAT_GAPS, now_ns);
	return 0;
}

/* It is woken from outside. Returns whether that is a beat of the clock that is heard. */
core_step int beat_heard(struct beat *beat, u64 now_ns)
{
	u64 gap_ns;
	int is_beat = 0;

	if (!beat)
		return 0;
	gap_ns = span_between(beat->woken_ns, now_ns);
	beat->beats++;
	if (beat->woken_ns) {
		beat_keeps_gap(beat, gap_ns);
		beat_supports(beat, gap_ns, now_ns);
		if (beat->gap_ns)
			is_beat = beat_follows(beat, gap_ns, now_ns);
		if (beat->support >= beat_support_needed(beat))
			beat_learned(beat, beat->whole_ns, beat->support / BEAT_WHOLE + 1, now_ns);
		if (beat->gaps >= BEAT_LOOK_EVERY)
			beat_looks_back(beat, now_ns);
	}
	beat->woken_ns = now_ns;
	if (!beat->gap_ns)
		beat->heard_ns = now_ns;
	return is_beat;
}

#endif

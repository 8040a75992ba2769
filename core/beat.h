/* SPDX-License-Identifier: GPL-2.0 */
/* The clock by which a thread asks to be woken, heard from the wake-ups that come from outside its process: a timer
 * fires when it is due, whether the thread then gets a CPU or not. Pure, as everything in core. */
#ifndef TACTUS_CORE_BEAT_H
#define TACTUS_CORE_BEAT_H

#include "account.h"

enum {
	BEAT_MISSED_MOST = 8,	 /* a thread that overruns leaves out that many beats at most */
	BEAT_SLACK_PERCENT = 10, /* and how far the rest may be from a whole number of them */
	BEAT_PAUSES_MOST = 2, /* longer gaps are pauses that say nothing, unless more than so many follow each other */
};

struct beat {
	u64 heard_ns;
	u64 gap_ns;	/* moving average of the time between beats */
	u64 gap_dev_ns; /* and of the deviation from it */
	u64 beats;
	u64 pauses; /* in a row */
};

/* How many times `part` fits into `whole`, if it does so nearly; else 0. */
core_fn u64 times_near(u64 whole, u64 part)
{
	u64 times = part ? (whole + part / 2) / part : 0, nearest = times * part;
	u64 off_ns = whole > nearest ? whole - nearest : nearest - whole;

	return times <= BEAT_MISSED_MOST && off_ns * 100 <= part * BEAT_SLACK_PERCENT ? times : 0;
}

/* A thread that is too late for one beat sleeps until the next but one, or later: gaps are then whole numbers of the
 * true one, which the shortest shows. One that was kept from the CPU for long has the same clock after it. */
core_fn void beat_heard(struct beat *beat, u64 now_ns)
{
	u64 gap_ns = span_between(beat->heard_ns, now_ns), known_ns = beat->gap_ns, off_ns, times;

	if (known_ns && gap_ns > known_ns * (BEAT_MISSED_MOST + 1)) {
		if (beat->pauses++ < BEAT_PAUSES_MOST) {
			beat->heard_ns = now_ns;
			return;
		}
		known_ns = gap_ns;
	}
	beat->pauses = 0;
	beat->beats++;
	if (beat->heard_ns && known_ns) {
		times = times_near(gap_ns, known_ns);
		if (times > 1)
			gap_ns /= times;
		else if (!times && times_near(known_ns, gap_ns) > 1)
			known_ns = gap_ns;
		off_ns = gap_ns > known_ns ? gap_ns - known_ns : known_ns - gap_ns;
		beat->gap_dev_ns = ewma(beat->gap_dev_ns, off_ns);
		beat->gap_ns = ewma(known_ns, gap_ns);
	} else if (beat->heard_ns) {
		beat->gap_ns = gap_ns;
	}
	beat->heard_ns = now_ns;
}

#endif

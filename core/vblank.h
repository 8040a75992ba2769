/* SPDX-License-Identifier: GPL-2.0 */
/* A display's clock, from the periods that it is seen to begin; and how many of them passed between two pictures.
 * Seldom all are seen: displays count only while somebody listens. Pure. */
#ifndef TACTUS_CORE_VBLANK_H
#define TACTUS_CORE_VBLANK_H

#include "types.h"

enum {
	VBLANK_SHIFT = 3,	 /* moving average of the period */
	VBLANK_SKIPPED_MOST = 8, /* periods between two that are seen, for the span to tell the period */
	VBLANK_PARTS_MOST = 4,	 /* a stream may show each picture for so many periods */
	VBLANK_NEAR_PER_MILLE = 25,
};

struct vblank_clock {
	u64 at_ns; /* the last one seen; 0: there was none */
	u64 period_ns;
	u32 seq;
	u32 display;
};

core_fn void vblank_seen(struct vblank_clock *clock, u32 seq, u64 at_ns)
{
	u32 periods = seq - clock->seq;
	u64 period_ns;

	if (clock->at_ns && at_ns > clock->at_ns && periods && periods <= VBLANK_SKIPPED_MOST) {
		period_ns = (at_ns - clock->at_ns) / periods;
		clock->period_ns = clock->period_ns ? clock->period_ns - (clock->period_ns >> VBLANK_SHIFT) +
							      (period_ns >> VBLANK_SHIFT)
						    : period_ns;
	}
	clock->at_ns = at_ns;
	clock->seq = seq;
}

/* When the period of that number began. A display tells programs of it some time later, after an interrupt: `now_ns`,
 * which is the answer where its clock does not reach that far. */
core_fn u64 vblank_began(const struct vblank_clock *clock, u32 seq, u64 now_ns)
{
	u32 periods = seq - clock->seq;
	u64 began_ns = clock->at_ns + periods * clock->period_ns;

	if (!clock->at_ns || !clock->period_ns || periods > VBLANK_SKIPPED_MOST || began_ns > now_ns ||
	    now_ns - began_ns >= clock->period_ns)
		return now_ns;
	return began_ns;
}

/* The whole number of periods that an interval is near to, in time; 0: none. */
core_fn u64 vblank_near(const struct vblank_clock *clock, u64 interval_ns)
{
	for (u64 parts = 1; clock->period_ns && parts <= VBLANK_PARTS_MOST; parts++) {
		u64 wanted_ns = parts * clock->period_ns;
		u64 off_ns = interval_ns > wanted_ns ? interval_ns - wanted_ns : wanted_ns - interval_ns;

		if (off_ns * 1000 <= wanted_ns * VBLANK_NEAR_PER_MILLE)
			return wanted_ns;
	}
	return 0;
}

/* Periods that began without a new picture between two pictures; the counters go round. */
core_fn u32 vblanks_missed(u32 last_seq, u32 seq)
{
	u32 periods = seq - last_seq;

	return periods && periods < 1u << 31 ? periods - 1 : 0;
}

#endif

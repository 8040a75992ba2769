/* SPDX-License-Identifier: GPL-2.0 */
/* The pace of a stream of frames, and which of them break it: the display's period if the stream keeps one, else the
 * stream's own median; frames that are late, periods without a frame, stutters. Pure. */
#ifndef TACTUS_CORE_PACE_H
#define TACTUS_CORE_PACE_H

#include "types.h"

enum {
	PACE_RECENT = 31,	  /* intervals that the median is of */
	PACE_ENOUGH = 7,	  /* before so many nothing is called late */
	PACE_SNAP_PER_MILLE = 25, /* a median this near to a display's period is that */
	PACE_SLACK_PERCENT = 25,  /* of the period: a frame within that is on time */
	PACE_RATES = 10,
};
#define PACE_PAUSE_NS (2ull * NSEC_PER_SEC) /* after so long the stream has stopped and begins anew */

struct pace {
	u64 last_ns; /* the last frame; 0: there was none */
	u64 recent_ns[PACE_RECENT];
	u32 len, next;
	u64 median_ns;
};

struct pace_verdict {
	u64 interval_ns; /* 0: the first frame, or the first after a pause */
	u64 target_ns;	 /* 0: not known yet */
	u64 display_ns;	 /* that, if it is a display's period */
	u64 late_ns;	 /* by how much, 0: on time */
	u32 dropped;	 /* periods of the display that passed without a frame */
	u32 is_stutter;	 /* more than twice the median */
	u32 is_pause;
};

/* Displays' rates, in hundredths of a hertz. */
core_fn u32 pace_rate(u32 which)
{
	switch (which) {
	case 0:
		return 3000;
	case 1:
		return 5000;
	case 2:
		return 6000;
	case 3:
		return 7200;
	case 4:
		return 7500;
	case 5:
		return 9000;
	case 6:
		return 12000;
	case 7:
		return 14400;
	case 8:
		return 16500;
	default:
		return 24000;
	}
}

/* The period of the display rate that an interval is near to; 0: none, the stream is uncapped. */
core_fn u64 pace_display_ns(u64 interval_ns)
{
	for (u32 i = 0; i < PACE_RATES; i++) {
		u64 period_ns = 100ull * NSEC_PER_SEC / pace_rate(i);
		u64 off_ns = interval_ns > period_ns ? interval_ns - period_ns : period_ns - interval_ns;

		if (off_ns * 1000 <= period_ns * PACE_SNAP_PER_MILLE)
			return period_ns;
	}
	return 0;
}

core_fn u64 pace_median(const struct pace *pace)
{
	u64 sorted[PACE_RECENT];

	for (u32 i = 0; i < pace->len; i++) {
		u32 at = i;

		for (; at > 0 && sorted[at - 1] > pace->recent_ns[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = pace->recent_ns[i];
	}
	return pace->len ? sorted[pace->len / 2] : 0;
}

/* Judges by the frames before, then counts this one in. A frame that makes up for a late one is early, and fine.
 * `known_ns`: the display's period, if it is known; 0: the stream shows what it is. */
core_fn struct pace_verdict pace_frame_on(struct pace *pace, u64 now_ns, u64 known_ns)
{
	struct pace_verdict verdict = { 0 };
	u64 display_ns = known_ns ? known_ns : pace_display_ns(pace->median_ns);

	if (pace->last_ns && now_ns > pace->last_ns)
		verdict.interval_ns = now_ns - pace->last_ns;
	if (now_ns > pace->last_ns)
		pace->last_ns = now_ns;
	if (verdict.interval_ns > PACE_PAUSE_NS) {
		verdict.interval_ns = 0;
		verdict.is_pause = 1;
	}
	if (!verdict.interval_ns)
		return verdict;
	if (pace->len >= PACE_ENOUGH) {
		u64 interval_ns = verdict.interval_ns;

		verdict.target_ns = display_ns ? display_ns : pace->median_ns;
		verdict.display_ns = display_ns;
		verdict.is_stutter = interval_ns > 2 * pace->median_ns;
		if (display_ns && interval_ns * 100 > display_ns * (100 + PACE_SLACK_PERCENT))
			verdict.late_ns = interval_ns - display_ns;
		else if (!display_ns && verdict.is_stutter)
			verdict.late_ns = interval_ns - pace->median_ns;
		if (display_ns && verdict.late_ns)
			verdict.dropped = (u32)((interval_ns + display_ns / 2) / display_ns) - 1;
	}
	pace->recent_ns[pace->next] = verdict.interval_ns;
	pace->next = (pace->next + 1) % PACE_RECENT;
	if (pace->len < PACE_RECENT)
		pace->len++;
	pace->median_ns = pace_median(pace);
	return verdict;
}

core_fn struct pace_verdict pace_frame(struct pace *pace, u64 now_ns)
{
	return pace_frame_on(pace, now_ns, 0);
}

#endif

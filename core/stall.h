/* SPDX-License-Identifier: GPL-2.0 */
/* Spans that stand out from those before them: calls to a GPU's driver that hang, gaps in a stream of submits. Pure.
 * A program submits some dozens of times a frame and then waits for the next, so that the median says nothing of the
 * longest spans that are usual; a few of the longest do. */
#ifndef TACTUS_CORE_STALL_H
#define TACTUS_CORE_STALL_H

#include "types.h"

enum {
	STALL_RECENT = 256, /* spans that are remembered */
	STALL_ENOUGH = 16,  /* before so many nothing stands out */
	STALL_USUAL = 4,    /* the fourth longest of them is usual: up to three stalls among them change nothing */
	STALL_TIMES = 2,    /* a span stands out that is so many times as long as that */
	STALL_IOCTL_LEAST_NS = NSEC_PER_MSEC,
	STALL_GAP_LEAST_NS = 5 * NSEC_PER_MSEC,
	STALL_GPU_LEAST_NS = 5 * NSEC_PER_MSEC, /* work that a GPU takes so long over, or that waits so long for it */
};
#define STALL_PAUSE_NS (2ull * NSEC_PER_SEC) /* after so long the stream had stopped: that is no gap */

struct stall_window {
	u64 recent_ns[STALL_RECENT];
	u32 len, next;
};

/* The longest that is usual; 0: not known yet. */
core_fn u64 stall_usual_ns(const struct stall_window *window)
{
	u64 longest_ns[STALL_USUAL] = { 0 };

	if (window->len < STALL_ENOUGH)
		return 0;
	for (u32 i = 0; i < window->len && i < STALL_RECENT; i++) {
		u64 span_ns = window->recent_ns[i];

		for (u32 at = 0; at < STALL_USUAL; at++) {
			u64 held_ns = longest_ns[at];

			if (span_ns <= held_ns)
				continue;
			longest_ns[at] = span_ns;
			span_ns = held_ns;
		}
	}
	return longest_ns[STALL_USUAL - 1];
}

/* Judges a span by those before it, then counts it in. Returns the longest that was usual if it stands out, else 0. */
core_fn u64 stall_judge(struct stall_window *window, u64 span_ns, u64 least_ns)
{
	u64 usual_ns = stall_usual_ns(window);

	window->recent_ns[window->next % STALL_RECENT] = span_ns;
	window->next = (window->next + 1) % STALL_RECENT;
	if (window->len < STALL_RECENT)
		window->len++;
	return usual_ns && span_ns >= least_ns && span_ns > STALL_TIMES * usual_ns ? usual_ns : 0;
}

#endif

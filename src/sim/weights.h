/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's weights of nice values, and those that sched_ext hands to a scheduler. */
#ifndef TACTUS_SIM_WEIGHTS_H
#define TACTUS_SIM_WEIGHTS_H

#include "../../core/types.h"

enum { PRIO_NICE_LEAST = 101, PRIO_NICE_0 = 121, PRIO_NICE_MOST = 140 }; /* as in core/event.h */

/* Each step of nice is a quarter more or less; the kernel's table has this rounded. */
static inline u32 weight_of_prio(u32 prio)
{
	static const u32 weights[] = { 88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
				       9548,  7620,  6100,  4904,  3906,  3121,	 2501,	1991,  1586,  1277,
				       1024,  820,   655,   526,   423,	  335,	 272,	215,   172,   137,
				       110,   87,    70,    56,	   45,	  36,	 29,	23,    18,    15 };

	if (prio < PRIO_NICE_LEAST || prio > PRIO_NICE_MOST)
		return 1024;
	return weights[prio - PRIO_NICE_LEAST];
}

/* sched_ext's, where nice 0 is 100. */
static inline u32 scx_weight_of_prio(u32 prio)
{
	u32 weight = (weight_of_prio(prio) * 100 + 512) / 1024;

	return weight ? weight : 1;
}

#endif

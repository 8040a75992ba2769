/* SPDX-License-Identifier: GPL-2.0 */
/* Why a thread was moved to another CPU, decided from what is known at the moment of the move.
 * The kernel half gathers the facts, an event carries them, and whoever reads it asks this. Pure. */
#ifndef TACTUS_CORE_MOVE_H
#define TACTUS_CORE_MOVE_H

#include "types.h"

/* The flags of a migrate event. */
enum move_fact {
	MOVE_KNOWN = 1 << 0,	   /* the facts are there: events of older recordings have none */
	MOVE_WAKING = 1 << 1,	   /* it is just being woken */
	MOVE_NOT_ALLOWED = 1 << 2, /* it may not run any more where it was */
	MOVE_CPU_GOES = 1 << 3,	   /* the CPU that it leaves is going offline, or is gone */
	MOVE_IN_EXEC = 1 << 4,	   /* it is in the middle of an exec */
	MOVE_STOPPED = 1 << 5,	   /* the kernel's stopper took it off its CPU, as is done with one that runs */
};

enum move_cause {
	MOVE_UNKNOWN,
	MOVE_BY_WAKEUP,	  /* woken, and given another CPU for that */
	MOVE_BY_BALANCE,  /* taken or pushed to a CPU with less to do */
	MOVE_BY_AFFINITY, /* the CPUs that it may use have changed */
	MOVE_BY_EXEC,	  /* a new program begins where there is room */
	MOVE_BY_HOTPLUG,  /* its CPU went */
	MOVE_CAUSES,
};

/* What forces a move counts before the occasion at which it is made: a thread whose CPUs changed while it slept is
 * moved when it wakes. */
core_fn enum move_cause move_cause(u32 facts)
{
	if (!(facts & MOVE_KNOWN))
		return MOVE_UNKNOWN;
	if (facts & MOVE_CPU_GOES)
		return MOVE_BY_HOTPLUG;
	if (facts & MOVE_NOT_ALLOWED)
		return MOVE_BY_AFFINITY;
	/* The stopper moves it, or finds it asleep, waiting for just that, and wakes it to go there. */
	if ((facts & MOVE_IN_EXEC) && (facts & MOVE_STOPPED))
		return MOVE_BY_EXEC;
	if (facts & MOVE_WAKING)
		return MOVE_BY_WAKEUP;
	return MOVE_BY_BALANCE;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler leaves behind when it ends, and what it counts while it runs.
 * Written by bpf/scx.bpf.c, read by src/sched/. */
#ifndef TACTUS_CORE_SCX_EXIT_H
#define TACTUS_CORE_SCX_EXIT_H

#include "types.h"

enum { SCX_DUMP_BYTES = 32 * 1024 };

struct scx_exit_record {
	u64 kind; /* the kernel's enum scx_exit_kind; 0 while the scheduler is in charge */
	s64 code;
	char reason[128];
	char message[512];
	char dump[SCX_DUMP_BYTES]; /* the kernel's, and ours in it: what was queued where; "" unless something went
				      wrong */
};

/* The kernel's numbers for `kind`: below this one the end was asked for, from it on something went wrong. */
enum { SCX_KIND_ERROR = 1024 };

/* In `code`, also the kernel's: the scheduler shall be started again, since a CPU came or went. */
#define SCX_CODE_RESTART (1ull << 48)

enum scx_counter {
	SCX_COUNT_IDLE,	     /* started at once on an idle CPU */
	SCX_COUNT_QUEUED,    /* went through a queue */
	SCX_COUNT_PREEMPTED, /* pushed a less urgent one off */
	SCX_COUNT_MOVED,     /* ran on another CPU than before */
	SCX_COUNT_STOLEN,    /* taken from another cache's queue */
	SCX_COUNT_BURNT,     /* urgent ones that ran so long that they were not */
	SCX_COUNT_INHERITED, /* ran as urgently as the thread that they woke */
	SCX_COUNT_MISSED,    /* urgent ones that waited longer than they may */
	SCX_COUNT_PARKED,    /* had to wait for their control group's quota */
	SCX_COUNT_SPENT,     /* urgent ones that were not: their user's had run as much as they may together */
	SCX_COUNT_HOLDERS,   /* went first because they held a lock that an urgent one waited for */
	SCX_COUNT_SPEEDS,    /* times a CPU was asked for another speed */
	SCX_COUNTERS,
};

#endif

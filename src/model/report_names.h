/* SPDX-License-Identifier: GPL-2.0 */
/* Names of threads as small numbers, each name once. */
#ifndef TACTUS_MODEL_REPORT_NAMES_H
#define TACTUS_MODEL_REPORT_NAMES_H

#include "threads.h"

enum {
	REPORT_NAME_UNKNOWN,
	REPORT_NAME_IDLE,
	REPORT_NAME_OTHERS, /* of which there were too many */
	REPORT_NAMES_FIRST,
	REPORT_NAMES = 2048,
};

/* All zeroes is an empty one. */
struct report_names {
	struct comm all[REPORT_NAMES]; /* from REPORT_NAMES_FIRST on */
	u32 len;
	struct map by_text;
	bool failed; /* there was no memory for one */
};

void report_names_free(struct report_names *names);

u16 report_name(struct report_names *names, const struct comm *comm);

/* Of a thread; 0 is the idle one. */
u16 report_name_of(struct report_names *names, const struct threads *threads, u32 tid);

#endif

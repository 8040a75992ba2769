/* SPDX-License-Identifier: GPL-2.0 */
/* The verdict of a report, in sentences: what was late, how often, whose doing it was, and what can be done.
 * Nothing is printed here. */
#ifndef TACTUS_VIEW_REPORT_WORDS_H
#define TACTUS_VIEW_REPORT_WORDS_H

#include "../model/cuda.h"
#include "../model/latency.h"
#include "../model/misses.h"
#include "../model/report.h"
#include "../model/steps.h"

enum verdict_kind { VERDICT_GOOD, VERDICT_BAD, VERDICT_WHY, VERDICT_ADVICE, VERDICT_NOTE, VERDICT_KINDS };

enum { VERDICT_SIZE = 512, VERDICT_PROCESSES = 4 };

/* What it is about. All are at their end. */
struct verdict_of {
	const struct report *report;
	const struct frames *frames;
	const struct latency *latency;
	const struct cuda *cuda;
	const struct steps *steps;
	const struct misses *misses;
	const struct threads *threads;
	u64 lost; /* events */
};

/* Calls `each` for every sentence, the most important first. 0, or 1 if some are missing for want of memory. */
int report_verdict(const struct verdict_of *of, void (*each)(void *data, enum verdict_kind kind, const char *text),
		   void *data);

const char *verdict_kind_name(enum verdict_kind kind);
const char *report_blame_name(enum report_blame blame);

/* A name of the report's as a terminal may show it. */
void report_name_words(char into[COMM_LEN + 1], const struct report_names *names, u32 name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of a report's verdict share: how a sentence is said, and how it begins. */
#ifndef TACTUS_VIEW_REPORT_SENTENCES_H
#define TACTUS_VIEW_REPORT_SENTENCES_H

#include "report_words.h"

enum { TIME_SIZE = 16, PART_SIZE = 64 };

struct verdict {
	const struct verdict_of *of;
	void (*each)(void *data, enum verdict_kind kind, const char *text);
	void *data;
	bool failed; /* a sentence is missing for want of memory */
	bool says_notes; /* these alone; else all others */
};

void __attribute__((format(printf, 3, 4)))
say_it(const struct verdict *verdict, enum verdict_kind kind, const char *format, ...);

double percent(u64 part, u64 whole);

/* "In 9 of the 10 (90 %)": how a sentence about a part begins. */
void begin_part(char into[PART_SIZE], u64 part, u64 whole);

/* What a training loop is judged by, and what CUDA was asked for. */
void say_steps(const struct verdict *verdict);
void say_cuda(const struct verdict *verdict);

#endif

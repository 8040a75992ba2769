/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks for people, for programs, and folded for flame graphs. */
#ifndef TACTUS_VIEW_STACK_WORDS_H
#define TACTUS_VIEW_STACK_WORDS_H

#include <argp.h>
#include <stdio.h>

#include "../model/stacks.h"
#include "../model/threads.h"

struct options;

/* A view lists them among its own options. */
enum { KEY_STACKS = 0x500, KEY_FOLDED };
/* Where no length is asked for: of threads that had no CPU for so long. */
enum { STACKS_OVER_NS = NSEC_PER_MSEC, STACKS_SHOWN = 10 };
#define STACK_OPTIONS                                                                                    \
	{ "stacks", KEY_STACKS, 0, 0, "Also show the stacks of who waited, and of who woke it", 0 },     \
	{                                                                                                \
		"folded", KEY_FOLDED, 0, 0, "Print nothing but these stacks, folded for flame graphs", 0 \
	}

enum stack_form { STACKS_NONE, STACKS_LISTED, STACKS_FOLDED };

/* What is asked for and can't be; NULL: nothing. */
const char *stacks_conflict(const struct options *options, enum stack_form form);

/* Counts an event's stacks, with the names that its threads have now. */
void stacks_count(struct stacks *stacks, const struct threads *threads, const struct event_stack *event, u64 ns);

/* All that was counted, the most first. Folded, each has two lines: "waits;COMM;FUNCTION;... MICROSECONDS" for who
 * waited, and "wakers;..." for who ended it. `what` is what the time was: "waited", "away". */
void stacks_print(struct stacks *stacks, const struct options *options, enum stack_form form, const char *what,
		  u32 rows_by_default);

/* For the `fits` of a view's usage: folded stacks are text, and JSON is not. */
bool stacks_fit(enum stack_form form, const struct options *options, const char *option);

/* One line, without its time. */
void stack_fold(FILE *out, const struct stacks *stacks, const char *root, const struct comm *comm, u32 pid, u32 user,
		u32 kernel);

#endif

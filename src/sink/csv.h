/* SPDX-License-Identifier: GPL-2.0 */
/* Events as one table of text: a row an event, a column for each name that a field has, empty where its kind has no
 * such field. By the tables of core/event.h: a kind that these gain is written with no change. */
#ifndef TACTUS_SINK_CSV_H
#define TACTUS_SINK_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/event.h"

/* How each file begins. */
#define CSV_BEGINNING "time_ns,cpu,tid,comm,kind"

struct csv;

/* A spreadsheet takes text that begins so for a formula, in quotes or not; an apostrophe before it says that it is
 * text. */
static inline bool csv_is_formula(const char *text)
{
	return *text == '=' || *text == '+' || *text == '-' || *text == '@';
}

/* Rows of these kinds, as bits, with their columns. NULL for want of memory. */
struct csv *csv_open(FILE *out, u64 kinds);
void csv_close(struct csv *csv);

/* `comm`: of the event's thread; NULL: it is of none, or none is known. */
void csv_event(struct csv *csv, const struct event_header *event, const struct comm *comm);

#endif

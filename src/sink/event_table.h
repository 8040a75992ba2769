/* SPDX-License-Identifier: GPL-2.0 */
/* Events as one table: a row an event, a column for each name that a field has, empty where its kind has no such field.
 * By the tables of core/event.h: a kind that these gain is written with no change. */
#ifndef TACTUS_SINK_EVENT_TABLE_H
#define TACTUS_SINK_EVENT_TABLE_H

#include <stdbool.h>

#include "../../core/event.h"
#include "../../core/event_info.h"

enum { TABLE_COLUMNS_MAX = 512, TABLE_NAME_SIZE = 48, TABLE_TEXT_SIZE = 2 * LONG_NAME_LEN };

struct event_table {
	u64 kinds; /* as bits */
	u32 len;
	char names[TABLE_COLUMNS_MAX][TABLE_NAME_SIZE];
	bool is_text[TABLE_COLUMNS_MAX], is_signed[TABLE_COLUMNS_MAX];
	/* Of each kind its field of a column; NULL: it has none. */
	const struct event_field *fields[EVENT_KINDS][TABLE_COLUMNS_MAX];
};

/* Columns of these kinds. Whose an event is and what kind it is of stands before them, in a form's own. */
void event_table_init(struct event_table *table, u64 kinds);

/* Whether it has a row for the event. */
bool event_table_has(const struct event_table *table, const struct event_header *event);

/* A field that is text, as a terminal may show it; a number, as it is printed: signed ones as their two's complement.
 */
void event_field_text(char into[TABLE_TEXT_SIZE], const void *event, const struct event_field *field);
u64 event_field_number(const void *event, const struct event_field *field);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* For table.c alone: a table for people.
 */
#ifndef TACTUS_SINK_TABLE_TEXT_H
#define TACTUS_SINK_TABLE_TEXT_H

#include "table.h"

struct kept_row {
	union cell *cells;
	char *label;   /* of a sum; NULL: it is none */
	size_t number; /* in the order in which they came */
};

/* All rows, in columns that fit them and, on a terminal, the terminal. */
void table_print(struct table *table);

#endif

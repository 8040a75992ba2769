/* SPDX-License-Identifier: GPL-2.0 */
/* A sheet of rows, said once by a view and shown in the form that the user asked for: a table or JSON lines.
 * The columns carry everything that the forms need. */
#ifndef TACTUS_SINK_SHEET_H
#define TACTUS_SINK_SHEET_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/types.h"

enum cell_kind {
	CELL_NUMBER,
	CELL_TIME, /* nanoseconds, or CELL_NONE; a table shows them with a fitting unit */
	CELL_HUNDREDTHS,
	CELL_PERCENT, /* hundredths of a percent; for tables */
	CELL_SIGNED,  /* a signed number, or CELL_NONE: null in JSON, a dash in a table */
	CELL_TEXT,    /* from outside: escaped in every form */
	CELL_BYTES,   /* a table shows them with a fitting unit */
};

#define CELL_NONE 0x8000000000000000ull

struct column {
	const char *name;  /* in JSON, with its unit; NULL: not in JSON */
	const char *title; /* in a table; NULL: not in a table */
	enum cell_kind kind;
};

union cell {
	u64 number;
	const char *text;
};

struct sheet {
	FILE *out;
	bool json;
	const struct column *columns;
	int columns_len;
	char **cells; /* a table's, in words, kept until the end so that columns fit */
	size_t rows, room;
	bool failed;
};

void sheet_open(struct sheet *sheet, FILE *out, bool json, const struct column *columns, int columns_len);

/* One cell a column, in the columns' order. */
void sheet_row(struct sheet *sheet, const union cell *cells);

/* A row that only a table shows: sums. Its first cell is the label. */
void sheet_sum(struct sheet *sheet, const char *label, const union cell *cells);

/* Prints what is left and frees. Returns 0, or -ENOMEM if rows are missing. */
int sheet_close(struct sheet *sheet);

#endif

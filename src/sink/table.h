/* SPDX-License-Identifier: GPL-2.0 */
/* A table of rows, said once by a view and shown in the form that the user asked for: a table or JSON lines.
 * The columns carry everything that the forms need. */
#ifndef TACTUS_SINK_TABLE_H
#define TACTUS_SINK_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/types.h"

enum cell_kind {
	CELL_NUMBER,
	CELL_TIME, /* nanoseconds, or CELL_NONE; a table shows them with a fitting unit */
	CELL_HUNDREDTHS,
	CELL_PERCENT, /* hundredths of a percent */
	CELL_SIGNED,  /* a signed number, or CELL_NONE: null in JSON, a dash in a table */
	CELL_TEXT,    /* from outside: escaped in every form */
	CELL_BYTES,   /* a table shows them with a fitting unit */
	CELL_MOMENT,  /* nanoseconds of CLOCK_MONOTONIC; JSON says so */
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

/* A table is declared once, as the list of its columns, and its rows' cells have names:
 *
 *	#define WAIT_TABLE(COLUMN, SHOWN)                \
 *		COLUMN(WAIT, wait_ns, "WAITED", CELL_TIME) \
 *		SHOWN(WAIT, thread, "THREAD", CELL_TEXT)
 *	TABLE_OF(wait_columns, WAIT);
 *
 * makes wait_columns[], and of a row's WAIT_CELLS cells one is WAIT_wait_ns. A COLUMN has that name in JSON too, in a
 * table it has a title or NULL; what is SHOWN is in a table only. */
#define COLUMN_CELL(of, cell, heading, type) of##_##cell,
#define COLUMN_NAMED(of, cell, heading, type) { .name = #cell, .title = heading, .kind = type },
#define COLUMN_SHOWN(of, cell, heading, type) { .title = heading, .kind = type },
#define TABLE_OF(array, of)                                       \
	enum { of##_TABLE(COLUMN_CELL, COLUMN_CELL) of##_CELLS }; \
	static const struct column array[of##_CELLS] = { of##_TABLE(COLUMN_NAMED, COLUMN_SHOWN) }

enum { TABLE_COLUMNS_MAX = 40 };

/* What a terminal is told besides the figures; lists of columns' names, with commas. */
struct table_look {
	const char *drops;  /* those that go first where the terminal is too narrow; the others go from the right */
	const char *alarms; /* those in which anything but 0 is bad */
};

struct options;
struct kept_row;

struct table {
	FILE *out; /* NULL: what stdout is when something is printed */
	bool json;
	const char *record; /* what each of its objects is, in JSON */
	const struct column *columns;
	int columns_len;
	int shown[TABLE_COLUMNS_MAX], shown_len; /* in this order */
	const struct table_look *look;		 /* NULL: nothing is said */
	int sort_by;				 /* a column; -1: in the order in which rows come */
	bool reverses, colours;
	u32 most;
	struct kept_row *rows; /* until the end, so that columns fit and rows are in order */
	size_t rows_len, rows_room, taken, left_out;
	bool failed;
};

/* Every row, in the order in which they come; as JSON each at once. */
void table_open(struct table *table, FILE *out, bool json, const char *record, const struct column *columns,
		int columns_len);

/* The same to standard output as the user wants it: --json, -n, --sort, --reverse, --columns, --color. */
void table_open_for(struct table *table, const struct options *options, const char *record,
		    const struct column *columns, int columns_len, u32 rows_by_default, const struct table_look *look);

/* One cell a column, each where its name says. */
void table_row(struct table *table, const union cell *cells);

/* A row that only a table shows, behind all others: sums. Its first cell is the label. */
void table_sum(struct table *table, const char *label, const union cell *cells);

/* Prints what is left, says how many rows were too many, and frees. Returns 0, or -ENOMEM if rows are missing. */
int table_close(struct table *table);

/* The columns of a view's tables; one without columns ends a list. */
struct table_columns {
	const struct column *columns;
	int len;
};

/* Whether --sort and --columns name columns of one of the tables. Bad usage prints one line and ends the program. */
void table_check(const struct options *options, const char *view, const struct table_columns *tables);

/* Which column is meant: by its name in JSON, with or without its unit, or by its title. -1: none. */
int table_column(const struct column *columns, int columns_len, const char *word, size_t len);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A column of a group of rows: which rows have a value, as runs, and the values. As long as few are different, each is
 * kept once, and of a row the number that it has there (a dictionary, as Parquet calls it); where there are more, as
 * with times, they are kept as they are, from then on in all groups. */
#ifndef TACTUS_SINK_PARQUET_COLUMN_H
#define TACTUS_SINK_PARQUET_COLUMN_H

#include "protobuf.h"

enum { PARQUET_DIFFERENT_MOST = 4096 };

/* All zeroes is an empty one. */
struct parquet_column {
	struct protobuf values; /* as they are, or each different one once */
	struct protobuf runs;
	u32 rows;	/* that are counted */
	bool has_value; /* the run that goes on */
	u32 run_len;
	bool is_plain; /* the values are not numbered */
	u32 values_len;
	u32 different; /* values, */
	u32 *begins;   /* where each lies, */
	u16 *slots;    /* and from what it is to its number plus one */
	u16 *numbers;  /* of the rows' values */
	u32 numbers_room;
	bool failed; /* for want of memory */
};

void parquet_column_free(struct parquet_column *column);

/* The row `row` has this value, in the bytes that Parquet has for it. Rows are counted from 0 and come in order; none
 * has two. Returns how much longer the column got. */
size_t parquet_column_put(struct parquet_column *column, u32 row, const void *value, u32 bytes);

/* No rows after so many. What there is is to be had until parquet_column_clear. */
void parquet_column_end(struct parquet_column *column, u32 rows);
void parquet_column_clear(struct parquet_column *column);

static inline bool parquet_column_is_numbered(const struct parquet_column *column)
{
	return !column->is_plain && column->values_len;
}

/* The values of all rows, behind what `into` has: as they are, or their numbers. */
void parquet_column_write_values(const struct parquet_column *column, struct protobuf *into);

#endif

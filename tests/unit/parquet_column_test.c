// SPDX-License-Identifier: GPL-2.0
/* A column of Parquet: few different values are numbered, many are kept as they are, and which rows have one is known.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/sink/parquet_column.h"
#include "tap.h"

enum { ROWS = 10000 };

static void put(struct parquet_column *column, u32 row, u64 value)
{
	parquet_column_put(column, row, &value, sizeof(value));
}

static void test_few_are_numbered(void)
{
	static const u8 want[] = { 8, 1 << 1 | 1, 0, 1, 0, 2, 0, 0, 0, 0 };
	static const u8 runs[] = { 1 << 1, 1, 2 << 1, 0, 2 << 1, 1, 4 << 1, 0, 1 << 1, 1, 2 << 1, 0 };
	struct parquet_column column = { 0 };
	struct protobuf values = { 0 };

	put(&column, 0, 7);
	put(&column, 3, 9);
	put(&column, 4, 7);
	put(&column, 9, 11);
	parquet_column_end(&column, 12);
	ok(parquet_column_is_numbered(&column), "few values are numbered");
	is(column.different, 3, "a column keeps each different value once");
	is(column.values.len, 3 * sizeof(u64), "a column that has three different values takes the room of three");
	parquet_column_write_values(&column, &values);
	is(values.len, sizeof(want), "numbers of four values are one run of eight");
	ok(!memcmp(values.bytes, want, sizeof(want)), "numbers are those of the values");
	/* A run is its length, doubled, and whether there are values: 1 with, 2 without, 2 with, 4 without, 1 with, 2
	 * without. */
	is(column.runs.len, sizeof(runs), "runs of a column take two bytes each");
	ok(!memcmp(column.runs.bytes, runs, sizeof(runs)), "runs of a column are those of its rows");
	parquet_column_clear(&column);
	is(column.values.len + column.runs.len + column.rows, 0, "a column that is cleared has nothing");
	put(&column, 0, 42);
	parquet_column_end(&column, 1);
	is(column.different, 1, "the next group numbers its own values");
	protobuf_free(&values);
	parquet_column_free(&column);
}

static void test_more_than_a_byte(void)
{
	struct parquet_column column = { 0 };
	struct protobuf values = { 0 };

	for (u32 i = 0; i < 600; i++)
		put(&column, i, i % 300);
	parquet_column_end(&column, 600);
	parquet_column_write_values(&column, &values);
	is(values.bytes[0], 16, "more values than a byte tells apart have numbers of two");
	is(values.len, 1 + 2 + 600 * 2, "numbers of two bytes take twice the room");
	is(values.bytes[3 + 2 * 299] | values.bytes[3 + 2 * 299 + 1] << 8, 299, "a number of two bytes is right");
	protobuf_free(&values);
	parquet_column_free(&column);
}

static void test_many_are_plain(void)
{
	struct parquet_column column = { 0 };
	struct protobuf values = { 0 };
	u32 wrong = 0;

	for (u32 i = 0; i < ROWS; i++)
		put(&column, i, (u64)i * 1000003);
	parquet_column_end(&column, ROWS);
	ok(!parquet_column_is_numbered(&column), "many different values are not numbered");
	parquet_column_write_values(&column, &values);
	is(values.len, ROWS * sizeof(u64), "many different values are all there");
	for (u32 i = 0; i < ROWS; i++) {
		u64 value;

		memcpy(&value, values.bytes + i * sizeof(value), sizeof(value));
		wrong += value != (u64)i * 1000003;
	}
	is(wrong, 0, "many different values are as they were, those too that had numbers first");
	parquet_column_clear(&column);
	put(&column, 0, 1);
	ok(!parquet_column_is_numbered(&column), "a column that had many different values numbers none afterwards");
	protobuf_free(&values);
	parquet_column_free(&column);
}

/* Text of any length, that differs only at its end too. */
static void test_text(void)
{
	struct parquet_column column = { 0 };
	char text[64] = "the same beginning of all that is put there ";
	size_t len = strlen(text);

	for (u32 i = 0; i < 50; i++) {
		text[len] = (char)('a' + i % 5);
		parquet_column_put(&column, i, text, (u32)len + (i % 2));
	}
	is(column.different, 6, "texts are told apart by length and by their last character");
	parquet_column_free(&column);
}

int main(void)
{
	test_few_are_numbered();
	test_more_than_a_byte();
	test_many_are_plain();
	test_text();
	return tap_end();
}

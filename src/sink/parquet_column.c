// SPDX-License-Identifier: GPL-2.0
/* Most rows have no value in most columns: these are counted when one comes that has. Numbers of values are one byte
 * each or two, whatever would do: zlib finds more in whole bytes. */
#include "parquet_column.h"

#include "thrift.h"

enum { SLOTS = 2 * PARQUET_DIFFERENT_MOST, NUMBERS_FIRST = 1024, NUMBER_NONE = PARQUET_DIFFERENT_MOST, EIGHT = 8 };

void parquet_column_free(struct parquet_column *column)
{
	protobuf_free(&column->values);
	protobuf_free(&column->runs);
	free(column->begins);
	free(column->slots);
	free(column->numbers);
}

static void put_bytes(struct protobuf *out, const void *bytes, size_t len)
{
	if (!len || !protobuf_reserve(out, len))
		return;
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
}

/* A run is how long it is, doubled, and whether its rows have a value. */
static void end_run(struct parquet_column *column)
{
	if (column->run_len) {
		protobuf_varint(&column->runs, (u64)column->run_len << 1);
		thrift_byte(&column->runs, column->has_value);
	}
	column->run_len = 0;
}

static void count_rows(struct parquet_column *column, bool has_value, u32 len)
{
	if (!len)
		return;
	if (column->has_value != has_value)
		end_run(column);
	column->has_value = has_value;
	column->run_len += len;
	column->rows += len;
}

static u32 slot_of(const u8 *value, u32 bytes)
{
	u64 mixed = bytes, part;

	while (bytes) {
		u32 len = bytes < sizeof(part) ? bytes : (u32)sizeof(part);

		part = 0;
		memcpy(&part, value, len);
		mixed = (mixed ^ part) * 0x9e3779b97f4a7c15ULL;
		mixed ^= mixed >> 29;
		value += len;
		bytes -= len;
	}
	return (u32)(mixed >> 32) % SLOTS;
}

static bool make_room(struct parquet_column *column)
{
	if (!column->slots)
		column->slots = calloc(SLOTS, sizeof(*column->slots));
	if (!column->begins)
		column->begins = calloc(PARQUET_DIFFERENT_MOST + 1, sizeof(*column->begins));
	return column->slots && column->begins &&
	       vec_reserve(column->numbers, column->numbers_room, column->values_len + 1, NUMBERS_FIRST);
}

/* NUMBER_NONE: there are too many. */
static u32 number_of(struct parquet_column *column, const void *value, u32 bytes)
{
	u32 at = slot_of(value, bytes), number;

	for (; column->slots[at]; at = (at + 1) % SLOTS) {
		number = column->slots[at] - 1u;
		if (column->begins[number + 1] - column->begins[number] == bytes &&
		    !memcmp(column->values.bytes + column->begins[number], value, bytes))
			return number;
	}
	if (column->different == PARQUET_DIFFERENT_MOST)
		return NUMBER_NONE;
	number = column->different++;
	put_bytes(&column->values, value, bytes);
	column->begins[number + 1] = (u32)column->values.len;
	column->slots[at] = (u16)column->different;
	return number;
}

static void make_plain(struct parquet_column *column)
{
	struct protobuf plain = { 0 };

	for (u32 i = 0; i < column->values_len; i++) {
		u32 begin = column->begins[column->numbers[i]], end = column->begins[column->numbers[i] + 1];

		put_bytes(&plain, column->values.bytes + begin, end - begin);
	}
	protobuf_free(&column->values);
	column->values = plain;
	column->is_plain = true;
	free(column->slots);
	free(column->begins);
	free(column->numbers);
	column->slots = column->numbers = NULL;
	column->begins = NULL;
	column->numbers_room = 0;
}

size_t parquet_column_put(struct parquet_column *column, u32 row, const void *value, u32 bytes)
{
	size_t before = column->values.len;
	u32 number;

	if (column->failed)
		return 0;
	count_rows(column, false, row - column->rows);
	count_rows(column, true, 1);
	if (!column->is_plain) {
		if (!make_room(column)) {
			column->failed = true;
			return 0;
		}
		number = number_of(column, value, bytes);
		if (number != NUMBER_NONE) {
			column->numbers[column->values_len++] = (u16)number;
			return column->values.len - before + sizeof(*column->numbers);
		}
		make_plain(column);
	}
	put_bytes(&column->values, value, bytes);
	column->values_len++;
	return bytes;
}

void parquet_column_end(struct parquet_column *column, u32 rows)
{
	count_rows(column, false, rows - column->rows);
	end_run(column);
	column->failed |= column->values.failed || column->runs.failed;
}

void parquet_column_clear(struct parquet_column *column)
{
	column->values.len = column->runs.len = 0;
	column->rows = column->values_len = column->different = 0;
	if (column->slots)
		memset(column->slots, 0, SLOTS * sizeof(*column->slots));
}

/* How many bits a number has, then all of them in one run that is counted by eights. */
static void write_numbers(const struct parquet_column *column, struct protobuf *into)
{
	u32 eights = (column->values_len + EIGHT - 1) / EIGHT;
	bool is_short = column->different <= 1u << 8;
	size_t bytes = (size_t)eights * EIGHT * (is_short ? 1 : 2);
	u8 *at;

	thrift_byte(into, is_short ? 8 : 16);
	protobuf_varint(into, (u64)eights << 1 | 1);
	if (!protobuf_reserve(into, bytes))
		return;
	at = into->bytes + into->len;
	memset(at, 0, bytes);
	for (u32 i = 0; i < column->values_len; i++) {
		if (is_short) {
			at[i] = (u8)column->numbers[i];
		} else {
			at[2 * i] = (u8)column->numbers[i];
			at[2 * i + 1] = (u8)(column->numbers[i] >> 8);
		}
	}
	into->len += bytes;
}

void parquet_column_write_values(const struct parquet_column *column, struct protobuf *into)
{
	if (parquet_column_is_numbered(column))
		write_numbers(column, into);
	else
		put_bytes(into, column->values.bytes, column->values.len);
}

// SPDX-License-Identifier: GPL-2.0
/* One page a column of a group: which rows have a value, as runs, then the values or their numbers, pressed by zlib;
 * where they are numbered, a page before it with the values. Which numbers mean what: parquet.thrift of Apache's
 * parquet-format. */
#include "parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "event_table.h"
#include "parquet_column.h"
#include "thrift.h"

enum { TYPE_INT64 = 2, TYPE_BYTES = 6, IS_REQUIRED = 0, IS_OPTIONAL = 1, MEANS_UTF8 = 0, MEANS_UNSIGNED = 14 };
enum { CODEC_GZIP = 2, ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_NUMBERED = 8, FORMAT_VERSION = 1 };
enum { PAGE_OF_DATA = 0, PAGE_OF_DIFFERENT = 2 };
/* Of each row, before its kind's fields. */
enum { OWN_TIME, OWN_CPU, OWN_TID, OWN_COMM, OWN_KIND, OWN_COLUMNS };
enum { GZIP_WINDOW = 15 + 16, GZIP_LEVEL = 1, GZIP_MEMORY = 8, GROUP_BYTES_MOST = 64 << 20, KIND_COLUMNS_MAX = 64 };

static const struct {
	const char *name;
	bool is_text;
} own_columns[OWN_COLUMNS] = {
	{ "time_ns", false }, { "cpu", false }, { "tid", false }, { "comm", true }, { "kind", true }
};

struct parquet {
	parquet_write write;
	void *data;
	int error;
	u64 written, rows;
	u32 group_rows, groups;
	size_t group_bytes;
	struct protobuf places; /* of all groups, as the end has them */
	struct protobuf page, pressed;
	z_stream gzip;
	struct event_table table;
	u16 of_kind[EVENT_KINDS][KIND_COLUMNS_MAX]; /* the table's columns that a kind has, */
	u16 of_kind_len[EVENT_KINDS];		    /* and how many */
	struct parquet_column columns[OWN_COLUMNS + TABLE_COLUMNS_MAX];
};

static u32 columns_len(const struct parquet *parquet)
{
	return OWN_COLUMNS + parquet->table.len;
}

static const char *column_name(const struct parquet *parquet, u32 column)
{
	return column < OWN_COLUMNS ? own_columns[column].name : parquet->table.names[column - OWN_COLUMNS];
}

static bool column_is_text(const struct parquet *parquet, u32 column)
{
	return column < OWN_COLUMNS ? own_columns[column].is_text : parquet->table.is_text[column - OWN_COLUMNS];
}

static void put_out(struct parquet *parquet, const void *bytes, size_t len)
{
	if (!parquet->error)
		parquet->error = parquet->write(parquet->data, bytes, len);
	parquet->written += len;
}

struct parquet *parquet_open(parquet_write write, void *data, u64 kinds)
{
	struct parquet *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->write = write;
	made->data = data;
	event_table_init(&made->table, kinds);
	for (u32 kind = 1; kind < EVENT_KINDS; kind++)
		for (u32 i = 0; i < made->table.len; i++)
			if (made->table.fields[kind][i] && made->of_kind_len[kind] < KIND_COLUMNS_MAX)
				made->of_kind[kind][made->of_kind_len[kind]++] = (u16)i;
	if (deflateInit2(&made->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(made);
		return NULL;
	}
	put_out(made, PARQUET_BEGINNING, strlen(PARQUET_BEGINNING));
	return made;
}

int parquet_error(const struct parquet *parquet)
{
	return parquet->error;
}

static void put_bytes(struct protobuf *out, const void *bytes, size_t len)
{
	if (!len || !protobuf_reserve(out, len))
		return;
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
}

static void put_number(struct parquet *parquet, u32 column, u64 number)
{
	parquet->group_bytes += parquet_column_put(&parquet->columns[column], parquet->group_rows, &number,
						   sizeof(number));
}

static void put_text(struct parquet *parquet, u32 column, const char *text)
{
	u32 len = (u32)strlen(text);
	char value[sizeof(len) + TABLE_TEXT_SIZE];

	memcpy(value, &len, sizeof(len));
	memcpy(value + sizeof(len), text, len);
	parquet->group_bytes += parquet_column_put(&parquet->columns[column], parquet->group_rows, value,
						   (u32)sizeof(len) + len);
}

/* The page, by zlib. */
static void press(struct parquet *parquet)
{
	struct protobuf *from = &parquet->page, *into = &parquet->pressed;
	size_t bound = deflateBound(&parquet->gzip, from->len);

	into->len = 0;
	if (!protobuf_reserve(into, bound))
		return;
	parquet->gzip.next_in = from->bytes;
	parquet->gzip.avail_in = (u32)from->len;
	parquet->gzip.next_out = into->bytes;
	parquet->gzip.avail_out = (u32)bound;
	if (deflate(&parquet->gzip, Z_FINISH) != Z_STREAM_END)
		into->failed = true;
	into->len = bound - parquet->gzip.avail_out;
	deflateReset(&parquet->gzip);
}

static void put_page_head(struct parquet *parquet, struct protobuf *out, u32 kind, u32 values, u32 encoding)
{
	u8 last = 0, inner = 0;

	thrift_i32(out, &last, 1, (s32)kind);
	thrift_i32(out, &last, 2, (s32)parquet->page.len);
	thrift_i32(out, &last, 3, (s32)parquet->pressed.len);
	thrift_field(out, &last, kind == PAGE_OF_DATA ? 5 : 7, THRIFT_STRUCT);
	thrift_i32(out, &inner, 1, (s32)values);
	thrift_i32(out, &inner, 2, (s32)encoding);
	if (kind == PAGE_OF_DATA) {
		thrift_i32(out, &inner, 3, ENCODING_RLE);
		thrift_i32(out, &inner, 4, ENCODING_RLE);
	}
	thrift_end(out);
	thrift_end(out);
}

/* Pages of one column of one group. */
struct pages {
	u64 at, data_at;       /* where they begin, and where that of data does */
	size_t whole, pressed; /* bytes of all, heads included */
};

/* Where it lies, and what it is. */
static void put_place(struct parquet *parquet, u32 column, const struct pages *pages)
{
	bool is_numbered = parquet_column_is_numbered(&parquet->columns[column]);
	struct protobuf *out = &parquet->places;
	u8 last = 0, inner = 0;

	thrift_i64(out, &last, 2, pages->at);
	thrift_field(out, &last, 3, THRIFT_STRUCT);
	thrift_i32(out, &inner, 1, column_is_text(parquet, column) ? TYPE_BYTES : TYPE_INT64);
	thrift_list(out, &inner, 2, THRIFT_I32, is_numbered ? 3 : 2);
	thrift_number(out, ENCODING_PLAIN);
	thrift_number(out, ENCODING_RLE);
	if (is_numbered)
		thrift_number(out, ENCODING_NUMBERED);
	thrift_list(out, &inner, 3, THRIFT_BINARY, 1);
	thrift_text(out, column_name(parquet, column));
	thrift_i32(out, &inner, 4, CODEC_GZIP);
	thrift_i64(out, &inner, 5, parquet->group_rows);
	thrift_i64(out, &inner, 6, pages->whole);
	thrift_i64(out, &inner, 7, pages->pressed);
	thrift_i64(out, &inner, 9, pages->data_at);
	if (is_numbered)
		thrift_i64(out, &inner, 11, pages->at);
	thrift_end(out);
	thrift_end(out);
}

/* What is in `page`. */
static void put_page(struct parquet *parquet, struct pages *pages, u32 kind, u32 values, u32 encoding)
{
	struct protobuf head = { 0 };

	press(parquet);
	put_page_head(parquet, &head, kind, values, encoding);
	put_out(parquet, head.bytes, head.len);
	put_out(parquet, parquet->pressed.bytes, parquet->pressed.len);
	pages->whole += head.len + parquet->page.len;
	pages->pressed += head.len + parquet->pressed.len;
	if (head.failed || parquet->page.failed || parquet->pressed.failed)
		parquet->error = parquet->error ? parquet->error : -ENOMEM;
	protobuf_free(&head);
}

static size_t put_column(struct parquet *parquet, u32 number)
{
	struct parquet_column *column = &parquet->columns[number];
	struct pages pages = { .at = parquet->written };
	u32 runs_len;

	parquet_column_end(column, parquet->group_rows);
	if (column->failed) {
		parquet->error = parquet->error ? parquet->error : -ENOMEM;
		return 0;
	}
	if (parquet_column_is_numbered(column)) {
		parquet->page.len = 0;
		put_bytes(&parquet->page, column->values.bytes, column->values.len);
		put_page(parquet, &pages, PAGE_OF_DIFFERENT, column->different, ENCODING_PLAIN);
	}
	pages.data_at = parquet->written;
	runs_len = (u32)column->runs.len;
	parquet->page.len = 0;
	if (number != OWN_TIME && number != OWN_CPU && number != OWN_TID && number != OWN_KIND) {
		put_bytes(&parquet->page, &runs_len, sizeof(runs_len));
		put_bytes(&parquet->page, column->runs.bytes, column->runs.len);
	}
	parquet_column_write_values(column, &parquet->page);
	put_page(parquet, &pages, PAGE_OF_DATA, parquet->group_rows,
		 parquet_column_is_numbered(column) ? ENCODING_NUMBERED : ENCODING_PLAIN);
	put_place(parquet, number, &pages);
	parquet_column_clear(column);
	return pages.whole;
}

static void end_group(struct parquet *parquet)
{
	u8 last = 0;
	u64 bytes = 0;

	if (!parquet->group_rows)
		return;
	thrift_list(&parquet->places, &last, 1, THRIFT_STRUCT, columns_len(parquet));
	for (u32 column = 0; column < columns_len(parquet); column++)
		bytes += put_column(parquet, column);
	thrift_i64(&parquet->places, &last, 2, bytes);
	thrift_i64(&parquet->places, &last, 3, parquet->group_rows);
	thrift_end(&parquet->places);
	parquet->groups++;
	parquet->rows += parquet->group_rows;
	parquet->group_rows = 0;
	parquet->group_bytes = 0;
}

void parquet_event(struct parquet *parquet, const struct event_header *event, const struct comm *comm)
{
	static const struct event_field whole = { .bytes = COMM_LEN, .how = FIELD_TEXT };
	const struct event_table *table = &parquet->table;
	char text[TABLE_TEXT_SIZE];

	if (parquet->error || !event_table_has(table, event))
		return;
	put_number(parquet, OWN_TIME, event->time_ns);
	put_number(parquet, OWN_CPU, event->cpu);
	put_number(parquet, OWN_TID, event->tid);
	put_text(parquet, OWN_KIND, event_info(event->kind)->name);
	if (comm) {
		event_field_text(text, comm, &whole);
		put_text(parquet, OWN_COMM, text);
	}
	for (u32 n = 0; n < parquet->of_kind_len[event->kind]; n++) {
		u32 column = parquet->of_kind[event->kind][n];
		const struct event_field *field = table->fields[event->kind][column];

		if (table->is_text[column]) {
			event_field_text(text, event, field);
			put_text(parquet, OWN_COLUMNS + column, text);
		} else {
			put_number(parquet, OWN_COLUMNS + column, event_field_number(event, field));
		}
	}
	if (++parquet->group_rows >= PARQUET_GROUP_ROWS || parquet->group_bytes >= GROUP_BYTES_MOST)
		end_group(parquet);
}

static void put_schema(const struct parquet *parquet, struct protobuf *out, u8 *last)
{
	u8 inner = 0;

	thrift_list(out, last, 2, THRIFT_STRUCT, columns_len(parquet) + 1);
	thrift_field(out, &inner, 4, THRIFT_BINARY);
	thrift_text(out, "events");
	thrift_i32(out, &inner, 5, (s32)columns_len(parquet));
	thrift_end(out);
	for (u32 i = 0; i < columns_len(parquet); i++) {
		bool is_text = column_is_text(parquet, i);
		bool is_signed = i >= OWN_COLUMNS && parquet->table.is_signed[i - OWN_COLUMNS];

		inner = 0;
		thrift_i32(out, &inner, 1, is_text ? TYPE_BYTES : TYPE_INT64);
		thrift_i32(out, &inner, 3, i < OWN_COLUMNS && i != OWN_COMM ? IS_REQUIRED : IS_OPTIONAL);
		thrift_field(out, &inner, 4, THRIFT_BINARY);
		thrift_text(out, column_name(parquet, i));
		if (is_text || !is_signed)
			thrift_i32(out, &inner, 6, is_text ? MEANS_UTF8 : MEANS_UNSIGNED);
		thrift_end(out);
	}
}

static void put_end(struct parquet *parquet)
{
	struct protobuf out = { 0 };
	u8 last = 0;
	u32 len;

	thrift_i32(&out, &last, 1, FORMAT_VERSION);
	put_schema(parquet, &out, &last);
	thrift_i64(&out, &last, 3, parquet->rows);
	thrift_list(&out, &last, 4, THRIFT_STRUCT, parquet->groups);
	put_bytes(&out, parquet->places.bytes, parquet->places.len);
	thrift_field(&out, &last, 6, THRIFT_BINARY);
	thrift_text(&out, "tactus");
	thrift_end(&out);
	if (out.failed || parquet->places.failed)
		parquet->error = parquet->error ? parquet->error : -ENOMEM;
	len = (u32)out.len;
	put_bytes(&out, &len, sizeof(len));
	put_bytes(&out, PARQUET_MAGIC, strlen(PARQUET_MAGIC));
	put_out(parquet, out.bytes, out.len);
	protobuf_free(&out);
}

int parquet_close(struct parquet *parquet, bool is_whole)
{
	int error;

	if (is_whole) {
		end_group(parquet);
		put_end(parquet);
	}
	error = parquet->error;
	for (u32 i = 0; i < columns_len(parquet); i++)
		parquet_column_free(&parquet->columns[i]);
	protobuf_free(&parquet->places);
	protobuf_free(&parquet->page);
	protobuf_free(&parquet->pressed);
	deflateEnd(&parquet->gzip);
	free(parquet);
	return error;
}

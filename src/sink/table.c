// SPDX-License-Identifier: GPL-2.0
/* Rows as a table or as JSON lines. What needs no order goes out row by row as JSON; a table waits for its end, so that
 * columns fit. How a table is laid out is in table_text.c. */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/options.h"
#include "../base/say.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "colour.h"
#include "json.h"
#include "table_text.h"

void table_open(struct table *table, FILE *out, bool json, const char *record, const struct column *columns,
		int columns_len)
{
	*table = (struct table){ .out = out,
				 .json = json,
				 .record = record,
				 .columns = columns,
				 .columns_len = columns_len,
				 .sort_by = -1,
				 .most = ROWS_ALL };
	for (int i = 0; i < columns_len && i < TABLE_COLUMNS_MAX; i++)
		if (json ? columns[i].name != NULL : columns[i].title != NULL)
			table->shown[table->shown_len++] = i;
}

/* "cpu" is cpu_ns too. */
static bool is_named(const char *name, const char *word, size_t len)
{
	static const char *const units[] = { "", "_ns", "_bytes", "_percent", "_s" };

	for (size_t i = 0; name && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strncasecmp(name, word, len) && !strcmp(name + len, units[i]))
			return true;
	return false;
}

int table_column(const struct column *columns, int columns_len, const char *word, size_t len)
{
	for (int i = 0; i < columns_len; i++)
		if (is_named(columns[i].name, word, len))
			return i;
	for (int i = 0; i < columns_len; i++)
		if (columns[i].title && strlen(columns[i].title) == len && !strncasecmp(columns[i].title, word, len))
			return i;
	return -1;
}

/* As the user lists them. JSON has no column that it has no name for. */
static void choose_columns(struct table *table, const char *list)
{
	int chosen[TABLE_COLUMNS_MAX], len = 0;

	for (size_t word; *list; list += word + (list[word] == ',')) {
		int column;

		word = strcspn(list, ",");
		column = table_column(table->columns, table->columns_len, list, word);
		if (column >= 0 && (!table->json || table->columns[column].name) && len < TABLE_COLUMNS_MAX)
			chosen[len++] = column;
	}
	/* None of this table's: they are another one's. */
	if (!len)
		return;
	memcpy(table->shown, chosen, sizeof(chosen));
	table->shown_len = len;
}

void table_open_for(struct table *table, const struct options *options, const char *record,
		    const struct column *columns, int columns_len, u32 rows_by_default, const struct table_look *look)
{
	table_open(table, stdout, options->json, record, columns, columns_len);
	table->most = options_rows(options, rows_by_default);
	table->look = look;
	table->reverses = options->reverse;
	table->colours = colour_is_wanted(stdout, options->colour);
	if (options->sort)
		table->sort_by = table_column(columns, columns_len, options->sort, strlen(options->sort));
	if (options->columns)
		choose_columns(table, options->columns);
}

static bool has_moment(const struct table *table)
{
	for (int i = 0; i < table->shown_len; i++)
		if (table->columns[table->shown[i]].kind == CELL_MOMENT)
			return true;
	return false;
}

static void print_json_cell(struct json *json, const struct column *column, union cell cell)
{
	if (column->kind == CELL_TEXT)
		json_string(json, column->name, cell.text);
	else if ((column->kind == CELL_SIGNED || column->kind == CELL_TIME) && cell.number == CELL_NONE)
		json_null(json, column->name);
	else if (column->kind == CELL_HUNDREDTHS || column->kind == CELL_PERCENT)
		json_decimal(json, column->name, cell.number, 2);
	else if (column->kind == CELL_SIGNED)
		json_s64(json, column->name, (s64)cell.number);
	else
		json_u64(json, column->name, cell.number);
}

static void print_json_row(const struct table *table, const union cell *cells)
{
	struct json json = { .out = table->out ? table->out : stdout };

	json_record(&json, table->record, has_moment(table));
	for (int i = 0; i < table->shown_len; i++)
		print_json_cell(&json, &table->columns[table->shown[i]], cells[table->shown[i]]);
	json_object_end(&json);
	json_line_end(&json);
}

static void free_row(const struct table *table, struct kept_row *row)
{
	for (int i = 0; row->cells && i < table->columns_len; i++)
		if (table->columns[i].kind == CELL_TEXT)
			free((char *)row->cells[i].text);
	free(row->cells);
	free(row->label);
}

static bool copy_row(const struct table *table, struct kept_row *row, const char *label, const union cell *cells)
{
	bool is_whole = true;

	row->cells = calloc((size_t)table->columns_len, sizeof(*row->cells));
	row->label = label ? strdup(label) : NULL;
	if (!row->cells || (label && !row->label))
		return false;
	for (int i = 0; i < table->columns_len; i++) {
		row->cells[i] = cells[i];
		/* A sum has none. */
		if (table->columns[i].kind == CELL_TEXT) {
			row->cells[i].text = strdup(label || !cells[i].text ? "" : cells[i].text);
			is_whole &= row->cells[i].text != NULL;
		}
	}
	return is_whole;
}

static void keep_row(struct table *table, const char *label, const union cell *cells)
{
	struct kept_row row = { 0 };

	if (!vec_reserve(table->rows, table->rows_room, table->rows_len + 1, 16) ||
	    !copy_row(table, &row, label, cells)) {
		free_row(table, &row);
		table->failed = true;
		return;
	}
	table->rows[table->rows_len++] = row;
}

void table_row(struct table *table, const union cell *cells)
{
	bool is_in_order = table->sort_by < 0 && !table->reverses;

	/* Rows come with what matters most first, unless they are still to be sorted. */
	if (is_in_order && table->taken >= table->most) {
		table->left_out++;
		return;
	}
	table->taken++;
	if (table->json && is_in_order)
		print_json_row(table, cells);
	else
		keep_row(table, NULL, cells);
}

void table_sum(struct table *table, const char *label, const union cell *cells)
{
	if (!table->json)
		keep_row(table, label, cells);
}

static int compare(const struct table *table, const struct kept_row *one, const struct kept_row *other)
{
	union cell a = one->cells[table->sort_by], b = other->cells[table->sort_by];

	switch (table->columns[table->sort_by].kind) {
	case CELL_TEXT:
		return strcmp(a.text, b.text);
	case CELL_SIGNED:
		return (s64)a.number < (s64)b.number ? 1 : (s64)a.number > (s64)b.number ? -1 : 0;
	default:
		/* What is not known comes last. */
		a.number = a.number == CELL_NONE ? 0 : a.number;
		b.number = b.number == CELL_NONE ? 0 : b.number;
		return a.number < b.number ? 1 : a.number > b.number ? -1 : 0;
	}
}

/* Numbers with the largest first, texts by the alphabet; equal ones as they came. Sums stay at the end. */
static int in_order(const void *a, const void *b, void *data)
{
	const struct table *table = data;
	const struct kept_row *one = a, *other = b;
	int by_value = 0;

	if (!one->label != !other->label)
		return one->label ? 1 : -1;
	if (table->sort_by >= 0)
		by_value = compare(table, one, other);
	if (!by_value)
		by_value = one->number < other->number ? -1 : one->number > other->number;
	return table->reverses ? -by_value : by_value;
}

static void put_in_order(struct table *table)
{
	size_t sums = 0;

	for (size_t i = 0; i < table->rows_len; i++) {
		table->rows[i].number = i;
		sums += table->rows[i].label != NULL;
	}
	sort_rows_by(table->rows, table->rows_len, sizeof(*table->rows), in_order, table);
	while (table->rows_len - sums > table->most) {
		/* The last before the sums goes. */
		free_row(table, &table->rows[table->rows_len - sums - 1]);
		memmove(&table->rows[table->rows_len - sums - 1], &table->rows[table->rows_len - sums],
			sums * sizeof(*table->rows));
		table->rows_len--;
		table->left_out++;
	}
}

int table_close(struct table *table)
{
	int error = table->failed ? -ENOMEM : 0;

	if (table->rows_len && (table->sort_by >= 0 || table->reverses))
		put_in_order(table);
	if (!table->json) {
		table->out = table->out ? table->out : stdout;
		table_print(table);
	}
	for (size_t i = 0; i < table->rows_len; i++) {
		if (table->json)
			print_json_row(table, table->rows[i].cells);
		free_row(table, &table->rows[i]);
	}
	free(table->rows);
	*table = (struct table){ 0 };
	return error;
}

/* Whether a table before this one has a column of that name. */
static bool is_named_before(const struct table_columns *tables, const struct table_columns *table, const char *name)
{
	for (; tables < table; tables++)
		for (int i = 0; i < tables->len; i++)
			if (tables->columns[i].name && !strcmp(tables->columns[i].name, name))
				return true;
	return false;
}

static void check_word(const char *from, const struct table_columns *tables, const char *word, size_t len)
{
	struct reason names = { "" };
	size_t used = 0;

	for (const struct table_columns *table = tables; table->columns; table++)
		if (table_column(table->columns, table->len, word, len) >= 0)
			return;
	for (const struct table_columns *table = tables; table->columns; table++)
		for (int i = 0; i < table->len && used < sizeof(names.text); i++)
			if (table->columns[i].name && !is_named_before(tables, table, table->columns[i].name))
				used += (size_t)snprintf(names.text + used, sizeof(names.text) - used, "%s%s",
							 used ? ", " : "", table->columns[i].name);
	fail(from, "there is no column '%.*s'; there are %s", (int)len, word, names.text);
	exit(EXIT_USAGE);
}

void table_check(const struct options *options, const char *view, const struct table_columns *tables)
{
	const char *list = options->columns;

	if (options->sort)
		check_word(options->sort_from[0] ? options->sort_from : view, tables, options->sort,
			   strlen(options->sort));
	for (size_t word; list && *list; list += word + (list[word] == ',')) {
		word = strcspn(list, ",");
		check_word(options->columns_from[0] ? options->columns_from : view, tables, list, word);
	}
}

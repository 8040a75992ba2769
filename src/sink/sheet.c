// SPDX-License-Identifier: GPL-2.0
/* Rows as a table or as JSON lines. JSON goes out row by row; a table waits for its end, so that columns fit.
 * Numbers stand at the right of their column, text at the left. */
#include "sheet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { CELL_WIDTH = 64 };

void sheet_open(struct sheet *sheet, FILE *out, bool json, const struct column *columns, int columns_len)
{
	*sheet = (struct sheet){ .out = out, .json = json, .columns = columns, .columns_len = columns_len };
}

static void print_json_row(const struct sheet *sheet, const union cell *cells)
{
	const char *before = "{";

	for (int i = 0; i < sheet->columns_len; i++) {
		const struct column *column = &sheet->columns[i];

		if (!column->name)
			continue;
		fprintf(sheet->out, "%s\"%s\":", before, column->name);
		if (column->kind == CELL_TEXT)
			print_json_string(sheet->out, cells[i].text);
		else if ((column->kind == CELL_SIGNED || column->kind == CELL_TIME) && cells[i].number == CELL_NONE)
			fputs("null", sheet->out);
		else if (column->kind == CELL_HUNDREDTHS)
			fprintf(sheet->out, "%" PRIu64 ".%02" PRIu64, cells[i].number / 100, cells[i].number % 100);
		else if (column->kind == CELL_SIGNED)
			fprintf(sheet->out, "%" PRId64, (s64)cells[i].number);
		else
			fprintf(sheet->out, "%" PRIu64, cells[i].number);
		before = ",";
	}
	fputs("}\n", sheet->out);
}

static void format_cell(char *into, size_t size, enum cell_kind kind, union cell cell)
{
	switch (kind) {
	case CELL_NUMBER:
		snprintf(into, size, "%" PRIu64, cell.number);
		break;
	case CELL_TIME:
		if (cell.number == CELL_NONE)
			snprintf(into, size, "-");
		else
			format_time(into, size, cell.number);
		break;
	case CELL_HUNDREDTHS:
		snprintf(into, size, "%" PRIu64 ".%02" PRIu64, cell.number / 100, cell.number % 100);
		break;
	case CELL_PERCENT:
		snprintf(into, size, "%" PRIu64 ".%02" PRIu64 " %%", cell.number / 100, cell.number % 100);
		break;
	case CELL_SIGNED:
		snprintf(into, size, cell.number == CELL_NONE ? "-" : "%" PRId64, (s64)cell.number);
		break;
	case CELL_TEXT:
		break; /* has any length */
	case CELL_BYTES:
		format_bytes(into, size, cell.number);
		break;
	}
}

/* Room for one more row of a table, or NULL. */
static char **new_row(struct sheet *sheet)
{
	size_t width = (size_t)sheet->columns_len;

	if (sheet->rows == sheet->room) {
		size_t room = sheet->room ? sheet->room * 2 : 16;
		char **cells = realloc(sheet->cells, room * width * sizeof(*cells));

		if (!cells)
			return NULL;
		sheet->cells = cells;
		sheet->room = room;
	}
	return &sheet->cells[sheet->rows++ * width];
}

/* As long as it is. */
static char *plain_text(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	if (copy)
		format_plain(copy, size, text);
	return copy;
}

static char *words_of(enum cell_kind kind, union cell cell)
{
	char text[CELL_WIDTH];

	if (kind == CELL_TEXT)
		return plain_text(cell.text);
	format_cell(text, sizeof(text), kind, cell);
	return strdup(text);
}

static void keep_row(struct sheet *sheet, const char *label, const union cell *cells)
{
	char **row = new_row(sheet);

	if (!row) {
		sheet->failed = true;
		return;
	}
	for (int i = 0; i < sheet->columns_len; i++) {
		row[i] = i == 0 && label ? plain_text(label) : words_of(sheet->columns[i].kind, cells[i]);
		sheet->failed |= !row[i];
	}
}

void sheet_row(struct sheet *sheet, const union cell *cells)
{
	if (sheet->json)
		print_json_row(sheet, cells);
	else
		keep_row(sheet, NULL, cells);
}

void sheet_sum(struct sheet *sheet, const char *label, const union cell *cells)
{
	if (!sheet->json)
		keep_row(sheet, label, cells);
}

static int column_width(const struct sheet *sheet, int column)
{
	size_t width = strlen(sheet->columns[column].title);

	for (size_t row = 0; row < sheet->rows; row++) {
		const char *text = sheet->cells[row * (size_t)sheet->columns_len + (size_t)column];

		if (text && strlen(text) > width)
			width = strlen(text);
	}
	return (int)width;
}

static void print_table_line(const struct sheet *sheet, const int *widths, char *const *texts)
{
	const char *gap = "";

	for (int i = 0; i < sheet->columns_len; i++) {
		const char *text = texts ? texts[i] : sheet->columns[i].title;
		bool left = sheet->columns[i].kind == CELL_TEXT;

		if (!sheet->columns[i].title)
			continue;
		/* No blanks at the end of a line. */
		fprintf(sheet->out, "%s%*s", gap, left ? (i + 1 < sheet->columns_len ? -widths[i] : 0) : widths[i],
			text ? text : "");
		gap = "  ";
	}
	fputc('\n', sheet->out);
}

int sheet_close(struct sheet *sheet)
{
	int error = sheet->failed ? -ENOMEM : 0;

	if (!sheet->json) {
		int widths[sheet->columns_len];

		for (int i = 0; i < sheet->columns_len; i++)
			widths[i] = sheet->columns[i].title ? column_width(sheet, i) : 0;
		print_table_line(sheet, widths, NULL);
		for (size_t row = 0; row < sheet->rows; row++)
			print_table_line(sheet, widths, &sheet->cells[row * (size_t)sheet->columns_len]);
	}
	for (size_t i = 0; i < sheet->rows * (size_t)sheet->columns_len; i++)
		free(sheet->cells[i]);
	free(sheet->cells);
	*sheet = (struct sheet){ 0 };
	return error;
}

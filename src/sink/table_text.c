// SPDX-License-Identifier: GPL-2.0
/* Numbers stand at the right of their column, text at the left. Where a terminal is too narrow, columns are left out,
 * the least important first, and that is said. */
#include "table_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "columns.h"
#include "terminal.h"
#include "text.h"

enum { CELL_WIDTH = 64, GAP = 2, COLUMNS_LEAST = 2 };

static void format_cell(char *into, size_t size, enum cell_kind kind, union cell cell)
{
	switch (kind) {
	case CELL_NUMBER:
	case CELL_MOMENT:
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

/* As long as it is. */
static char *plain_text(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	if (copy)
		format_plain(copy, size, text);
	return copy;
}

static char *words_of(const struct table *table, const struct kept_row *row, int column, bool is_first)
{
	enum cell_kind kind = table->columns[column].kind;
	char text[CELL_WIDTH];

	if (row->label && is_first)
		return plain_text(row->label);
	if (kind == CELL_TEXT)
		return plain_text(row->cells[column].text);
	format_cell(text, sizeof(text), kind, row->cells[column]);
	return strdup(text);
}

/* A column that tables do not usually show has its name for a title. */
static const char *title_of(const struct column *column)
{
	return column->title ? column->title : column->name;
}

struct layout {
	char **words; /* a row of shown_len for each of the table's */
	size_t widths[TABLE_COLUMNS_MAX];
	bool leaves_out[TABLE_COLUMNS_MAX];
};

static void measure(struct table *table, struct layout *layout)
{
	for (int i = 0; i < table->shown_len; i++) {
		layout->widths[i] = text_columns(title_of(&table->columns[table->shown[i]]));
		for (size_t row = 0; row < table->rows_len; row++) {
			char *text = words_of(table, &table->rows[row], table->shown[i], i == 0);
			size_t width = text ? text_columns(text) : 0;

			table->failed |= !text;
			layout->words[row * (size_t)table->shown_len + (size_t)i] = text;
			if (width > layout->widths[i])
				layout->widths[i] = width;
		}
	}
}

static size_t width_of(const struct table *table, const struct layout *layout)
{
	size_t width = 0;

	for (int i = 0; i < table->shown_len; i++)
		if (!layout->leaves_out[i])
			width += layout->widths[i] + GAP;
	return width ? width - GAP : 0;
}

static int left_in(const struct table *table, const struct layout *layout)
{
	int count = 0;

	for (int i = 0; i < table->shown_len; i++)
		count += !layout->leaves_out[i];
	return count;
}

static void leave_out(const struct table *table, struct layout *layout, int column, size_t room)
{
	for (int i = 0; i < table->shown_len; i++)
		if (table->shown[i] == column && left_in(table, layout) > COLUMNS_LEAST &&
		    width_of(table, layout) > room)
			layout->leaves_out[i] = true;
}

static void fit(const struct table *table, struct layout *layout, size_t room)
{
	const char *list = table->look && table->look->drops ? table->look->drops : "";

	for (size_t word; *list; list += word + (list[word] == ',')) {
		word = strcspn(list, ",");
		leave_out(table, layout, table_column(table->columns, table->columns_len, list, word), room);
	}
	for (int i = table->shown_len - 1; i >= 0; i--)
		leave_out(table, layout, table->shown[i], room);
}

static bool is_alarm(const struct table *table, const struct kept_row *row, int column)
{
	const char *list = table->look && table->look->alarms ? table->look->alarms : "";

	for (size_t word; row && *list; list += word + (list[word] == ',')) {
		word = strcspn(list, ",");
		if (table_column(table->columns, table->columns_len, list, word) == column)
			return row->cells[column].number != 0;
	}
	return false;
}

/* By columns, not by bytes as printf would. No blanks at the end of a line. */
static void print_line(const struct table *table, const struct layout *layout, char *const *words,
		       const struct kept_row *row)
{
	const char *gap = "";

	for (int i = 0; i < table->shown_len; i++) {
		const struct column *column = &table->columns[table->shown[i]];
		const char *given = row ? words[i] : title_of(column), *text = given ? given : "";
		bool left = column->kind == CELL_TEXT, alarms = table->colours && is_alarm(table, row, table->shown[i]);
		int blanks;

		if (layout->leaves_out[i])
			continue;
		blanks = left && i + 1 == table->shown_len ? 0 : (int)(layout->widths[i] - text_columns(text));
		fprintf(table->out, "%s%*s", gap, left ? 0 : blanks, "");
		colour_begin(table->out, alarms ? COLOUR_BAD : table->colours && !row ? COLOUR_HEAD : COLOUR_NONE);
		fputs(text, table->out);
		colour_end(table->out, alarms || (table->colours && !row));
		fprintf(table->out, "%*s", left ? blanks : 0, "");
		gap = "  ";
	}
	fputc('\n', table->out);
}

static void say_what_is_left_out(const struct table *table, const struct layout *layout)
{
	const char *gap = "(for want of room without ";

	for (int i = 0; i < table->shown_len; i++) {
		if (!layout->leaves_out[i])
			continue;
		fprintf(table->out, "%s%s", gap, title_of(&table->columns[table->shown[i]]));
		gap = ", ";
	}
	if (gap[0] == ',')
		fputs("; --columns chooses)\n", table->out);
}

void table_print(struct table *table)
{
	size_t cells = table->rows_len * (size_t)table->shown_len, room = terminal_width(table->out);
	struct layout layout = { .words = calloc(cells + 1, sizeof(char *)) };

	if (!layout.words) {
		table->failed = true;
		return;
	}
	measure(table, &layout);
	if (room)
		fit(table, &layout, room);
	print_line(table, &layout, NULL, NULL);
	for (size_t row = 0; row < table->rows_len; row++)
		print_line(table, &layout, &layout.words[row * (size_t)table->shown_len], &table->rows[row]);
	if (table->left_out)
		fprintf(table->out, "and %zu more (-n all shows them)\n", table->left_out);
	say_what_is_left_out(table, &layout);
	for (size_t i = 0; i < cells; i++)
		free(layout.words[i]);
	free(layout.words);
}

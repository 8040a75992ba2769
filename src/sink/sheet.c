// SPDX-License-Identifier: GPL-2.0
/* One place a column; a wide character takes two. Everything that is put here passes core/plain.h. */
#include "sheet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static u32 at_most(u32 value, u32 most)
{
	return value < most ? value : most;
}

int sheet_open(struct sheet *sheet, u32 width, u32 height, bool ascii)
{
	*sheet = (struct sheet){ .width = at_most(width, SHEET_WIDTH_MOST),
				 .height = at_most(height, SHEET_HEIGHT_MOST),
				 .ascii = ascii };
	sheet->places = calloc((size_t)sheet->width * sheet->height + 1, sizeof(*sheet->places));
	if (!sheet->places)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)sheet->width * sheet->height; i++)
		sheet->places[i].bytes[0] = ' ';
	return 0;
}

void sheet_close(struct sheet *sheet)
{
	free(sheet->places);
	*sheet = (struct sheet){ 0 };
}

/* The next character as it is shown: its bytes, and how many columns it takes. Returns how many bytes of the text that
 * was. */
static u32 next_char(const struct sheet *sheet, const char *text, char bytes[UTF8_LONGEST + 1], u32 *columns)
{
	struct utf8_char next = utf8_read(text);
	u32 len = plain_put(bytes, text, next);
	int width = len > 1 && !sheet->ascii ? wcwidth((wchar_t)next.code) : 1;

	bytes[len] = '\0';
	/* What this locale cannot show, and what would stand on top of its neighbour. */
	if (width < 1 || (len > 1 && sheet->ascii)) {
		strcpy(bytes, "?");
		width = 1;
	}
	*columns = (u32)width;
	return next.length ? next.length : 1;
}

u32 sheet_text_width(const struct sheet *sheet, const char *text)
{
	char bytes[UTF8_LONGEST + 1];
	u32 width = 0, columns;

	while (*text) {
		text += next_char(sheet, text, bytes, &columns);
		width += columns;
	}
	return width;
}

u32 sheet_put(struct sheet *sheet, u32 row, u32 column, u32 most, enum sheet_style style, const char *text)
{
	char bytes[UTF8_LONGEST + 1];
	u32 end = column < sheet->width ? column + at_most(most, sheet->width - column) : column, columns;

	while (*text && row < sheet->height) {
		struct sheet_place *place = &sheet->places[(size_t)row * sheet->width + column];

		text += next_char(sheet, text, bytes, &columns);
		if (column + columns > end)
			break;
		for (u32 i = 0; i < columns; i++) {
			memset(place[i].bytes, 0, sizeof(place[i].bytes));
			place[i].style = (u8)style;
		}
		strcpy(place->bytes, bytes);
		column += columns;
	}
	return column;
}

void sheet_put_right(struct sheet *sheet, u32 row, u32 column, u32 columns, enum sheet_style style, const char *text)
{
	u32 width = sheet_text_width(sheet, text);

	sheet_put(sheet, row, width < columns ? column + columns - width : column, columns, style, text);
}

void sheet_style_row(struct sheet *sheet, u32 row, enum sheet_style style)
{
	for (u32 i = 0; row < sheet->height && i < sheet->width; i++)
		sheet->places[(size_t)row * sheet->width + i].style = (u8)style;
}

const char *sheet_bar(const struct sheet *sheet, u32 eighths)
{
	static const char *const bars[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };

	return (sheet->ascii ? ascii : bars)[at_most(eighths, 8)];
}

void sheet_print(const struct sheet *sheet, FILE *out)
{
	for (u32 row = 0; row < sheet->height; row++) {
		const struct sheet_place *places = &sheet->places[(size_t)row * sheet->width];
		u32 end = sheet->width;

		while (end && !strcmp(places[end - 1].bytes, " "))
			end--;
		for (u32 i = 0; i < end; i++)
			fputs(places[i].bytes, out);
		fputc('\n', out);
	}
}

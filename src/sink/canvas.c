// SPDX-License-Identifier: GPL-2.0
/* One place a column; a wide character takes two. Everything that is put here passes core/plain.h. */
#include "canvas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static u32 at_most(u32 value, u32 most)
{
	return value < most ? value : most;
}

int canvas_open(struct canvas *canvas, u32 width, u32 height, bool ascii)
{
	*canvas = (struct canvas){ .width = at_most(width, CANVAS_WIDTH_MOST),
				   .height = at_most(height, CANVAS_HEIGHT_MOST),
				   .ascii = ascii };
	canvas->places = calloc((size_t)canvas->width * canvas->height + 1, sizeof(*canvas->places));
	if (!canvas->places)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)canvas->width * canvas->height; i++)
		canvas->places[i].bytes[0] = ' ';
	return 0;
}

void canvas_close(struct canvas *canvas)
{
	free(canvas->places);
	*canvas = (struct canvas){ 0 };
}

/* The next character as it is shown: its bytes, and how many columns it takes. Returns how many bytes of the text that
 * was. */
static u32 next_char(const struct canvas *canvas, const char *text, char bytes[UTF8_LONGEST + 1], u32 *columns)
{
	struct utf8_char next = utf8_read(text);
	u32 len = plain_put(bytes, text, next);
	int width = len > 1 && !canvas->ascii ? wcwidth((wchar_t)next.code) : 1;

	bytes[len] = '\0';
	/* What this locale cannot show, and what would stand on top of its neighbour. */
	if (width < 1 || (len > 1 && canvas->ascii)) {
		strcpy(bytes, "?");
		width = 1;
	}
	*columns = (u32)width;
	return next.length ? next.length : 1;
}

u32 canvas_text_width(const struct canvas *canvas, const char *text)
{
	char bytes[UTF8_LONGEST + 1];
	u32 width = 0, columns;

	while (*text) {
		text += next_char(canvas, text, bytes, &columns);
		width += columns;
	}
	return width;
}

u32 canvas_put(struct canvas *canvas, u32 row, u32 column, u32 most, enum canvas_style style, const char *text)
{
	char bytes[UTF8_LONGEST + 1];
	u32 end = column < canvas->width ? column + at_most(most, canvas->width - column) : column, columns;

	while (*text && row < canvas->height) {
		struct canvas_place *place = &canvas->places[(size_t)row * canvas->width + column];

		text += next_char(canvas, text, bytes, &columns);
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

void canvas_put_right(struct canvas *canvas, u32 row, u32 column, u32 columns, enum canvas_style style,
		      const char *text)
{
	u32 width = canvas_text_width(canvas, text);

	canvas_put(canvas, row, width < columns ? column + columns - width : column, columns, style, text);
}

void canvas_style_row(struct canvas *canvas, u32 row, enum canvas_style style)
{
	for (u32 i = 0; row < canvas->height && i < canvas->width; i++)
		canvas->places[(size_t)row * canvas->width + i].style = (u8)style;
}

const char *canvas_bar(const struct canvas *canvas, u32 eighths)
{
	static const char *const bars[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };

	return (canvas->ascii ? ascii : bars)[at_most(eighths, 8)];
}

void canvas_print(const struct canvas *canvas, FILE *out)
{
	for (u32 row = 0; row < canvas->height; row++) {
		const struct canvas_place *places = &canvas->places[(size_t)row * canvas->width];
		u32 end = canvas->width;

		while (end && !strcmp(places[end - 1].bytes, " "))
			end--;
		for (u32 i = 0; i < end; i++)
			fputs(places[i].bytes, out);
		fputc('\n', out);
	}
}

/* SPDX-License-Identifier: GPL-2.0 */
/* A sheet of characters in rows and columns, each with a style: what a screen shows, whoever puts it there. It can be
 * printed as plain text. Only plain characters (core/plain.h) come onto it. */
#ifndef TACTUS_SINK_SHEET_H
#define TACTUS_SINK_SHEET_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/plain.h"

/* By meaning; a screen decides what each looks like. */
enum sheet_style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_HEAD, /* of columns */
	STYLE_FAINT,
	STYLE_GOOD,
	STYLE_WARNING,
	STYLE_BAD,
	STYLE_CHOSEN,
	STYLES,
};

struct sheet_place {
	char bytes[UTF8_LONGEST + 1]; /* "": the second half of a wide character */
	u8 style;
};

struct sheet {
	u32 width, height;
	bool ascii; /* others become '?' */
	struct sheet_place *places;
};

enum { SHEET_WIDTH_MOST = 1000, SHEET_HEIGHT_MOST = 1000 };

/* All blank. Sizes beyond the most are cut. Returns 0 or -ENOMEM. */
int sheet_open(struct sheet *sheet, u32 width, u32 height, bool ascii);
void sheet_close(struct sheet *sheet);

/* Puts text into a row from a column on, at most so many columns; what does not fit is left out. Returns the column
 * after it. */
u32 sheet_put(struct sheet *sheet, u32 row, u32 column, u32 most, enum sheet_style style, const char *text);
/* The same, set against the right edge of the columns; cut at its end if it does not fit. */
void sheet_put_right(struct sheet *sheet, u32 row, u32 column, u32 columns, enum sheet_style style, const char *text);
/* Gives a style to a whole row. */
void sheet_style_row(struct sheet *sheet, u32 row, enum sheet_style style);

/* How many columns a text takes. */
u32 sheet_text_width(const struct sheet *sheet, const char *text);

/* A bar of a height from 0 (blank) to 8. */
const char *sheet_bar(const struct sheet *sheet, u32 eighths);

/* The rows as lines, without blanks at their ends. */
void sheet_print(const struct sheet *sheet, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A canvas of characters in rows and columns, each with a style: what a screen shows, whoever puts it there. It can be
 * printed as plain text. Only plain characters (core/plain.h) come onto it. */
#ifndef TACTUS_SINK_CANVAS_H
#define TACTUS_SINK_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/plain.h"

/* By meaning; a screen decides what each looks like. */
enum canvas_style {
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

struct canvas_place {
	char bytes[UTF8_LONGEST + 1]; /* "": the second half of a wide character */
	u8 style;
};

struct canvas {
	u32 width, height;
	bool ascii; /* others become '?' */
	struct canvas_place *places;
};

enum { CANVAS_WIDTH_MOST = 1000, CANVAS_HEIGHT_MOST = 1000 };

/* All blank. Sizes beyond the most are cut. Returns 0 or -ENOMEM. */
int canvas_open(struct canvas *canvas, u32 width, u32 height, bool ascii);
void canvas_close(struct canvas *canvas);

/* Puts text into a row from a column on, at most so many columns; what does not fit is left out. Returns the column
 * after it. */
u32 canvas_put(struct canvas *canvas, u32 row, u32 column, u32 most, enum canvas_style style, const char *text);
/* The same, set against the right edge of the columns; cut at its end if it does not fit. */
void canvas_put_right(struct canvas *canvas, u32 row, u32 column, u32 columns, enum canvas_style style,
		      const char *text);
/* Gives a style to a whole row. */
void canvas_style_row(struct canvas *canvas, u32 row, enum canvas_style style);

/* How many columns a text takes. */
u32 canvas_text_width(const struct canvas *canvas, const char *text);

/* A bar of a height from 0 (blank) to 8. */
const char *canvas_bar(const struct canvas *canvas, u32 eighths);

/* The rows as lines, without blanks at their ends. */
void canvas_print(const struct canvas *canvas, FILE *out);

#endif

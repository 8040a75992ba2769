// SPDX-License-Identifier: GPL-2.0
/* sink/canvas.c: text in places, cut, set right, and nothing in it that a terminal would obey. */
#include <locale.h>
#include <stdlib.h>

#include "../../src/sink/canvas.h"
#include "tap.h"

static char printed[4096];

static const char *print(const struct canvas *canvas)
{
	FILE *out;

	printed[0] = '\0';
	out = fmemopen(printed, sizeof(printed), "w");

	canvas_print(canvas, out);
	fclose(out);
	return printed;
}

static void test_places(void)
{
	struct canvas canvas;

	canvas_open(&canvas, 10, 2, true);
	is(canvas_put(&canvas, 0, 2, 4, STYLE_PLAIN, "abcdefgh"), 6, "text ends with the columns that it may have");
	canvas_put_right(&canvas, 1, 0, 10, STYLE_BAD, "right");
	is_text(print(&canvas), "  abcd\n     right\n", "text stands where it was put, without blanks at a line's end");
	is(canvas.places[10 + 5].style, STYLE_BAD, "text has its style");
	canvas_style_row(&canvas, 1, STYLE_CHOSEN);
	is(canvas.places[10].style, STYLE_CHOSEN, "a row's style is that of all its places");
	canvas_put(&canvas, 0, 8, 99, STYLE_PLAIN, "xyz");
	canvas_put(&canvas, 0, 10, 99, STYLE_PLAIN, "outside");
	canvas_put(&canvas, 7, 0, 99, STYLE_PLAIN, "below");
	is_text(print(&canvas), "  abcd  xy\n     right\n", "text does not leave the canvas");
	canvas_put_right(&canvas, 1, 0, 3, STYLE_PLAIN, "12345");
	is_text(print(&canvas), "  abcd  xy\n123  right\n",
		"text that is too long for its place at the right is cut at its end");
	canvas_close(&canvas);
	is(canvas_open(&canvas, 0, 0, true), 0, "a canvas without places can be opened");
	canvas_put(&canvas, 0, 0, 5, STYLE_PLAIN, "x");
	is_text(print(&canvas), "", "a canvas without places prints nothing");
	canvas_close(&canvas);
	canvas_open(&canvas, 1u << 30, 1, true);
	is(canvas.width, CANVAS_WIDTH_MOST, "a canvas has a largest width");
	canvas_close(&canvas);
}

static void test_hostile(void)
{
	struct canvas canvas;

	canvas_open(&canvas, 20, 1, true);
	canvas_put(&canvas, 0, 0, 20, STYLE_PLAIN, "a\033[2Jb\r\n\x9b\xff");
	is_text(print(&canvas), "a?[2Jb????\n", "controls and broken UTF-8 become question marks");
	canvas_close(&canvas);
	canvas_open(&canvas, 20, 1, true);
	canvas_put(&canvas, 0, 0, 20, STYLE_PLAIN, "caf\xc3\xa9");
	is_text(print(&canvas), "caf?\n", "what is not ASCII becomes a question mark where only ASCII can be shown");
	canvas_close(&canvas);
}

static void test_wide(void)
{
	struct canvas canvas;

	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		ok(true, "wide characters need the locale C.UTF-8 # SKIP there is none");
		return;
	}
	canvas_open(&canvas, 6, 1, false);
	is(canvas_text_width(&canvas, "\xe6\x97\xa5x"), 3, "a wide character takes two columns");
	is(canvas_put(&canvas, 0, 0, 2, STYLE_PLAIN, "a\xe6\x97\xa5"), 1, "half of a wide character is not put");
	canvas_put(&canvas, 0, 1, 5, STYLE_PLAIN, "\xe6\x97\xa5|e\xcc\x81");
	is_text(print(&canvas), "a\xe6\x97\xa5|e?\n",
		"a mark that would stand on its neighbour becomes a question mark");
	is_text(canvas_bar(&canvas, 8), "\xe2\x96\x88", "the highest bar is a full block");
	is_text(canvas_bar(&canvas, 99), "\xe2\x96\x88", "no bar is higher than the highest");
	canvas_close(&canvas);
}

int main(void)
{
	test_places();
	test_hostile();
	test_wide();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0
/* sink/sheet.c: text in places, cut, set right, and nothing in it that a terminal would obey. */
#include <locale.h>
#include <stdlib.h>

#include "../../src/sink/sheet.h"
#include "tap.h"

static char printed[4096];

static const char *print(const struct sheet *sheet)
{
	FILE *out;

	printed[0] = '\0';
	out = fmemopen(printed, sizeof(printed), "w");

	sheet_print(sheet, out);
	fclose(out);
	return printed;
}

static void test_places(void)
{
	struct sheet sheet;

	sheet_open(&sheet, 10, 2, true);
	is(sheet_put(&sheet, 0, 2, 4, STYLE_PLAIN, "abcdefgh"), 6, "text ends with the columns that it may have");
	sheet_put_right(&sheet, 1, 0, 10, STYLE_BAD, "right");
	is_text(print(&sheet), "  abcd\n     right\n", "text stands where it was put, without blanks at a line's end");
	is(sheet.places[10 + 5].style, STYLE_BAD, "text has its style");
	sheet_style_row(&sheet, 1, STYLE_CHOSEN);
	is(sheet.places[10].style, STYLE_CHOSEN, "a row's style is that of all its places");
	sheet_put(&sheet, 0, 8, 99, STYLE_PLAIN, "xyz");
	sheet_put(&sheet, 0, 10, 99, STYLE_PLAIN, "outside");
	sheet_put(&sheet, 7, 0, 99, STYLE_PLAIN, "below");
	is_text(print(&sheet), "  abcd  xy\n     right\n", "text does not leave the sheet");
	sheet_put_right(&sheet, 1, 0, 3, STYLE_PLAIN, "12345");
	is_text(print(&sheet), "  abcd  xy\n123  right\n",
		"text that is too long for its place at the right is cut at its end");
	sheet_close(&sheet);
	is(sheet_open(&sheet, 0, 0, true), 0, "a sheet without places can be opened");
	sheet_put(&sheet, 0, 0, 5, STYLE_PLAIN, "x");
	is_text(print(&sheet), "", "a sheet without places prints nothing");
	sheet_close(&sheet);
	sheet_open(&sheet, 1u << 30, 1, true);
	is(sheet.width, SHEET_WIDTH_MOST, "a sheet has a largest width");
	sheet_close(&sheet);
}

static void test_hostile(void)
{
	struct sheet sheet;

	sheet_open(&sheet, 20, 1, true);
	sheet_put(&sheet, 0, 0, 20, STYLE_PLAIN, "a\033[2Jb\r\n\x9b\xff");
	is_text(print(&sheet), "a?[2Jb????\n", "controls and broken UTF-8 become question marks");
	sheet_close(&sheet);
	sheet_open(&sheet, 20, 1, true);
	sheet_put(&sheet, 0, 0, 20, STYLE_PLAIN, "caf\xc3\xa9");
	is_text(print(&sheet), "caf?\n", "what is not ASCII becomes a question mark where only ASCII can be shown");
	sheet_close(&sheet);
}

static void test_wide(void)
{
	struct sheet sheet;

	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		ok(true, "wide characters need the locale C.UTF-8 # SKIP there is none");
		return;
	}
	sheet_open(&sheet, 6, 1, false);
	is(sheet_text_width(&sheet, "\xe6\x97\xa5x"), 3, "a wide character takes two columns");
	is(sheet_put(&sheet, 0, 0, 2, STYLE_PLAIN, "a\xe6\x97\xa5"), 1, "half of a wide character is not put");
	sheet_put(&sheet, 0, 1, 5, STYLE_PLAIN, "\xe6\x97\xa5|e\xcc\x81");
	is_text(print(&sheet), "a\xe6\x97\xa5|e?\n",
		"a mark that would stand on its neighbour becomes a question mark");
	is_text(sheet_bar(&sheet, 8), "\xe2\x96\x88", "the highest bar is a full block");
	is_text(sheet_bar(&sheet, 99), "\xe2\x96\x88", "no bar is higher than the highest");
	sheet_close(&sheet);
}

int main(void)
{
	test_places();
	test_hostile();
	test_wide();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0
/* How wide texts are on a terminal, and tables whose names are not ASCII. */
#include "../../src/sink/columns.h"

#include <stdlib.h>

#include "../../src/sink/table.h"
#include "tap.h"

static const struct {
	const char *text;
	size_t columns;
	const char *what;
} texts[] = {
	{ "", 0, "an empty text" },
	{ "game", 4, "a text of ASCII" },
	{ "caf\xc3\xa9", 4, "a text with an accented letter" },
	{ "cafe\xcc\x81", 4, "a text with an accent of its own" },
	{ "\xd0\xb8\xd0\xb3\xd1\x80\xd0\xb0", 4, "a text in Cyrillic" },
	{ "\xe6\xb8\xb8\xe6\x88\x8f", 4, "a text of two Chinese characters" },
	{ "\xed\x95\x9c", 2, "a Hangul syllable" },
	{ "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2, "a Hangul syllable in its parts" },
	{ "\xef\xbc\xa1", 2, "a letter of full width" },
	{ "\xef\xbd\xb1", 1, "a katakana letter of half width" },
	{ "\xf0\x9f\x8e\xae", 2, "a picture of a game pad" },
	{ "\xf0\xa0\x80\x80", 2, "a Chinese character beyond the first 65536" },
	{ "\xff\xfe", 2, "a text of two bytes that are no UTF-8" },
};

static const struct column columns[] = {
	{ "name", "NAME", CELL_TEXT },
	{ "count", "COUNT", CELL_NUMBER },
	{ "by", "BY", CELL_TEXT },
};

static void test_texts(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		is(text_columns(texts[i].text), texts[i].columns, "%s takes %zu columns", texts[i].what,
		   texts[i].columns);
}

static void test_in_columns(void)
{
	static const struct {
		const char *text, *want, *what;
	} cases[] = {
		{ "ab", "ab   ", "a narrow text is filled up" },
		{ "abcdefg", "abcde", "a wide text is cut" },
		{ "caf\xc3\xa9", "caf\xc3\xa9 ", "an accented letter is one column" },
		{ "\xe6\xb8\xb8\xe6\x88\x8f\xe6\x88\x8f", "\xe6\xb8\xb8\xe6\x88\x8f ",
		  "a character of two columns is not cut in half" },
		{ "e\xcc\x81", "e\xcc\x81    ", "an accent of its own takes no column" },
	};
	char into[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_in_columns(into, sizeof(into), cases[i].text, 5);
		is_text(into, cases[i].want, "in five columns %s", cases[i].what);
	}
}

static void test_table(void)
{
	struct table table;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	table_open(&table, out, false, "thing", columns, 3);
	table_row(&table, (union cell[]){ { .text = "plain" }, { .number = 1 }, { .text = "a" } });
	table_row(&table, (union cell[]){ { .text = "caf\xc3\xa9" }, { .number = 22 }, { .text = "caf\xc3\xa9" } });
	table_row(&table, (union cell[]){ { .text = "\xe6\xb8\xb8\xe6\x88\x8f" }, { .number = 333 }, { .text = "b" } });
	table_close(&table);
	fclose(out);
	is_text(text,
		"NAME   COUNT  BY\n"
		"plain      1  a\n"
		"caf\xc3\xa9      22  caf\xc3\xa9\n"
		"\xe6\xb8\xb8\xe6\x88\x8f     333  b\n",
		"a table with an accented and a Chinese name has its columns below each other");
	free(text);
}

int main(void)
{
	test_texts();
	test_in_columns();
	test_table();
	return tap_end();
}

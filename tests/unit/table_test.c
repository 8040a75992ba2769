// SPDX-License-Identifier: GPL-2.0
/* Tables as the user wants them: sorted, the other way round, with chosen columns, with so many rows, in colour. */
#include "../../src/sink/table.h"

#include <stdlib.h>

#include "../../src/base/options.h"
#include "tap.h"

#define THING_TABLE(COLUMN, SHOWN)                  \
	COLUMN(THING, name, "NAME", CELL_TEXT)      \
	COLUMN(THING, wait_ns, "WAITED", CELL_TIME) \
	COLUMN(THING, at_ns, NULL, CELL_MOMENT)     \
	COLUMN(THING, lost, "LOST", CELL_NUMBER)    \
	SHOWN(THING, words, "WORDS", CELL_TEXT)
TABLE_OF(columns, THING);

static char *printed(const struct options *options)
{
	static const struct table_look look = { .alarms = "lost" };
	static const union cell rows[][THING_CELLS] = {
		{ { .text = "b" }, { .number = 2000 }, { .number = 1 }, { .number = 0 }, { .text = "x" } },
		{ { .text = "c" }, { .number = 1000 }, { .number = 2 }, { .number = 3 }, { .text = "y" } },
		{ { .text = "a" }, { .number = CELL_NONE }, { .number = 3 }, { .number = 0 }, { .text = "z" } },
	};
	FILE *standard = stdout;
	struct table table;
	char *text = NULL;
	size_t size = 0;

	stdout = open_memstream(&text, &size);
	table_open_for(&table, options, "thing", columns, THING_CELLS, 10, &look);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		table_row(&table, rows[i]);
	table_close(&table);
	fclose(stdout);
	stdout = standard;
	return text;
}

static void check(const struct options *options, const char *want, const char *what)
{
	char *text = printed(options);

	is_text(text, want, "%s", what);
	free(text);
}

int main(void)
{
	check(&(struct options){ .rows = 0 },
	      "NAME   WAITED  LOST  WORDS\nb     2.00 us     0  x\nc     1.00 us     3  y\na           -     0  z\n",
	      "table without wishes has its rows as they come");
	check(&(struct options){ .sort = "name", .columns = "name" }, "NAME\na\nb\nc\n",
	      "table sorted by a text is in the order of the alphabet");
	check(&(struct options){ .sort = "wait", .columns = "name" }, "NAME\nb\nc\na\n",
	      "table sorted by a number has the largest first and what is not known last");
	check(&(struct options){ .sort = "WAITED", .reverse = true, .columns = "name" }, "NAME\na\nc\nb\n",
	      "table sorted by a column's title in reverse is the other way round");
	check(&(struct options){ .reverse = true, .columns = "name" }, "NAME\na\nc\nb\n",
	      "table in reverse without an order is the other way round");
	check(&(struct options){ .sort = "lost", .rows = 1, .columns = "name" },
	      "NAME\nc\nand 2 more (-n all shows them)\n", "rows are counted after they were sorted");
	check(&(struct options){ .columns = "words,at_ns", .rows = 1 },
	      "WORDS  at_ns\nx          1\nand 2 more (-n all shows them)\n",
	      "columns come in the order in which they are named, hidden ones too");
	check(&(struct options){ .json = true, .sort = "name", .columns = "name", .rows = 2 },
	      "{\"record\":\"thing\",\"schema\":1,\"name\":\"a\"}\n{\"record\":\"thing\",\"schema\":1,\"name\":\"b\"}"
	      "\n",
	      "JSON is sorted, has so many rows and the columns that are named");
	check(&(struct options){ .json = true, .columns = "words,at_ns", .rows = 1 },
	      "{\"record\":\"thing\",\"schema\":1,\"clock\":\"monotonic\",\"at_ns\":1}\n",
	      "JSON with a point in time names its clock, and leaves out what it has no name for");
	check(&(struct options){ .colour = COLOUR_ALWAYS, .columns = "name,lost" },
	      "\033[1mNAME\033[0m  \033[1mLOST\033[0m\nb        0\nc        \033[31m3\033[0m\na        0\n",
	      "what is bad is red, and only if it is not 0");
	is(table_column(columns, THING_CELLS, "wait_ns", 7), THING_wait_ns, "column is found by its name");
	is(table_column(columns, THING_CELLS, "wait", 4), THING_wait_ns,
	   "column is found by its name without the unit");
	ok(table_column(columns, THING_CELLS, "wai", 3) < 0, "column is not found by a part of its name");
	return tap_end();
}

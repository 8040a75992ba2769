// SPDX-License-Identifier: GPL-2.0
/* The rows of a comparison. As JSON each has its unit beside it, since units differ from row to row.
 */
#include "compare_print.h"

#include <math.h>
#include <stdio.h>

#include "../sink/json.h"
#include "../sink/table.h"
#include "thread_words.h"

#define FIGURE_TABLE(COLUMN, SHOWN)                         \
	SHOWN(FIGURE, figure, "FIGURE", CELL_TEXT)          \
	SHOWN(FIGURE, of, "OF", CELL_TEXT)                  \
	SHOWN(FIGURE, a, "A", CELL_TEXT)                    \
	SHOWN(FIGURE, b, "B", CELL_TEXT)                    \
	SHOWN(FIGURE, difference, "DIFFERENCE", CELL_TEXT)  \
	SHOWN(FIGURE, interval, "95 % INTERVAL", CELL_TEXT) \
	SHOWN(FIGURE, change, "SURE", CELL_TEXT)
TABLE_OF(columns, FIGURE);

static void json_value(struct json *json, const char *key, bool is_known, double value)
{
	if (is_known && isfinite(value))
		json_double(json, key, value, 6);
	else
		json_null(json, key);
}

static void print_json(const struct compare_row *row)
{
	static const char *const of[] = {
		[OF_ALL] = "all",   [OF_PROGRAM] = "program", [OF_TIER] = "tier",
		[OF_ROLE] = "role", [OF_CAUSE] = "cause",     [OF_OTHERS] = "others",
	};
	struct json json = { .out = stdout };
	char program[COMM_TEXT_SIZE];

	comm_text(program, &row->program);
	json_record(&json, "compare", false);
	json_string(&json, "figure", figure_json(row));
	json_string(&json, "of", of[row->of]);
	json_string(&json, "name", row->of == OF_PROGRAM ? program : compare_of_json(row));
	json_string(&json, "unit", unit_json(row->unit));
	json_value(&json, "a", true, row->a);
	json_value(&json, "b", true, row->b);
	json_value(&json, "difference", true, row->b - row->a);
	json_value(&json, "low", row->has_interval, row->low);
	json_value(&json, "high", row->has_interval, row->high);
	json_string(&json, "change", change_json(row->change));
	json_bool(&json, "is_headline", row->is_headline);
	json_object_end(&json);
	json_line_end(&json);
}

static void print_row(struct table *table, const struct compare_row *row)
{
	char of[COMPARE_WORDS_SIZE], a[COMPARE_WORDS_SIZE], b[COMPARE_WORDS_SIZE], difference[COMPARE_WORDS_SIZE],
		interval[COMPARE_WORDS_SIZE];
	const char *change = change_json(row->change);

	compare_of_words(of, row);
	compare_value_words(a, row->unit, row->a);
	compare_value_words(b, row->unit, row->b);
	compare_difference_words(difference, row);
	compare_interval_words(interval, row);
	table_row(table, (union cell[FIGURE_CELLS]){
				 [FIGURE_figure] = { .text = figure_words(row) },
				 [FIGURE_of] = { .text = of },
				 [FIGURE_a] = { .text = a },
				 [FIGURE_b] = { .text = b },
				 [FIGURE_difference] = { .text = difference },
				 [FIGURE_interval] = { .text = interval },
				 [FIGURE_change] = { .text = row->change > CHANGE_NONE ? change : "" },
			 });
}

void compare_print_rows(const struct compare_result *result, const struct options *options,
			const struct compare_names *names)
{
	struct column titled[FIGURE_CELLS];
	struct table table;

	for (u32 i = 0; i < result->len && options->json; i++)
		print_json(&result->rows[i]);
	if (options->json || !result->len)
		return;
	for (int i = 0; i < FIGURE_CELLS; i++)
		titled[i] = columns[i];
	titled[FIGURE_a].title = names->a;
	titled[FIGURE_b].title = names->b;
	table_open(&table, stdout, false, "", titled, FIGURE_CELLS);
	for (u32 i = 0; i < result->len; i++)
		print_row(&table, &result->rows[i]);
	table_close(&table);
}

// SPDX-License-Identifier: GPL-2.0
/* The table of 'tactus cuda' of what kernel threads did for a process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/say.h"
#include "../sink/table.h"
#include "cuda_view.h"

enum { ROWS_DEFAULT = 20 };

#define WORK_TABLE(COLUMN, SHOWN)                     \
	COLUMN(WORK, table, NULL, CELL_TEXT)          \
	COLUMN(WORK, pid, "PID", CELL_NUMBER)         \
	COLUMN(WORK, function, "FUNCTION", CELL_TEXT) \
	COLUMN(WORK, count, "COUNT", CELL_NUMBER)     \
	COLUMN(WORK, total_ns, "TOTAL", CELL_TIME)    \
	COLUMN(WORK, max_ns, "LONGEST", CELL_TIME)    \
	COLUMN(WORK, queued_ns, "QUEUED", CELL_TIME)
TABLE_OF(columns, WORK);

void cuda_print_driver_work(const struct driver_work *work, const struct options *options)
{
	struct table table;

	if (!work->rows_len)
		return;
	if (!options->json)
		puts("\nwork that kernel threads did for it");
	table_open_for(&table, options, "cuda_driver_work", columns, WORK_CELLS, ROWS_DEFAULT, NULL);
	for (u32 i = 0; i < work->rows_len; i++) {
		const struct driver_work_row *row = &work->rows[i];
		char function[TAIL_LEN + 1] = "";
		union cell cells[WORK_CELLS] = {
			[WORK_table] = { .text = "driver_work" },	 [WORK_pid] = { .number = row->pid },
			[WORK_function] = { .text = function },		 [WORK_count] = { .number = row->times },
			[WORK_total_ns] = { .number = row->total_ns },	 [WORK_max_ns] = { .number = row->max_ns },
			[WORK_queued_ns] = { .number = row->queued_ns },
		};

		memcpy(function, row->function.text, TAIL_LEN);
		table_row(&table, cells);
	}
	if (table_close(&table))
		note("some work of kernel threads is missing: there was no memory for it");
	if (work->left_out)
		note("%" PRIu64 " works of kernel threads are in no row: there are more than %u", work->left_out,
		     DRIVER_WORK_ROWS);
}

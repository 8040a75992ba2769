// SPDX-License-Identifier: GPL-2.0
/* The table of 'tactus cuda' of memory that the driver allocated.
 */
#include <stdio.h>

#include "../base/say.h"
#include "../model/nvidia.h"
#include "../sink/table.h"
#include "cuda_view.h"

enum { ROWS_DEFAULT = 20, CLASS_SIZE = 16 };

#define DRIVER_TABLE(COLUMN, SHOWN)                             \
	COLUMN(DRIVER, table, NULL, CELL_TEXT)                  \
	COLUMN(DRIVER, pid, "PID", CELL_NUMBER)                 \
	COLUMN(DRIVER, class, "CLASS", CELL_TEXT)               \
	COLUMN(DRIVER, now_bytes, "NOW", CELL_BYTES)            \
	COLUMN(DRIVER, peak_bytes, "PEAK", CELL_BYTES)          \
	COLUMN(DRIVER, total_bytes, "TOTAL", CELL_BYTES)        \
	COLUMN(DRIVER, allocations, "ALLOCATIONS", CELL_NUMBER) \
	COLUMN(DRIVER, frees, "FREES", CELL_NUMBER)
TABLE_OF(columns, DRIVER);

void cuda_print_driver_memory(const struct driver_memory *memory, const struct options *options)
{
	struct table table;

	if (!memory->rows_len)
		return;
	if (!options->json)
		puts("\nmemory that the driver allocated");
	table_open_for(&table, options, "cuda_driver_memory", columns, DRIVER_CELLS, ROWS_DEFAULT, NULL);
	for (u32 i = 0; i < memory->rows_len; i++) {
		const struct driver_memory_row *row = &memory->rows[i];
		const char *class = nvidia_class_name(row->class);
		char number[CLASS_SIZE];
		union cell cells[DRIVER_CELLS] = {
			[DRIVER_table] = { .text = "driver_memory" },
			[DRIVER_pid] = { .number = row->pid },
			[DRIVER_class] = { .text = class ? class : number },
			[DRIVER_now_bytes] = { .number = row->now_bytes },
			[DRIVER_peak_bytes] = { .number = row->peak_bytes },
			[DRIVER_total_bytes] = { .number = row->total_bytes },
			[DRIVER_allocations] = { .number = row->allocations },
			[DRIVER_frees] = { .number = row->frees },
		};

		snprintf(number, sizeof(number), "0x%x", row->class);
		table_row(&table, cells);
	}
	if (table_close(&table) || memory->failed)
		note("some memory of the driver's is missing: there was no room for it");
}

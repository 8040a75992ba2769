// SPDX-License-Identifier: GPL-2.0
/* The table of NCCL's calls in 'tactus cuda'.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../base/say.h"
#include "../sink/table.h"
#include "cuda_view.h"

enum { ROWS_DEFAULT = 20, HANDLE_SIZE = 24 };

#define COLLECTIVE_TABLE(COLUMN, SHOWN)                     \
	COLUMN(COLLECTIVE, table, NULL, CELL_TEXT)          \
	COLUMN(COLLECTIVE, pid, "PID", CELL_NUMBER)         \
	COLUMN(COLLECTIVE, function, "FUNCTION", CELL_TEXT) \
	COLUMN(COLLECTIVE, type, "TYPE", CELL_TEXT)         \
	COLUMN(COLLECTIVE, communicator, "COMM", CELL_TEXT) \
	COLUMN(COLLECTIVE, count, "CALLS", CELL_NUMBER)     \
	COLUMN(COLLECTIVE, failed, "FAILED", CELL_NUMBER)   \
	COLUMN(COLLECTIVE, bytes, "BYTES", CELL_BYTES)      \
	COLUMN(COLLECTIVE, total_ns, "TOTAL", CELL_TIME)    \
	COLUMN(COLLECTIVE, max_ns, "LONGEST", CELL_TIME)
TABLE_OF(columns, COLLECTIVE);
static const struct table_look look = { .alarms = "failed" };

void cuda_print_collectives(const struct collectives *collectives, const struct cuda *cuda,
			    const struct options *options)
{
	struct table table;

	if (!collectives->len)
		return;
	if (!options->json)
		puts("\ncalls of NCCL (the call's own time: its work is done on the stream later)");
	table_open_for(&table, options, "cuda_collectives", columns, COLLECTIVE_CELLS, ROWS_DEFAULT, &look);
	for (size_t i = 0; i < collectives->len; i++) {
		const struct collective *row = &collectives->all[i];
		const char *function = cuda_function_name(cuda, row->function);
		char communicator[HANDLE_SIZE];
		union cell cells[COLLECTIVE_CELLS] = {
			[COLLECTIVE_table] = { .text = "collectives" },
			[COLLECTIVE_pid] = { .number = row->pid },
			[COLLECTIVE_function] = { .text = function ? function : "?" },
			[COLLECTIVE_type] = { .text = row->type == NCCL_TYPES ? "" : nccl_type_name(row->type) },
			[COLLECTIVE_communicator] = { .text = row->communicator ? communicator : "" },
			[COLLECTIVE_count] = { .number = row->count },
			[COLLECTIVE_failed] = { .number = row->failed },
			[COLLECTIVE_bytes] = { .number = row->bytes },
			[COLLECTIVE_total_ns] = { .number = row->ns },
			[COLLECTIVE_max_ns] = { .number = row->longest_ns },
		};

		snprintf(communicator, sizeof(communicator), "0x%" PRIx64, row->communicator);
		table_row(&table, cells);
	}
	if (table_close(&table) || collectives->failed)
		note("some calls of NCCL are missing: there was no room for them");
}

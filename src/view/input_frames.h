/* SPDX-License-Identifier: GPL-2.0 */
/* What 'tactus input --to-frame' shows: a line for each frame that answers reports of a device, and a table at the end.
 */
#ifndef TACTUS_VIEW_INPUT_FRAMES_H
#define TACTUS_VIEW_INPUT_FRAMES_H

#include "../model/to_frame.h"
#include "../sink/table.h"

struct options;

void input_frame_line(const struct options *options, const struct threads *threads, const struct to_frame *done);

#define TO_FRAME_TABLE(COLUMN, SHOWN)                              \
	COLUMN(TO_FRAME, row, NULL, CELL_TEXT)                     \
	COLUMN(TO_FRAME, device, "FRAMES AFTER", CELL_TEXT)        \
	COLUMN(TO_FRAME, pid, "PID", CELL_NUMBER)                  \
	COLUMN(TO_FRAME, comm, "COMM", CELL_TEXT)                  \
	COLUMN(TO_FRAME, frames, "FRAMES", CELL_NUMBER)            \
	COLUMN(TO_FRAME, reports, "REPORTS", CELL_NUMBER)          \
	COLUMN(TO_FRAME, run_p50_ns, "RUNS AFTER P50", CELL_TIME)  \
	COLUMN(TO_FRAME, run_p99_ns, "P99", CELL_TIME)             \
	COLUMN(TO_FRAME, present_p50_ns, "PRESENT P50", CELL_TIME) \
	COLUMN(TO_FRAME, present_p99_ns, "P99", CELL_TIME)         \
	COLUMN(TO_FRAME, present_max_ns, "MAX", CELL_TIME)         \
	COLUMN(TO_FRAME, shown, "SHOWN", CELL_NUMBER)              \
	COLUMN(TO_FRAME, shown_p50_ns, "SHOWN P50", CELL_TIME)     \
	COLUMN(TO_FRAME, shown_p99_ns, "P99", CELL_TIME)           \
	COLUMN(TO_FRAME, shown_max_ns, "MAX", CELL_TIME)
enum { TO_FRAME_TABLE(COLUMN_CELL, COLUMN_CELL) TO_FRAME_CELLS };
extern const struct column to_frame_columns[TO_FRAME_CELLS];
void to_frame_table(const struct options *options, const struct to_frames *to_frames);

#endif

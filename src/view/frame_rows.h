/* SPDX-License-Identifier: GPL-2.0 */
/* One row a frame, with all that is known of it: as a line, as JSON, as CSV; and the percentiles of each part.
 * What is not known is a dash, null, or empty. */
#ifndef TACTUS_VIEW_FRAME_ROWS_H
#define TACTUS_VIEW_FRAME_ROWS_H

#include <stdio.h>

#include "../model/frames.h"
#include "../sink/json.h"
#include "../sink/table.h"

struct options;

/* MangoHud writes names of the machine in the second line, and so tells its files from ours. */
#define FRAMES_CSV_BEGINNING "os,cpu,gpu,ram,kernel,driver,cpuscheduler\n,,,,,,\n"

void frame_row_heads(void);
void frame_row(const struct threads *threads, const struct frame_process *process, const struct frame_record *record);
void frame_row_json(const struct threads *threads, const struct frame_process *process,
		    const struct frame_record *record);

/* The columns that MangoHud writes, then ours. `from_ns`: when the first one's interval began. */
void frame_csv_heads(FILE *csv);
void frame_csv_row(FILE *csv, const struct threads *threads, const struct frame_process *process,
		   const struct frame_record *record, u64 from_ns);

/* What the frame's time went into, as an array in the object that is open. */
void late_parts_json(struct json *json, const struct threads *threads, const struct late_frame *late);

/* Percentiles of the parts. */
#define FRAME_PART_TABLE(COLUMN, SHOWN)                      \
	COLUMN(FRAME_PART, pid, "PID", CELL_NUMBER)          \
	COLUMN(FRAME_PART, comm, "COMM", CELL_TEXT)          \
	COLUMN(FRAME_PART, part, "OF EACH FRAME", CELL_TEXT) \
	COLUMN(FRAME_PART, frames, "KNOWN OF", CELL_NUMBER)  \
	COLUMN(FRAME_PART, p50_ns, "P50", CELL_TIME)         \
	COLUMN(FRAME_PART, p95_ns, "P95", CELL_TIME)         \
	COLUMN(FRAME_PART, p99_ns, "P99", CELL_TIME)         \
	COLUMN(FRAME_PART, p999_ns, "P99.9", CELL_TIME)      \
	COLUMN(FRAME_PART, max_ns, "LONGEST", CELL_TIME)
enum { FRAME_PART_TABLE(COLUMN_CELL, COLUMN_CELL) FRAME_PART_CELLS };
extern const struct column frame_part_columns[FRAME_PART_CELLS];
void frame_parts_table(const struct options *options, const struct frames *frames);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A trace file that is being written: for 'tactus export', and for 'tactus record' as it goes. */
#ifndef TACTUS_VIEW_EXPORT_H
#define TACTUS_VIEW_EXPORT_H

#include "../base/options.h"
#include "../capture/capture.h"
#include "export_output.h"
#include "export_trace.h"
#include "../sink/chrome.h"
#include "../sink/csv.h"
#include "../sink/parquet.h"
#include "../sink/perfetto.h"

enum { EXPORT_OVER_NS = NSEC_PER_MSEC };

struct trace_file {
	struct export_output output;
	bool is_open;
	enum output_format format;
	struct perfetto *perfetto;
	FILE *text;
	struct chrome *chrome;
	struct csv *csv;
	struct parquet *parquet;
	u64 rows;
	struct exporter exporter;
};

/* As a table: rows of these kinds, as bits. False after a message. */
bool trace_file_begin_table(struct trace_file *file, u64 kinds);
void trace_file_row(struct trace_file *file, const struct event_header *event, const struct comm *comm);
/* Opens the file. False after a message. */
bool trace_file_open(struct trace_file *file, const struct options *options, bool only_whole);
/* Once the machine is known; false after a message. */
bool trace_file_begin(struct trace_file *file, struct capture *capture, const char *machine, u64 over_ns);
/* Hands over what is kept back. */
void trace_file_flush(struct trace_file *file);
/* Ends the trace where the capture ended, and closes the file; with `dropped`, what only_whole means is done. Returns
 * 0, or 1 after a message. */
int trace_file_close(struct trace_file *file, const struct capture *capture, const char *path, bool dropped);
/* Of the disk: 0 or -errno. */
int trace_file_error(const struct trace_file *file);

/* Where a recording's table lies in a partitioned folder; its folders are made. Returns 0, or -errno with the reason.
 */
int export_partition_path(char *path, size_t size, const char *folder, const char *input, const char *machine,
			  struct reason *why);

#endif

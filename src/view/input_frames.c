// SPDX-License-Identifier: GPL-2.0
/* Frames that answer input, as lines, as JSON and as a table; what no display tells is a dash or null.
 */
#include "input_frames.h"

#include <inttypes.h>
#include <stdio.h>

#include "../base/options.h"
#include "../base/say.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "thread_words.h"

_Static_assert(TO_FRAME_UNKNOWN == CELL_NONE, "what the model does not know is what a table shows as a dash");

enum { ROWS_DEFAULT = 20, TIME_SIZE = 16, PLACE_SIZE = 24, P50 = 500000, P99 = 990000 };

static void print_json(const struct to_frame *done)
{
	char comm[COMM_TEXT_SIZE], device[PLACE_SIZE];
	struct json json = { .out = stdout };

	comm_text(comm, &done->comm);
	snprintf(device, sizeof(device), "input%u", done->device);
	json_record(&json, "input_frame", true);
	json_string(&json, "device", device);
	json_u64(&json, "pid", done->pid);
	json_u64(&json, "tid", done->tid);
	json_string(&json, "comm", comm);
	json_u64(&json, "time_ns", done->report_ns);
	json_u64(&json, "reports", done->reports);
	json_u64(&json, "run_ns", done->run_ns);
	json_u64(&json, "present_ns", done->present_ns);
	json_u64_or_null(&json, "shown_ns", done->shown_ns != TO_FRAME_UNKNOWN, done->shown_ns);
	json_object_end(&json);
	json_line_end(&json);
}

void input_frame_line(const struct options *options, const struct threads *threads, const struct to_frame *done)
{
	char who[THREAD_WORDS_SIZE], run[TIME_SIZE], present[TIME_SIZE], shown[TIME_SIZE] = "";

	if (options->json) {
		print_json(done);
		return;
	}
	comm_words(who, &done->comm, done->tid, THREAD_TIGHT);
	format_time(run, sizeof(run), done->run_ns);
	format_time(present, sizeof(present), done->present_ns);
	if (done->shown_ns != TO_FRAME_UNKNOWN)
		format_time(shown, sizeof(shown), done->shown_ns);
	printf("%10.3f s  input%u, %u report%s: read after %s, %s presents after %s%s%s\n",
	       (double)span_between(threads->first_ns, done->report_ns) / NSEC_PER_SEC, done->device, done->reports,
	       done->reports == 1 ? "" : "s", run, who, present, shown[0] ? ", shown after " : "", shown);
}

const struct column to_frame_columns[TO_FRAME_CELLS] = { TO_FRAME_TABLE(COLUMN_NAMED, COLUMN_SHOWN) };

static void add_row(struct table *table, const struct to_frame_row *row)
{
	bool is_shown = row->shown_ns.total;
	char comm[COMM_TEXT_SIZE], device[PLACE_SIZE];
	union cell cells[TO_FRAME_CELLS];

	comm_text(comm, &row->comm);
	snprintf(device, sizeof(device), "input%u", row->device);
	cells[TO_FRAME_row].text = "to_frame";
	cells[TO_FRAME_device].text = device;
	cells[TO_FRAME_pid].number = row->pid;
	cells[TO_FRAME_comm].text = comm;
	cells[TO_FRAME_frames].number = row->present_ns.total;
	cells[TO_FRAME_reports].number = row->reports;
	cells[TO_FRAME_run_p50_ns].number = hist_percentile(&row->run_ns, P50);
	cells[TO_FRAME_run_p99_ns].number = hist_percentile(&row->run_ns, P99);
	cells[TO_FRAME_present_p50_ns].number = hist_percentile(&row->present_ns, P50);
	cells[TO_FRAME_present_p99_ns].number = hist_percentile(&row->present_ns, P99);
	cells[TO_FRAME_present_max_ns].number = row->present_ns.max;
	cells[TO_FRAME_shown].number = row->shown_ns.total;
	cells[TO_FRAME_shown_p50_ns].number = is_shown ? hist_percentile(&row->shown_ns, P50) : CELL_NONE;
	cells[TO_FRAME_shown_p99_ns].number = is_shown ? hist_percentile(&row->shown_ns, P99) : CELL_NONE;
	cells[TO_FRAME_shown_max_ns].number = is_shown ? row->shown_ns.max : CELL_NONE;
	table_row(table, cells);
}

void to_frame_table(const struct options *options, const struct to_frames *to_frames)
{
	struct table table;

	if (to_frames->rows_len) {
		table_open_for(&table, options, "input_to_frame", to_frame_columns, TO_FRAME_CELLS, ROWS_DEFAULT, NULL);
		for (u32 i = 0; i < to_frames->rows_len; i++)
			add_row(&table, &to_frames->rows[i]);
		table_close(&table);
	} else {
		note("no frame was seen to follow input");
	}
	if (to_frames->without_frame)
		note("%" PRIu64 " reports were read and no frame followed within a second", to_frames->without_frame);
	if (to_frames->refused)
		note("%" PRIu64 " reports are in no row: there was no room for so many", to_frames->refused);
}

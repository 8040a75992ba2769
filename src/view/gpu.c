// SPDX-License-Identifier: GPL-2.0
/* tactus gpu: what threads submit to GPUs and how long the driver and the GPU take over it; calls and gaps that stand
 * out as they happen, and tables at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/gpu.h"
#include "../model/submits.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "source.h"

enum { TIME_SIZE = 16, NAME_SIZE = COMM_LEN * 2, P50 = 500000, P99 = 990000 };

/* Sensors that it needs nothing of. */
#define NOT_NEEDED "launch,wine,input,frame,socket,sound,learned,names,runtime"

static const struct command_usage usage = {
	.name = "gpu",
	.text = "Watches what threads submit to GPUs: how often, how long the driver's ioctl takes, how long until the "
		"GPU has done it (dma_fence), and how much memory it has in use, as far as the kernel tells.\v"
		"KIND is what was submitted: commands, a flip (a frame put on a screen), a fence (vgem), a channel "
		"(NVIDIA, whose commands then go by memory, unseen), memory (NVIDIA's moves). A stall is a call or a "
		"gap "
		"more than twice as long as the fourth longest of the last 256, and at least 1 ms or 5 ms; each is "
		"told as "
		"it happens. A gap of more than two seconds is a pause.\n"
		"\n"
		"Examples:\n"
		"  tactus gpu -d 10                  whoever submits\n"
		"  tactus gpu -- ./game\n"
		"  tactus gpu -i file --json         from a recording of 'tactus record'",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
};

struct show {
	const struct options *options;
	struct source source;
	struct submits submits;
};

static const char *work_name(u32 work)
{
	static const char *const names[GPU_WORKS] = {
		[GPU_WORK_NONE] = "other",  [GPU_WORK_COMMANDS] = "commands", [GPU_WORK_FLIP] = "flip",
		[GPU_WORK_FENCE] = "fence", [GPU_WORK_CHANNEL] = "channel",   [GPU_WORK_MEMORY] = "memory",
	};

	return names[work < GPU_WORKS ? work : GPU_WORK_NONE];
}

static void print_stall(const struct show *show, const struct stall *stall)
{
	const struct submit_row *row = stall->row;
	char comm[COMM_LEN + 1] = "", name[NAME_SIZE], span[TIME_SIZE], usual[TIME_SIZE];

	if (show->options->json) {
		printf("{\"stall\":\"%s\",\"time_ns\":%" PRIu64
		       ",\"pid\":%u,\"tid\":%u,\"driver\":\"%s\",\"kind\":\"%s\",\"span_ns\":%" PRIu64
		       ",\"usual_ns\":%" PRIu64 "}\n",
		       stall->kind == STALL_IOCTL ? "ioctl" : "gap", stall->at_ns, row->pid, row->tid,
		       gpu_driver_name(row->driver), work_name(row->work), stall->span_ns, stall->usual_ns);
		return;
	}
	memcpy(comm, row->comm.text, COMM_LEN);
	format_plain(name, sizeof(name), comm);
	format_time(span, sizeof(span), stall->span_ns);
	format_time(usual, sizeof(usual), stall->usual_ns);
	printf("%10.3f s  %s [%u], %s of %s: %s %s, usually %s at most\n",
	       (double)(stall->at_ns - show->source.threads.first_ns) / NSEC_PER_SEC, name, row->tid,
	       work_name(row->work), gpu_driver_name(row->driver),
	       stall->kind == STALL_IOCTL ? "the ioctl took" : "none for", span, usual);
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;
	struct stall stall;

	(void)ended;
	if (submits_take(&show->submits, &show->source.threads, event, &stall))
		print_stall(show, &stall);
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

static const struct column submit_columns[] = {
	{ "row", NULL, CELL_TEXT },
	{ "pid", "PID", CELL_NUMBER },
	{ "tid", "TID", CELL_NUMBER },
	{ "comm", "COMM", CELL_TEXT },
	{ "driver", "DRIVER", CELL_TEXT },
	{ "kind", "KIND", CELL_TEXT },
	{ "submits", "SUBMITS", CELL_NUMBER },
	{ "rate", "A SECOND", CELL_HUNDREDTHS },
	{ "interval_p50_ns", "EVERY P50", CELL_TIME },
	{ "interval_p99_ns", "P99", CELL_TIME },
	{ "ioctl_p50_ns", "IOCTL P50", CELL_TIME },
	{ "ioctl_p99_ns", "P99", CELL_TIME },
	{ "ioctl_max_ns", "MAX", CELL_TIME },
	{ "refused", "REFUSED", CELL_NUMBER },
	{ "ioctl_stalls", "IOCTL STALLS", CELL_NUMBER },
	{ "gap_stalls", "GAP STALLS", CELL_NUMBER },
};
enum { SUBMIT_COLUMNS = sizeof(submit_columns) / sizeof(submit_columns[0]) };

static void add_submits(struct sheet *sheet, const struct submit_row *row)
{
	char comm[COMM_LEN + 1] = "";
	union cell cells[SUBMIT_COLUMNS];

	memcpy(comm, row->comm.text, COMM_LEN);
	cells[0].text = "submits";
	cells[1].number = row->pid;
	cells[2].number = row->tid;
	cells[3].text = comm;
	cells[4].text = gpu_driver_name(row->driver);
	cells[5].text = work_name(row->work);
	cells[6].number = row->submits;
	cells[7].number = submit_rate(row);
	cells[8].number = hist_percentile(&row->interval_ns, P50);
	cells[9].number = hist_percentile(&row->interval_ns, P99);
	cells[10].number = hist_percentile(&row->took_ns, P50);
	cells[11].number = hist_percentile(&row->took_ns, P99);
	cells[12].number = row->took_ns.max;
	cells[13].number = row->refused;
	cells[14].number = row->ioctl_stalls;
	cells[15].number = row->gap_stalls;
	sheet_row(sheet, cells);
}

static const struct column fence_columns[] = {
	{ "row", NULL, CELL_TEXT },	    { "driver", "FENCES OF", CELL_TEXT }, { "timeline", "TIMELINE", CELL_TEXT },
	{ "fences", "DONE", CELL_NUMBER },  { "p50_ns", "P50", CELL_TIME },	  { "p99_ns", "P99", CELL_TIME },
	{ "max_ns", "LONGEST", CELL_TIME },
};

static void print_fences(const struct show *show)
{
	struct sheet sheet;

	sheet_open(&sheet, stdout, show->options->json, fence_columns, 7);
	for (const struct fence_row *row = show->submits.fences; row; row = row->next) {
		char driver[COMM_LEN + 1] = "", timeline[COMM_LEN + 1] = "";
		union cell cells[7] = { { .text = "fences" },
					{ .text = driver },
					{ .text = timeline },
					{ .number = row->took_ns.total },
					{ .number = hist_percentile(&row->took_ns, P50) },
					{ .number = hist_percentile(&row->took_ns, P99) },
					{ .number = row->took_ns.max } };

		memcpy(driver, row->driver.text, COMM_LEN);
		memcpy(timeline, row->timeline.text, COMM_LEN);
		sheet_row(&sheet, cells);
	}
	sheet_close(&sheet);
}

static const struct column memory_columns[] = {
	{ "row", NULL, CELL_TEXT },	   { "gpu", "MEMORY OF GPU", CELL_NUMBER }, { "pid", "PID", CELL_NUMBER },
	{ "bytes", "BYTES", CELL_NUMBER }, { "most_bytes", "MOST", CELL_NUMBER },
};

static void print_memories(const struct show *show)
{
	struct sheet sheet;

	sheet_open(&sheet, stdout, show->options->json, memory_columns, 5);
	for (const struct memory_row *row = show->submits.memories; row; row = row->next) {
		union cell cells[5] = { { .text = "memory" },
					{ .number = row->gpu },
					{ .number = row->pid },
					{ .number = row->bytes },
					{ .number = row->most_bytes } };

		sheet_row(&sheet, cells);
	}
	sheet_close(&sheet);
}

/* Most submits first; of equals whoever came first. */
static int by_submits(const void *a, const void *b)
{
	const struct submit_row *one = *(const struct submit_row *const *)a;
	const struct submit_row *other = *(const struct submit_row *const *)b;

	if (one->submits != other->submits)
		return one->submits < other->submits ? 1 : -1;
	return one->first_ns > other->first_ns ? 1 : one->first_ns < other->first_ns ? -1 : 0;
}

static void print_submits(const struct show *show)
{
	u32 most = show->options->rows ? show->options->rows : 20;
	const struct submit_row **rows;
	struct sheet sheet;
	size_t len = 0, at = 0;

	for (const struct submit_row *row = show->submits.rows; row; row = row->next)
		len++;
	rows = calloc(len ? len : 1, sizeof(*rows));
	if (!rows) {
		note("submits are missing: there was no memory for them");
		return;
	}
	for (const struct submit_row *row = show->submits.rows; row; row = row->next)
		rows[at++] = row;
	qsort(rows, len, sizeof(*rows), by_submits);
	sheet_open(&sheet, stdout, show->options->json, submit_columns, SUBMIT_COLUMNS);
	for (at = 0; at < len && at < most; at++)
		add_submits(&sheet, rows[at]);
	sheet_close(&sheet);
	if (at < len)
		note("%zu more rows: -n shows them", len - at);
	free(rows);
}

static void print_end(const struct show *show)
{
	const struct submits *submits = &show->submits;

	if (submits->rows)
		print_submits(show);
	else
		note("nothing was submitted to a GPU");
	if (submits->fences)
		print_fences(show);
	if (submits->memories)
		print_memories(show);
	if (submits->refused)
		note("%" PRIu64 " events are in no row: there was no room for so many", submits->refused);
}

int view_gpu(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	show.source = (struct source){ .view = "gpu",
				       .forgets_ended = true,
				       .roles = true,
				       .gpu = true,
				       .subject = "gpu",
				       .absent = "GPU (neither DRM nor NVIDIA's driver)",
				       .without = NOT_NEEDED,
				       .on_event = on_event,
				       .on_tick = on_tick,
				       .data = &show };
	status = source_play(&show.source, &options);
	if (show.source.threads.last_ns)
		print_end(&show);
	source_print_losses(&show.source);
	submits_free(&show.submits);
	source_free(&show.source);
	return status;
}

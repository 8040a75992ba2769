// SPDX-License-Identifier: GPL-2.0
/* tactus input: the input devices, what they send and how often, and how soon the threads that wait for it run.
 * Two tables at the end: devices, and readers of each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/loop.h"
#include "../base/say.h"
#include "../model/devices.h"
#include "../model/inputs.h"
#include "../sensor/sensor.h"
#include "../sink/table.h"
#include "../capture/capture.h"
#include "../capture/intervals.h"
#include "every.h"
#include "input_frames.h"
#include "thread_words.h"
#include "view.h"

enum { ROWS_DEFAULT = 20, P50 = 500000, P99 = 990000, ID_SIZE = 16, PLACE_SIZE = 24 };

/* Sensors that it needs nothing of; frames are needed for --to-frame. */
#define NOT_NEEDED_BY_BOTH "launch,gpu,wine,socket,sound,learned,names,runtime"
#define NOT_NEEDED NOT_NEEDED_BY_BOTH ",frame"

enum { KEY_TO_FRAME = 0x200 };

struct chosen {
	bool to_frame;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	(void)key;
	(void)value;
	chosen->to_frame = true;
	return NULL;
}

static const struct argp_option own_options[] = {
	{ "to-frame", KEY_TO_FRAME, 0, 0, "Show how long until the frame that follows is presented and shown", 0 },
	{ 0 },
};

const struct command_usage input_usage = {
	.name = "input",
	.text = "Shows input devices: what each sends and how often, up to 8 kHz and beyond. For each thread that "
		"sleeps until a device sends something, shows how long after the report the thread runs.\v"
		"A report is what a device sends at once; EVENTS are the changes in it, such as two axes of a "
		"mouse. A thread that polls without sleeping is not listed as a reader; 'tactus roles' finds it.\n"
		"--to-frame follows each report from its reader, and whom that one wakes before it sleeps again, to "
		"the first "
		"frame begun after. Of several reports before a frame the oldest counts. SHOWN is known where a "
		"display "
		"reports it: for a program that flips by DRM, or one whose Wayland compositor does.\n"
		"\n"
		"Examples:\n"
		"  tactus input -d 10                shake the mouse meanwhile\n"
		"  tactus input -- ./game\n"
		"  tactus input --to-frame -d 10     from clicks to frames, of whoever presents\n"
		"  tactus input -i file --json       from a recording of 'tactus record'",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_INTERVAL,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

struct show {
	const struct options *options;
	struct capture capture;
	struct inputs inputs;
	struct chosen chosen;
	struct to_frames *to_frames; /* NULL: not asked for */
};

static void show_frames(struct show *show, u64 now_ns)
{
	struct to_frame done;

	while (to_frames_next(show->to_frames, &show->capture.threads, now_ns, &done))
		if (!show->capture.request.interval_ns && !show->capture.before_window)
			input_frame_line(show->options, &show->capture.threads, &done);
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;

	(void)ended;
	inputs_handle(&show->inputs, &show->capture.threads, event);
	if (!show->to_frames)
		return;
	to_frames_handle(show->to_frames, &show->capture.threads, event);
	if (event->kind == EVENT_FRAME || event->kind == EVENT_VBLANK || event->kind == EVENT_INPUT_WAKE)
		show_frames(show, event->time_ns);
}

static bool on_tick(void *data)
{
	struct show *show = data;

	if (show->to_frames)
		show_frames(show, clock_now_ns());
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

#define DEVICE_TABLE(COLUMN, SHOWN)                                \
	COLUMN(DEVICE, row, NULL, CELL_TEXT)                       \
	COLUMN(DEVICE, device, "DEVICE", CELL_TEXT)                \
	COLUMN(DEVICE, node, "NODE", CELL_TEXT)                    \
	COLUMN(DEVICE, kind, "KIND", CELL_TEXT)                    \
	COLUMN(DEVICE, id, "VENDOR:PRODUCT", CELL_TEXT)            \
	COLUMN(DEVICE, reports, "REPORTS", CELL_NUMBER)            \
	COLUMN(DEVICE, events, "EVENTS", CELL_NUMBER)              \
	COLUMN(DEVICE, reports_per_s, "A SECOND", CELL_HUNDREDTHS) \
	COLUMN(DEVICE, interval_p50_ns, "EVERY P50", CELL_TIME)    \
	COLUMN(DEVICE, interval_p99_ns, "P99", CELL_TIME)          \
	COLUMN(DEVICE, name, "NAME", CELL_TEXT)
TABLE_OF(device_columns, DEVICE);

static void name_device(char *into, const struct input_source *source)
{
	snprintf(into, PLACE_SIZE, "input%u", source->number);
}

static void add_device(struct table *table, const struct input_source *source)
{
	char device[PLACE_SIZE], node[PLACE_SIZE] = "", id[ID_SIZE], name[TAIL_LEN + 1] = "";
	union cell cells[DEVICE_CELLS];

	name_device(device, source);
	if (source->node != ~0u)
		snprintf(node, sizeof(node), "event%u", source->node);
	snprintf(id, sizeof(id), "%04x:%04x", source->vendor, source->product);
	memcpy(name, source->name.text, TAIL_LEN);
	cells[DEVICE_row].text = "device";
	cells[DEVICE_device].text = device;
	cells[DEVICE_node].text = node;
	cells[DEVICE_kind].text = device_kind_name(source->kind);
	cells[DEVICE_id].text = id;
	cells[DEVICE_reports].number = source->reports;
	cells[DEVICE_events].number = source->events;
	cells[DEVICE_reports_per_s].number = input_rate(source);
	cells[DEVICE_interval_p50_ns].number = hist_percentile(&source->interval_ns, P50);
	cells[DEVICE_interval_p99_ns].number = hist_percentile(&source->interval_ns, P99);
	cells[DEVICE_name].text = name;
	table_row(table, cells);
}

#define READER_TABLE(COLUMN, SHOWN)                               \
	COLUMN(READER, row, NULL, CELL_TEXT)                      \
	COLUMN(READER, device, "READERS OF", CELL_TEXT)           \
	COLUMN(READER, pid, "PID", CELL_NUMBER)                   \
	COLUMN(READER, tid, "TID", CELL_NUMBER)                   \
	COLUMN(READER, comm, "COMM", CELL_TEXT)                   \
	COLUMN(READER, wakes, "WAKES", CELL_NUMBER)               \
	COLUMN(READER, delay_p50_ns, "RUNS AFTER P50", CELL_TIME) \
	COLUMN(READER, delay_p99_ns, "P99", CELL_TIME)            \
	COLUMN(READER, delay_max_ns, "MAX", CELL_TIME)
TABLE_OF(reader_columns, READER);

static void add_reader(struct table *table, const struct input_source *source, const struct input_reader *reader)
{
	char device[PLACE_SIZE], comm[COMM_TEXT_SIZE];
	union cell cells[READER_CELLS];

	name_device(device, source);
	comm_text(comm, &reader->comm);
	cells[READER_row].text = "reader";
	cells[READER_device].text = device;
	cells[READER_pid].number = reader->pid;
	cells[READER_tid].number = reader->tid;
	cells[READER_comm].text = comm;
	cells[READER_wakes].number = reader->delay_ns.total;
	cells[READER_delay_p50_ns].number = hist_percentile(&reader->delay_ns, P50);
	cells[READER_delay_p99_ns].number = hist_percentile(&reader->delay_ns, P99);
	cells[READER_delay_max_ns].number = reader->delay_ns.max;
	table_row(table, cells);
}

static void print_devices(const struct show *show)
{
	struct table table;

	table_open_for(&table, show->options, "input_device", device_columns, DEVICE_CELLS, ROWS_DEFAULT, NULL);
	for (const struct input_source *source = show->inputs.sources; source; source = source->next)
		add_device(&table, source);
	table_close(&table);
}

static void print_readers(const struct show *show)
{
	struct table table;

	table_open_for(&table, show->options, "input_reader", reader_columns, READER_CELLS, ROWS_DEFAULT, NULL);
	for (const struct input_source *source = show->inputs.sources; source; source = source->next)
		for (const struct input_reader *reader = source->readers; reader; reader = reader->next)
			add_reader(&table, source, reader);
	table_close(&table);
}

static void print_end(const struct show *show)
{
	bool has_readers = false;

	if (!show->inputs.sources) {
		note("there was no input device");
		return;
	}
	print_devices(show);
	for (const struct input_source *source = show->inputs.sources; source; source = source->next)
		has_readers |= source->readers != NULL;
	if (has_readers)
		print_readers(show);
	if (show->to_frames)
		to_frame_table(show->options, show->to_frames);
	if (show->inputs.refused)
		note("%" PRIu64 " events are in no row: there was no room for so many", show->inputs.refused);
}

static void on_interval(void *data, u64 from_ns, u64 to_ns)
{
	struct show *show = data;

	every_begin(show->options, show->capture.threads.first_ns, from_ns, to_ns);
	if (show->inputs.sources)
		print_end(show);
	every_end();
	inputs_restart(&show->inputs);
	if (show->to_frames)
		to_frames_restart(show->to_frames);
}

static void on_window(void *data)
{
	struct show *show = data;

	inputs_restart(&show->inputs);
	if (show->to_frames)
		to_frames_restart(show->to_frames);
}

const struct table_columns input_tables[] = {
	{ device_columns, DEVICE_CELLS }, { reader_columns, READER_CELLS }, { to_frame_columns, TO_FRAME_CELLS }, { 0 }
};

int view_input(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &input_usage, &show.chosen, argc, argv);
	table_check(&options, "input", input_tables);
	if (show.chosen.to_frame) {
		show.to_frames = calloc(1, sizeof(*show.to_frames));
		if (!show.to_frames)
			return fail("input", "there is no memory"), EXIT_FAILURE;
	}
	show.capture = (struct capture){ /* The sensor's third hook reads devices, and sees no wake-up. */
					 .request = { .view = "input",
						      .groups = EVENTS_ROLES | EVENTS_INPUT |
								(show.to_frames ? EVENTS_FRAMES | EVENTS_SCHED : 0),
						      .subject = { .sensor = "input", .hooks = 2 },
						      .forgets_ended = true,
						      .without = show.to_frames ? NOT_NEEDED_BY_BOTH : NOT_NEEDED,
						      .interval_ns = every_ns(&options),
						      .on_interval = on_interval,
						      .wants_before = true,
						      .on_window = on_window,
						      .on_event = on_event,
						      .on_tick = on_tick,
						      .soon = show.to_frames != NULL,
						      .data = &show }
	};
	status = capture_run(&show.capture, &options);
	if (show.to_frames)
		show_frames(&show, ~0ull);
	if (show.capture.threads.last_ns && intervals_have_rest(&show.capture))
		print_end(&show);
	capture_print_losses(&show.capture);
	inputs_free(&show.inputs);
	free(show.to_frames);
	capture_free(&show.capture);
	return status;
}

// SPDX-License-Identifier: GPL-2.0
/* tactus input: the input devices, what they send and how often, and how soon the threads that wait for it run.
 * Two tables at the end: devices, and readers of each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/devices.h"
#include "../model/inputs.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "source.h"

enum { P50 = 500000, P99 = 990000, ID_SIZE = 16, PLACE_SIZE = 24 };

/* Sensors that it needs nothing of. */
#define NOT_NEEDED "launch,gpu,wine,frame,socket,sound,learned,names,runtime"

static const struct command_usage usage = {
	.name = "input",
	.text = "Watches input devices: what each sends and how often, up to 8 kHz and beyond, and, for each thread "
		"that "
		"sleeps until a device sends something, how long after the device's report it runs.\v"
		"A report is what a device sends at once; EVENTS are the changes in it, such as two axes of a mouse. A "
		"thread that looks for events without sleeping for them is not among the readers; 'tactus roles' finds "
		"it.\n"
		"\n"
		"Examples:\n"
		"  tactus input -d 10                shake the mouse meanwhile\n"
		"  tactus input -- ./game\n"
		"  tactus input -i file --json       from a recording of 'tactus record'",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
};

struct show {
	const struct options *options;
	struct source source;
	struct inputs inputs;
};

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;

	(void)ended;
	inputs_take(&show->inputs, &show->source.threads, event);
}

static const struct column device_columns[] = {
	{ "row", NULL, CELL_TEXT },
	{ "device", "DEVICE", CELL_TEXT },
	{ "node", "NODE", CELL_TEXT },
	{ "kind", "KIND", CELL_TEXT },
	{ "id", "VENDOR:PRODUCT", CELL_TEXT },
	{ "reports", "REPORTS", CELL_NUMBER },
	{ "events", "EVENTS", CELL_NUMBER },
	{ "rate", "A SECOND", CELL_HUNDREDTHS },
	{ "interval_p50_ns", "EVERY P50", CELL_TIME },
	{ "interval_p99_ns", "P99", CELL_TIME },
	{ "name", "NAME", CELL_TEXT },
};
enum { DEVICE_COLUMNS = sizeof(device_columns) / sizeof(device_columns[0]) };

static void name_device(char *into, const struct input_source *source)
{
	snprintf(into, PLACE_SIZE, "input%u", source->number);
}

static void add_device(struct sheet *sheet, const struct input_source *source)
{
	char device[PLACE_SIZE], node[PLACE_SIZE] = "", id[ID_SIZE], name[TAIL_LEN + 1] = "";
	union cell cells[DEVICE_COLUMNS];

	name_device(device, source);
	if (source->node != ~0u)
		snprintf(node, sizeof(node), "event%u", source->node);
	snprintf(id, sizeof(id), "%04x:%04x", source->vendor, source->product);
	memcpy(name, source->name.text, TAIL_LEN);
	cells[0].text = "device";
	cells[1].text = device;
	cells[2].text = node;
	cells[3].text = device_kind_name(source->kind);
	cells[4].text = id;
	cells[5].number = source->reports;
	cells[6].number = source->events;
	cells[7].number = input_rate(source);
	cells[8].number = hist_percentile(&source->interval_ns, P50);
	cells[9].number = hist_percentile(&source->interval_ns, P99);
	cells[10].text = name;
	sheet_row(sheet, cells);
}

static const struct column reader_columns[] = {
	{ "row", NULL, CELL_TEXT },
	{ "device", "READERS OF", CELL_TEXT },
	{ "pid", "PID", CELL_NUMBER },
	{ "tid", "TID", CELL_NUMBER },
	{ "comm", "COMM", CELL_TEXT },
	{ "wakes", "WAKES", CELL_NUMBER },
	{ "delay_p50_ns", "RUNS AFTER P50", CELL_TIME },
	{ "delay_p99_ns", "P99", CELL_TIME },
	{ "delay_max_ns", "MAX", CELL_TIME },
};
enum { READER_COLUMNS = sizeof(reader_columns) / sizeof(reader_columns[0]) };

static void add_reader(struct sheet *sheet, const struct input_source *source, const struct input_reader *reader)
{
	char device[PLACE_SIZE], comm[COMM_LEN + 1] = "";
	union cell cells[READER_COLUMNS];

	name_device(device, source);
	memcpy(comm, reader->comm.text, COMM_LEN);
	cells[0].text = "reader";
	cells[1].text = device;
	cells[2].number = reader->pid;
	cells[3].number = reader->tid;
	cells[4].text = comm;
	cells[5].number = reader->delay_ns.total;
	cells[6].number = hist_percentile(&reader->delay_ns, P50);
	cells[7].number = hist_percentile(&reader->delay_ns, P99);
	cells[8].number = reader->delay_ns.max;
	sheet_row(sheet, cells);
}

static void print_devices(const struct show *show, u32 most)
{
	struct sheet sheet;
	u32 rows = 0;

	sheet_open(&sheet, stdout, show->options->json, device_columns, DEVICE_COLUMNS);
	for (const struct input_source *source = show->inputs.sources; source; source = source->next)
		if (rows++ < most)
			add_device(&sheet, source);
	sheet_close(&sheet);
	if (rows > most)
		note("%u more devices: -n shows them", rows - most);
}

static void print_readers(const struct show *show, u32 most)
{
	struct sheet sheet;
	u32 rows = 0;

	sheet_open(&sheet, stdout, show->options->json, reader_columns, READER_COLUMNS);
	for (const struct input_source *source = show->inputs.sources; source; source = source->next)
		for (const struct input_reader *reader = source->readers; reader; reader = reader->next)
			if (rows++ < most)
				add_reader(&sheet, source, reader);
	sheet_close(&sheet);
	if (rows > most)
		note("%u more readers: -n shows them", rows - most);
}

static void print_end(const struct show *show)
{
	u32 most = show->options->rows ? show->options->rows : 20;
	bool has_readers = false;

	if (!show->inputs.sources) {
		note("there was no input device");
		return;
	}
	print_devices(show, most);
	for (const struct input_source *source = show->inputs.sources; source; source = source->next)
		has_readers |= source->readers != NULL;
	if (has_readers)
		print_readers(show, most);
	if (show->inputs.refused)
		note("%" PRIu64 " events are in no row: there was no room for so many", show->inputs.refused);
}

int view_input(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	show.source =
		(struct source){ .view = "input",
				 .forgets_ended = true,
				 .roles = true,
				 .input = true,
				 .subject = "input",
				 .subject_hooks = 2, /* at input_event; the third reads devices, and sees no wake-up */
				 .without = NOT_NEEDED,
				 .on_event = on_event,
				 .data = &show };
	status = source_play(&show.source, &options);
	if (show.source.threads.last_ns)
		print_end(&show);
	source_print_losses(&show.source);
	inputs_free(&show.inputs);
	source_free(&show.source);
	return status;
}

// SPDX-License-Identifier: GPL-2.0
/* tactus export: a recording as a file that other programs read. What it means is asked of the same models that the
 * views ask; the file is there whole or not at all. */
#include "export.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../base/loop.h"
#include "../base/say.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "thread_words.h"
#include "view.h"

enum { KEY_OVER = 0x200, KEY_MACHINE, KEY_ONLY, KEY_PARTITION, LOOK_FOR_SIGNALS = 4096 };

struct chosen {
	u64 over_ns;
	const char *machine;
	u64 only;	       /* kinds, as bits; 0: all */
	const char *partition; /* a folder; NULL: none */
};

static const char *take_only(struct chosen *chosen, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",");
		u32 kind = 1;

		while (kind < EVENT_KINDS &&
		       (strlen(event_info(kind)->name) != len || strncmp(event_info(kind)->name, list, len) != 0))
			kind++;
		if (kind == EVENT_KINDS)
			return "names no kind of event: 'tactus events --only help' lists them";
		chosen->only |= 1ULL << kind;
		list += len + (list[len] == ',');
	}
	return chosen->only ? NULL : "names no kind of event";
}

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == KEY_OVER)
		return parse_span(value, &chosen->over_ns);
	if (key == KEY_ONLY)
		return take_only(chosen, value);
	if (key == KEY_PARTITION)
		return chosen->partition = value, NULL;
	chosen->machine = value;
	return NULL;
}

static const struct argp_option own_options[] = {
	{ "over", KEY_OVER, "SPAN", 0, "Waits longer than this (1ms) get a slice that says who was in the way", 0 },
	{ "machine", KEY_MACHINE, "NAME", 0, "Give the machine this name, to tell several apart in one viewer", 0 },
	{ "partition", KEY_PARTITION, "DIR", 0,
	  "Write Parquet to DIR/host=NAME/day=YYYY-MM-DD/, by the segment's name or --machine, instead of -o", 0 },
	{ "only", KEY_ONLY, "KINDS", 0, "Of a table: rows of these kinds of events, and their columns", 0 },
	{ 0 },
};

/* What is written is chosen with the file. */
static bool fits(const void *data, const struct options *options, const char *option)
{
	(void)data;
	(void)options;
	return strcmp(option, "format") != 0;
}

const struct command_usage export_usage = {
	.name = "export",
	.text = "Writes a recording as a file that other programs open: FILE.pftrace for ui.perfetto.dev, FILE.json "
		"for "
		"chrome://tracing, or a table: FILE.csv, FILE.parquet.\v"
		"The trace has who ran on each CPU and who woke whom, processes and threads, roles and tiers, frames, "
		"late ones with their reason and an arrow to who was in the way, long waits, moves, missed "
		"deadlines, GPU submits and fences, calls into CUDA with launches and copies, input, the scheduler's "
		"decisions, counters, and losses where they fell.\n"
		"\n"
		"An earlier file of the same kind is replaced; any other only with --force. With --format, '-o -' "
		"writes to standard output.\n"
		"\n"
		"Examples:\n"
		"  tactus export -i game.tactus -o game.pftrace\n"
		"  tactus export -i game.tactus -o stutter.pftrace --from 2s --to 4s\n"
		"  tactus export -i game.tactus -o waits.csv --only switch,wakeup\n"
		"  tactus export -i game.tactus -o game.parquet\n"
		"  tactus export -i game.tactus -o - --format csv --only frame | head\n"
		"  tactus export -i game.tactus --partition by-day --machine web1",
	.takes = TAKES_INPUT | TAKES_ONE_INPUT | TAKES_FILTER | TAKES_FORCE | TAKES_TRACES | TAKES_JSON,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = fits,
};

struct export
{
	struct options options;
	struct chosen chosen;
	struct capture capture;
	struct trace_file file;
	u64 seen;
	bool begun, failed;
};

static bool on_outputs(void *data)
{
	struct export *export = data;

	if (!trace_file_open(&export->file, &export->options, true))
		return false;
	export->capture.folder = export_output_folder(&export->file.output);
	return true;
}

static bool is_table(const struct export *export)
{
	return export->options.output_format == OUTPUT_CSV || export->options.output_format == OUTPUT_PARQUET;
}

/* Once something is known of the machine. */
static bool begin(struct export *export)
{
	if (!export->begun && is_table(export))
		export->failed = !trace_file_begin_table(&export->file,
							 export->chosen.only ? export->chosen.only : ~0ULL);
	else if (!export->begun)
		export->failed = !trace_file_begin(&export->file, &export->capture, export->chosen.machine,
						   export->chosen.over_ns);
	export->begun = true;
	return !export->failed;
}

static void put_row(struct export *export, const struct event_header *event)
{
	u64 only = export->chosen.only;

	if (!export->capture.before_window && (!only || only >> event->kind & 1))
		trace_file_row(&export->file, event, thread_comm(&export->capture.threads, event->tid));
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct export *export = data;

	if (++export->seen % LOOK_FOR_SIGNALS == 0 && (loop_signal_waits() || trace_file_error(&export->file)))
		export->capture.stopped = true;
	if (begin(export) && is_table(export))
		put_row(export, event);
	else if (begin(export))
		exporter_take(&export->file.exporter, event, ended, export->capture.before_window);
	else
		export->capture.stopped = true;
}

static void on_window(void *data)
{
	struct export *export = data;

	if (begin(export) && !is_table(export))
		exporter_begin(&export->file.exporter, export->capture.window_from_ns);
}

static void print_summary(const struct export *export, u64 bytes, u64 events, u64 marks)
{
	struct json json = { .out = stdout };

	if (!export->options.json) {
		print_plain(stdout, export->options.output);
		printf(": %" PRIu64 " events in %.1f MB\n", events, (double)bytes / 1e6);
		return;
	}
	json_record(&json, "export", false);
	json_u64(&json, "events", events);
	json_u64(&json, "marks", marks);
	json_u64(&json, "bytes", bytes);
	json_u64(&json, "lost", export->capture.losses.events);
	json_object_end(&json);
	json_line_end(&json);
}

static const char *find_conflict(const struct options *options, const struct chosen *chosen)
{
	if (!options->input)
		return "no recording to export: name one with -i FILE";
	if (!options->output && !chosen->partition)
		return "no file to write: give one with -o FILE";
	if (options->output && chosen->partition)
		return "--partition finds the file's name itself: it takes no -o";
	if (chosen->only && !chosen->partition && options->output_format != OUTPUT_CSV &&
	    options->output_format != OUTPUT_PARQUET)
		return "--only is for a table: name a FILE.csv or a FILE.parquet";
	return NULL;
}

/* False after a message. */
static bool name_partition(struct export *export)
{
	static char path[PATH_MAX];
	struct reason why = { "" };

	if (export_partition_path(path, sizeof(path), export->chosen.partition, export->options.input,
				  export->chosen.machine, &why)) {
		fail(export->options.input, "%s", why.text[0] ? why.text : "the name is too long");
		return false;
	}
	export->options.output = path;
	export->options.output_format = OUTPUT_PARQUET;
	return true;
}

static int end_file(struct export *export, int status)
{
	/* Nothing was found, or nothing is wanted any more. */
	bool dropped = loop_signal_waits() || (status && !export->capture.threads.last_ns) || !export->file.is_open ||
		       !begin(export);
	u64 events = is_table(export) ? export->file.rows : export->file.exporter.events,
	    marks = export->file.exporter.marks;
	int closed = trace_file_close(&export->file, &export->capture, export->options.output, dropped);

	if (closed || dropped)
		return closed ? closed : status ? status : EXIT_FAILURE;
	print_summary(export, export->file.output.bytes, events, marks);
	capture_print_losses(&export->capture);
	return status;
}

int view_export(int argc, char **argv)
{
	struct export export = {
		.chosen = { .over_ns = EXPORT_OVER_NS, .machine = "" },
		.capture.request = { .view = "export",
				     .groups = EVENTS_ALL,
				     .wants_before = true,
				     .forgets_ended = true,
				     .names_stacks = true,
				     .on_outputs = on_outputs,
				     .on_window = on_window,
				     .on_event = on_event,
				     .data = &export },
	};
	const char *conflict;
	int status;

	options_parse(&export.options, &export_usage, &export.chosen, argc, argv);
	conflict = find_conflict(&export.options, &export.chosen);
	if (conflict) {
		fail("export", "%s", conflict);
		return EXIT_USAGE;
	}
	if (export.chosen.partition && !name_partition(&export))
		return EXIT_FAILURE;
	loop_take_signals();
	status = capture_run(&export.capture, &export.options);
	status = end_file(&export, status);
	capture_free(&export.capture);
	/* A signal that waits ends the program here. */
	loop_give_back_signals();
	return status;
}

// SPDX-License-Identifier: GPL-2.0
/* tactus cut: a part of a recording as a recording of its own, by time, by frame or by filters. What was known at its
 * beginning stands before it, see model/lead_in.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/loop.h"
#include "../base/privileges.h"
#include "../base/report.h"
#include "../base/say.h"
#include "../capture/capture_filter.h"
#include "../capture/excerpt_find.h"
#include "../model/event_filter.h"
#include "../model/lead_in.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "../stream/recording.h"
#include "view.h"

/* Functions on a stack are found and named a little after the thread is back. */
enum { NAMED_WITHIN_NS = NSEC_PER_SEC };

static const struct argp_option own_options[] = {
	{ "output", 'o', "FILE", 0, "Write the part to this file", 0 },
	{ 0 },
};

/* What is cut is a recording. */
static bool fits(const void *data, const struct options *options, const char *option)
{
	(void)data;
	(void)options;
	return strcmp(option, "format") != 0;
}

const struct command_usage cut_usage = {
	.name = "cut",
	.text = "Writes a part of a recording to a file of its own, which every view reads with -i.\v"
		"The part is chosen by time (--from, --to), around a frame (--around, --margin), or by filters (-p, "
		"-c, "
		"-C), which may go together. With a filter, switches of other threads are kept while one that matches "
		"waits for their CPU.\n"
		"\n"
		"What was known at the part's beginning is kept before it: names, roles, who ran, who waited since "
		"when, numbers of frames. Views take it for what it is and count none of it. What is learned "
		"from many events, as the periods of 'tactus misses', is learned anew.\n"
		"\n"
		"A recording is replaced; any other file only with --force.\n"
		"\n"
		"Examples:\n"
		"  tactus cut -i game.tactus -o stutter.tactus --from 2.5s --to 4s\n"
		"  tactus cut -i game.tactus -o frame.tactus --around 182 --margin 200ms\n"
		"  tactus cut -i machine.tactus -o game.tactus -p 8660",
	.takes = TAKES_INPUT | TAKES_ONE_INPUT | TAKES_FILTER | TAKES_FORCE | TAKES_EXPORT | TAKES_JSON,
	.own = own_options,
	.fits = fits,
};

struct cut {
	struct options options;
	struct recording_info info;  /* of what is written */
	struct event_filter *filter; /* NULL: none was given */
	struct lead_in *lead_in;
	struct recording_reader *reader;
	struct recording_writer *writer;
	u64 start_ns, from_ns, to_ns; /* of the recording, and of the part */
	u64 last_ns;		      /* seen so far */
	u64 events;		      /* in the part */
	bool led_in, ended, stopped;
	bool read; /* all that matters: after its end, names may come */
	int error;
};

/* Events between two looks. */
enum { LOOK_FOR_SIGNALS = 4096 };

#define NOT_WRITTEN "%s: nothing was written"

static void write_event(void *data, const struct event_header *event)
{
	struct cut *cut = data;

	if (!cut->error)
		cut->error = recording_write(cut->writer, event);
}

static void lead_in(struct cut *cut)
{
	if (!cut->led_in)
		lead_in_give(cut->lead_in, write_event, cut);
	cut->led_in = true;
}

/* Behind the part: what names its stacks is as if it came at its end. */
static void take_behind(struct cut *cut, const struct event_header *event)
{
	struct event_stack_frame frame;

	cut->ended = true;
	if (event->kind != EVENT_STACK_FRAME) {
		cut->read = event->time_ns - cut->to_ns > NAMED_WITHIN_NS || !lead_in_nameless(cut->lead_in);
		return;
	}
	frame = *(const struct event_stack_frame *)event;
	frame.head.time_ns = cut->to_ns;
	lead_in_take(cut->lead_in, &frame.head);
	if (lead_in_give_functions(cut->lead_in, &frame.head, write_event, cut))
		write_event(cut, &frame.head);
}

static void take(struct cut *cut, const struct event_header *event)
{
	u64 whole_from_ns = span_between(LEAD_IN_WHOLE_NS, cut->from_ns);
	union any_event changed;
	bool is_kept;

	if (event->time_ns > cut->last_ns)
		cut->last_ns = event->time_ns;
	if (event->time_ns >= whole_from_ns)
		lead_in(cut);
	if (event->time_ns >= cut->to_ns) {
		take_behind(cut, event);
		return;
	}
	if (cut->filter)
		event = event_filter_pass(cut->filter, event, &changed);
	/* Counts are those of all, and all threads. */
	if (!event || event->kind == EVENT_CUDA_COUNT)
		return;
	/* What was lost before the first event is missing from all; what was lost before a part is missing from what is
	 * not there. */
	is_kept = event->kind == EVENT_LOST ? event->time_ns >= cut->from_ns || cut->from_ns == cut->start_ns
					    : cut->led_in;
	lead_in_take(cut->lead_in, event);
	if (!is_kept || !lead_in_give_functions(cut->lead_in, event, write_event, cut))
		return;
	cut->events += event->time_ns >= cut->from_ns;
	write_event(cut, event);
}

/* Returns 0, or after a message the status to end with. */
static int copy_part(struct cut *cut)
{
	const char *input = cut->options.input, *output = cut->options.output;
	const struct event_header *event;
	struct reason why = { "" };
	char words[FILTER_WORDS_SIZE];
	int got = 0, status = 0;
	u64 seen = 0;

	filter_words(&cut->options.filter, words);
	while (!cut->read && !cut->error && (got = recording_next(cut->reader, &event, &why)) > 0) {
		take(cut, event);
		if (++seen % LOOK_FOR_SIGNALS == 0 && (cut->stopped = loop_signal_waits()))
			return EXIT_FAILURE;
	}
	lead_in(cut);
	/* A part ends when it ends, whether or not something that is in it happens then. */
	if (cut->ended || cut->filter)
		lead_in_give_closing(cut->lead_in, cut->ended ? cut->to_ns : cut->last_ns, write_event, cut);
	if (!cut->error)
		cut->error = recording_flush(cut->writer);
	if (cut->error)
		return fail(output, NOT_WRITTEN, strerror(-cut->error));
	if (!cut->ended && got < 0)
		status = fail(input, "%s; what came before is written", why.text);
	else if (!cut->ended && recording_was_cut(cut->reader))
		note("%s: ends in the middle of a block: everything before it is written", input);
	if (cut->filter && !event_filter_matched(cut->filter))
		note("no thread in the recording matched %s", words);
	if (lead_in_failed(cut->lead_in) || (cut->filter && event_filter_failed(cut->filter)))
		note("something is missing: there was no memory for it");
	if (lead_in_dropped_functions(cut->lead_in) && lead_in_nameless(cut->lead_in))
		note("the functions of %zu stacks are missing: there was no room for them",
		     lead_in_nameless(cut->lead_in));
	if (!cut->events)
		note("%s: no event lies in that part of it", input);
	return status;
}

/* Returns 0, or after a message the status to end with. */
static int choose_part(struct cut *cut)
{
	const struct recording_info *info = recording_reader_info(cut->reader);
	struct excerpt part = cut->options.excerpt;
	struct reason why;

	if (part.around && excerpt_find_frame(&part, &cut->options, &why))
		return fail(cut->options.input, "%s", why.text);
	cut->start_ns = info->mono_start_ns;
	cut->from_ns = cut->start_ns + part.from_ns;
	cut->to_ns = part.has_to ? cut->start_ns + part.to_ns : ~0ULL;
	cut->info = *info;
	cut->info.mono_start_ns = cut->from_ns;
	cut->info.wall_start_ns += part.from_ns;
	cut->info.replaces_any = cut->options.force;
	cut->info.only_whole = true;
	return 0;
}

/* Nothing is written before it is sure that there is something to write. */
static int check_length(struct cut *cut)
{
	const struct event_header *event;
	u64 last_ns = cut->start_ns;
	struct reason why;

	if (!cut->options.excerpt.has_from)
		return 0;
	while (last_ns < cut->from_ns && recording_next(cut->reader, &event, &why) > 0)
		last_ns = event->time_ns > last_ns ? event->time_ns : last_ns;
	if (last_ns < cut->from_ns)
		return fail(cut->options.input, "is %.3f s long: nothing lies after --from",
			    (double)(last_ns - cut->start_ns) / NSEC_PER_SEC);
	return recording_rewind(cut->reader, &why) ? fail(cut->options.input, "%s", why.text) : 0;
}

static int open_files(struct cut *cut)
{
	const struct filter *filter = &cut->options.filter;
	struct capture machine = { .request.view = "cut", .replay = true };
	struct reason why;
	int status;

	if (recording_open(&cut->reader, cut->options.input, &why))
		return fail(cut->options.input, "%s", why.text);
	machine.info.cpus_len = recording_reader_info(cut->reader)->cpus_len;
	status = capture_check_cpus(&machine, filter);
	if (!status)
		status = choose_part(cut);
	if (!status)
		status = check_length(cut);
	if (status)
		return status;
	cut->lead_in = lead_in_open(0);
	cut->filter = filter_is_empty(filter) ? NULL : event_filter_open(filter, false);
	if (!cut->lead_in || (!cut->filter && !filter_is_empty(filter)))
		return fail("cut", "out of memory");
	loop_take_signals();
	if (recording_create(&cut->writer, cut->options.output, &cut->info, &why))
		return fail(cut->options.output, "%s", why.text);
	privileges_give_up_but_folder(recording_folder(cut->writer));
	return 0;
}

static void print_summary(const struct cut *cut, u64 bytes, u64 events)
{
	u64 last_ns = cut->to_ns < cut->last_ns ? cut->to_ns : cut->last_ns;
	struct json json = { .out = stdout };

	if (!cut->options.json) {
		print_plain(stdout, cut->options.output);
		printf(": %" PRIu64 " events in %.1f MB, %.3f s to %.3f s of ", events, (double)bytes / 1e6,
		       (double)(cut->from_ns - cut->start_ns) / NSEC_PER_SEC,
		       (double)span_between(cut->start_ns, last_ns) / NSEC_PER_SEC);
		print_plain(stdout, cut->options.input);
		putchar('\n');
		return;
	}
	json_record(&json, "cut", true);
	json_u64(&json, "events", events);
	json_u64(&json, "part_events", cut->events);
	json_u64(&json, "bytes", bytes);
	json_u64(&json, "from_ns", cut->from_ns);
	json_u64(&json, "to_ns", last_ns);
	json_object_end(&json);
	json_line_end(&json);
}

/* What is whole gets its name; anything else leaves what was there. Returns the status to end with. */
static int end_file(struct cut *cut, int status)
{
	u64 bytes = recording_bytes(cut->writer), events = recording_events(cut->writer);
	int error;

	if (cut->error || cut->stopped) {
		recording_drop_writer(cut->writer);
		return status;
	}
	error = recording_close_writer(cut->writer);
	if (error)
		return fail(cut->options.output, NOT_WRITTEN, strerror(-error));
	print_summary(cut, bytes, events);
	return status;
}

static const char *find_conflict(const struct options *options)
{
	if (!options->input)
		return "no recording to cut: name one with -i FILE";
	if (!options->output)
		return "no file to write: give one with -o FILE";
	if (options->output_format != OUTPUT_RECORDING)
		return "what is cut is a recording: name a file that ends neither in .json nor in .jsonl";
	return NULL;
}

int view_cut(int argc, char **argv)
{
	struct cut cut = { 0 };
	const char *conflict;
	int status;

	options_parse(&cut.options, &cut_usage, NULL, argc, argv);
	conflict = find_conflict(&cut.options);
	if (conflict) {
		fail("cut", "%s", conflict);
		return EXIT_USAGE;
	}
	status = open_files(&cut);
	if (!status)
		status = copy_part(&cut);
	if (cut.writer)
		status = end_file(&cut, status);
	event_filter_close(cut.filter);
	lead_in_close(cut.lead_in);
	recording_close_reader(cut.reader);
	/* A signal that waits ends the program here. */
	loop_give_back_signals();
	return status;
}

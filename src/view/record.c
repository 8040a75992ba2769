// SPDX-License-Identifier: GPL-2.0
/* tactus record: the stream to a file, for any view to read later with -i.
 * Shows how far it is while it goes on, and at the end what was written and what was lost. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../core/event_info.h"
#include "../base/loop.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../sensor/cuda.h"
#include "../sensor/sensor.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "../capture/role_options.h"
#include "../capture/capture.h"
#include "export.h"
#include "record_ring.h"
#include "record_segments.h"
#include "stack_words.h"
#include "view.h"

enum {
	KEY_CUDA = 0x400,
	KEY_LIBRARY,
	KEY_SPAN,
	KEY_MEMORY,
	KEY_ON,
	KEY_SEGMENTS,
	KEY_TO,
	KEY_SEGMENT_MB,
	KEY_KEEP_MB,
	MEMORY_DEFAULT_MB = 256,
	SEGMENT_DEFAULT_MB = 1000,
	KEEP_MOST_MB = 1000000000,
};

struct chosen {
	struct cuda_settings cuda;
	bool with_cuda, with_stacks;
	struct ring_wishes ring;
	struct segment_wishes segments;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == KEY_SPAN)
		return ring_take_span(&chosen->ring, value);
	if (key == KEY_MEMORY)
		return ring_take_memory(&chosen->ring, value);
	if (key == KEY_ON)
		return ring_take_causes(&chosen->ring, value);
	if (key == KEY_STACKS)
		return chosen->with_stacks = true, NULL;
	if (key == KEY_SEGMENTS)
		return segments_take_span(&chosen->segments, value);
	if (key == KEY_TO)
		return chosen->segments.folder = value, NULL;
	if (key == KEY_SEGMENT_MB || key == KEY_KEEP_MB)
		return parse_number(value, KEEP_MOST_MB,
				    key == KEY_KEEP_MB ? &chosen->segments.keep_mb : &chosen->segments.segment_mb)
			       ? "is not a number of megabytes"
			       : NULL;
	if (key != KEY_CUDA && key != KEY_LIBRARY)
		return role_options_take(key, value);
	chosen->with_cuda = true;
	if (key == KEY_LIBRARY)
		chosen->cuda.library = value;
	return NULL;
}

/* Of the file's, beside the command line's. */
static bool fits(const void *data, const struct options *options, const char *option)
{
	const struct chosen *chosen = data;

	if (!strcmp(option, "segments") || !strcmp(option, "to") || !strcmp(option, "segment-mb") ||
	    !strcmp(option, "keep-mb"))
		return false;
	if (!strcmp(option, "ring"))
		return !options->output || options_format(options) == OUTPUT_RECORDING;
	if (!strcmp(option, "on") || !strcmp(option, "memory"))
		return chosen->ring.span_ns;
	return strcmp(option, "format") != 0 || !chosen->ring.span_ns;
}

static const struct argp_option own_options[] = {
	{ "cuda", KEY_CUDA, 0, 0,
	  "Also record calls into libcuda and the ioctls of NVIDIA's drivers, as 'tactus cuda' does", 0 },
	{ "library", KEY_LIBRARY, "FILE", OPTION_HIDDEN, "With --cuda: probe this libcuda before anything maps it", 0 },
	{ "ring", KEY_SPAN, "SPAN", 0, "Keep the last SPAN (30s) in memory only, and write it to FILE on SIGUSR1", 0 },
	{ "on", KEY_ON, "CAUSE,...", 0, "With --ring: write it on late-frame, xid too", 0 },
	{ "memory", KEY_MEMORY, "MB", OPTION_HIDDEN, "With --ring: keep at most this much (256)", 0 },
	{ "segments", KEY_SEGMENTS, "SPAN", 0,
	  "Write one recording after the other into the folder of --to, each of SPAN (60s)", 0 },
	{ "to", KEY_TO, "DIR", 0, "With --segments: the folder, which is made", 0 },
	{ "segment-mb", KEY_SEGMENT_MB, "MB", OPTION_HIDDEN,
	  "With --segments: begin the next early at this size (1000)", 0 },
	{ "keep-mb", KEY_KEEP_MB, "MB", OPTION_HIDDEN,
	  "With --segments: remove the oldest where all are larger than this", 0 },
	{ "stacks", KEY_STACKS, 0, 0,
	  "Also record the stacks of threads that had no CPU for a millisecond, and of who woke them", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

const struct command_usage record_usage = {
	.name = "record",
	.text = "Writes all scheduler and role events to a file that other commands read with -i.\v"
		"After a crash, a kill or on a full disk, the file can be read up to its last complete block.\n"
		"\n"
		"--segments writes for months: each segment can be read by itself, and index.jsonl in the same folder "
		"lists those that are there.\n"
		"\n"
		"--ring writes nothing until it is asked to: each time to a file of its own (FILE, FILE.1, FILE.2...), "
		"and goes on. By --on it does so once per SPAN at most.\n"
		"\n"
		"Examples:\n"
		"  tactus record -o game.tactus -- ./game\n"
		"  tactus latency -i game.tactus --over 5ms\n"
		"  tactus record --cuda -o train.tactus -- python3 train.py\n"
		"  tactus record --ring 30s --on late-frame -o stutter.tactus\n"
		"  tactus record --segments 60s --to /var/lib/tactus/segments --keep-mb 10000\n"
		"  tactus record -o game.pftrace -- ./game",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_OUTPUT | TAKES_PERFETTO | TAKES_FILTER | TAKES_RING |
		 TAKES_JSON | TAKES_REPORT,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = fits,
};

struct recording {
	struct chosen chosen;
	struct capture capture;
	struct record_ring *ring;  /* NULL: the stream goes to a file */
	struct segments *segments; /* or into these */
	const struct options *options;
	struct trace_file trace; /* where it goes as a trace for others */
	u64 flushed_at_ns;
	u64 shown_bytes;
	u32 cuda_libraries;
};

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct recording *recording = data;

	(void)ended;
	if (recording->segments)
		segments_take(recording->segments, &recording->capture.info, event);
	else
		record_ring_take(recording->ring, event);
}

static bool open_trace(void *data)
{
	struct recording *recording = data;
	char machine[HOST_NAME_MAX + 1] = "";

	gethostname(machine, HOST_NAME_MAX);
	return trace_file_open(&recording->trace, recording->options, false) &&
	       trace_file_begin(&recording->trace, &recording->capture, machine, EXPORT_OVER_NS);
}

static void trace_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct recording *recording = data;

	exporter_take(&recording->trace.exporter, event, ended, false);
}

/* What a killed recorder may lose is a second. False: the disk takes no more. */
static bool flush_trace(struct recording *recording)
{
	struct trace_file *trace = &recording->trace;

	if (clock_now_ns() - recording->flushed_at_ns >= NSEC_PER_SEC) {
		trace_file_flush(trace);
		recording->flushed_at_ns = clock_now_ns();
	}
	recording->capture.written_bytes = trace->output.bytes;
	recording->capture.written_events = trace->exporter.events;
	return !trace_file_error(trace);
}

/* On a terminal: how far it is, on one line that is written over. */
static bool on_tick(void *data)
{
	struct recording *recording = data;
	const struct capture *capture = &recording->capture;

	if (!recording->ring && loop_was_requested())
		note("SIGUSR1 is for --ring: it changes nothing here");
	if (recording->segments)
		return segments_tick(recording->segments);
	if (recording->ring) {
		record_ring_tick(recording->ring, &capture->info, clock_now_ns());
		return true;
	}
	if (recording->trace.is_open && !flush_trace(recording))
		return false;
	if (capture->written_bytes == recording->shown_bytes || !isatty(STDERR_FILENO))
		return true;
	recording->shown_bytes = capture->written_bytes;
	fprintf(stderr, "\r%" PRIu64 " events, %.1f MB ", capture->written_events,
		(double)recording->shown_bytes / 1e6);
	return true;
}

static void print_summary_json(const struct capture *capture)
{
	struct json json = { .out = stdout };

	json_record(&json, "recording", false);
	json_u64(&json, "events", capture->written_events);
	json_u64(&json, "bytes", capture->written_bytes);
	json_u64(&json, "read", capture->read);
	json_u64(&json, "lost", capture->losses.events);
	json_u64(&json, "unseen_switches", capture->losses.unseen_switches);
	json_u64(&json, "span_ns", capture->threads.last_ns - capture->threads.first_ns);
	json_array(&json, "rings");
	for (u32 cpu = 0; capture->rings && cpu < capture->info.cpus_len; cpu++) {
		json_object(&json, NULL);
		json_u64(&json, "cpu", cpu);
		json_u64(&json, "produced", capture->rings[cpu].produced);
		json_u64(&json, "read", capture->rings[cpu].read);
		json_u64(&json, "lost", capture->rings[cpu].lost);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object(&json, "lost_kinds");
	for (u32 kind = 1; kind < EVENT_KINDS; kind++)
		if (capture->losses.of_kind[kind])
			json_u64(&json, event_info(kind)->name, capture->losses.of_kind[kind]);
	json_object_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}

static void on_end(void *data)
{
	struct recording *recording = data;

	if (recording->segments)
		segments_end(recording->segments);
	if (recording->ring)
		record_ring_end(recording->ring, &recording->capture.info);
	if (recording->chosen.with_cuda)
		recording->cuda_libraries = cuda_state(sensor_set_find(recording->capture.sensors, "cuda")).libraries;
}

static void print_summary(const struct capture *capture, const struct options *options)
{
	double bytes = (double)capture->written_bytes, events = (double)capture->written_events;

	if (options->json) {
		print_summary_json(capture);
		return;
	}
	print_plain(stdout, options->output);
	if (options->output_format == OUTPUT_LINES) {
		printf(": %" PRIu64 " events, %" PRIu64 " lost\n", capture->written_events, capture->losses.events);
		return;
	}
	printf(": %" PRIu64 " events in %.1f MB, %.1f bytes an event, %" PRIu64 " lost\n", capture->written_events,
	       bytes / 1e6, events > 0 ? bytes / events : 0, capture->losses.events);
}

static void print_ring_summary(const struct recording *recording, bool json_wanted)
{
	struct record_ring_sums sums = record_ring_sums(recording->ring);
	struct json json = { .out = stdout };

	if (!json_wanted) {
		printf("%" PRIu64 " file%s written; %" PRIu64 " events seen, at most %.1f MB kept, %" PRIu64
		       " lost by the kernel's rings\n",
		       sums.dumps, sums.dumps == 1 ? "" : "s", sums.events, (double)sums.bytes_most / 1e6,
		       recording->capture.losses.events);
		return;
	}
	json_record(&json, "ring", false);
	json_u64(&json, "dumps", sums.dumps);
	json_u64(&json, "failed", sums.failed);
	json_u64(&json, "skipped", sums.skipped);
	json_u64(&json, "events", sums.events);
	json_u64(&json, "pressed_out", sums.pressed_out);
	json_u64(&json, "bytes_most", sums.bytes_most);
	json_u64(&json, "lost", recording->capture.losses.events);
	json_object_end(&json);
	json_line_end(&json);
}

static bool on_open(void *data, struct sensor *sched)
{
	(void)data;
	(void)sched;
	note("kill -USR1 %d writes what the ring holds", (int)getpid());
	return true;
}

/* Xids come by the way of the cuda sensor; without --cuda nothing else is asked of it. */
static void watch_xids(struct recording *recording)
{
	static const struct cuda_settings xids_only = { .api = "^$", .sample = 1, .no_ioctls = true };

	if (!recording->chosen.ring.on_xid)
		return;
	if (access("/sys/kernel/tracing/events/nvidia", F_OK))
		note("record: this machine has no NVIDIA driver loaded: no Xid comes");
	recording->capture.request.groups |= EVENTS_CUDA;
	if (!recording->chosen.with_cuda)
		recording->capture.request.cuda = &xids_only;
}

/* Returns the status to end with. */
static int keep_ring(struct recording *recording, const struct options *options)
{
	struct capture *capture = &recording->capture;
	struct options live = *options;
	struct reason why;
	int status;

	if (recording_check(options->output, &why))
		return fail(options->output, "%s", why.text);
	recording->ring = record_ring_open(&recording->chosen.ring, options->output, options->json);
	if (!recording->ring)
		return EXIT_FAILURE;
	/* What a recording that is written at once has. */
	capture->request.groups |= EVENTS_ALL & ~(u32)EVENTS_CUDA;
	watch_xids(recording);
	capture->request.on_event = on_event;
	capture->request.on_open = on_open;
	live.output = NULL;
	privileges_need(geteuid() == 0 ? NEED_TO_CREATE : 0);
	loop_take_requests();
	status = capture_run(capture, &live);
	if (capture->threads.last_ns) {
		print_ring_summary(recording, options->json);
		capture_print_losses(capture);
	}
	status = status ? status : record_ring_sums(recording->ring).failed ? EXIT_FAILURE : 0;
	record_ring_close(recording->ring);
	return status;
}

static void print_segments_summary(const struct recording *recording, bool json_wanted)
{
	struct segments_sums sums = segments_sums(recording->segments);
	struct json json = { .out = stdout };

	if (!json_wanted) {
		printf("%" PRIu64 " segments, %" PRIu64 " events in %.1f MB, %.1f bytes an event, %" PRIu64
		       " removed, %" PRIu64 " events lost\n",
		       sums.segments, sums.events, (double)sums.bytes / 1e6,
		       sums.events ? (double)sums.bytes / (double)sums.events : 0, sums.removed,
		       recording->capture.losses.events);
		return;
	}
	json_record(&json, "segments", false);
	json_u64(&json, "segments", sums.segments);
	json_u64(&json, "events", sums.events);
	json_u64(&json, "bytes", sums.bytes);
	json_u64(&json, "removed", sums.removed);
	json_u64(&json, "lost", recording->capture.losses.events);
	json_object_end(&json);
	json_line_end(&json);
}

/* Returns the status to end with. */
static int keep_segments(struct recording *recording, const struct options *options)
{
	struct capture *capture = &recording->capture;
	struct options live = *options;
	struct segments_sums sums;
	int status;

	recording->segments = segments_open(&recording->chosen.segments);
	if (!recording->segments)
		return EXIT_FAILURE;
	capture->request.groups |= EVENTS_ALL & ~(u32)EVENTS_CUDA;
	capture->request.on_event = on_event;
	live.output = NULL;
	privileges_need(geteuid() == 0 ? NEED_TO_CREATE : 0);
	loop_take_requests();
	status = capture_run(capture, &live);
	sums = segments_sums(recording->segments);
	if (capture->threads.last_ns) {
		print_segments_summary(recording, options->json);
		capture_print_losses(capture);
	}
	segments_close(recording->segments);
	return status ? status : sums.has_failed || (capture->threads.last_ns && !sums.segments) ? EXIT_FAILURE : 0;
}

static const char *find_conflict(const struct chosen *chosen, const struct options *options)
{
	const struct segment_wishes *segments = &chosen->segments;

	if (!segments->span_ns && (segments->folder || segments->segment_mb || segments->keep_mb))
		return "--to, --segment-mb and --keep-mb are for --segments SPAN";
	if (segments->span_ns && !segments->folder)
		return "no folder for the segments: give one with --to DIR";
	if (segments->span_ns && (options->output || chosen->ring.span_ns || chosen->with_stacks))
		return "--segments takes neither -o nor --ring nor --stacks";
	if (segments->span_ns)
		return NULL;
	if (!options->output)
		return "no file to write: give one with -o FILE";
	if (!chosen->ring.span_ns && (chosen->ring.on_late_frame || chosen->ring.on_xid || chosen->ring.memory_mb))
		return "--on and --memory are for --ring SPAN";
	if (chosen->ring.span_ns && options->output_format != OUTPUT_RECORDING)
		return "--ring writes recordings: name a file that does not end in .jsonl";
	return NULL;
}

static int write_all(struct recording *recording, const struct options *options)
{
	struct capture *capture = &recording->capture;
	int status;

	loop_take_requests();
	status = capture_run(capture, options);
	if (isatty(STDERR_FILENO))
		fputc('\r', stderr);
	if (!capture->threads.last_ns)
		return status;
	print_summary(capture, options);
	capture_print_losses(capture);
	if (recording->chosen.with_cuda && !recording->cuda_libraries)
		note("no libcuda was found, neither mapped by a watched process nor in the library folders: no "
		     "call into it is recorded");
	return status;
}

/* As a trace that others open, while it goes on. */
static int write_trace(struct recording *recording, const struct options *options)
{
	struct capture *capture = &recording->capture;
	struct options live = *options;
	u64 events;
	int status, closed;

	/* What a recording has that is written at once. */
	capture->request.groups |= EVENTS_ALL & ~(u32)EVENTS_CUDA;
	capture->request.no_threads = false;
	capture->request.forgets_ended = true;
	capture->request.on_event = trace_event;
	capture->request.on_outputs = open_trace;
	recording->options = options;
	live.output = NULL;
	loop_take_requests();
	status = capture_run(capture, &live);
	if (isatty(STDERR_FILENO))
		fputc('\r', stderr);
	events = recording->trace.exporter.events;
	closed = trace_file_close(&recording->trace, capture, options->output, false);
	if (!capture->threads.last_ns)
		return status;
	capture->written_events = events;
	capture->written_bytes = recording->trace.output.bytes;
	print_summary(capture, options);
	capture_print_losses(capture);
	return status ? status : closed;
}

int view_record(int argc, char **argv)
{
	struct recording recording = {
		.chosen.cuda = { .api = "default", .sample = 1 },
		.capture.request = { .view = "record",
				     .groups = EVENTS_SCHED | EVENTS_ROLES,
				     .no_threads = true,
				     .on_tick = on_tick,
				     .on_end = on_end,
				     .data = &recording },
	};
	struct capture *capture = &recording.capture;
	struct options options;
	const char *conflict;
	int status;

	options_parse(&options, &record_usage, &recording.chosen, argc, argv);
	conflict = find_conflict(&recording.chosen, &options);
	if (conflict) {
		fail("record", "%s", conflict);
		return EXIT_USAGE;
	}
	if (!recording.chosen.ring.memory_mb)
		recording.chosen.ring.memory_mb = MEMORY_DEFAULT_MB;
	if (recording.chosen.with_cuda) {
		capture->request.groups |= EVENTS_CUDA;
		capture->request.cuda = &recording.chosen.cuda;
		capture->request.subject = (struct capture_subject){ .sensor = "cuda", .hooks = CUDA_HOOKS };
	}
	if (recording.chosen.with_stacks)
		capture->request.groups |= EVENTS_STACKS;
	capture->request.stacks_over_ns = STACKS_OVER_NS;
	if (!recording.chosen.segments.segment_mb)
		recording.chosen.segments.segment_mb = SEGMENT_DEFAULT_MB;
	status = recording.chosen.segments.span_ns	    ? keep_segments(&recording, &options)
		 : recording.chosen.ring.span_ns	    ? keep_ring(&recording, &options)
		 : options.output_format == OUTPUT_PERFETTO ? write_trace(&recording, &options)
							    : write_all(&recording, &options);
	capture_free(capture);
	return status;
}

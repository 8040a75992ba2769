// SPDX-License-Identifier: GPL-2.0
/* tactus cuda: what a program does with its GPU through libcuda, and what that does in the driver: calls, launches,
 * copies, memory, waits and ioctls, in tables at the end, a line a second, or as a trace. */
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/loop.h"
#include "../base/say.h"
#include "../sensor/cuda.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "cuda_view.h"
#include "tables.h"
#include "../capture/capture.h"
#include "view.h"

enum {
	KEY_API = 0x400,
	KEY_SAMPLE,
	KEY_LIVE,
	KEY_LIST,
	KEY_NO_IOCTLS,
	KEY_LIBRARY,
	KEY_DRIVER,
	KEY_DRIVER_BY,
	KEY_COUNT,
	KEY_NO_DETOUR,
	KEY_WIDE,
	KEY_MANGLED,
	KEY_STEPS,
	KEY_STEP_AT
};
enum { LINES_PER_HEAD = 20, TEXT_SIZE = 24 };

struct chosen {
	struct cuda_settings wishes;
	bool live_lines, list_only, steps;
	const char *step_at; /* what steps begin with; NULL: the rhythm says */
	enum kernel_names names;
	char driver_patterns[1024]; /* --driver, all of them */
	char count_pattern[256];    /* --count, as a regular expression */
};

/* One shell pattern for the functions of both layers: libcuda's are chosen by a regular expression. */
static const char *count_what(struct chosen *chosen, const char *pattern)
{
	size_t at = 0;

	chosen->count_pattern[at++] = '^';
	for (const char *from = strchr(pattern, ':') ? strchr(pattern, ':') + 1 : pattern; *from; from++) {
		if (at + 4 > sizeof(chosen->count_pattern))
			return "is too long a pattern";
		if (*from == '*')
			chosen->count_pattern[at++] = '.';
		if (*from == '?')
			chosen->count_pattern[at++] = '.';
		else if (*from == '.')
			chosen->count_pattern[at++] = '\\';
		if (*from != '?')
			chosen->count_pattern[at++] = *from;
	}
	chosen->count_pattern[at++] = '$';
	chosen->wishes.api = chosen->count_pattern;
	chosen->wishes.driver = pattern;
	chosen->wishes.counts_only = chosen->wishes.no_ioctls = true;
	return NULL;
}

static const char *add_driver(struct chosen *chosen, const char *patterns)
{
	size_t used = strlen(chosen->driver_patterns);

	if (!*patterns || patterns[0] == ',' || patterns[strlen(patterns) - 1] == ',' || strstr(patterns, ",,"))
		return "has an empty pattern";
	if (used + strlen(patterns) + 2 > sizeof(chosen->driver_patterns))
		return "is too long a list of patterns";
	sprintf(chosen->driver_patterns + used, "%s%s", used ? "," : "", patterns);
	chosen->wishes.driver = chosen->driver_patterns;
	return NULL;
}

static const char *take_driver_by(struct chosen *chosen, const char *value)
{
	static const char *const ways[] = { "auto", "fentry", "kprobe" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(value, ways[i])) {
			chosen->wishes.driver_by = (enum driver_by)i;
			return NULL;
		}
	return "is none of auto, fentry and kprobe";
}

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;
	regex_t pattern;
	u64 number;

	switch (key) {
	case KEY_API:
		if (regcomp(&pattern, value, REG_EXTENDED | REG_NOSUB))
			return "is neither 'default' nor 'all' nor a regular expression";
		regfree(&pattern);
		chosen->wishes.api = value;
		return NULL;
	case KEY_SAMPLE:
		if (parse_number(value, 1000000, &number) || !number)
			return "is not a number from 1 to 1000000";
		chosen->wishes.sample = (u32)number;
		return NULL;
	case KEY_DRIVER:
		return add_driver(chosen, value);
	case KEY_DRIVER_BY:
		return take_driver_by(chosen, value);
	case KEY_COUNT:
		return count_what(chosen, value);
	case KEY_LIBRARY:
		chosen->wishes.library = value;
		return NULL;
	case KEY_LIVE:
		chosen->live_lines = true;
		return NULL;
	case KEY_STEP_AT:
		chosen->step_at = value;
		chosen->steps = true;
		return *value ? NULL : "names nothing";
	case KEY_STEPS:
		chosen->steps = true;
		return NULL;
	case KEY_NO_DETOUR:
		chosen->wishes.no_detour = true;
		return NULL;
	case KEY_WIDE:
	case KEY_MANGLED:
		chosen->names = key == KEY_WIDE ? NAMES_WHOLE : NAMES_MANGLED;
		return NULL;
	case KEY_NO_IOCTLS:
		chosen->wishes.no_ioctls = true;
		return NULL;
	default:
		chosen->list_only = true;
		return NULL;
	}
}

static const struct argp_option own_options[] = {
	{ "api", KEY_API, "default|all|REGEX", 0, "Functions to trace", 0 },
	{ "sample", KEY_SAMPLE, "N", 0, "Send one call in N; counts stay exact", 0 },
	{ "no-detour", KEY_NO_DETOUR, 0, OPTION_HIDDEN, "Let every call of the command hit its probe, as with -p", 0 },
	{ "steps", KEY_STEPS, 0, 0, "Where training steps go; why slow ones were slow", 0 },
	{ "step-at", KEY_STEP_AT, "NAME", OPTION_HIDDEN, "The same; a step begins with what has this name", 0 },
	{ "live", KEY_LIVE, 0, 0, "Also print one line per second", 0 },
	{ "wide", KEY_WIDE, 0, 0, "Print kernel names in full", 0 },
	{ "mangled", KEY_MANGLED, 0, OPTION_HIDDEN, "Print kernel names as the program has them, not demangled", 0 },
	{ "driver", KEY_DRIVER, "PATTERN,...", 0, "Also trace functions of NVIDIA's modules; MODULE:PATTERN for others",
	  0 },
	{ "driver-by", KEY_DRIVER_BY, "fentry|kprobe|auto", OPTION_HIDDEN, "How to hook them", 0 },
	{ "count", KEY_COUNT, "PATTERN", 0, "Only count calls of functions that match PATTERN", 0 },
	{ "library", KEY_LIBRARY, "FILE", 0, "Probe this libcuda before anything maps it", 0 },
	{ "no-ioctls", KEY_NO_IOCTLS, 0, 0, "Do not trace ioctls", 0 },
	{ "list", KEY_LIST, 0, 0, "Print the functions that match PATTERN and how each can be hooked here, and exit",
	  0 },
	{ 0 },
};

const struct command_usage cuda_usage = {
	.name = "cuda",
	.text = "Traces calls into libcuda and NCCL, and the ioctls of NVIDIA's drivers inside them. "
		"Prints tables at the end.\v"
		"In the default set a launch is traced only at its entry: it has no duration and no result. --api all "
		"and "
		"--api REGEX trace the end of every call.\n"
		"SELF is the time of a call minus the ioctls and other traced calls inside it. CPU WAIT is how long "
		"the "
		"thread waited for a CPU during the call. A command that tactus starts reports its launches itself, "
		"unless --no-detour is given; "
		"'man tactus' says how.\n"
		"-o FILE.jsonl writes one line per event, and -o FILE.json a trace for chrome://tracing and Perfetto.\n"
		"\n"
		"Examples:\n"
		"  tactus cuda --steps -- python3 train.py\n"
		"  tactus cuda -p 4711 -d 10 --live\n"
		"  tactus cuda --api 'Memcpy|Synchronize' -o trace.json -- ./program\n"
		"  tactus cuda --list 'cuMem*'",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_WORD | TAKES_EXPORT,
	.word = "[PATTERN]",
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

struct show {
	struct chosen chosen;
	struct options options;
	struct capture capture;
	struct cuda cuda;
	struct steps steps;
	struct collectives collectives;
	struct driver_memory driver_memory;
	struct driver_work driver_work;
	struct submits submits;	     /* what GPUs have done, where a driver tells */
	struct cuda_state_of sensor; /* live */
	struct reason trap;	     /* why every call runs into its probe; "": not every one has to */
	const char *export_path;     /* NULL: none */
	enum cuda_form form;
	struct cuda_export *export;
	u64 line_at_ns, lines;
	u64 line_launches, line_calls, line_ioctls, line_waits_ns, line_done;
	u64 launches, calls; /* by the counts, where not every one is seen */
};

static u64 ioctls_of(const struct cuda *cuda)
{
	u64 count = 0;

	for (const struct cuda_process *process = cuda->processes; process; process = process->next)
		count += process->ioctls;
	return count;
}

static u64 memory_of(const struct cuda *cuda)
{
	u64 bytes = 0;

	for (const struct cuda_process *process = cuda->processes; process; process = process->next)
		for (u32 kind = 0; kind < MEMORY_KINDS; kind++)
			bytes += process->memory[kind].now_bytes;
	return bytes;
}

static void sum_calls(struct show *show)
{
	show->launches = show->cuda.launches;
	show->calls = show->cuda.calls;
	if (show->chosen.wishes.sample <= 1)
		return;
	show->launches = show->calls = 0;
	for (u32 i = 0; i < show->cuda.functions_len; i++) {
		const struct cuda_calls *calls = &show->cuda.functions[i];

		show->calls += cuda_times_called(calls);
		show->launches += calls->api->class == CUDA_LAUNCHES ? cuda_times_called(calls) : 0;
	}
}

static void print_line_json(const struct show *show, u64 now_ns, u64 ioctls)
{
	struct json json = { .out = stdout };

	json_record(&json, "cuda_second", true);
	json_u64(&json, "time_ns", now_ns);
	json_u64(&json, "span_ns", now_ns - show->line_at_ns);
	json_u64(&json, "launches", show->launches - show->line_launches);
	json_u64(&json, "calls", show->calls - show->line_calls);
	json_u64(&json, "ioctls", ioctls - show->line_ioctls);
	json_u64(&json, "wait_ns", show->cuda.wait_total_ns - show->line_waits_ns);
	json_u64(&json, "memory_bytes", memory_of(&show->cuda));
	json_u64(&json, "gpu_done", submits_done(&show->submits) - show->line_done);
	json_object_end(&json);
	json_line_end(&json);
}

static void print_line_words(struct show *show, u64 now_ns, u64 ioctls)
{
	double seconds = (double)(now_ns - show->line_at_ns) / NSEC_PER_SEC;
	char memory[TEXT_SIZE], waited[TEXT_SIZE];

	format_bytes(memory, sizeof(memory), memory_of(&show->cuda));
	format_time(waited, sizeof(waited), show->cuda.wait_total_ns - show->line_waits_ns);
	if (show->lines++ % LINES_PER_HEAD == 0)
		printf("%12s %12s %10s %10s %12s %10s\n", "LAUNCHES/S", "CALLS/S", "IOCTLS/S", "WAITED", "MEMORY",
		       "GPU DONE/S");
	printf("%12.0f %12.0f %10.0f %10s %12s %10.0f\n", (double)(show->launches - show->line_launches) / seconds,
	       (double)(show->calls - show->line_calls) / seconds, (double)(ioctls - show->line_ioctls) / seconds,
	       waited, memory, (double)(submits_done(&show->submits) - show->line_done) / seconds);
}

static void print_line(struct show *show, u64 now_ns)
{
	u64 ioctls = ioctls_of(&show->cuda);

	sum_calls(show);
	if (show->options.json)
		print_line_json(show, now_ns, ioctls);
	else
		print_line_words(show, now_ns, ioctls);
	show->line_launches = show->launches;
	show->line_calls = show->calls;
	show->line_ioctls = ioctls;
	show->line_waits_ns = show->cuda.wait_total_ns;
	show->line_done = submits_done(&show->submits);
}

/* The part of a second at the end, where there was a call in it. */
static void print_last_line(struct show *show)
{
	u64 now_ns = clock_now_ns();

	if (!show->chosen.live_lines || !show->line_at_ns || now_ns == show->line_at_ns)
		return;
	sum_calls(show);
	if (show->calls != show->line_calls)
		print_line(show, now_ns);
}

static bool on_tick(void *data)
{
	struct show *show = data;
	u64 now_ns = clock_now_ns();

	if (!show->line_at_ns)
		show->line_at_ns = now_ns;
	if (!show->chosen.live_lines || now_ns - show->line_at_ns < NSEC_PER_SEC)
		return true;
	print_line(show, now_ns);
	show->line_at_ns = now_ns;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

static void take_step(struct show *show, const struct event_header *event)
{
	const struct step_process *process = NULL;
	struct step step;

	if (steps_handle(&show->steps, &show->capture.threads, &show->cuda, event, &step, &process) && step.is_slow)
		cuda_print_slow_step(&step, process, &show->capture.threads, &show->cuda, show->options.json);
}

/* At once, and where nobody overlooks it. */
static void note_xid(const struct event_cuda_xid *event)
{
	char message[LONG_NAME_LEN + 1] = "", plain[2 * sizeof(message)];

	memcpy(message, event->message.text, LONG_NAME_LEN);
	format_plain(plain, sizeof(plain), message);
	note("the GPU reports an error: Xid %u%s%s", event->code, plain[0] ? ": " : "", plain);
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;
	struct stall unused;

	(void)ended;
	/* Before, only names are news; and the counts are those of all, and all threads. */
	if ((show->capture.before_window && event->kind != EVENT_CUDA_NAME) ||
	    (show->capture.is_excerpt && event->kind == EVENT_CUDA_COUNT))
		return;
	cuda_handle(&show->cuda, &show->capture.threads, event);
	collectives_handle(&show->collectives, &show->cuda, event);
	driver_memory_handle(&show->driver_memory, event);
	driver_work_handle(&show->driver_work, event);
	submits_handle(&show->submits, &show->capture.threads, event, &unused);
	if (show->chosen.steps && !show->capture.before_window)
		take_step(show, event);
	if (event->kind == EVENT_CUDA_XID && !show->capture.replay)
		note_xid((const struct event_cuda_xid *)event);
	if (show->export)
		cuda_export_handle(show->export, event);
}

/* What the user ought to know of what could not be watched. */
static void print_notes(const struct show *show)
{
	bool says_how = show->chosen.wishes.sample > 1 || show->options.verbose;

	if (show->cuda.failed)
		note("some calls are missing: there was no memory for them");
	if (show->capture.replay) {
		if (!show->cuda.calls && !ioctls_of(&show->cuda))
			note("there is nothing of CUDA in this recording");
		return;
	}
	if (!show->sensor.libraries)
		note("no libcuda was found, neither mapped by a watched process nor in the library folders: no call "
		     "was seen");
	else if (!show->cuda.calls && !show->chosen.wishes.counts_only)
		note("no call into libcuda was seen");
	if (show->sensor.found_mapped)
		note("a libcuda was probed only when a process had mapped it: its first calls may be missing "
		     "(--library "
		     "FILE probes it before)");
	if (says_how && show->sensor.detour.calls)
		note("%" PRIu64 " calls were counted without a trap, in %u process%s", show->sensor.detour.calls,
		     show->sensor.detour.processes, show->sensor.detour.processes == 1 ? "" : "es");
	else if (says_how && show->cuda.calls)
		note("every call was counted by a trap: %s",
		     show->trap.text[0] ? show->trap.text
					: "no program took the way round it (a static one, glibc before 2.35, "
					  "another C library, or a libcuda that begins otherwise)");
	if (!show->sensor.ioctls && !show->chosen.wishes.no_ioctls)
		note("this machine has no NVIDIA driver loaded: no ioctl was watched");
}

static void on_end(void *data)
{
	struct show *show = data;

	show->sensor = cuda_state(sensor_set_find(show->capture.sensors, "cuda"));
	reason_set(&show->trap, "%s", show->sensor.trap);
}

static bool open_export(void *data)
{
	struct show *show = data;

	if (show->export_path)
		show->export = cuda_export_open(show->export_path, show->form, show->options.force, show->chosen.names);
	return !show->export_path || show->export;
}

/* Drivers tell of it, if at all: NVIDIA's own mostly does not. */
static void print_done(const struct show *show)
{
	if (!submits_done(&show->submits))
		return;
	if (!show->options.json)
		puts("\nwork that GPUs have done (jobs in the kernel's scheduler for GPUs, and fences)");
	submits_print_done(&show->submits, &show->options);
}

static int play(struct show *show)
{
	int status;

	if (show->options.output && show->options.output_format != OUTPUT_RECORDING) {
		show->form = show->options.output_format == OUTPUT_LINES ? FORM_LINES : FORM_CHROME;
		show->export_path = show->options.output;
		show->options.output = NULL;
	} else if (show->options.output && show->options.input) {
		fail("cuda", "with -i, -o writes a FILE.jsonl or a FILE.json");
		return EXIT_USAGE;
	}
	show->chosen.wishes.ranges = show->chosen.steps;
	cuda_init(&show->cuda);
	steps_init(&show->steps, show->chosen.step_at);
	show->capture = (struct capture){
		.request = { .view = "cuda",
			     .groups = EVENTS_CUDA | EVENTS_GPU | (show->chosen.steps ? EVENTS_SCHED : 0),
			     .without = "gpu",
			     .subject = { .sensor = "cuda", .hooks = CUDA_HOOKS },
			     .cuda = &show->chosen.wishes,
			     .on_outputs = open_export,
			     .wants_before = true,
			     .on_event = on_event,
			     .on_tick = on_tick,
			     .on_end = on_end,
			     .data = show,
			     .snapshots = show->chosen.live_lines && show->chosen.wishes.sample > 1 }
	};
	status = capture_run(&show->capture, &show->options);
	cuda_end(&show->cuda);
	print_last_line(show);
	if (show->capture.threads.last_ns) {
		if (show->lines)
			putchar('\n');
		if (show->chosen.steps)
			cuda_print_steps(&show->steps, &show->options, &show->capture.threads, &show->cuda);
		else
			cuda_print_tables(&show->cuda, &show->options, show->capture.threads.first_ns,
					  show->chosen.wishes.sample > 1, show->chosen.names);
		cuda_print_collectives(&show->collectives, &show->cuda, &show->options);
		print_done(show);
		if (!show->chosen.steps) {
			cuda_print_driver_memory(&show->driver_memory, &show->options);
			cuda_print_driver_work(&show->driver_work, &show->options);
		}
		print_notes(show);
	}
	if (show->export &&
	    cuda_export_close(show->export, &show->cuda, &show->capture.threads, show->capture.threads.first_ns) &&
	    !status)
		status = EXIT_FAILURE;
	capture_print_losses(&show->capture);
	steps_free(&show->steps);
	collectives_free(&show->collectives);
	driver_memory_free(&show->driver_memory);
	submits_free(&show->submits);
	cuda_free(&show->cuda);
	capture_free(&show->capture);
	return status;
}

int view_cuda(int argc, char **argv)
{
	struct show *show = calloc(1, sizeof(*show));
	int status;

	if (!show)
		return fail("cuda", "out of memory");
	show->chosen.wishes = (struct cuda_settings){ .api = "default", .sample = 1, .reports = true };
	options_parse(&show->options, &cuda_usage, &show->chosen, argc, argv);
	if (!show->chosen.list_only)
		table_check(&show->options, "cuda", show->chosen.steps ? cuda_step_tables : cuda_tables);
	if (show->chosen.list_only) {
		status = cuda_print_list(&show->options, show->chosen.wishes.api);
	} else if (show->options.word) {
		fail("cuda", "unexpected word '%s': put '--' before a command to run", show->options.word);
		status = EXIT_USAGE;
	} else if (show->chosen.steps && (show->chosen.wishes.sample > 1 || show->chosen.wishes.counts_only)) {
		fail("cuda", "--steps needs every launch: not with --sample or --count");
		status = EXIT_USAGE;
	} else {
		status = play(show);
	}
	free(show);
	return status;
}

// SPDX-License-Identifier: GPL-2.0
/* tactus cuda: what a program does with its GPU through libcuda, and what that does in the driver: calls, launches,
 * copies, memory, waits and ioctls, in tables at the end, a line a second, or as a trace. */
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../sensor/cuda.h"
#include "../sink/text.h"
#include "cuda_view.h"
#include "source.h"

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
	KEY_MANGLED
};
enum { ROWS_DEFAULT = 20, LINES_PER_HEAD = 20, TEXT_SIZE = 24 };

static struct cuda_settings wishes = { .api = "default", .sample = 1, .tells = true };
static bool live_lines, list_only;
static enum kernel_names names = NAMES_SHORT;
static char count_pattern[256]; /* --count, as a regular expression */

/* One shell pattern for the functions of both layers: libcuda's are chosen by a regular expression. */
static const char *count_what(const char *pattern)
{
	size_t at = 0;

	count_pattern[at++] = '^';
	for (const char *from = strchr(pattern, ':') ? strchr(pattern, ':') + 1 : pattern; *from; from++) {
		if (at + 4 > sizeof(count_pattern))
			return "is too long a pattern";
		if (*from == '*')
			count_pattern[at++] = '.';
		if (*from == '?')
			count_pattern[at++] = '.';
		else if (*from == '.')
			count_pattern[at++] = '\\';
		if (*from != '?')
			count_pattern[at++] = *from;
	}
	count_pattern[at++] = '$';
	wishes.api = count_pattern;
	wishes.driver = pattern;
	wishes.counts_only = wishes.no_ioctls = true;
	return NULL;
}

static const char *take_driver_by(const char *value)
{
	static const char *const ways[] = { "auto", "fentry", "kprobe" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(value, ways[i])) {
			wishes.driver_by = (enum driver_by)i;
			return NULL;
		}
	return "is none of auto, fentry and kprobe";
}

static const char *take_own(int key, const char *value)
{
	regex_t pattern;
	u64 number;

	switch (key) {
	case KEY_API:
		if (regcomp(&pattern, value, REG_EXTENDED | REG_NOSUB))
			return "is neither 'default' nor 'all' nor a regular expression";
		regfree(&pattern);
		wishes.api = value;
		return NULL;
	case KEY_SAMPLE:
		if (parse_number(value, 1000000, &number) || !number)
			return "is not a number from 1 to 1000000";
		wishes.sample = (u32)number;
		return NULL;
	case KEY_DRIVER:
		wishes.driver = value;
		return NULL;
	case KEY_DRIVER_BY:
		return take_driver_by(value);
	case KEY_COUNT:
		return count_what(value);
	case KEY_LIBRARY:
		wishes.library = value;
		return NULL;
	case KEY_LIVE:
		live_lines = true;
		return NULL;
	case KEY_NO_DETOUR:
		wishes.no_detour = true;
		return NULL;
	case KEY_WIDE:
	case KEY_MANGLED:
		names = key == KEY_WIDE ? NAMES_WHOLE : NAMES_MANGLED;
		return NULL;
	case KEY_NO_IOCTLS:
		wishes.no_ioctls = true;
		return NULL;
	default:
		list_only = true;
		return NULL;
	}
}

static const struct argp_option own[] = {
	{ "api", KEY_API, "SET", 0, "Functions to watch: default, all, or a regular expression for their names", 0 },
	{ "sample", KEY_SAMPLE, "N", 0, "Send one call in N; counts stay exact, and memory is always followed", 0 },
	{ "no-detour", KEY_NO_DETOUR, 0, 0, "Let every call of a command run into its probe, as with -p", 0 },
	{ "live", KEY_LIVE, 0, 0, "Also print a line a second, and one for the rest at the end", 0 },
	{ "wide", KEY_WIDE, 0, 0, "Print kernels' names whole, with template arguments and parameters", 0 },
	{ "mangled", KEY_MANGLED, 0, 0, "Print kernels' names as the program has them, not in words", 0 },
	{ "driver", KEY_DRIVER, "PATTERN", 0,
	  "Also watch functions of NVIDIA's kernel modules, of names that fit; MODULE:PATTERN for another module's",
	  0 },
	{ "driver-by", KEY_DRIVER_BY, "HOOK", 0,
	  "How: fentry, kprobe, or auto: fentry for the first 64 functions that it can have, kprobe for the others",
	  0 },
	{ "count", KEY_COUNT, "PATTERN", 0,
	  "Only count which functions of libcuda and of NVIDIA's modules are called, of names that fit", 0 },
	{ "library", KEY_LIBRARY, "FILE", 0, "A libcuda to probe before anything maps it, where it lies nowhere usual",
	  0 },
	{ "no-ioctls", KEY_NO_IOCTLS, 0, 0, "Do not watch ioctls", 0 },
	{ "list", KEY_LIST, 0, 0,
	  "Print what can be hooked here and how, of names that fit PATTERN or MODULE:PATTERN, and end", 0 },
	{ 0 },
};

static const struct command_usage usage = {
	.name = "cuda",
	.text = "Watches calls into libcuda, whoever makes them, and the ioctls of NVIDIA's drivers inside them; "
		"prints "
		"calls, launches, copies, memory and ioctls at the end.\v"
		"The default set has launches, copies, allocations, frees, synchronisation, graphs, contexts and "
		"modules. A launch is then watched at its entry only, since its end would cost as much again: it has "
		"no "
		"duration and no result. With --api all or --api REGEX the end of every call is watched.\n"
		"\n"
		"A command tells of its launches by itself: its loader is given a library (LD_AUDIT, glibc 2.35) that "
		"leads them past the probe, which costs some hundred nanoseconds in place of most of a microsecond. "
		"With --sample N it only counts its calls, for a few nanoseconds each, and one in N runs into the "
		"probe. What can't be led there, as with -p, runs into the probe every time and is counted there. "
		"Counts and errors are exact either way; -v says which it was.\n"
		"\n"
		"SELF is the time of a call that is neither in an ioctl nor in another watched call inside it; CPU "
		"WAIT is "
		"how much of it the thread waited for a CPU. An ioctl is INSIDE a call if that thread made it between "
		"the "
		"call's beginning and its end. REFUSED are ioctls whose structure has an error, which the system call "
		"hides.\n"
		"\n"
		"-o FILE.jsonl writes a line an event and -o FILE.json a trace for chrome://tracing and Perfetto; -o "
		"FILE of "
		"any other name is a recording for -i.\n"
		"\n"
		"Examples:\n"
		"  tactus cuda -- python3 train.py\n"
		"  tactus cuda -p 4711 -d 10 --live\n"
		"  tactus cuda --api 'Memcpy|Synchronize' -o trace.json -- ./program\n"
		"  tactus cuda --list 'cuMem*'",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_WORD | TAKES_EXPORT,
	.word = "[PATTERN]",
	.own = own,
	.take_own = take_own,
};

struct show {
	struct options options;
	struct source source;
	struct cuda cuda;
	struct cuda_export *export;
	u64 line_at_ns, lines;
	u64 line_launches, line_calls, line_ioctls, line_waits_ns;
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
	if (wishes.sample <= 1)
		return;
	show->launches = show->calls = 0;
	for (u32 i = 0; i < show->cuda.functions_len; i++) {
		const struct cuda_calls *calls = &show->cuda.functions[i];

		show->calls += cuda_times_called(calls);
		show->launches += calls->api->class == CUDA_LAUNCHES ? cuda_times_called(calls) : 0;
	}
}

static void print_line(struct show *show, u64 now_ns)
{
	double seconds = (double)(now_ns - show->line_at_ns) / NSEC_PER_SEC;
	u64 ioctls = ioctls_of(&show->cuda);
	char memory[TEXT_SIZE], waited[TEXT_SIZE];

	sum_calls(show);
	format_bytes(memory, sizeof(memory), memory_of(&show->cuda));
	format_time(waited, sizeof(waited), show->cuda.wait_total_ns - show->line_waits_ns);
	if (show->lines++ % LINES_PER_HEAD == 0)
		printf("%12s %12s %10s %10s %12s\n", "LAUNCHES/S", "CALLS/S", "IOCTLS/S", "WAITED", "MEMORY");
	printf("%12.0f %12.0f %10.0f %10s %12s\n", (double)(show->launches - show->line_launches) / seconds,
	       (double)(show->calls - show->line_calls) / seconds, (double)(ioctls - show->line_ioctls) / seconds,
	       waited, memory);
	show->line_launches = show->launches;
	show->line_calls = show->calls;
	show->line_ioctls = ioctls;
	show->line_waits_ns = show->cuda.wait_total_ns;
}

/* The part of a second at the end, where there was a call in it. */
static void print_last_line(struct show *show)
{
	u64 now_ns = clock_now_ns();

	if (!live_lines || !show->line_at_ns || now_ns == show->line_at_ns)
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
	if (!live_lines || now_ns - show->line_at_ns < NSEC_PER_SEC)
		return true;
	print_line(show, now_ns);
	show->line_at_ns = now_ns;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;

	(void)ended;
	cuda_take(&show->cuda, &show->source.threads, event);
	/* At once, and where nobody overlooks it. */
	if (event->kind == EVENT_CUDA_XID && !show->source.replay)
		note("the GPU reports an error: Xid %u", ((const struct event_cuda_xid *)event)->code);
	if (show->export)
		cuda_export_take(show->export, event);
}

/* What the user ought to know of what could not be watched. */
static void print_notes(const struct show *show)
{
	bool says_how = wishes.sample > 1 || show->options.verbose;

	if (show->cuda.failed)
		note("some calls are missing: there was no memory for them");
	if (show->source.replay) {
		if (!show->cuda.calls && !ioctls_of(&show->cuda))
			note("there is nothing of CUDA in this recording");
		return;
	}
	if (!show->source.cuda_libraries)
		note("no libcuda was found, neither mapped by what was watched nor where libraries lie: no call was "
		     "seen");
	else if (!show->cuda.calls && !wishes.counts_only)
		note("no call into libcuda was seen");
	if (show->source.cuda_late)
		note("a libcuda was probed only when a process had mapped it: its first calls may be missing "
		     "(--library "
		     "FILE probes it before)");
	if (says_how && show->source.cuda_counted)
		note("%" PRIu64 " calls were counted without a trap, in %u process%s", show->source.cuda_counted,
		     show->source.cuda_counters, show->source.cuda_counters == 1 ? "" : "es");
	else if (says_how && show->cuda.calls)
		note("every call was counted by a trap: %s",
		     show->source.cuda_trap.text[0]
			     ? show->source.cuda_trap.text
			     : "no program took the way round it (a static one, glibc before 2.35, "
			       "another C library, or a libcuda that begins otherwise)");
	if (!show->source.cuda_ioctls && !wishes.no_ioctls)
		note("this machine has no NVIDIA driver loaded: no ioctl was watched");
}

static int play(struct show *show)
{
	enum cuda_form form;
	int status;

	if (cuda_form_of(show->options.output, &form)) {
		show->export = cuda_export_open(show->options.output, form, names);
		if (!show->export)
			return EXIT_FAILURE;
		show->options.output = NULL;
	} else if (show->options.output && show->options.input) {
		fail("cuda", "of a recording, -o writes a FILE.jsonl or a FILE.json");
		return EXIT_USAGE;
	}
	cuda_init(&show->cuda);
	show->source = (struct source){ .view = "cuda",
					.cuda = &wishes,
					.on_event = on_event,
					.on_tick = on_tick,
					.data = show,
					.cuda_counts = live_lines && wishes.sample > 1 };
	status = source_play(&show->source, &show->options);
	cuda_end(&show->cuda);
	print_last_line(show);
	if (show->source.threads.last_ns) {
		if (show->lines)
			putchar('\n');
		cuda_print_tables(&show->cuda, show->options.json,
				  show->options.rows ? show->options.rows : ROWS_DEFAULT, show->source.threads.first_ns,
				  wishes.sample > 1, names);
		print_notes(show);
	}
	if (show->export &&
	    cuda_export_close(show->export, &show->cuda, &show->source.threads, show->source.threads.first_ns) &&
	    !status)
		status = EXIT_FAILURE;
	source_print_losses(&show->source);
	cuda_free(&show->cuda);
	source_free(&show->source);
	return status;
}

int view_cuda(int argc, char **argv)
{
	struct show *show = calloc(1, sizeof(*show));
	int status;

	if (!show)
		return fail("cuda", "out of memory");
	options_parse(&show->options, &usage, argc, argv);
	sensor_set_verbose(show->options.verbose);
	if (list_only) {
		status = cuda_print_list(show->options.word, wishes.api, show->options.json);
	} else if (show->options.word) {
		fail("cuda", "unexpected word '%s': put '--' before a command to run", show->options.word);
		status = EXIT_USAGE;
	} else {
		status = play(show);
	}
	free(show);
	return status;
}

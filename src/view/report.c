// SPDX-License-Identifier: GPL-2.0
/* tactus report: one page about a recording, or about what is watched now: the verdict in words, then pictures.
 * Whoever gets the file needs a browser and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/output.h"
#include "../base/say.h"
#include "../sensor/cuda.h"
#include "frame_words.h"
#include "report_live.h"
#include "report_view.h"
#include "view.h"

enum { KEY_SERVE = 0x200, KEY_TOKEN };

struct wishes {
	struct http_address address;
	bool serves, wants_token;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct wishes *wishes = data;

	if (key == KEY_TOKEN) {
		wishes->wants_token = true;
		return NULL;
	}
	wishes->serves = true;
	return http_address_parse(value, &wishes->address)
		       ? NULL
		       : "is no address and port such as 127.0.0.1:8080, [::1]:8080 or 8080";
}

static const struct argp_option own_options[] = {
	{ "serve", KEY_SERVE, "ADDRESS:PORT", 0,
	  "Show the page of what happens now to browsers, here (a port alone: of this machine)", 0 },
	{ "token", KEY_TOKEN, 0, 0,
	  "With --serve: on this machine too, show it only to those who have the whole URL (always so if root watches)",
	  0 },
	{ 0 },
};

/* Where a page is shown is chosen with each call. */
static bool fits(const void *data, const struct options *options, const char *option)
{
	(void)options;
	return strcmp(option, "serve") != 0 && (strcmp(option, "token") != 0 || ((const struct wishes *)data)->serves);
}

const struct command_usage report_usage = {
	.name = "report",
	.text = "Writes one HTML page about a recording, or about what is watched until Ctrl-C, -d or the command's "
		"end: which frames were late and why, waits and behind whom, CPUs, threads, moves, GPU and CUDA, and "
		"what tactus did. The page opens in any browser and needs nothing else, no network either.\v"
		"Its numbers are those of 'tactus frames', 'latency', 'tasks', 'migrations', 'misses', 'gpu' and "
		"'cuda'. Of a long recording the page has sums over time and the longest frames and waits, and says "
		"so. With --json the same is printed as records, without a page. With --serve the page is shown "
		"live; without root it has what a 'tactus run' tells of itself.\n"
		"\n"
		"Examples:\n"
		"  tactus report -i FILE -o report.html\n"
		"  tactus report -i FILE --from 2s --to 4s -o part.html\n"
		"  tactus report -o game.html -- ./game       watches it, and writes the page at its end\n"
		"  tactus report -i FILE --json               for a program to read\n"
		"  tactus report --serve 127.0.0.1:8080       the page live, beside a 'tactus run' or without",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON | TAKES_INPUT | TAKES_ONE_INPUT | TAKES_FILTER |
		 TAKES_RING | TAKES_REPORT | TAKES_REPORT_O,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct wishes),
	.fits = fits,
};

/* What of CUDA's calls the page counts over time. */
static void count_cuda(struct report_show *show, const struct event_header *event)
{
	const struct cuda *cuda = &show->cuda;
	u64 waited_ns = cuda->wait_total_ns;
	const struct step_process *process;
	struct step step;
	u32 function;

	cuda_handle(&show->cuda, &show->capture.threads, event);
	/* Who launches nothing takes no steps. */
	if (show->steps.processes || event->kind == EVENT_CUDA_LAUNCH || event->kind == EVENT_CUDA_CALL)
		steps_handle(&show->steps, &show->capture.threads, &show->cuda, event, &step, &process);
	if (event->kind != EVENT_CUDA_CALL)
		return;
	function = ((const struct event_cuda_call *)event)->function;
	waited_ns = cuda->wait_total_ns - waited_ns;
	report_count_span(show->report, REPORT_SYNCHRONISATION_NS,
			  event->time_ns > waited_ns ? event->time_ns - waited_ns : 0, event->time_ns);
	if (function < cuda->functions_len && cuda->functions[function].api &&
	    cuda->functions[function].api->class == CUDA_COPIES)
		report_count(show->report, REPORT_COPIES, event->time_ns, 1);
}

/* All that was counted before is forgotten. */
static void restart(struct report_show *show, u64 now_ns)
{
	frames_restart(&show->frames);
	latency_restart(&show->latency);
	moves_restart(&show->moves, &show->capture.threads);
	misses_restart(&show->misses, &show->capture.threads);
	submits_restart(&show->submits);
	report_restart_clicks(&show->clicks);
	if (show->report)
		report_restart(show->report, now_ns);
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct report_show *show = data;
	struct threads *threads = &show->capture.threads;
	const struct frame_process *process = NULL;
	struct late_frame frame;
	struct stall stall;
	struct move move;
	struct miss missed[MISSES_AT_ONCE];
	u32 missed_len;

	if (!show->report)
		show->report = report_new(show->capture.info.cpus_len, late_frame_words);
	if (!show->report) {
		show->failed = true;
		return;
	}
	/* Threads that ended long ago are forgotten, and with them what is held of them by their place in memory. */
	if (show->live && report_live_begins_anew(show->live, threads)) {
		threads_restart(threads);
		restart(show, event->time_ns);
	}
	frames_handle(&show->frames, threads, event, &frame, &process);
	latency_handle(&show->latency, threads, event, ended);
	moves_handle(&show->moves, threads, event, &move);
	missed_len = misses_handle(&show->misses, threads, event, missed);
	for (u32 i = 0; i < missed_len; i++)
		report_take_miss(show->report, threads, &missed[i]);
	submits_handle(&show->submits, threads, event, &stall);
	/* As 'tactus cuda' has it: before, only names are news; and the counts are those of all, and all threads. */
	if ((!show->capture.before_window || event->kind == EVENT_CUDA_NAME) &&
	    !(show->capture.is_excerpt && event->kind == EVENT_CUDA_COUNT))
		count_cuda(show, event);
	report_take_click(&show->clicks, threads, event, show->capture.before_window);
	report_handle(show->report, threads, &show->frames, event, ended, process ? &frame : NULL, process);
}

static void on_window(void *data)
{
	struct report_show *show = data;

	restart(show, show->capture.window_from_ns);
}

static bool open_page(void *data)
{
	struct report_show *show = data;
	struct output_rule rule = { .beginning = REPORT_PAGE_BEGINNING, .force = show->options.force };
	struct reason why = { "" };

	if (!show->path)
		return true;
	/* Who watches keeps no right to give a file its name at the end. */
	show->page = show->options.input ? output_page(show->path, &rule, &show->capture.folder, &why)
					 : output_text(show->path, &rule, &why);
	if (!show->page)
		fail(show->path, "cannot write: %s", why.text);
	return show->page;
}

static void print_sentence(void *data, enum verdict_kind kind, const char *text)
{
	(void)data;
	(void)kind;
	puts(text);
}

static int print_records(void *data)
{
	return report_print_records(data);
}

/* Who has the page in a file gets the verdict at once. */
static int write_all(struct report_show *show)
{
	struct verdict_of of = report_verdict_of(show);
	FILE *page = show->page;
	int error;

	if (show->options.json) {
		FILE *standard = stdout;

		if (show->page)
			stdout = show->page;
		error = report_print_records(show);
		stdout = standard;
	} else {
		error = report_write_page(show->page ? show->page : stdout, print_records, show);
	}
	if (error > 0 || show->failed)
		note("something is missing from the report: there was no memory for it");
	if (error < 0 || !page)
		return error < 0;
	show->page = NULL;
	if (!output_close(page))
		return EXIT_FAILURE;
	if (!show->options.json) {
		if (report_verdict(&of, print_sentence, NULL))
			note("sentences are missing: there was no memory for them");
		note("the page is in %s", show->path);
	}
	return 0;
}

int report_finish_models(struct report_show *show)
{
	struct threads *threads = &show->capture.threads;
	struct move left;
	size_t at = 0;

	if (!show->report)
		show->report = report_new(show->capture.info.cpus_len, late_frame_words);
	if (!show->report)
		return fail("report", "out of memory");
	while (moves_left(&show->moves, threads, &at, &left))
		;
	cuda_end(&show->cuda);
	report_end_clicks(&show->clicks, threads);
	report_end(show->report, threads, threads->last_ns);
	return 0;
}

static int finish(struct report_show *show)
{
	int status = report_finish_models(show);

	return status ? status : write_all(show);
}

static int make(struct report_show *show)
{
	static const struct cuda_settings calls = { .api = "default", .sample = 1, .reports = true };
	int status;

	frames_init(&show->frames, true);
	latency_init(&show->latency, 0);
	cuda_init(&show->cuda);
	steps_init(&show->steps, NULL);
	show->capture = (struct capture){ .request = { .view = "report",
						       .groups = EVENTS_ALL,
						       .cuda = &calls,
						       .wants_before = true,
						       .on_window = on_window,
						       .on_event = on_event,
						       .on_outputs = open_page,
						       .data = show } };
	if (show->live)
		report_live_join(show->live, &show->capture.request);
	status = capture_run(&show->capture, &show->options);
	/* A page that says that there was nothing is better than an empty file; not where nothing could be read. */
	if ((show->capture.threads.last_ns || (show->page && !status)) && (show->path || !show->live) && finish(show) &&
	    !status)
		status = EXIT_FAILURE;
	if (show->page)
		output_drop(show->page);
	capture_print_losses(&show->capture);
	frames_free(&show->frames);
	latency_free(&show->latency);
	misses_free(&show->misses);
	submits_free(&show->submits);
	cuda_free(&show->cuda);
	steps_free(&show->steps);
	report_free_clicks(&show->clicks);
	report_free(show->report);
	capture_free(&show->capture);
	return status;
}

/* Serves what is watched until its end, and writes the page too if a file is named for it. */
static int serve(struct report_show *show, const struct wishes *wishes)
{
	int status;

	status = report_live_open(&show->live, show, &wishes->address, wishes->wants_token);
	if (!status)
		status = report_live_watches(show->live) ? make(show) : report_live_follow(show->live);
	report_live_close(show->live);
	return status;
}

static const char *find_conflict(const struct report_show *show, const struct wishes *wishes)
{
	const struct options *options = &show->options;

	if (wishes->wants_token && !wishes->serves)
		return "--token is for a page that is served: --serve ADDRESS:PORT";
	if (wishes->serves && (options->input || options->json))
		return "--serve shows what happens now to browsers: it takes neither -i nor --json";
	if (!wishes->serves && !show->path && !options->json && (isatty(STDOUT_FILENO) || options->command))
		return "no file to write the page to: give one with -o report.html";
	return NULL;
}

int view_report(int argc, char **argv)
{
	struct report_show *show = calloc(1, sizeof(*show));
	struct wishes wishes = { .serves = false };
	const char *conflict;
	int status = EXIT_USAGE;

	if (!show)
		return fail("report", "out of memory");
	options_parse(&show->options, &report_usage, &wishes, argc, argv);
	show->path = output_is_stdout(show->options.report) ? NULL : show->options.report;
	show->options.report = NULL;
	conflict = find_conflict(show, &wishes);
	if (conflict)
		fail("report", "%s", conflict);
	else
		status = wishes.serves ? serve(show, &wishes) : make(show);
	free(show);
	return status;
}

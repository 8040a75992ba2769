// SPDX-License-Identifier: GPL-2.0
/* tactus compare: two recordings, or two sets of them: what differs, how sure that is, and a verdict in one sentence.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/output.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../capture/capture.h"
#include "../model/compare.h"
#include "../model/compare_take.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "compare_print.h"
#include "report_view.h"
#include "view.h"

enum { OPTION_WITH = 0x200, OPTION_HTML };

/* What a run is cut into at first; blocks of several are made where it is long. */
#define PIECE_NS (NSEC_PER_SEC / 4)

struct chosen {
	struct options *options; /* NULL: the option is only looked at */
	int with_from;		 /* of the recordings, the first of side B; 0: --with was not given */
	const char *page;	 /* where to; NULL: no page is wanted */
};

static const struct argp_option own_options[] = {
	{ "with", OPTION_WITH, "FILE", 0, "From here on recordings are of side B, those before of side A", 1 },
	{ "html", OPTION_HTML, "FILE", 0, "Also write a page for a browser, with both curves", 1 },
	{ 0 },
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == OPTION_HTML && output_is_stdout(value))
		return "is standard output, where the table goes: name a file";
	if (key == OPTION_HTML)
		chosen->page = value;
	if (key == OPTION_HTML || !chosen->options)
		return NULL;
	if (!chosen->options->inputs.len)
		return "comes first: name the recordings of side A before --with";
	if (!chosen->with_from)
		chosen->with_from = chosen->options->inputs.len;
	options_take_file(chosen->options, value);
	return NULL;
}

/* A page is of one call. */
static bool fits(const void *data, const struct options *options, const char *option)
{
	(void)data;
	(void)options;
	return strcmp(option, "html") != 0;
}

const struct command_usage compare_usage = {
	.name = "compare",
	.text = "Compares two recordings, or two sets of them: frames, waits for CPUs, deadline misses, throughput, "
		"what made frames late; says how sure each difference is, and gives a verdict.\v"
		"The first recording is side A, the second side B. With --with each side has as many as you name: "
		"those before it are A's, it and those after it are B's.\n"
		"FILE@FROM..TO is a part of a recording, such as game.tactus@2s..4.5s; either end may be left out.\n"
		"\n"
		"SURE: the interval, which contains the real difference 19 times out of 20, does not contain zero. "
		"The verdict uses only a few figures, and is right 19 times out of 20 for all of them together: "
		"frames a second, late frames and the 99th percentile of the program that presents most; without "
		"frames the waits of urgent and of unknown threads, and deadline misses; launches. With one recording "
		"a side, what differs "
		"from run to run is not in the intervals: record each several times.\n"
		"\n"
		"Examples:\n"
		"  tactus compare examples/late-frames.tactus@0s..4s examples/late-frames.tactus@4s..\n"
		"  tactus compare --json game.tactus machine.tactus\n"
		"  tactus compare game.tactus machine.tactus --html compare.html\n"
		"  tactus compare game.tactus game.tactus --with machine.tactus machine.tactus",
	.takes = TAKES_FILES | TAKES_FILTER | TAKES_JSON | TAKES_FORCE,
	.word = "A B",
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = fits,
};

struct recording {
	char *path; /* without its part */
	struct excerpt part;
	struct recording_reader *reader;
	char kernel[sizeof(((struct recording_info *)0)->kernel)];
	u32 cpus;
};

struct compare_view {
	struct chosen chosen;
	struct options options;
	struct recording recordings[SEVERAL_MOST];
	struct blocks *runs; /* one a recording */
	struct compare_side sides[2];
	int len, a_len;
	FILE *page; /* NULL: none */
	int folder; /* in which it gets its name; 0: none */
	const struct compare_result *result;
	/* Of the recording that is read: */
	struct capture capture;
	struct compare_take take;
};

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct compare_view *view = data;
	struct blocks *blocks = view->take.blocks;

	if (view->capture.before_window)
		view->take.blocks = NULL;
	compare_take_event(&view->take, &view->capture.threads, event, ended);
	view->take.blocks = blocks;
}

static void on_window(void *data)
{
	struct compare_view *view = data;

	compare_take_restart(&view->take, &view->capture.threads);
}

static void on_interval(void *data, u64 from_ns, u64 to_ns)
{
	struct compare_view *view = data;
	u64 begin_ns = view->capture.window_from_ns;

	if (to_ns > begin_ns)
		compare_take_piece_ends(&view->take, &view->capture.threads, from_ns > begin_ns ? from_ns : begin_ns,
					to_ns);
}

/* "FILE@2s..4s": true if that is what it is, with the file's name cut off. */
static bool take_part(struct recording *recording, struct reason *why)
{
	char *at = strrchr(recording->path, '@'), *dots = at ? strstr(at, "..") : NULL;
	struct excerpt part = { 0 };

	if (!dots || (dots == at + 1 && !dots[2]))
		return false;
	*dots = '\0';
	if ((dots > at + 1 && excerpt_take(&part, EXCERPT_FROM, at + 1)) ||
	    (dots[2] && excerpt_take(&part, EXCERPT_TO, dots + 2)) || !excerpt_check(&part, why)) {
		*dots = '.';
		return false;
	}
	*at = '\0';
	recording->part = part;
	return true;
}

/* A file of that very name is that file, whatever its name looks like. */
static int open_one(struct recording *recording, const char *word)
{
	struct reason why = { "" }, why_part = { "" };

	recording->path = strdup(word);
	if (!recording->path)
		return fail("compare", "out of memory");
	if (!recording_open(&recording->reader, recording->path, &why))
		return 0;
	if (take_part(recording, &why_part) && !recording_open(&recording->reader, recording->path, &why_part))
		return 0;
	return fail(recording->path, "%s", why_part.text[0] ? why_part.text : why.text);
}

static int read_one(struct compare_view *view, int index)
{
	struct recording *recording = &view->recordings[index];
	struct capture *capture = &view->capture;
	struct options options = view->options;
	struct blocks *blocks = &view->runs[index];
	int status;

	memcpy(recording->kernel, recording_reader_info(recording->reader)->kernel, sizeof(recording->kernel));
	recording->kernel[sizeof(recording->kernel) - 1] = '\0';
	recording->cpus = recording_reader_info(recording->reader)->cpus_len;
	options.input = recording->path;
	options.inputs.len = 0;
	options.excerpt = recording->part;
	compare_take_init(&view->take);
	view->take.blocks = blocks;
	*capture = (struct capture){ .request = { .view = "compare",
						  .interval_ns = PIECE_NS,
						  .forgets_many = true,
						  .wants_before = true,
						  .opened = recording->reader,
						  .on_interval = on_interval,
						  .on_window = on_window,
						  .on_event = on_event,
						  .data = view } };
	recording->reader = NULL;
	status = capture_run(capture, &options);
	if (!status && capture->threads.last_ns > capture->interval_from_ns && capture->interval_from_ns)
		on_interval(view, capture->interval_from_ns, capture->threads.last_ns);
	blocks_end(blocks);
	blocks->failed |= view->take.frames.failed || view->take.misses.failed;
	if (!status)
		capture_print_losses(capture);
	if (blocks->programs_refused)
		note("%s: %" PRIu64 " frames of more than %d programs are left out: choose some with -c",
		     recording->path, blocks->programs_refused, BLOCKS_PROGRAMS);
	compare_take_free(&view->take);
	capture_free(capture);
	return status;
}

/* The recording whose kernel and CPUs all of the side have; NULL: they differ. */
static const struct recording *machine_of(const struct compare_view *view, int side)
{
	const struct recording *first = &view->recordings[side ? view->a_len : 0];

	for (const struct recording *one = first; one < &view->recordings[side ? view->len : view->a_len]; one++)
		if (strcmp(one->kernel, first->kernel) != 0 || one->cpus != first->cpus)
			return NULL;
	return first;
}

static bool machines_differ(const struct compare_view *view)
{
	const struct recording *a = machine_of(view, 0), *b = machine_of(view, 1);

	return !a || !b || strcmp(a->kernel, b->kernel) != 0 || a->cpus != b->cpus;
}

static void print_side_json(const struct compare_view *view, const struct compare_result *result, int side)
{
	const struct recording *machine = machine_of(view, side);
	struct json json = { .out = stdout };

	json_record(&json, "compare_side", false);
	json_string(&json, "side", side ? "b" : "a");
	json_array(&json, "files");
	for (int i = side ? view->a_len : 0; i < (side ? view->len : view->a_len); i++)
		json_string(&json, NULL, view->options.inputs.files[i]);
	json_array_end(&json);
	json_u64(&json, "runs", result->runs[side]);
	json_u64(&json, "blocks", result->blocks[side]);
	json_u64(&json, "span_ns", result->span_ns[side]);
	json_string(&json, "kernel", machine ? machine->kernel : NULL);
	if (machine)
		json_u64(&json, "cpus", machine->cpus);
	else
		json_null(&json, "cpus");
	json_object_end(&json);
	json_line_end(&json);
}

static void print_side(const struct compare_view *view, const struct compare_result *result, int side)
{
	const struct recording *machine = machine_of(view, side);

	printf("%s: ", side ? "B" : "A");
	for (int i = side ? view->a_len : 0; i < (side ? view->len : view->a_len); i++) {
		print_plain(stdout, view->options.inputs.files[i]);
		fputs(", ", stdout);
	}
	printf("%.3f s in %u blocks; ", (double)result->span_ns[side] / NSEC_PER_SEC, result->blocks[side]);
	if (machine) {
		fputs("Linux ", stdout);
		print_plain(stdout, machine->kernel);
		printf(", %u CPU%s\n", machine->cpus, machine->cpus == 1 ? "" : "s");
	} else {
		puts("several kernels or machines");
	}
}

static void print_result(const struct compare_view *view, const struct compare_result *result)
{
	const struct compare_names names = { "A", "B" };
	char words[COMPARE_SENTENCE_SIZE];
	struct json json = { .out = stdout };

	for (int side = 0; side < 2; side++) {
		if (view->options.json)
			print_side_json(view, result, side);
		else
			print_side(view, result, side);
	}
	if (!view->options.json && machines_differ(view))
		puts("Kernels or CPUs differ: a difference may come from that too.");
	if (!view->options.json)
		putchar('\n');
	compare_print_rows(result, &view->options, &names);
	compare_verdict_words(words, result, &names);
	if (!view->options.json) {
		printf("%s%s\n", result->len ? "\n" : "", words);
		return;
	}
	json_record(&json, "compare_verdict", false);
	json_string(&json, "verdict", verdict_json(result->verdict));
	json_string(&json, "words", words);
	json_object_end(&json);
	json_line_end(&json);
}

/* The records that --json prints, and the curves. */
static int print_page_records(void *data)
{
	struct compare_view *view = data;
	bool json = view->options.json;

	view->options.json = true;
	print_result(view, view->result);
	view->options.json = json;
	for (int side = 0; side < 2; side++)
		compare_print_curves(&view->sides[side], side);
	return 0;
}

static int write_page(struct compare_view *view, const struct compare_result *result)
{
	FILE *page = view->page;

	view->result = result;
	view->page = NULL;
	if (report_write_page(page, print_page_records, view) < 0) {
		output_drop(page);
		return EXIT_FAILURE;
	}
	if (!output_close(page))
		return EXIT_FAILURE;
	note("the page is in %s", view->chosen.page);
	return 0;
}

static int compare_and_print(struct compare_view *view)
{
	struct compare_result *result = calloc(1, sizeof(*result));
	int error, status = 0;

	view->sides[0] = (struct compare_side){ view->runs, (u32)view->a_len };
	view->sides[1] = (struct compare_side){ view->runs + view->a_len, (u32)(view->len - view->a_len) };
	error = result ? compare_sides(result, view->sides) : -1;
	if (!error)
		print_result(view, result);
	if (!error && view->page)
		status = write_page(view, result);
	if (!error && result->failed)
		error = -1;
	free(result);
	return error ? fail("compare", "out of memory: not all is compared") : status;
}

/* Returns what is wrong with which recordings were named, or NULL. */
static const char *choose_sides(struct compare_view *view)
{
	view->len = view->options.inputs.len;
	view->a_len = view->chosen.with_from ? view->chosen.with_from : 1;
	if (view->len > SEVERAL_MOST)
		return "more recordings than 64";
	if (view->len < 2)
		return "name two recordings, or several with --with between the sides";
	if (view->len > 2 && !view->chosen.with_from)
		return "more than two recordings: say with --with where side B begins";
	return NULL;
}

static int open_page(struct compare_view *view)
{
	struct output_rule rule = { .beginning = REPORT_PAGE_BEGINNING, .force = view->options.force };
	struct reason why = { "" };

	if (!view->chosen.page)
		return 0;
	for (int i = 0; i < view->len; i++)
		if (output_is_input(view->chosen.page, view->recordings[i].path)) {
			fail("compare", "what is read and what is written are one file");
			return EXIT_USAGE;
		}
	view->page = output_page(view->chosen.page, &rule, &view->folder, &why);
	return view->page ? 0 : fail(view->chosen.page, "cannot write: %s", why.text);
}

static int read_all(struct compare_view *view)
{
	int status = 0;

	/* All are opened while every right is there, and read without any. */
	for (int i = 0; i < view->len && !status; i++)
		status = open_one(&view->recordings[i], view->options.inputs.files[i]);
	if (!status)
		status = open_page(view);
	privileges_give_up_but_folder(view->folder ? view->folder : -1);
	for (int i = 0; i < view->len && !status; i++)
		status = read_one(view, i);
	return status;
}

int view_compare(int argc, char **argv)
{
	struct compare_view *view = calloc(1, sizeof(*view));
	const char *wrong;
	int status;

	if (!view)
		return fail("compare", "out of memory");
	view->chosen.options = &view->options;
	options_parse(&view->options, &compare_usage, &view->chosen, argc, argv);
	wrong = choose_sides(view);
	if (wrong) {
		free(view);
		fail("compare", "%s (see 'tactus compare --help')", wrong);
		return EXIT_USAGE;
	}
	view->runs = calloc((size_t)view->len, sizeof(*view->runs));
	status = view->runs ? read_all(view) : fail("compare", "out of memory");
	if (!status)
		status = compare_and_print(view);
	if (view->page)
		output_drop(view->page);
	for (int i = 0; i < view->len; i++) {
		recording_close_reader(view->recordings[i].reader);
		free(view->recordings[i].path);
		if (view->runs)
			blocks_free(&view->runs[i]);
	}
	free(view->runs);
	free(view);
	return status;
}

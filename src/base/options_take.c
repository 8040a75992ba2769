// SPDX-License-Identifier: GPL-2.0
/* What options do with their values, and which of them go together.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options_parse.h"
#include "output.h"
#include "say.h"

void bad_usage(const struct parse *parse, const char *format, ...)
{
	struct reason why;
	va_list args;

	va_start(args, format);
	vsnprintf(why.text, sizeof(why.text), format, args);
	va_end(args);
	if (parse->applied) {
		char origin[DEFAULT_ORIGIN_SIZE];

		default_origin(origin, parse->defaults, parse->applied);
		fail(origin, "%s (correct it, or go on without the file: --config /dev/null)", why.text);
	} else {
		fail(parse->usage->name, "%s (see 'tactus %s --help')", why.text, parse->usage->name);
	}
	exit(EXIT_USAGE);
}

static void take_duration(struct parse *parse, const char *text)
{
	switch (parse_duration(text, &parse->options->duration_ns)) {
	case 0:
		return;
	case -ERANGE:
		bad_usage(parse, "duration '%s' is out of range: more than 0 and at most a year", text);
	default:
		bad_usage(parse, "duration '%s' is not a number of seconds", text);
	}
}

u32 options_rows(const struct options *options, u32 by_default)
{
	return options->rows ? options->rows : options->json ? ROWS_ALL : by_default;
}

static u64 take_number(struct parse *parse, const char *what, const char *text, u64 least, u64 most)
{
	u64 number;

	if (parse_number(text, most, &number) || number < least)
		bad_usage(parse, "%s '%s' is not a number from %llu to %llu", what, text, (unsigned long long)least,
			  (unsigned long long)most);
	return number;
}

static void take_ring(struct parse *parse, const char *text)
{
	u64 kilobytes = take_number(parse, "ring size", text, 4, 1 << 20);

	if (kilobytes & (kilobytes - 1))
		bad_usage(parse, "ring size '%s' is not a power of two", text);
	parse->options->ring_bytes = (u32)kilobytes * 1024;
}

static void take_filter(struct parse *parse, int key, const char *text)
{
	struct filter *filter = &parse->options->filter;
	struct reason why = { "" };
	bool is_taken = true;

	switch (key) {
	case 'p':
		is_taken = filter_add_pids(filter, text, &why);
		break;
	case 'c':
		is_taken = filter_add_comms(filter, text, &why);
		break;
	case 'C':
		if (parse_cpu_list(text, filter->cpus, sizeof(filter->cpus) * 8))
			bad_usage(parse, "'%s' is not a list of CPUs such as 0-3,8 (at most 1023)", text);
		filter->has_cpus = true;
		break;
	default:
		is_taken = filter_add_cgroups(filter, text, &why);
		break;
	}
	if (!is_taken)
		bad_usage(parse, "%s", why.text);
}

static void take_interval(struct parse *parse, const char *text)
{
	if (parse_duration(text, &parse->options->interval_ns) || parse->options->interval_ns < 10 * NSEC_PER_MSEC)
		bad_usage(parse, "interval '%s' is not a number of seconds of 0.01 or more", text);
}

/* "1 5": every second, five times. */
static bool take_interval_word(struct parse *parse, const char *word)
{
	struct options *options = parse->options;
	u64 times;

	if (!options->interval_ns) {
		take_interval(parse, word);
		options_note_key(parse, KEY_INTERVAL);
		return true;
	}
	if (options->duration_ns)
		return false;
	times = take_number(parse, "number of tables", word, 1, 1 << 24);
	options->duration_ns = options->interval_ns * times;
	parse->has_count = true;
	options_note_key(parse, 'd');
	return true;
}

void options_take_file(struct options *options, const char *file)
{
	if (options->inputs.len < SEVERAL_MOST)
		options->inputs.files[options->inputs.len] = file;
	options->inputs.len++;
}

static bool is_called_recording(const char *word)
{
	static const char ending[] = ".tactus";
	size_t len = strlen(word);

	return len > strlen(ending) && !strcmp(word + len - strlen(ending), ending);
}

void options_take_word(struct parse *parse, struct argp_state *state, char *word)
{
	if (parse->usage->takes & TAKES_FILES) {
		options_take_file(parse->options, word);
		return;
	}
	if ((parse->usage->takes & TAKES_WORD) && !parse->options->word &&
	    !(state->quoted && (parse->usage->takes & TAKES_COMMAND))) {
		parse->options->word = word;
		return;
	}
	if (parse->usage->takes & TAKES_REST) {
		parse->options->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return;
	}
	if ((parse->usage->takes & TAKES_INTERVAL) && !state->quoted && word[0] >= '0' && word[0] <= '9' &&
	    take_interval_word(parse, word))
		return;
	if (!state->quoted && (parse->usage->takes & TAKES_INPUT) && is_called_recording(word))
		bad_usage(parse, "unexpected word '%s': a recording is named with -i: -i %s", word, word);
	if (!(parse->usage->takes & TAKES_COMMAND))
		bad_usage(parse, "unexpected word '%s'", word);
	if (!state->quoted)
		bad_usage(parse, "unexpected word '%s': put '--' before a command to run", word);
	/* Everything from here on is the command's. */
	parse->options->command = &state->argv[state->next - 1];
	state->next = state->argc;
}

void options_take_own(struct parse *parse, int key, const char *value)
{
	const char *wrong = parse->usage->take_own(parse->own_data, key, value);

	if (wrong)
		bad_usage(parse, "the value '%s' %s", value ? value : "", wrong);
}

static const char *config_file;

const char *options_config(void)
{
	return config_file;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text);

	return len > strlen(end) && !strcmp(text + len - strlen(end), end);
}

static void take_format(struct parse *parse, const char *text)
{
	static const struct {
		const char *name;
		enum output_format format;
		unsigned int takes;
	} formats[] = {
		{ "recording", OUTPUT_RECORDING, TAKES_OUTPUT },
		{ "jsonl", OUTPUT_LINES, TAKES_OUTPUT },
		{ "trace", OUTPUT_TRACE, TAKES_OUTPUT },
		{ "perfetto", OUTPUT_PERFETTO, TAKES_TRACES | TAKES_PERFETTO },
		{ "chrome", OUTPUT_TRACE, TAKES_TRACES },
		{ "csv", OUTPUT_CSV, TAKES_TRACES },
		{ "parquet", OUTPUT_PARQUET, TAKES_TRACES },
	};
	char known[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!(formats[i].takes & parse->usage->takes))
			continue;
		if (!strcmp(text, formats[i].name))
			parse->options->output_format = formats[i].format;
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "", formats[i].name);
	}
	if (!parse->options->output_format)
		bad_usage(parse, "format '%s' is none of %s", text, known);
}

static void take_colour(struct parse *parse, const char *text)
{
	static const char *const names[] = {
		[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"
	};

	for (int i = COLOUR_AUTO; i <= COLOUR_NEVER; i++)
		if (!strcmp(text, names[i])) {
			parse->options->colour = (enum colour_when)i;
			return;
		}
	bad_usage(parse, "colour '%s' is none of auto, always, never", text);
}

enum output_format options_format(const struct options *options)
{
	static const struct {
		const char *ending;
		enum output_format format;
	} endings[] = {
		{ ".jsonl", OUTPUT_LINES },	 { ".json", OUTPUT_TRACE },
		{ ".pftrace", OUTPUT_PERFETTO }, { ".perfetto-trace", OUTPUT_PERFETTO },
		{ ".csv", OUTPUT_CSV },		 { ".parquet", OUTPUT_PARQUET },
	};

	if (options->output_format || !options->output)
		return options->output_format;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (ends_with(options->output, endings[i].ending))
			return endings[i].format;
	return OUTPUT_RECORDING;
}

/* What a command that only writes for viewers of others writes. */
static void check_trace(const struct parse *parse)
{
	const struct options *options = parse->options;

	if (options->output_format < OUTPUT_TRACE)
		bad_usage(parse,
			  "the name '%s' does not say which format: name a FILE.pftrace, FILE.json, FILE.csv or "
			  "FILE.parquet, or give --format",
			  options->output);
}

/* '-': standard output, of a command that has nothing else to say there. */
static void check_stdout(struct parse *parse)
{
	struct options *options = parse->options;
	bool is_record = parse->usage->takes & TAKES_PERFETTO;

	if (!output_is_stdout(options->output))
		return;
	if (!(parse->usage->takes & TAKES_TRACES) && !(is_record && options->output_format >= OUTPUT_LINES))
		bad_usage(parse, "%s",
			  is_record || !(parse->usage->takes & TAKES_OUTPUT)
				  ? "a recording cannot go to standard output: name a file"
				  : "what it prints goes to standard output: name a file to record to");
	if (options->command)
		bad_usage(parse, "the command writes to standard output too: name a file");
	if (options->output_format >= OUTPUT_PERFETTO && options->output_format != OUTPUT_CSV && isatty(STDOUT_FILENO))
		bad_usage(parse, "no terminal shows that: name a file, or send it through a pipe");
	options->output_is_stdout = true;
}

/* A file gets what its name promises, or nothing. */
void options_choose_format(struct parse *parse)
{
	struct options *options = parse->options;

	if (!options->output) {
		if (options->output_format)
			bad_usage(parse, "--format is for the file of -o");
		return;
	}
	options->output_format = options_format(options);
	parse->applied = parse->format;
	if (parse->usage->takes & TAKES_TRACES)
		check_trace(parse);
	else if (options->output_format >= OUTPUT_PERFETTO &&
		 !(options->output_format == OUTPUT_PERFETTO && (parse->usage->takes & TAKES_PERFETTO)))
		bad_usage(parse,
			  "'%s' would be a file for other programs, which 'tactus export' writes: record, and give it "
			  "the recording, or give --format recording",
			  options->output);
	if (options->output_format == OUTPUT_TRACE && !(parse->usage->takes & (TAKES_EXPORT | TAKES_TRACES)))
		bad_usage(parse,
			  "'%s' would be a trace for chrome://tracing, which 'tactus export' and 'tactus cuda' write: "
			  "name a "
			  "FILE.jsonl for one JSON object per event, or give --format recording",
			  options->output);
	parse->applied = NULL;
	check_stdout(parse);
}

/* Each is read by itself; there is one file to write to. */
static void check_several(struct parse *parse)
{
	const struct options *options = parse->options;

	if (options->inputs.len <= 1)
		return;
	if (parse->usage->takes & TAKES_ONE_INPUT)
		bad_usage(parse, "one recording is read, not several");
	if (options->inputs.len > SEVERAL_MOST)
		bad_usage(parse, "more recordings than %d", SEVERAL_MOST);
	if (options->output || options->report)
		bad_usage(parse, "several recordings are read and one file is written: name one recording");
}

static void check_recording(struct parse *parse)
{
	struct options *options = parse->options;
	struct reason why;

	parse->applied = parse->excerpt;
	if (!excerpt_check(&options->excerpt, &why))
		bad_usage(parse, "%s", why.text);
	parse->applied = NULL;
	if (options->filter.cgroups_len)
		bad_usage(parse, "a recording does not say which cgroup a thread is in: give --cgroup when recording");
}

void options_check_together(struct parse *parse)
{
	const struct options *options = parse->options;

	if (output_is_input(options->report, options->output))
		bad_usage(parse, "the report and the recording are one file");
	if (options->command && options->filter.pids_len)
		bad_usage(parse, "a command is watched, or processes that are there (-p), not both");
	if (!options->input) {
		if (!excerpt_is_empty(&options->excerpt) || options->excerpt.has_margin)
			bad_usage(parse, "--from, --to and --around choose a part of a recording: name it with -i");
		return;
	}
	check_recording(parse);
	check_several(parse);
	if (output_is_input(options->output, options->input) || output_is_input(options->report, options->input))
		bad_usage(parse, "what is read and what is written are one file");
	if (options->command)
		bad_usage(parse, "a recording is read or a command is watched, not both");
	if (options->output && !(parse->usage->takes & (TAKES_EXPORT | TAKES_TRACES)))
		bad_usage(parse, "a recording is read or written, not both");
	if (options->duration_ns)
		bad_usage(parse, "a recording is read to its end: leave %s out",
			  parse->has_count ? "the COUNT after the INTERVAL" : "-d");
	if (options->ring_bytes)
		bad_usage(parse, "a recording is read without rings: leave --ring-kb out");
}

/* Those that are only kept. False: it is another. */
bool options_keep_value(struct parse *parse, int key, char *arg)
{
	struct options *options = parse->options;

	switch (key) {
	case 'i':
		options->input = arg;
		options_take_file(options, arg);
		return true;
	case 'o':
		*(parse->usage->takes & TAKES_REPORT_O ? &options->report : &options->output) = arg;
		return true;
	case KEY_REPORT:
		options->report = arg;
		return true;
	case KEY_SORT_BY:
		options->sort = arg;
		return true;
	case 'r':
		options->reverse = true;
		return true;
	case KEY_COLUMNS:
		options->columns = arg;
		return true;
	case KEY_FORCE:
		options->force = true;
		return true;
	case KEY_CONFIG_FILE:
		config_file = arg;
		return true;
	case KEY_USER:
		options->user = arg;
		return true;
	case 'j':
		options->json = true;
		return true;
	case 'v':
		options->verbose = true;
		return true;
	default:
		return false;
	}
}

static bool take_excerpt(struct parse *parse, int key, const char *text)
{
	const char *wrong = excerpt_take(&parse->options->excerpt, key, text);

	if (wrong)
		bad_usage(parse, "the value '%s' %s", text, wrong);
	return true;
}

/* Those whose values can be wrong. False: it is another. */
bool options_take_value(struct parse *parse, int key, const char *arg)
{
	switch (key) {
	case 'd':
		take_duration(parse, arg);
		return true;
	case 'p':
	case 'c':
	case 'C':
	case KEY_CGROUP:
		take_filter(parse, key, arg);
		return true;
	case 'n':
		parse->options->rows = strcmp(arg, "all") ? (u32)take_number(parse, "number of rows", arg, 1, 1 << 24)
							  : ROWS_ALL;
		return true;
	case KEY_INTERVAL:
		take_interval(parse, arg);
		return true;
	case KEY_COLOUR:
		take_colour(parse, arg);
		return true;
	case KEY_FORMAT:
		take_format(parse, arg);
		return true;
	case KEY_RING:
		take_ring(parse, arg);
		return true;
	default:
		return key >= EXCERPT_FROM && key < EXCERPT_END && take_excerpt(parse, key, arg);
	}
}

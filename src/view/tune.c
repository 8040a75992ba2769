// SPDX-License-Identifier: GPL-2.0
/* tactus tune: searches the scheduler's settings by simulation over recordings, and tries what it found on others that
 * it has not searched on. It changes nothing: it prints, and writes a configuration for 'tactus run' where one is asked
 * for.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/sched_config.h"
#include "../base/output.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "simulate.h"
#include "view.h"

enum { KEY_WRITE = 0x200, KEY_HELD, KEY_RECORDED, KEY_BOUND };

struct chosen {
	struct options *options; /* NULL: the option is only looked at */
	int held_from;		 /* of the recordings, the first that is held out; 0: --held was not given */
	const char *write;
	const char *recorded;
	double bound;
};

static const struct argp_option own_options[] = {
	{ "input", 'i', "FILE", 0, "A recording to search on; the option may be left out", 0 },
	{ "held", KEY_HELD, "FILE", 0,
	  "From here on recordings are held out: they judge what was found on those before", 0 },
	{ "write", KEY_WRITE, "FILE", 0, "Write what was found as a configuration for 'tactus run --config FILE'", 0 },
	{ "recorded", KEY_RECORDED, "eevdf|hints|tactus|fifo|vtime", 0,
	  "Which policy was in force in the recordings (default: as 'tactus simulate' finds it)", 0 },
	{ "bound", KEY_BOUND, "OCTAVES", 0, "As of 'tactus simulate'", 0 },
	{ 0 },
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;
	char *end;

	switch (key) {
	case KEY_WRITE:
		chosen->write = value;
		return NULL;
	case KEY_RECORDED:
		chosen->recorded = value;
		return sim_policy_by_name(value) ? NULL : "is none of eevdf, hints, tactus, fifo, vtime";
	case KEY_BOUND:
		chosen->bound = strtod(value, &end);
		return *end || end == value || !(chosen->bound > 0 && chosen->bound <= 64)
			       ? "is not a number from 0 to 64"
			       : NULL;
	default:
		break;
	}
	if (!chosen->options)
		return NULL;
	if (!chosen->options->inputs.len)
		return "comes first: name the recordings to search on before --held";
	if (!chosen->held_from)
		chosen->held_from = chosen->options->inputs.len;
	options_take_file(chosen->options, value);
	return NULL;
}

static bool fits(const void *data, const struct options *options, const char *option)
{
	(void)data;
	(void)options;
	return strcmp(option, "write") != 0 && strcmp(option, "held") != 0 && strcmp(option, "input") != 0;
}

const struct command_usage tune_usage = {
	.name = "tune",
	.text = "Searches the settings of tactus's scheduler over recordings, by simulation, and says what would be "
		"gained "
		"and where it would lose. Changes nothing.\v"
		"Searched are the options --slice-us, --raise, --credit, --discount and --light-us of 'tactus run'. "
		"Every "
		"setting is simulated on all "
		"recordings before --held; the one that is best there by the waits of urgent threads, of all threads "
		"and by late frames is then simulated on the recordings behind --held, which had no say. A recording "
		"whose own policy is not given back well enough by simulation is refused.\n"
		"\n"
		"Examples:\n"
		"  tactus tune monday.tactus tuesday.tactus --held friday.tactus\n"
		"  tactus tune monday.tactus --held friday.tactus --write tuned.conf",
	.takes = TAKES_FILES | TAKES_JSON | TAKES_FORCE,
	.word = "FILE",
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = fits,
};

struct setting {
	u64 slice_us;
	u32 raise, credit, discount, light_us;
};

/* One thing at a time, and a few of two or three: what suits together is not what suits alone. */
static const struct setting settings[] = {
	{ 5000, RAISE_INPUT, 4, 8, 500 }, /* what 'tactus run' has by itself: the one to beat */
	{ 500, RAISE_INPUT, 4, 8, 500 },
	{ 1000, RAISE_INPUT, 4, 8, 500 },
	{ 2000, RAISE_INPUT, 4, 8, 500 },
	{ 3000, RAISE_INPUT, 4, 8, 500 },
	{ 10000, RAISE_INPUT, 4, 8, 500 },
	{ 20000, RAISE_INPUT, 4, 8, 500 },
	{ 5000, 0, 4, 8, 500 },
	{ 2000, 0, 4, 8, 500 },
	{ 5000, RAISE_INPUT, 2, 8, 500 },
	{ 5000, RAISE_INPUT, 8, 8, 500 },
	{ 5000, RAISE_INPUT, 16, 8, 500 },
	{ 5000, RAISE_INPUT, 4, 1, 500 },
	{ 5000, RAISE_INPUT, 4, 2, 500 },
	{ 5000, RAISE_INPUT, 4, 4, 500 },
	{ 5000, RAISE_INPUT, 4, 16, 500 },
	{ 5000, RAISE_INPUT, 4, 32, 500 },
	{ 2000, RAISE_INPUT, 8, 8, 500 },
	{ 2000, RAISE_INPUT, 4, 16, 500 },
	{ 2000, RAISE_INPUT, 8, 16, 500 },
	{ 10000, RAISE_INPUT, 2, 8, 500 },
	{ 10000, RAISE_INPUT, 4, 4, 500 },
	{ 5000, RAISE_INPUT, 4, 8, 100 },
	{ 5000, RAISE_INPUT, 4, 8, 250 },
	{ 5000, RAISE_INPUT, 4, 8, 1000 },
	{ 5000, RAISE_INPUT, 4, 8, 2000 },
	{ 2000, RAISE_INPUT, 4, 8, 1000 },
	{ 5000, RAISE_FRAMES, 4, 8, 500 },
	{ 5000, RAISE_INPUT | RAISE_FRAMES, 4, 8, 500 },
};
/* What is better by less is not better. */
#define TRIFLE_OCTAVES 0.1

enum { SETTINGS = sizeof(settings) / sizeof(*settings) };
static const char *const raise_words[] = { "none", "input", "frames", "both" };

/* What counts, of one simulated run. */
struct score {
	double urgent_ns, all_ns, late, switches;
};

struct tune_view {
	struct chosen chosen;
	struct options options;
	struct simulate_source sources[SEVERAL_MOST];
	int len, held_from;
	FILE *out; /* of --write; NULL: nothing is written */
	struct score scores[SEVERAL_MOST][SETTINGS];
};

/* The mean of the waits in a spread, where each counts by its logarithm: tails and the middle alike. */
static double middle_ns(const struct compare_run *run, u32 spread)
{
	double sum = 0, weight = 0;

	for (u32 block = 0; block < run->blocks.len; block++) {
		const u32 *of = run->blocks.all[block].spreads[spread];

		for (u32 slot = 0; of && slot < SPREAD_SLOTS; slot++) {
			sum += of[slot] * ((double)slot / (1 << SPREAD_SUB_BITS) + SPREAD_LOW_BITS);
			weight += of[slot];
		}
	}
	return weight ? exp2(sum / weight) : 0;
}

static struct score score_of(const struct compare_run *run, const struct sim_counts *counts)
{
	struct score score = { .urgent_ns = middle_ns(run, SPREAD_TIERS + TIER_LATENCY_CRITICAL),
			       .all_ns = middle_ns(run, SPREAD_WAITS),
			       .switches = (double)counts->switches };
	u64 frames = 0, late = 0;

	for (u32 block = 0; block < run->blocks.len; block++)
		for (u32 i = 0; i < BLOCKS_PROGRAMS; i++) {
			frames += run->blocks.all[block].counts[COUNT_FRAMES + i];
			late += run->blocks.all[block].counts[COUNT_LATE + i];
		}
	score.late = frames ? (double)late / (double)frames : 0;
	return score;
}

/* By how many octaves it is better than the setting to beat; a frame in a hundred that is late counts as one. Switches
 * cost: twice as many are half an octave. */
static double gain_of(const struct score *score, const struct score *usual)
{
	double gain = 0;

	if (score->urgent_ns > 0 && usual->urgent_ns > 0)
		gain += log2(usual->urgent_ns / score->urgent_ns);
	if (score->all_ns > 0 && usual->all_ns > 0)
		gain += log2(usual->all_ns / score->all_ns) / 2;
	if (score->switches > 0 && usual->switches > 0)
		gain -= log2(score->switches / usual->switches) / 2;
	return gain + (usual->late - score->late) * 100;
}

static int check_source(const struct tune_view *view, const struct simulate_source *source)
{
	struct sim_params params = { .raise = RAISE_INPUT, .seed = 1, .kernel = source->kernel };
	struct fidelity_bound bound = FIDELITY_BOUND;
	struct compare_run again;
	struct fidelity fidelity;
	const char *breaks = NULL;
	int status;

	params.policy = view->chosen.recorded ? sim_policy_by_name(view->chosen.recorded) : simulate_recorded(source);
	status = simulate_run(source, &source->work, &source->topology, &params, &again, true, NULL, NULL);
	if (!status) {
		fidelity_of(&fidelity, &source->original, &again);
		bound.waits = view->chosen.bound ? view->chosen.bound : bound.waits;
		breaks = fidelity_breaks(&fidelity, &bound);
	}
	compare_run_free(&again);
	if (breaks)
		return fail(source->path,
			    "nothing is searched: %s under %s, simulated, differ too much (waits by %.2f octaves)",
			    breaks, params.policy->name, fidelity.waits);
	return status;
}

static int simulate_settings(struct tune_view *view, int index)
{
	const struct simulate_source *source = &view->sources[index];
	int status = 0;

	for (u32 i = 0; i < SETTINGS && !status; i++) {
		struct sim_params params = { .policy = &policy_tactus,
					     .raise = settings[i].raise,
					     .seed = 1,
					     .kernel = source->kernel,
					     .slice_ns = settings[i].slice_us * NSEC_PER_USEC,
					     .credit = settings[i].credit,
					     .discount = settings[i].discount,
					     .light_ns = settings[i].light_us * NSEC_PER_USEC };
		struct compare_run run;
		struct sim_counts counts;

		status = simulate_run(source, &source->work, &source->topology, &params, &run, true, NULL, &counts);
		if (!status)
			view->scores[index][i] = score_of(&run, &counts);
		compare_run_free(&run);
	}
	return status;
}

static u32 best_setting(const struct tune_view *view, double gains[SETTINGS])
{
	u32 best = 0;

	for (u32 i = 0; i < SETTINGS; i++) {
		gains[i] = 0;
		for (int file = 0; file < view->held_from; file++)
			gains[i] += gain_of(&view->scores[file][i], &view->scores[file][0]) / view->held_from;
		if (gains[i] > gains[best] && gains[i] > TRIFLE_OCTAVES)
			best = i;
	}
	return best;
}

static void print_row(const struct tune_view *view, int file, u32 setting, bool is_held)
{
	const struct score *score = &view->scores[file][setting];
	double gain = gain_of(score, &view->scores[file][0]);
	struct json json = { .out = stdout };

	if (!view->options.json) {
		printf("%6" PRIu64 " %-6s %6u %8u %5u %-6s %11.1f %11.1f %8.2f %10.0f %+7.2f  ",
		       settings[setting].slice_us, raise_words[settings[setting].raise], settings[setting].credit,
		       settings[setting].discount, settings[setting].light_us, is_held ? "held" : "search",
		       score->urgent_ns / 1e3, score->all_ns / 1e3, score->late * 100, score->switches, gain);
		print_plain(stdout, view->sources[file].path);
		putchar('\n');
		return;
	}
	json_record(&json, "tune", false);
	json_string(&json, "file", view->sources[file].path);
	json_bool(&json, "held", is_held);
	json_u64(&json, "slice_us", settings[setting].slice_us);
	json_string(&json, "raise", raise_words[settings[setting].raise]);
	json_u64(&json, "credit", settings[setting].credit);
	json_u64(&json, "discount", settings[setting].discount);
	json_u64(&json, "light_us", settings[setting].light_us);
	json_double(&json, "urgent_wait_ns", score->urgent_ns, 0);
	json_double(&json, "wait_ns", score->all_ns, 0);
	json_double(&json, "late_share", score->late, 4);
	json_double(&json, "switches", score->switches, 0);
	json_double(&json, "gain_octaves", gain, 3);
	json_object_end(&json);
	json_line_end(&json);
}

/* A name that can't be written to is told before the search, which takes long. */
static int open_output(struct tune_view *view)
{
	struct output_rule rule = { .beginning = "# Found by tactus tune", .force = view->options.force };
	struct reason why = { "" };
	int folder = 0;

	if (!view->chosen.write) {
		privileges_give_up_all();
		return 0;
	}
	view->out = output_page(view->chosen.write, &rule, &folder, &why);
	if (!view->out)
		return fail(view->chosen.write, "cannot write: %s", why.text);
	privileges_give_up_but_folder(folder);
	return 0;
}

static int write_found(struct tune_view *view, u32 best)
{
	FILE *out = view->out;

	view->out = NULL;
	fprintf(out,
		"# Found by tactus tune: for 'tactus run --config FILE'.\n[options run]\nslice-us = %" PRIu64
		"\nraise = %s\ncredit = %u\ndiscount = %u\nlight-us = %u\n",
		settings[best].slice_us, raise_words[settings[best].raise], settings[best].credit,
		settings[best].discount, settings[best].light_us);
	if (!output_close(out))
		return EXIT_FAILURE;
	note("%s is in %s: 'tactus run --config %s' takes it",
	     best ? "what was found" : "nothing better was found: what 'tactus run' has by itself", view->chosen.write,
	     view->chosen.write);
	return 0;
}

struct part {
	const char *what, *unit;
	double usual, found;
};

static bool is_worse(const struct part *part)
{
	return part->usual > 0 ? part->found > 0 && log2(part->found / part->usual) > TRIFLE_OCTAVES : part->found > 0;
}

/* Of what is a gain in all, parts may be losses. */
static void print_losses(const struct tune_view *view, u32 best)
{
	bool loses = false;

	for (int file = 0; file < view->len; file++) {
		const struct score *usual = &view->scores[file][0], *found = &view->scores[file][best];
		const struct part parts[] = {
			{ "urgent threads wait", " us", usual->urgent_ns / 1e3, found->urgent_ns / 1e3 },
			{ "all threads wait", " us", usual->all_ns / 1e3, found->all_ns / 1e3 },
			{ "late are", " % of all frames", usual->late * 100, found->late * 100 },
			{ "switches are", "", usual->switches, found->switches },
		};
		u32 said = 0;

		for (u32 i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			if (!is_worse(&parts[i]))
				continue;
			if (!said++) {
				fputs("it loses in ", stdout);
				print_plain(stdout, view->sources[file].path);
			}
			printf("%s %s %.1f%s instead of %.1f", said > 1 ? "," : ":", parts[i].what, parts[i].found,
			       parts[i].unit, parts[i].usual);
		}
		if (said)
			putchar('\n');
		loses |= said > 0;
	}
	if (!loses)
		puts("it loses nowhere");
}

static void print_best(const struct tune_view *view, u32 best, double gain, double held, int loses)
{
	const struct setting *found = &settings[best];

	if (!best) {
		puts("\nno setting is better than what 'tactus run' has by itself");
		return;
	}
	printf("\n--slice-us %" PRIu64
	       " --raise %s --credit %u --discount %u --light-us %u: better by %.2f octaves where it was searched",
	       found->slice_us, raise_words[found->raise], found->credit, found->discount, found->light_us, gain);
	if (view->held_from == view->len)
		puts("; nothing was held out to judge that");
	else
		printf(", by %+.2f on what was held out (%d of %d recordings lose)\n", held, loses,
		       view->len - view->held_from);
	print_losses(view, best);
}

static int print_found(struct tune_view *view)
{
	double gains[SETTINGS], held = 0;
	u32 best = best_setting(view, gains);
	int loses = 0;

	if (!view->options.json)
		printf("%6s %-6s %6s %8s %5s %-6s %11s %11s %8s %10s %7s  %s\n", "SLICE", "RAISE", "CREDIT", "DISCOUNT",
		       "LIGHT", "ON", "URGENT us", "ALL us", "LATE %", "SWITCHES", "GAIN", "RECORDING");
	for (u32 i = 0; i < SETTINGS; i++)
		for (int file = 0; file < view->held_from; file++)
			print_row(view, file, i, false);
	for (int file = view->held_from; file < view->len; file++) {
		double gain = gain_of(&view->scores[file][best], &view->scores[file][0]);

		print_row(view, file, 0, true);
		if (best)
			print_row(view, file, best, true);
		held += gain / (view->len - view->held_from);
		loses += gain < 0;
	}
	if (!view->options.json)
		print_best(view, best, gains[best], held, loses);
	if (view->chosen.write && held < 0)
		return fail("tune", "%s is not written: what was found loses on what was held out", view->chosen.write);
	return view->chosen.write ? write_found(view, best) : 0;
}

static int tune(struct tune_view *view)
{
	int status = 0;

	for (int i = 0; i < view->len && !status; i++)
		status = simulate_open(&view->sources[i], view->options.inputs.files[i]);
	if (!status)
		status = open_output(view);
	for (int i = 0; i < view->len && !status; i++) {
		status = simulate_read(&view->sources[i]);
		if (!status)
			status = check_source(view, &view->sources[i]);
		if (!status)
			status = simulate_settings(view, i);
		simulate_close(&view->sources[i]);
		view->sources[i].reader = NULL;
	}
	if (!status)
		status = print_found(view);
	if (view->out)
		output_drop(view->out);
	return status;
}

/* One that had a say is no judge. */
static const char *held_and_searched(const struct tune_view *view)
{
	for (int held = view->held_from; held < view->len; held++)
		for (int i = 0; i < view->held_from; i++)
			if (output_is_input(view->options.inputs.files[held], view->options.inputs.files[i]))
				return view->options.inputs.files[held];
	return NULL;
}

int view_tune(int argc, char **argv)
{
	struct tune_view *view = calloc(1, sizeof(*view));
	const char *twice;
	int status;

	if (!view)
		return fail("tune", "out of memory");
	view->chosen.options = &view->options;
	options_parse(&view->options, &tune_usage, &view->chosen, argc, argv);
	view->len = view->options.inputs.len;
	view->held_from = view->chosen.held_from ? view->chosen.held_from : view->len;
	if (!view->len || view->len > SEVERAL_MOST) {
		fail("tune", "%s (see 'tactus tune --help')",
		     view->len ? "more recordings than 64" : "no recording to search on: name some");
		free(view);
		return EXIT_USAGE;
	}
	twice = held_and_searched(view);
	if (twice) {
		fail("tune", "%s is searched on and held out: name another behind --held (see 'tactus tune --help')",
		     twice);
		free(view);
		return EXIT_USAGE;
	}
	status = tune(view);
	free(view);
	return status;
}

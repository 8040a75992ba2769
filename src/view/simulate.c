// SPDX-License-Identifier: GPL-2.0
/* tactus simulate: the work of a recording under another policy, on the same machine or on another.
 */
#include "simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/sched_config.h"
#include "../../core/scx_config.h"
#include "../base/loop.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../model/compare.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "compare_print.h"
#include "policy_options.h"
#include "view.h"

enum {
	KEY_POLICY = 0x200,
	KEY_RECORDED,
	KEY_CPUS,
	KEY_TOPOLOGY,
	KEY_SLICE,
	KEY_CREDIT,
	KEY_DISCOUNT,
	KEY_LIGHT,
	KEY_KERNEL,
	KEY_HZ,
	KEY_COPIES,
	KEY_JITTER,
	KEY_SEED,
	KEY_SWEEP,
	KEY_BOUND,
	KEY_AGAINST,
	KEY_HINTS,
	KEY_STEAL,
	COPIES_MOST = 1000,
	JITTER_PERCENT = 10,
	HZ_MOST = 1000,
};

struct chosen {
	const char *policy;
	const char *recorded;
	const char *topology;
	const char *against;
	bool hints;
	u64 cpus, slice_ns, credit, discount, light_us, steal_ns, hz, copies, jitter_ns, seed;
	u32 kernel;
	u32 sweep[SWEEP_MOST];
	u32 sweep_len;
	double bound; /* octaves; 0: the usual */
};

static const struct argp_option own_options[] = {
	{ "output", 'o', "FILE", 0, "Write what was simulated as a recording, which every view reads with -i", 0 },
	{ "policy", KEY_POLICY, "eevdf|hints|tactus|fifo|vtime|FILE", 0,
	  "Simulate this policy: the kernel's own, the same with tactus's hints, tactus's scheduler, one queue for all "
	  "CPUs by order or by virtual time, or tactus's scheduler as a configuration file has it for 'tactus run' "
	  "(default: tactus)",
	  0 },
	{ "hints", KEY_HINTS, NULL, 0, "The same as --policy hints", 0 },
	{ "recorded", KEY_RECORDED, "eevdf|hints|tactus|fifo|vtime", 0,
	  "Which policy was in force in the recording (default: as its decisions show)", 0 },
	{ "against", KEY_AGAINST, "FILE", 0,
	  "Hold what is predicted against this recording of the same load really run under that policy", 0 },
	{ "cpus", KEY_CPUS, "N", 0, "Simulate so many CPUs, all alike: 1 to 512 (default: as recorded)", 0 },
	{ "topology", KEY_TOPOLOGY, "FILE", 0, "Simulate the CPUs that this file describes", 0 },
	{ "slice", KEY_SLICE, "SPAN", 0, "The policy's slice (default: its own)", 0 },
	{ "credit", KEY_CREDIT, "N", OPTION_HIDDEN,
	  "tactus: how many slices early an urgent thread that slept may join its queue (2 to 16, default: 4)", 0 },
	{ "discount", KEY_DISCOUNT, "N", OPTION_HIDDEN,
	  "tactus: an urgent thread is charged one of so many parts of its CPU time (1 to 32, default: 8)", 0 },
	{ "light-us", KEY_LIGHT, "N", OPTION_HIDDEN,
	  "tactus: a thread of which nothing is known may preempt if it ran no longer before it slept, in microseconds "
	  "(50 "
	  "to 2000, default: 500)",
	  0 },
	{ "kernel", KEY_KERNEL, "X.Y", 0, "Whose rules eevdf follows (default: the recording's kernel)", 0 },
	{ "hz", KEY_HZ, "N", 0, "Ticks a second (default: as recorded, or 250)", 0 },
	{ "copies", KEY_COPIES, "N", 0, "Add so many copies of all user threads", 0 },
	{ "jitter", KEY_JITTER, "SPAN", 0, "Begin copies up to so much later (default: 100ms)", 0 },
	{ "steal-older", KEY_STEAL, "SPAN", OPTION_HIDDEN,
	  "tactus: a busy CPU takes from another cache's queue who has waited so much longer (default: never)", 0 },
	{ "seed", KEY_SEED, "N", OPTION_HIDDEN, "The seed of what is left to chance (default: 1)", 0 },
	{ "sweep", KEY_SWEEP, "LIST", 0,
	  "Simulate eevdf and tactus on machines of these sizes, such as 2,8,32, with as many copies as fill them", 0 },
	{ "bound", KEY_BOUND, "OCTAVES", 0,
	  "Predict only if the recorded policy, simulated, gives waits that differ by no more powers of two in the "
	  "mean (default: 0.75); and also what is known to be of no use",
	  0 },
	{ 0 },
};

static const char *take_sweep(struct chosen *chosen, const char *value)
{
	char copy[128], *rest = NULL;
	u64 size;

	if (strlen(value) >= sizeof(copy))
		return "is too long";
	strcpy(copy, value);
	chosen->sweep_len = 0;
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (chosen->sweep_len == SWEEP_MOST || parse_number(word, SIM_CPUS_MAX, &size) || !size)
			return "is not a list of up to 16 numbers of CPUs from 1 to 512, such as 2,8,32";
		chosen->sweep[chosen->sweep_len++] = (u32)size;
	}
	return chosen->sweep_len ? NULL : "is no list";
}

static const char *take_kernel(struct chosen *chosen, const char *value)
{
	unsigned int major, minor;
	char more;

	if (sscanf(value, "%u.%u%c", &major, &minor, &more) != 2 || major > 255 || minor > 255)
		return "is not a version of Linux such as 6.12";
	chosen->kernel = SCX_KERNEL(major, minor);
	return NULL;
}

static const char *take_bound(struct chosen *chosen, const char *value)
{
	char *end;

	chosen->bound = strtod(value, &end);
	return *end || end == value || !(chosen->bound > 0 && chosen->bound <= 64) ? "is not a number from 0 to 64"
										   : NULL;
}

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	switch (key) {
	case KEY_POLICY:
		chosen->policy = value;
		return NULL;
	case KEY_RECORDED:
		chosen->recorded = value;
		return sim_policy_by_name(value) ? NULL : "is none of eevdf, hints, tactus, fifo, vtime";
	case KEY_TOPOLOGY:
		chosen->topology = value;
		return NULL;
	case KEY_AGAINST:
		chosen->against = value;
		return NULL;
	case KEY_HINTS:
		chosen->hints = true;
		return NULL;
	case KEY_CPUS:
		return parse_number(value, SIM_CPUS_MAX, &chosen->cpus) || !chosen->cpus
			       ? "is not a number from 1 to 512"
			       : NULL;
	case KEY_SLICE:
		return parse_span(value, &chosen->slice_ns);
	case KEY_CREDIT:
		return parse_credit(value, &chosen->credit);
	case KEY_DISCOUNT:
		return parse_discount(value, &chosen->discount);
	case KEY_LIGHT:
		return parse_light_us(value, &chosen->light_us);
	case KEY_KERNEL:
		return take_kernel(chosen, value);
	case KEY_HZ:
		return parse_number(value, HZ_MOST, &chosen->hz) || !chosen->hz ? "is not a number from 1 to 1000"
										: NULL;
	case KEY_COPIES:
		return parse_number(value, COPIES_MOST, &chosen->copies) ? "is not a number up to 1000" : NULL;
	case KEY_JITTER:
		return parse_span(value, &chosen->jitter_ns);
	case KEY_STEAL:
		return parse_span(value, &chosen->steal_ns);
	case KEY_SEED:
		return parse_number(value, ~0ULL >> 1, &chosen->seed) ? "is not a number" : NULL;
	case KEY_SWEEP:
		return take_sweep(chosen, value);
	case KEY_BOUND:
		return take_bound(chosen, value);
	default:
		return NULL;
	}
}

/* What is written is a recording. */
static bool fits(const void *data, const struct options *options, const char *option)
{
	(void)data;
	(void)options;
	return strcmp(option, "format") != 0;
}

const struct command_usage simulate_usage = {
	.name = "simulate",
	.text = "Simulates what a recording's threads would have done under another policy: their bursts of CPU time, "
		"whom they wake, their timers. Prints how well the recorded policy is given back by simulation, and "
		"then what would have been different.\v"
		"Where the recorded policy is not given back well enough, nothing is predicted and the status is 1. "
		"Record the whole machine ('tactus record -d 20s -o FILE'): with a filter, what other threads did is "
		"not in the recording.\n"
		"\n"
		"A topology file has lines such as 'cache 4 threads 2', 'node', 'distance 0 1 20', 'move cross 30', "
		"'smt 60'; docs/simulate.md describes them.\n"
		"\n"
		"Examples:\n"
		"  tactus simulate -i machine.tactus\n"
		"  tactus simulate -i machine.tactus --policy tactus -o b.tactus\n"
		"  tactus simulate -i machine.tactus --policy eevdf --cpus 4\n"
		"  tactus simulate -i machine.tactus --sweep 2,8,32,128",
	.takes = TAKES_INPUT | TAKES_ONE_INPUT | TAKES_JSON | TAKES_FORCE | TAKES_EXPORT,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = fits,
};

struct simulate_view {
	struct chosen chosen;
	struct options options;
	struct simulate_source source;
	struct simulate_source real; /* of --against */
	struct sim_params params;
	struct sim_topology topology;
	struct recording_writer *writer;
	struct compare_run predicted;
	struct sim_counts counts;
	struct simulate_expected expected;
};

static int open_all(struct simulate_view *view)
{
	const struct chosen *chosen = &view->chosen;
	const struct recording_info *info;
	struct recording_info written;
	struct reason why;
	int status = simulate_open(&view->source, view->options.input);

	if (status)
		return status;
	view->real.only_run = true;
	if (chosen->against && (status = simulate_open(&view->real, chosen->against)))
		return status;
	info = recording_reader_info(view->source.reader);
	if (chosen->topology)
		status = simulate_read_topology(&view->topology, chosen->topology);
	else if (chosen->cpus)
		sim_topology_flat(&view->topology, (u32)chosen->cpus);
	else if (info->cpus_len && info->cpus_len <= SIM_CPUS_MAX)
		sim_topology_from(&view->topology, info->topology, info->cpus_len);
	if (status || !view->options.output)
		return status;
	written = *info;
	written.cpus_len = view->topology.cpus_len;
	written.topology = view->topology.cpus;
	written.replaces_any = view->options.force;
	written.only_whole = true;
	snprintf(written.kernel, sizeof(written.kernel), "%.30s simulated %.15s", info->kernel,
		 view->params.policy->name);
	loop_take_signals();
	if (recording_create(&view->writer, view->options.output, &written, &why))
		return fail(view->options.output, "%s", why.text);
	return 0;
}

/* The recorded policy, once more. Returns 0 if it is given back well enough. */
static int check_fidelity(struct simulate_view *view)
{
	struct sim_params params = view->params;
	struct fidelity_bound bound = FIDELITY_BOUND;
	const struct simulate_source *source = &view->source;
	struct compare_run again;
	struct fidelity fidelity;
	const char *breaks;
	int status;

	params.policy = view->chosen.recorded ? sim_policy_by_name(view->chosen.recorded) : simulate_recorded(source);
	params.slice_ns = 0;
	params.credit = 0;
	params.discount = 0;
	params.light_ns = 0;
	params.kernel = source->kernel;
	status = simulate_run(source, &source->work, &source->topology, &params, &again, true, NULL, NULL);
	if (!status) {
		fidelity_of(&fidelity, &source->original, &again);
		simulate_print_fidelity(&fidelity, params.policy->name, view->options.json);
		view->expected.recorded = params.policy;
		view->expected.again = fidelity.waits;
		if (view->chosen.bound)
			bound.waits = view->chosen.bound;
		breaks = fidelity_breaks(&fidelity, &bound);
		if (breaks)
			status = fail(source->path,
				      "nothing is predicted: %s under %s, simulated, differ too much from the "
				      "recording%s%s",
				      breaks, params.policy->name,
				      source->work.lost ? ", of which events are missing" : "",
				      view->chosen.recorded ? "" : " (--recorded says if another policy was in force)");
	}
	compare_run_free(&again);
	return status;
}

static int print_comparison(struct simulate_view *view)
{
	const struct compare_names names = { "RECORDED", "SIMULATED" };
	const struct compare_side sides[2] = { { &view->source.original.blocks, 1 }, { &view->predicted.blocks, 1 } };
	struct compare_result *result = calloc(1, sizeof(*result));
	char words[COMPARE_SENTENCE_SIZE];
	struct json json = { .out = stdout };

	if (!result || compare_sides(result, sides)) {
		free(result);
		return fail("simulate", "out of memory");
	}
	if (!view->options.json)
		putchar('\n');
	compare_print_rows(result, &view->options, &names);
	compare_verdict_words(words, result, &names);
	if (view->options.json) {
		json_record(&json, "compare_verdict", false);
		json_string(&json, "verdict", verdict_json(result->verdict));
		json_string(&json, "words", words);
		json_object_end(&json);
		json_line_end(&json);
	} else {
		printf("%s%s\n", result->len ? "\n" : "", words);
	}
	free(result);
	return 0;
}

static void print_run(const struct simulate_view *view)
{
	const struct work *work = &view->source.work;
	struct json json = { .out = stdout };

	if (!view->options.json) {
		printf("%s on %u CPUs: %u threads, %" PRIu64 " switches, %" PRIu64 " wake-ups (%" PRIu64
		       " of the recording's by threads, %" PRIu64 " at their times)\n",
		       view->params.policy->name, view->topology.cpus_len, work->len, view->counts.switches,
		       view->counts.wakeups, work->edges, work->external);
		if (work->bound || work->kept_off)
			printf("taken to be bound: %u threads to one CPU; %u more were kept off some, as they waited "
			       "beside them and "
			       "never ran there\n",
			       work->bound, work->kept_off);
		return;
	}
	json_record(&json, "simulated", false);
	json_string(&json, "policy", view->params.policy->name);
	json_u64(&json, "cpus", view->topology.cpus_len);
	json_u64(&json, "threads", work->len);
	json_u64(&json, "switches", view->counts.switches);
	json_u64(&json, "wakeups", view->counts.wakeups);
	json_u64(&json, "moves", view->counts.moves);
	json_u64(&json, "longest_wait_ns", view->counts.longest_wait_ns);
	json_u64(&json, "edges", work->edges);
	json_u64(&json, "external", work->external);
	json_u64(&json, "bound_threads", work->bound);
	json_u64(&json, "kept_off_threads", work->kept_off);
	json_object_end(&json);
	json_line_end(&json);
}

/* The same load, really run. */
static int hold_against(struct simulate_view *view)
{
	struct fidelity fidelity;
	int status = simulate_read(&view->real);

	if (status)
		return status;
	fidelity_of(&fidelity, &view->real.original, &view->predicted);
	simulate_print_against(&fidelity, view->params.policy->name, view->real.path, view->options.json);
	return 0;
}

static int check_expected(struct simulate_view *view)
{
	const struct chosen *chosen = &view->chosen;
	const struct sim_params *params = &view->params;
	struct simulate_expected *expected = &view->expected;

	expected->path = view->source.path;
	expected->work = &view->source.work;
	expected->policy = params->policy;
	expected->is_other_machine = chosen->topology || chosen->cpus || chosen->copies || chosen->hz || chosen->kernel;
	expected->is_other_settings = params->slice_ns || params->credit || params->discount || params->light_ns ||
				      params->raise != RAISE_INPUT;
	return chosen->bound ? 0 : simulate_check_expected(expected);
}

static int predict(struct simulate_view *view)
{
	struct work *work = &view->source.work;
	u64 jitter_ns = view->chosen.jitter_ns ? view->chosen.jitter_ns : 100 * NSEC_PER_MSEC;
	int status;

	if (view->chosen.copies &&
	    work_copy(work, (u32)view->chosen.copies, jitter_ns, JITTER_PERCENT, view->params.seed))
		return fail("simulate", "out of memory");
	status = simulate_run(&view->source, work, &view->topology, &view->params, &view->predicted, false,
			      view->writer, &view->counts);
	if (status)
		return status;
	simulate_print_expected(&view->expected, view->options.json);
	print_run(view);
	status = print_comparison(view);
	return status || !view->chosen.against ? status : hold_against(view);
}

static int end_file(struct simulate_view *view, int status)
{
	int error;

	if (!view->writer)
		return status;
	if (status) {
		recording_drop_writer(view->writer);
		return status;
	}
	error = recording_close_writer(view->writer);
	if (error)
		return fail(view->options.output, "%s: nothing was written", strerror(-error));
	note("what was simulated is in %s", view->options.output);
	return 0;
}

static void set_params(struct simulate_view *view)
{
	const struct chosen *chosen = &view->chosen;

	view->params.steal_older_ns = chosen->steal_ns;
	view->params.raise = RAISE_INPUT;
	view->params.seed = chosen->seed ? chosen->seed : 1;
	view->params.tick_ns = chosen->hz ? NSEC_PER_SEC / chosen->hz : 0;
}

static const char *find_conflict(struct simulate_view *view)
{
	const struct chosen *chosen = &view->chosen;
	const char *wrong = simulate_take_policy(&view->params, chosen->policy	? chosen->policy
								: chosen->hints ? "hints"
										: "tactus");

	if (!view->options.input)
		return "no recording to simulate: name one with -i FILE";
	if (view->options.excerpt.has_from || view->options.excerpt.has_to || view->options.excerpt.around)
		return "a part of a recording is simulated once 'tactus cut' has made it a recording of its own";
	if (view->options.output && view->options.output_format != OUTPUT_RECORDING)
		return "what is written is a recording: name a file that ends neither in .json nor in .jsonl";
	if (wrong) {
		fail("simulate", "--policy: the value '%s' %s", chosen->policy, wrong);
		return "";
	}
	if (chosen->hints && chosen->policy && strcmp(chosen->policy, "eevdf") && strcmp(chosen->policy, "hints"))
		return "--hints are for the kernel's own scheduler: leave --policy out";
	if (chosen->hints)
		view->params.policy = &policy_hints;
	if ((chosen->credit || chosen->discount || chosen->light_us) && view->params.policy != &policy_tactus)
		return "--credit, --discount and --light-us are for tactus's scheduler: leave them or --policy out";
	if (chosen->sweep_len && chosen->against)
		return "--sweep predicts nothing that --against could be held to: leave one of them out";
	if (chosen->topology && (chosen->cpus || chosen->sweep_len))
		return "--topology says how many CPUs there are: leave --cpus and --sweep out";
	if (chosen->sweep_len && view->options.output)
		return "--sweep writes no recording: leave -o out";
	if (chosen->slice_ns)
		view->params.slice_ns = chosen->slice_ns;
	if (chosen->credit)
		view->params.credit = (u32)chosen->credit;
	if (chosen->discount)
		view->params.discount = (u32)chosen->discount;
	if (chosen->light_us)
		view->params.light_ns = chosen->light_us * NSEC_PER_USEC;
	return NULL;
}

int view_simulate(int argc, char **argv)
{
	struct simulate_view *view = calloc(1, sizeof(*view));
	const char *conflict;
	int status;

	if (!view)
		return fail("simulate", "out of memory");
	options_parse(&view->options, &simulate_usage, &view->chosen, argc, argv);
	set_params(view);
	conflict = find_conflict(view);
	if (conflict) {
		if (*conflict)
			fail("simulate", "%s (see 'tactus simulate --help')", conflict);
		free(view);
		return EXIT_USAGE;
	}
	status = open_all(view);
	if (!status) {
		if (view->writer)
			privileges_give_up_but_folder(recording_folder(view->writer));
		else
			privileges_give_up_all();
		status = simulate_read(&view->source);
	}
	if (!status) {
		view->params.kernel = view->chosen.kernel ? view->chosen.kernel : view->source.kernel;
		status = check_fidelity(view);
	}
	if (!status && !view->chosen.sweep_len)
		status = check_expected(view);
	if (!status)
		status = view->chosen.sweep_len ? simulate_sweep(&view->source, &view->params, view->chosen.sweep,
								 view->chosen.sweep_len, view->options.json)
						: predict(view);
	status = end_file(view, status);
	compare_run_free(&view->predicted);
	simulate_close(&view->source);
	simulate_close(&view->real);
	free(view);
	return status;
}

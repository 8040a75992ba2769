// SPDX-License-Identifier: GPL-2.0
/* The options of 'tactus run', and which of them go together.
 */
#include <string.h>

#include "../base/say.h"
#include "../capture/role_options.h"
#include "policy_options.h"
#include "run.h"
#include "view.h"

enum {
	KEY_ACTUATOR = 0x200,
	KEY_DRY_RUN,
	KEY_SLICE,
	KEY_CREDIT,
	KEY_DISCOUNT,
	KEY_LIGHT,
	KEY_RAISE,
	KEY_PARTIAL,
	KEY_COMPARE,
	KEY_POWER,
	KEY_READERS,
};

const struct run_chosen run_chosen_by_default = { .raise_by = RAISE_INPUT };

static const char *const actuator_names[ACTUATORS] = { "auto", "scx", "hints", "none" };
static const char *const raise_words[] = { "none", "input", "frames", "both" }; /* by RAISE_* */

static const char *const power_words[POWERS] = { "performance", "balanced", "save" };

const char *run_power_name(u32 power)
{
	return power < POWERS ? power_words[power] : "?";
}

/* Balanced is what a machine has where nobody chose. */
u32 run_power_of_profile(const char *profile)
{
	return strcmp(profile, "power-saver") ? POWER_PERFORMANCE : POWER_SAVE;
}

const char *run_take_actuator(struct run_chosen *chosen, const char *value)
{
	for (chosen->wanted = 0; chosen->wanted < ACTUATORS; chosen->wanted++)
		if (!strcmp(value, actuator_names[chosen->wanted]))
			return NULL;
	return "is none of auto, scx, hints, none";
}

static const char *take_own(void *data, int key, const char *value)
{
	struct run_chosen *chosen = data;

	switch (key) {
	case KEY_DRY_RUN:
		chosen->dry_run = true;
		return NULL;
	case KEY_PARTIAL:
		chosen->partial = true;
		return NULL;
	case KEY_SLICE:
		return parse_slice_us(value, &chosen->slice_us);
	case KEY_CREDIT:
		return parse_credit(value, &chosen->credit);
	case KEY_DISCOUNT:
		return parse_discount(value, &chosen->discount);
	case KEY_LIGHT:
		return parse_light_us(value, &chosen->light_us);
	case KEY_RAISE:
		chosen->raise_given = true;
		for (chosen->raise_by = 0; chosen->raise_by <= (RAISE_INPUT | RAISE_FRAMES); chosen->raise_by++)
			if (!strcmp(value, raise_words[chosen->raise_by]))
				return NULL;
		return "is none of none, input, frames, both";
	case KEY_COMPARE:
		chosen->no_compare = !strcmp(value, "off");
		return chosen->no_compare || !strcmp(value, "on") ? NULL : "is none of on, off";
	case KEY_POWER:
		chosen->power_given = true;
		for (chosen->power = 0; chosen->power < POWERS; chosen->power++)
			if (!strcmp(value, power_words[chosen->power]))
				return NULL;
		return "is none of performance, balanced, save";
	case KEY_READERS:
		chosen->only_root = !strcmp(value, "root");
		return chosen->only_root || !strcmp(value, "all") ? NULL : "is none of all, root";
	case KEY_ACTUATOR:
		return run_take_actuator(chosen, value);
	case KEY_METRICS:
	case KEY_TOKEN_FILE:
	case KEY_TLS_CERT:
	case KEY_TLS_KEY:
	case KEY_GROUPS:
	case KEY_CUDA:
	case KEY_LIBRARY:
		return metrics_take_option(&chosen->metrics, key, value);
	default:
		return role_options_take(key, value);
	}
}

static const struct argp_option own_options[] = {
	{ "actuator", KEY_ACTUATOR, ACTUATOR_WORDS, 0, ACTUATOR_MEANING, 0 },
	{ "dry-run", KEY_DRY_RUN, 0, 0, "Decide on hints and count them; change nothing", 0 },
	{ "slice-us", KEY_SLICE, "N", OPTION_HIDDEN,
	  "Set the slice of a thread under sched_ext, in microseconds (default 5000)", 0 },
	{ "credit", KEY_CREDIT, "N", OPTION_HIDDEN,
	  "Under sched_ext, let an urgent thread that slept join its queue up to so many slices early (2 to 16, "
	  "default 4)",
	  0 },
	{ "discount", KEY_DISCOUNT, "N", OPTION_HIDDEN,
	  "Under sched_ext, charge an urgent thread one of so many parts of its CPU time (1 to 32, default 8)", 0 },
	{ "light-us", KEY_LIGHT, "N", OPTION_HIDDEN,
	  "Under sched_ext, let a thread of which nothing is known preempt if it ran no longer before it slept, in "
	  "microseconds (50 to 2000, default 500)",
	  0 },
	{ "partial", KEY_PARTIAL, 0, OPTION_HIDDEN,
	  "Schedule only the command's threads and others with the policy SCHED_EXT; the kernel runs all other "
	  "threads before these",
	  0 },
	{ "raise", KEY_RAISE, "none|input|frames|both", 0,
	  "Under sched_ext, make threads urgent for a moment: for 20 ms those that handle an input event, or those "
	  "whose frame is nearly due (default: input)",
	  0 },
	{ "power", KEY_POWER, "performance|balanced|save", 0,
	  "Under sched_ext, how fast CPUs run and how many at what is not urgent (default: the system's)", 0 },
	{ "compare", KEY_COMPARE, "on|off", 0,
	  "Hold back for some seconds where a process waits long, and take back what made it (default: on)", 0 },
	{ "readers", KEY_READERS, "all|root", OPTION_HIDDEN,
	  "Who may see the status, and why its own processes run as they do (default: all)", 0 },
	METRICS_OPTIONS,
	ROLE_OPTIONS,
	{ 0 },
};

static bool fits(const void *data, const struct options *options, const char *option)
{
	const struct run_chosen *chosen = data;
	bool may_be_scx = chosen->wanted != ACTUATOR_HINTS && chosen->wanted != ACTUATOR_NONE;

	if (!strcmp(option, "token-file") || !strcmp(option, "groups") || !strcmp(option, "cuda") ||
	    !strcmp(option, "library") || !strncmp(option, "tls-", strlen("tls-")))
		return chosen->metrics.serves;
	if (!strcmp(option, "partial"))
		return may_be_scx && !chosen->dry_run && options->command;
	return may_be_scx ||
	       (strcmp(option, "slice-us") != 0 && strcmp(option, "credit") != 0 && strcmp(option, "discount") != 0 &&
		strcmp(option, "light-us") != 0 && strcmp(option, "raise") != 0 && strcmp(option, "power") != 0);
}

const struct command_usage run_usage = {
	.name = "run",
	.text = "Finds out what threads are for and acts on it: as a sched_ext scheduler where the kernel has "
		"sched_ext, else by hints to the kernel's own scheduler. Prints one status line per second. It "
		"leaves nothing behind: after a kill, a helper process takes the hints back, else the next 'tactus "
		"run' or 'tactus undo' does.\v"
		"BUSY covers all CPUs. SWITCH/S: context switches. MOVE/S: moves to another CPU. PUSH/S: "
		"preemptions by sched_ext for a more urgent thread. LATE: urgent threads that waited more than 2 "
		"ms for a CPU. WAIT: the 99th percentile of the waits of each tier. THREADS: by tier and by role. "
		"HINTS: threads that have one.\n"
		"\n"
		"Examples:\n"
		"  tactus run                    until Ctrl-C\n"
		"  tactus run -- ./game          while a program runs; gives its status\n"
		"  tactus run --actuator hints   even if the kernel has sched_ext\n"
		"  tactus run --dry-run          what would be done?\n"
		"  tactus run --power save       on a battery\n"
		"  tactus run --metrics 9783     and serve figures for Prometheus on 127.0.0.1",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON | TAKES_RING | TAKES_OUTPUT,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct run_chosen),
	.fits = fits,
};

/* Options that are sound one by one but not together. */
int run_check_options(const struct run_chosen *chosen, const struct options *options)
{
	const char *trouble = metrics_misplaced(&chosen->metrics);

	if (trouble)
		;
	else if (chosen->partial &&
		 (chosen->wanted == ACTUATOR_HINTS || chosen->wanted == ACTUATOR_NONE || chosen->dry_run))
		trouble = "--partial is for sched_ext only";
	else if (chosen->slice_us && (chosen->wanted == ACTUATOR_HINTS || chosen->wanted == ACTUATOR_NONE))
		trouble = "--slice-us is for sched_ext only";
	else if ((chosen->credit || chosen->discount || chosen->light_us) &&
		 (chosen->wanted == ACTUATOR_HINTS || chosen->wanted == ACTUATOR_NONE))
		trouble = "--credit, --discount and --light-us are for sched_ext only";
	else if (chosen->raise_given && (chosen->wanted == ACTUATOR_HINTS || chosen->wanted == ACTUATOR_NONE))
		trouble = "--raise is for sched_ext only";
	else if (chosen->power_given && (chosen->wanted == ACTUATOR_HINTS || chosen->wanted == ACTUATOR_NONE))
		trouble = "--power is for sched_ext only";
	else if (chosen->partial && !options->command)
		trouble = "--partial needs a command after --";
	if (!trouble)
		return 0;
	fail("run", "%s", trouble);
	return EXIT_USAGE;
}

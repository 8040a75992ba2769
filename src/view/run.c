// SPDX-License-Identifier: GPL-2.0
/* tactus run: the main job. Finds out what threads are for, acts on it by sched_ext or by hints, prints a line a
 * second, and leaves everything as it was at the end, saying why it ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/places.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../base/system.h"
#include "../model/roles.h"
#include "../sched/hints.h"
#include "../sched/partial.h"
#include "../sched/scx.h"
#include "../sensor/sched.h"
#include "status.h"
#include "../stream/feed.h"
#include "role_options.h"
#include "source.h"

enum {
	LINES_PER_HEAD = 20,
	SLICE_LEAST_US = 100,
	SLICE_MOST_US = 100000,
	ERRORS_MAX = 5,	  /* of the scheduler, in a run; then it is given up */
	START_TRIES = 20, /* ten a second: while CPUs come and go the kernel refuses */
	KEY_ACTUATOR = 0x200,
	KEY_DRY_RUN,
	KEY_SLICE,
	KEY_RAISE,
	KEY_PARTIAL,
};

enum actuator { ACTUATOR_AUTO, ACTUATOR_SCX, ACTUATOR_HINTS, ACTUATOR_NONE, ACTUATORS };
static const char *const actuator_names[ACTUATORS] = { "auto", "scx", "hints", "none" };

static enum actuator wanted;
static bool dry_run, partial;
static u64 slice_us;
static u32 raise_by = RAISE_INPUT;
static bool raise_given;
static const char *const raise_words[] = { "none", "input", "frames", "both" }; /* by RAISE_* */

static const char *take_own(int key, const char *value)
{
	switch (key) {
	case KEY_DRY_RUN:
		dry_run = true;
		return NULL;
	case KEY_PARTIAL:
		partial = true;
		return NULL;
	case KEY_SLICE:
		if (parse_number(value, SLICE_MOST_US, &slice_us) || slice_us < SLICE_LEAST_US)
			return "is not a number of microseconds from 100 to 100000";
		return NULL;
	case KEY_RAISE:
		raise_given = true;
		for (raise_by = 0; raise_by <= (RAISE_INPUT | RAISE_FRAMES); raise_by++)
			if (!strcmp(value, raise_words[raise_by]))
				return NULL;
		return "is none of none, input, frames, both";
	case KEY_ACTUATOR:
		for (wanted = 0; wanted < ACTUATORS; wanted++)
			if (!strcmp(value, actuator_names[wanted]))
				return NULL;
		return "is none of auto, scx, hints, none";
	default:
		return role_options_take(key, value);
	}
}

static const struct argp_option own[] = {
	{ "actuator", KEY_ACTUATOR, "auto|scx|hints|none", 0,
	  "How to act: as a sched_ext scheduler, by hints to the kernel's own, or not at all; auto takes the first "
	  "that works",
	  0 },
	{ "dry-run", KEY_DRY_RUN, 0, 0, "Decide and count hints, change nothing", 0 },
	{ "slice-us", KEY_SLICE, "N", 0,
	  "How long a thread runs at most before others get their turn under sched_ext (5000)", 0 },
	{ "partial", KEY_PARTIAL, 0, 0,
	  "Schedule only the command's threads, and others that have the policy SCHED_EXT; the kernel runs all others "
	  "before these",
	  0 },
	{ "raise", KEY_RAISE, "none|input|frames|both", 0,
	  "Under sched_ext, make threads urgent for a moment: 20 ms for those that handle an input event, and those "
	  "that "
	  "make a frame when it is nearly due (input)",
	  0 },
	ROLE_OPTIONS,
	{ 0 },
};

static const struct command_usage usage = {
	.name = "run",
	.text = "Finds out what threads are for and acts on it: as a sched_ext scheduler where the kernel has that, "
		"else by "
		"hints to the kernel's own scheduler. Prints a status line a second. Any end leaves things as they "
		"were; "
		"after a kill, hints are taken back by the next start or by 'tactus undo'.\v"
		"BUSY is of all CPUs together. SWITCH/S: context switches; MOVE/S: threads that went to another CPU; "
		"PUSH/S: threads that sched_ext pushed off a CPU for a more urgent one; LATE: urgent threads that "
		"waited "
		"for a CPU for more than 2 ms. WAIT: what 99 of 100 threads of a tier at most waited for a CPU. "
		"THREADS: by tier and by role; HINTS: those that have one.\n"
		"\n"
		"Examples:\n"
		"  tactus run                    until Ctrl-C\n"
		"  tactus run -- ./game          while a program runs; ends with its exit status\n"
		"  tactus run --actuator hints   even if the kernel has sched_ext\n"
		"  tactus run --dry-run          what would be done?\n"
		"  tactus run -o file            and write all events, decisions too, for 'tactus events -i file'\n"
		"  tactus stats                  the same lines, from another terminal",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON | TAKES_RING | TAKES_OUTPUT,
	.own = own,
	.take_own = take_own,
};

struct run {
	const struct options *options;
	struct source source;
	struct sensor *sched;
	struct scx *scx;     /* in charge, or NULL */
	struct hints *hints; /* given, or NULL */
	struct feed *feed;   /* for 'tactus stats', or NULL */
	u64 by_role[ROLES];
	u64 by_tier[TIERS];
	struct cpu_account before;
	struct sched_tally tally_before;
	u64 counters_before[SCX_COUNTERS];
	u64 events_before[SCX_EVENTS];
	u64 line_at_ns;
	u64 lines;
	u32 errors;	 /* that ended the scheduler */
	u32 restarts;	 /* for any reason */
	u32 tries;	 /* of the next start; 0: none is due */
	u32 had_partial; /* threads with the policy before we gave it to any */
	bool began;	 /* everything is in place */
	int status;
};

static const char *actuator_of(const struct run *run)
{
	return run->scx ? "scx" : run->hints ? (dry_run ? "dry run" : "hints") : "none";
}

static void read_kernel_events(struct run *run, struct run_status *status)
{
	u64 events[SCX_EVENTS];

	status->counts_events = run->scx && scx_events_read(events);
	if (!status->counts_events)
		return;
	for (int i = 0; i < SCX_EVENTS; i++)
		status->kernel_events[i] = span_between(run->events_before[i], events[i]);
	memcpy(run->events_before, events, sizeof(events));
}

/* The parts of a status that the kernel half has counted since the last one. */
static int read_growth(struct run *run, struct run_status *status)
{
	struct sched_tally tally, now_tally;
	u64 counters[SCX_COUNTERS] = { 0 };
	struct cpu_account now;
	int error = sched_read_tally(run->sched, &now_tally);

	if (error)
		return error;
	sched_read_cpus(run->sched, clock_now_ns(), &now);
	status->switches = now.switches - run->before.switches;
	/* Read beside the hook that writes: one may be behind by what the next line makes up for. */
	status->busy_ns = span_between(run->before.busy_ns, now.busy_ns);
	status->idle_ns = span_between(run->before.idle_ns, now.idle_ns);
	status->lost = now.lost - run->before.lost;
	run->before = now;
	tally = now_tally;
	tally_subtract(&tally, &run->tally_before);
	run->tally_before = now_tally;
	status->missed = tally.missed;
	status->moves = tally.moves;
	for (u32 tier = 0; tier < TIERS; tier++) {
		status->wait_p99_ns[tier] = hist_percentile(&tally.waits[tier], 990000);
		status->waits[tier] = tally.waits[tier].total;
	}
	if (run->scx)
		scx_read_counters(run->scx, counters);
	for (int i = 0; i < SCX_COUNTERS; i++)
		status->decisions[i] = counters[i] - run->counters_before[i];
	memcpy(run->counters_before, counters, sizeof(counters));
	read_kernel_events(run, status);
	return 0;
}

static void fill_hints(struct run_status *status, const struct hints_counts *hints)
{
	status->hints_urgent = hints->urgent;
	status->hints_batch = hints->batch;
	status->hints_given = hints->given;
	status->hints_taken_back = hints->taken_back;
	status->hints_left_alone = hints->left_alone;
	status->hints_refused = hints->refused;
}

/* What happened since the last line. False if the accounts can't be read any more. */
static bool take_line(struct run *run)
{
	struct run_status status = { .magic = STATUS_MAGIC, .version = STATUS_VERSION, .restarts = run->restarts };
	struct hints_counts hints = run->hints ? hints_counts(run->hints) : (struct hints_counts){ 0 };
	u64 now_ns = clock_now_ns();
	struct timespec wall;
	int error = read_growth(run, &status);

	if (error) {
		run->status = fail("run", "could not read the accounts: %s", strerror(-error));
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &wall);
	status.wall_ns = (u64)wall.tv_sec * NSEC_PER_SEC + (u64)wall.tv_nsec;
	status.span_ns = now_ns - run->line_at_ns;
	snprintf(status.actuator, sizeof(status.actuator), "%s", actuator_of(run));
	memcpy(status.by_role, run->by_role, sizeof(status.by_role));
	memcpy(status.by_tier, run->by_tier, sizeof(status.by_tier));
	fill_hints(&status, &hints);
	run->line_at_ns = now_ns;
	if (run->feed)
		feed_send(run->feed, &status, sizeof(status));
	if (run->options->json) {
		status_print_json(stdout, &status);
		return true;
	}
	if (run->lines++ % LINES_PER_HEAD == 0)
		status_print_head(stdout);
	status_print_line(stdout, &status);
	return true;
}

static void count_role(struct run *run, const struct event_role *event)
{
	if (run->by_role[event->was_role])
		run->by_role[event->was_role]--;
	if (run->by_tier[event->was_tier])
		run->by_tier[event->was_tier]--;
	if (event->head.flags & EVENT_FLAG_CLOSING)
		return;
	run->by_role[event->role]++;
	run->by_tier[event->tier]++;
}

static void tell_hints(struct run *run, const struct event_role *event)
{
	if (run->hints && !(event->has & HAS_KERNEL_THREAD))
		hints_tell(run->hints, event->head.tid, event->tier,
			   event->wakeups ? event->cpu_ns / event->wakeups : event->cpu_ns);
}

static bool role_event_is_sound(const struct event_header *header)
{
	const struct event_role *event = (const struct event_role *)header;

	return header->kind == EVENT_ROLE && event->role < ROLES && event->was_role < ROLES && event->tier < TIERS &&
	       event->was_tier < TIERS;
}

static void on_tier(void *data, u32 tid, u32 tier, u64 run_ns)
{
	struct run *run = data;

	if (run->hints)
		hints_tell(run->hints, tid, tier, run_ns);
}

/* Keeps count of threads by role, and passes on how urgent each is. */
static void on_raw(void *data, const struct event_header *header)
{
	const struct event_role *event = (const struct event_role *)header;

	if (!role_event_is_sound(header))
		return;
	count_role(data, event);
	if (!(header->flags & EVENT_FLAG_CLOSING))
		tell_hints(data, event);
}

static void say_farewell(const struct scx_farewell *last, const char *then)
{
	const char *reason = last->reason[0] ? last->reason : "ended";

	if (!last->kind)
		note("the scheduler was taken out; the kernel gave no reason");
	else
		note("the scheduler ended: %s%s%s; %s", reason, last->message[0] ? ": " : "", last->message, then);
	if (last->kind >= SCX_KIND_ERROR && last->dump[0])
		say_lines(last->dump);
}

/* True if it is in charge. */
static bool start_scx(struct run *run, struct reason *why)
{
	struct scx_settings settings = { .sched = run->sched,
					 .places = run->source.info.places,
					 .cpus_len = run->source.info.cpus_len,
					 .slice_ns = slice_us * NSEC_PER_USEC,
					 .is_partial = partial };

	memset(run->counters_before, 0, sizeof(run->counters_before));
	memset(run->events_before, 0, sizeof(run->events_before));
	return !scx_start(&run->scx, &settings, why);
}

/* The command joins a scheduler that takes only a part of the threads. */
static bool give_command(struct run *run)
{
	int error;

	run->had_partial = partial_count();
	error = partial_give(run->source.command_pid);
	if (error)
		fail("run", "cannot give the command to the scheduler: %s", strerror(-error));
	return !error;
}

/* True if it is in charge, or if something else may be tried. */
static bool try_scx(struct run *run)
{
	struct reason why = { "" };

	if (!sched_ext_state().available)
		reason_set(&why, "this kernel has no sched_ext");
	else if (dry_run)
		reason_set(&why, "a dry run changes nothing");
	else if (start_scx(run, &why)) {
		note("scheduling by sched_ext%s", partial ? ", the command's threads only" : "");
		return !partial || !run->source.command_pid || give_command(run);
	}
	if (wanted == ACTUATOR_SCX || partial) {
		fail("run", "cannot schedule by sched_ext: %s", why.text);
		return false;
	}
	note("no sched_ext scheduler: %s", why.text);
	return true;
}

static bool try_hints(struct run *run)
{
	struct reason why = { "" };

	if (!hints_open(&run->hints, dry_run, &why)) {
		note("hints to the kernel's scheduler: %s", hints_means_words(run->hints));
		if (slice_us)
			note("--slice-us is for sched_ext only");
		if (raise_given)
			note("--raise is for sched_ext only");
		return true;
	}
	if (wanted == ACTUATOR_HINTS) {
		fail("run", "cannot give hints: %s", why.text);
		return false;
	}
	note("no hints: %s: observing only", why.text);
	return true;
}

static int retell(void *data, const void *event)
{
	if (role_event_is_sound(event))
		tell_hints(data, event);
	return 0;
}

/* The scheduler is out for good. What is known of the threads goes to the hints, if nobody insisted on sched_ext. */
static bool give_up_scx(struct run *run)
{
	if (wanted != ACTUATOR_AUTO || partial || !try_hints(run)) {
		run->status = EXIT_FAILURE;
		return false;
	}
	sched_read_roles(run->sched, retell, run);
	return true;
}

static bool start_again(struct run *run)
{
	struct reason why = { "" };

	/* CPUs that came may share what those that went shared. */
	places_read(run->source.info.places, run->source.info.cpus_len);
	if (start_scx(run, &why)) {
		run->tries = 0;
		run->restarts++;
		note("scheduling by sched_ext again");
		return true;
	}
	if (++run->tries <= START_TRIES)
		return true;
	run->tries = 0;
	note("the scheduler cannot be started again: %s", why.text);
	return give_up_scx(run);
}

/* The kernel put the scheduler out: because CPUs came or went, because something went wrong, or because somebody wanted
 * it. Only the last is the end. */
static bool scx_was_put_out(struct run *run)
{
	struct scx_farewell last;
	bool by_error;

	scx_stop(run->scx, &last);
	run->scx = NULL;
	by_error = last.kind >= SCX_KIND_ERROR;
	run->errors += by_error;
	if ((last.code & (s64)SCX_CODE_RESTART) || (by_error && run->errors < ERRORS_MAX)) {
		say_farewell(&last, "it is started again");
		run->tries = 1;
		return start_again(run);
	}
	say_farewell(&last, "the kernel's own scheduler is in charge");
	if (by_error) {
		note("that was error number %u: the scheduler is given up", run->errors);
		return give_up_scx(run);
	}
	run->status = EXIT_FAILURE;
	return false;
}

static bool on_tick(void *data)
{
	struct run *run = data;

	if (run->scx && scx_is_out(run->scx) && !scx_was_put_out(run))
		return false;
	if (run->tries && !start_again(run))
		return false;
	if (clock_now_ns() - run->line_at_ns < NSEC_PER_SEC)
		return true;
	if (!take_line(run))
		return false;
	/* A reader that went away ends the run. */
	return fflush(stdout) == 0;
}

/* The better one that works; each that does not says why in a line. */
static bool start_actuator(struct run *run)
{
	if ((wanted == ACTUATOR_AUTO || wanted == ACTUATOR_SCX) && !try_scx(run))
		return false;
	if (!run->scx && (wanted == ACTUATOR_AUTO || wanted == ACTUATOR_HINTS))
		return try_hints(run);
	if (wanted == ACTUATOR_NONE)
		note("observing only");
	return true;
}

/* What lines count from, once everything is in place. */
static bool begin_lines(struct run *run)
{
	struct reason why = { "" };
	int error = sched_read_tally(run->sched, &run->tally_before);

	sched_read_cpus(run->sched, clock_now_ns(), &run->before);
	if (error) {
		fail("run", "could not read the accounts: %s", strerror(-error));
		return false;
	}
	run->line_at_ns = clock_now_ns();
	if (feed_open(&run->feed, &why))
		note("'tactus stats' will not see this run: %s", why.text);
	return true;
}

/* The part of a second that is left over. */
static void on_close(void *data)
{
	struct run *run = data;

	if (run->began && !run->status && clock_now_ns() - run->line_at_ns >= 100 * NSEC_PER_MSEC)
		take_line(run);
}

static bool on_open(void *data, struct sensor *sched)
{
	struct run *run = data;

	run->sched = sched;
	run->began = start_actuator(run) && begin_lines(run);
	return run->began;
}

static void end_actuators(struct run *run)
{
	struct hints_counts counts;
	struct scx_farewell last;
	bool put_out;

	if (run->scx) {
		put_out = scx_is_out(run->scx);
		if (scx_groups_refused(run->scx))
			note("%" PRIu64 " control groups' weights had no effect: there was no room for them",
			     scx_groups_refused(run->scx));
		scx_stop(run->scx, &last);
		say_farewell(&last, "the kernel's own scheduler is in charge");
		if (!run->status && (put_out || last.kind >= SCX_KIND_ERROR))
			run->status = EXIT_FAILURE;
	}
	if (partial && !run->had_partial)
		partial_take_back();
	if (run->hints) {
		counts = hints_close(run->hints);
		note("%" PRIu64 " hints given%s, all taken back but those of threads that ended (%" PRIu64
		     " threads left alone, %" PRIu64 " refused)",
		     counts.given, dry_run ? " in thought" : "", counts.left_alone, counts.refused);
	}
	if (run->feed && feed_dropped(run->feed))
		note("%lu lines did not reach a 'tactus stats' that was too slow", feed_dropped(run->feed));
	feed_close(run->feed);
}

/* Options that are sound one by one but not together. */
static int check_options(const struct options *options)
{
	const char *trouble = NULL;

	if (partial && (wanted == ACTUATOR_HINTS || wanted == ACTUATOR_NONE || dry_run))
		trouble = "--partial is for sched_ext only";
	else if (slice_us && (wanted == ACTUATOR_HINTS || wanted == ACTUATOR_NONE))
		trouble = "--slice-us is for sched_ext only";
	else if (raise_given && (wanted == ACTUATOR_HINTS || wanted == ACTUATOR_NONE))
		trouble = "--raise is for sched_ext only";
	else if (partial && !options->command)
		trouble = "--partial needs a command after --";
	if (!trouble)
		return 0;
	fail("run", "%s", trouble);
	return EXIT_USAGE;
}

int view_run(int argc, char **argv)
{
	struct options options;
	struct run run = { .options = &options };
	int status;

	options_parse(&options, &usage, argc, argv);
	status = check_options(&options);
	if (status)
		return status;
	sensor_set_verbose(options.verbose);
	run.source = (struct source){ .view = "run",
				      .roles = true,
				      .learns = true,
				      .counts_cpus = true,
				      .raise = raise_by,
				      .on_tier = on_tier,
				      .raw = true,
				      .whole_machine = true,
				      .on_raw = on_raw,
				      .on_open = on_open,
				      .on_tick = on_tick,
				      .on_close = on_close,
				      .data = &run };
	privileges_need(wanted == ACTUATOR_NONE || dry_run ? 0 : NEED_TO_ACT);
	status = source_play(&run.source, &options);
	end_actuators(&run);
	if (run.began && options.output)
		note("%s: %" PRIu64 " events", options.output, run.source.written_events);
	if (run.began)
		source_print_losses(&run.source);
	source_free(&run.source);
	return status ? status : run.status;
}

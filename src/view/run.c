// SPDX-License-Identifier: GPL-2.0
/* tactus run: the main job. Finds out what threads are for, acts on it by sched_ext or by hints, prints a line a
 * second, and leaves everything as it was at the end, saying why it ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/say.h"
#include "../base/system.h"
#include "../model/roles.h"
#include "../sched/hints.h"
#include "../sched/scx.h"
#include "../sensor/cpus.h"
#include "role_options.h"
#include "source.h"

enum { CHECKS_PER_LINE = 10, LINES_PER_HEAD = 20, KEY_ACTUATOR = 0x200, KEY_DRY_RUN };

enum actuator { ACTUATOR_AUTO, ACTUATOR_SCX, ACTUATOR_HINTS, ACTUATOR_NONE, ACTUATORS };
static const char *const actuator_names[ACTUATORS] = { "auto", "scx", "hints", "none" };

static enum actuator wanted;
static bool dry_run;

static const char *take_own(int key, const char *value)
{
	if (key == KEY_DRY_RUN) {
		dry_run = true;
		return NULL;
	}
	if (key != KEY_ACTUATOR)
		return role_options_take(key, value);
	for (wanted = 0; wanted < ACTUATORS; wanted++)
		if (!strcmp(value, actuator_names[wanted]))
			return NULL;
	return "is none of auto, scx, hints, none";
}

static const struct argp_option own[] = {
	{ "actuator", KEY_ACTUATOR, "auto|scx|hints|none", 0,
	  "How to act: as a sched_ext scheduler, by hints to the kernel's own, or not at all; auto takes the first "
	  "that works",
	  0 },
	{ "dry-run", KEY_DRY_RUN, 0, 0, "Decide and count hints, change nothing", 0 },
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
		"BUSY and SWITCHES/S are over all CPUs. AT ONCE/S are threads that sched_ext started on an idle CPU, "
		"QUEUED/S those that waited their turn. URGENT and BATCH are threads by tier; RENDER to NET are those "
		"by "
		"role. HINTS are threads that have one.\n"
		"\n"
		"Examples:\n"
		"  tactus run                    until Ctrl-C\n"
		"  tactus run -- ./game          while a program runs; ends with its exit status\n"
		"  tactus run --actuator hints   even if the kernel has sched_ext\n"
		"  tactus run --dry-run          what would be done?",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON | TAKES_RING,
	.own = own,
	.take_own = take_own,
};

struct run {
	const struct options *options;
	struct source source;
	struct sensor cpus_sensor;
	struct scx *scx;     /* in charge, or NULL */
	struct hints *hints; /* given, or NULL */
	u64 by_role[ROLES];
	struct cpus before;
	u64 counters_before[SCX_COUNTERS];
	u64 line_at_ns;
	u64 lines;
	bool began; /* everything is in place */
	int status;
};

static const char *actuator_of(const struct run *run)
{
	return run->scx ? "scx" : run->hints ? (dry_run ? "dry run" : "hints") : "none";
}

static u64 per_second(u64 count, u64 span_ns)
{
	return span_ns ? (u64)((double)count * NSEC_PER_SEC / (double)span_ns + 0.5) : 0;
}

static u64 of_tier(const struct run *run, u32 tier)
{
	u64 sum = 0;

	for (u32 role = ROLE_UNKNOWN + 1; role < ROLES; role++)
		sum += tier_of_role(role) == tier ? run->by_role[role] : 0;
	return sum;
}

static void print_json(const struct run *run, const struct cpu_account *sum, const u64 counters[SCX_COUNTERS],
		       const struct hints_counts *hints, u64 span_ns)
{
	printf("{\"span_ns\":%" PRIu64 ",\"scheduler\":%s,\"actuator\":\"%s\",\"switches\":%" PRIu64
	       ",\"busy_ns\":%" PRIu64 ",\"idle_ns\":%" PRIu64 ",\"at_once\":%" PRIu64 ",\"queued\":%" PRIu64
	       ",\"lost\":%" PRIu64,
	       span_ns, run->scx ? "\"tactus\"" : "null", actuator_of(run), sum->switches, sum->busy_ns, sum->idle_ns,
	       counters[SCX_COUNT_IDLE], counters[SCX_COUNT_QUEUED], sum->lost);
	fputs(",\"threads_by_role\":{", stdout);
	for (u32 role = ROLE_UNKNOWN + 1; role < ROLES; role++)
		printf("%s\"%s\":%" PRIu64, role > 1 ? "," : "", role_name(role), run->by_role[role]);
	printf("},\"hints\":{\"urgent\":%" PRIu64 ",\"batch\":%" PRIu64 ",\"given\":%" PRIu64 ",\"taken_back\":%" PRIu64
	       ",\"left_alone\":%" PRIu64 ",\"refused\":%" PRIu64 "}}\n",
	       hints->urgent, hints->batch, hints->given, hints->taken_back, hints->left_alone, hints->refused);
}

static void print_line(struct run *run, const struct cpu_account *sum, const u64 counters[SCX_COUNTERS], u64 span_ns)
{
	struct hints_counts hints = run->hints ? hints_counts(run->hints) : (struct hints_counts){ 0 };
	u64 total_ns = sum->busy_ns + sum->idle_ns;
	time_t now = time(NULL);
	struct tm local;
	char clock[16];

	if (run->options->json) {
		print_json(run, sum, counters, &hints, span_ns);
		return;
	}
	if (run->lines++ % LINES_PER_HEAD == 0)
		printf("TIME      ACTUATOR   BUSY  SWITCHES/S  AT ONCE/S  QUEUED/S  URGENT  BATCH  RENDER  AUDIO  "
		       "INPUT  NET  "
		       "HINTS  LOST\n");
	localtime_r(&now, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	printf("%s  %-8s %4.0f %%  %10" PRIu64 "  %9" PRIu64 "  %8" PRIu64 "  %6" PRIu64 "  %5" PRIu64 "  %6" PRIu64
	       "  %5" PRIu64 "  %5" PRIu64 "  %3" PRIu64 "  %5" PRIu64 "  %4" PRIu64 "\n",
	       clock, actuator_of(run), total_ns ? 100.0 * (double)sum->busy_ns / (double)total_ns : 0,
	       per_second(sum->switches, span_ns), per_second(counters[SCX_COUNT_IDLE], span_ns),
	       per_second(counters[SCX_COUNT_QUEUED], span_ns), of_tier(run, TIER_LATENCY_CRITICAL),
	       of_tier(run, TIER_BATCH), run->by_role[ROLE_RENDER], run->by_role[ROLE_AUDIO], run->by_role[ROLE_INPUT],
	       run->by_role[ROLE_NETWORK], hints.urgent + hints.batch, sum->lost);
}

/* What happened since the last line. False if the accounts can't be read any more. */
static bool take_line(struct run *run)
{
	u64 now_ns = clock_now_ns(), counters[SCX_COUNTERS] = { 0 }, growth[SCX_COUNTERS];
	struct cpus now = { 0 }, span = { 0 };
	struct cpu_account sum;
	int error = cpus_read(&run->cpus_sensor, &now);

	if (!error)
		error = cpus_read(&run->cpus_sensor, &span);
	if (error) {
		run->status = fail("run", "could not read the accounts: %s", strerror(-error));
		cpus_free(&now);
		return false;
	}
	cpus_subtract(&span, &run->before);
	sum = cpus_sum(&span);
	if (run->scx)
		scx_read_counters(run->scx, counters);
	for (int i = 0; i < SCX_COUNTERS; i++)
		growth[i] = counters[i] - run->counters_before[i];
	print_line(run, &sum, growth, now_ns - run->line_at_ns);
	memcpy(run->counters_before, counters, sizeof(counters));
	cpus_free(&span);
	cpus_free(&run->before);
	run->before = now;
	run->line_at_ns = now_ns;
	return true;
}

static bool on_tick(void *data)
{
	struct run *run = data;

	if (run->scx && scx_is_out(run->scx))
		return false;
	if (clock_now_ns() - run->line_at_ns < NSEC_PER_SEC)
		return true;
	if (!take_line(run))
		return false;
	/* A reader that went away ends the run. */
	return fflush(stdout) == 0;
}

/* Keeps count of threads by role, and passes on how urgent each is. */
static void on_raw(void *data, const struct event_header *header)
{
	const struct event_role *event = (const struct event_role *)header;
	bool ends = header->flags & EVENT_FLAG_CLOSING;
	struct run *run = data;

	if (header->kind != EVENT_ROLE || event->role >= ROLES || event->was_role >= ROLES)
		return;
	if (run->by_role[event->was_role])
		run->by_role[event->was_role]--;
	if (!ends)
		run->by_role[event->role]++;
	if (run->hints && !ends && !(event->has & HAS_KERNEL_THREAD))
		hints_tell(run->hints, header->tid, event->tier);
}

static void say_farewell(struct run *run, const struct scx_farewell *last)
{
	bool by_error = last->kind >= SCX_KIND_ERROR;
	const char *reason = last->reason[0] ? last->reason : "ended";

	if (!last->kind)
		note("the scheduler was taken out; the kernel gave no reason");
	else
		note("the scheduler ended: %s%s%s; the kernel's own scheduler is in charge", reason,
		     last->message[0] ? ": " : "", last->message);
	if (by_error)
		run->status = EXIT_FAILURE;
}

/* True if it is in charge, or if something else may be tried. */
static bool try_scx(struct run *run, struct sensor *sched)
{
	struct scx_settings settings = { .sched = sched,
					 .places = run->source.info.places,
					 .cpus_len = run->source.info.cpus_len };
	struct reason why = { "" };

	if (!sched_ext_state().available)
		reason_set(&why, "this kernel has no sched_ext");
	else if (dry_run)
		reason_set(&why, "a dry run changes nothing");
	else if (!scx_start(&run->scx, &settings, &why)) {
		note("scheduling by sched_ext");
		return true;
	}
	if (wanted == ACTUATOR_SCX) {
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
		return true;
	}
	if (wanted == ACTUATOR_HINTS) {
		fail("run", "cannot give hints: %s", why.text);
		return false;
	}
	note("no hints: %s: observing only", why.text);
	return true;
}

/* The better one that works; each that does not says why in a line. */
static bool start_actuator(struct run *run, struct sensor *sched)
{
	run->line_at_ns = clock_now_ns();
	if (cpus_read(&run->cpus_sensor, &run->before)) {
		fail("run", "could not read the CPUs' accounts");
		return false;
	}
	if ((wanted == ACTUATOR_AUTO || wanted == ACTUATOR_SCX) && !try_scx(run, sched))
		return false;
	if (!run->scx && (wanted == ACTUATOR_AUTO || wanted == ACTUATOR_HINTS))
		return try_hints(run);
	if (wanted == ACTUATOR_NONE)
		note("observing only");
	return true;
}

static bool on_open(void *data, struct sensor *sched)
{
	struct run *run = data;

	run->began = start_actuator(run, sched);
	return run->began;
}

static void end_actuators(struct run *run)
{
	struct hints_counts counts;
	struct scx_farewell last;
	bool put_out;

	if (run->scx) {
		put_out = scx_is_out(run->scx);
		last = scx_stop(run->scx);
		say_farewell(run, &last);
		if (put_out && !run->status)
			run->status = EXIT_FAILURE;
	}
	if (run->hints) {
		counts = hints_close(run->hints);
		note("%" PRIu64 " hints given%s, all taken back but those of threads that ended (%" PRIu64
		     " threads left alone, %" PRIu64 " refused)",
		     counts.given, dry_run ? " in thought" : "", counts.left_alone, counts.refused);
	}
}

int view_run(int argc, char **argv)
{
	struct options options;
	struct run run = { .options = &options };
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	run.source = (struct source){ .view = "run",
				      .roles = true,
				      .raw = true,
				      .whole_machine = true,
				      .on_raw = on_raw,
				      .on_open = on_open,
				      .on_tick = on_tick,
				      .data = &run };
	if (sensor_start(&run.cpus_sensor, &cpus_kind, NULL) < 0)
		return fail("run", "cannot watch the scheduler: %s", run.cpus_sensor.reason.text);
	status = source_play(&run.source, &options);
	/* The part of a second that is left over. */
	if (run.began && !run.status && clock_now_ns() - run.line_at_ns >= 100 * NSEC_PER_MSEC)
		take_line(&run);
	end_actuators(&run);
	if (run.began)
		source_print_losses(&run.source);
	source_free(&run.source);
	cpus_free(&run.before);
	sensor_stop(&run.cpus_sensor);
	return status ? status : run.status;
}

// SPDX-License-Identifier: GPL-2.0
/* tactus run: the main job. Puts the scheduler in charge where the kernel takes one, watches, prints a line a second,
 * and leaves the kernel's own scheduler in charge at the end, saying why it ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/say.h"
#include "../base/system.h"
#include "../sched/scx.h"
#include "../sensor/cpus.h"
#include "view.h"

enum { CHECK_NS = 100 * NSEC_PER_MSEC, CHECKS_PER_LINE = 10 };

static const struct command_usage usage = {
	.name = "run",
	.text = "Schedules by sched_ext where the kernel has it, else observes; prints a status line a second. Any "
		"end, also "
		"a killed tactus, leaves the kernel's own scheduler in charge.\v"
		"BUSY and SWITCHES/S are over all CPUs. AT ONCE/S are threads that started on an idle CPU, QUEUED/S "
		"those that "
		"waited their turn.\n"
		"\n"
		"Examples:\n"
		"  tactus run                    until Ctrl-C\n"
		"  tactus run -- ./game          while a program runs; ends with its exit status",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON,
};

struct run {
	const struct options *options;
	struct sensor sensor;
	struct scx *scx; /* NULL: observing only */
	struct cpus before;
	u64 counters_before[SCX_COUNTERS];
	u64 line_at_ns;
	u64 lines;
	int checks;
	int status;
};

static u64 per_second(u64 count, u64 span_ns)
{
	return span_ns ? (u64)((double)count * NSEC_PER_SEC / (double)span_ns + 0.5) : 0;
}

static void print_line(struct run *run, const struct cpu_account *sum, const u64 counters[SCX_COUNTERS], u64 span_ns)
{
	u64 total_ns = sum->busy_ns + sum->idle_ns;
	time_t now = time(NULL);
	struct tm local;
	char clock[16];

	if (run->options->json) {
		printf("{\"span_ns\":%" PRIu64 ",\"scheduler\":%s,\"switches\":%" PRIu64 ",\"busy_ns\":%" PRIu64
		       ",\"idle_ns\":%" PRIu64 ",\"at_once\":%" PRIu64 ",\"queued\":%" PRIu64 ",\"lost\":%" PRIu64
		       "}\n",
		       span_ns, run->scx ? "\"tactus\"" : "null", sum->switches, sum->busy_ns, sum->idle_ns,
		       counters[SCX_COUNT_IDLE], counters[SCX_COUNT_QUEUED], sum->lost);
		return;
	}
	if (run->lines++ % 20 == 0)
		printf("TIME      SCHEDULER   BUSY  SWITCHES/S  AT ONCE/S  QUEUED/S  LOST\n");
	localtime_r(&now, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	printf("%s  %-9s %4.0f %%  %10" PRIu64 "  %9" PRIu64 "  %8" PRIu64 "  %4" PRIu64 "\n", clock,
	       run->scx ? "tactus" : "kernel's", total_ns ? 100.0 * (double)sum->busy_ns / (double)total_ns : 0,
	       per_second(sum->switches, span_ns), per_second(counters[SCX_COUNT_IDLE], span_ns),
	       per_second(counters[SCX_COUNT_QUEUED], span_ns), sum->lost);
}

/* What happened since the last line. False if the accounts can't be read any more. */
static bool take_line(struct run *run)
{
	u64 now_ns = clock_now_ns(), counters[SCX_COUNTERS] = { 0 }, growth[SCX_COUNTERS];
	struct cpus now = { 0 }, span = { 0 };
	struct cpu_account sum;
	int error = cpus_read(&run->sensor, &now);

	if (!error)
		error = cpus_read(&run->sensor, &span);
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

static bool on_check(void *data)
{
	struct run *run = data;

	if (run->scx && scx_is_out(run->scx))
		return false;
	if (++run->checks % CHECKS_PER_LINE)
		return true;
	if (!take_line(run))
		return false;
	/* A reader that went away ends the run. */
	return fflush(stdout) == 0;
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

/* sched_ext where it works; else one line that says why not. */
static void choose_actuator(struct run *run)
{
	struct reason why;

	if (!sched_ext_state().available)
		note("this kernel has no sched_ext: observing only");
	else if (scx_start(&run->scx, &why))
		note("cannot schedule: %s: observing only", why.text);
	else
		note("scheduling by sched_ext");
}

static void run_until_end(struct run *run, struct watch *watch)
{
	struct scx_farewell last;
	int error;

	error = cpus_read(&run->sensor, &run->before);
	if (error) {
		run->status = fail("run", "could not read the accounts: %s", strerror(-error));
		return;
	}
	choose_actuator(run);
	run->line_at_ns = clock_now_ns();
	run->status = watch_start(watch);
	if (!run->status) {
		watch_wait(watch, CHECK_NS, 0, on_check, run);
		/* The part of a second that is left over. */
		if (clock_now_ns() - run->line_at_ns >= CHECK_NS)
			take_line(run);
	}
	if (run->scx) {
		bool put_out = scx_is_out(run->scx);

		last = scx_stop(run->scx);
		say_farewell(run, &last);
		if (put_out && !run->status)
			run->status = EXIT_FAILURE;
	}
	cpus_free(&run->before);
}

int view_run(int argc, char **argv)
{
	struct options options;
	struct run run = { .options = &options };
	struct watch watch;
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	status = watch_prepare(&watch, &options);
	if (status)
		return status;
	if (sensor_start(&run.sensor, &cpus_kind, NULL) < 0)
		return watch_abandon(&watch, fail("run", "cannot watch the scheduler: %s", run.sensor.reason.text));
	run_until_end(&run, &watch);
	sensor_stop(&run.sensor);
	status = watch.child.gate_fd < 0 ? watch_end(&watch) : 0;
	return watch_abandon(&watch, status ? status : run.status);
}

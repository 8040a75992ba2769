// SPDX-License-Identifier: GPL-2.0
/* tactus cpus: context switches, busy and idle time of each CPU over a span of time.
 * Counted in the kernel, one account a CPU; read at the start and at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../sensor/cpus.h"
#include "../sink/sheet.h"
#include "view.h"

static const struct command_usage usage = {
	.name = "cpus",
	.text = "Counts context switches and measures busy and idle time of each CPU.\v"
		"The counts are the whole machine's, also with '-- CMD', which only says how long: CPUs are shared.\n"
		"LOST are switches that happened and were not seen; it is 0 unless something is wrong.\n"
		"\n"
		"Examples:\n"
		"  tactus cpus -d 5              for five seconds\n"
		"  tactus cpus -- make -j8       while a build runs; ends with its exit status\n"
		"  tactus cpus -d 1 --json       for a program to read",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON,
};

static const struct column columns[] = {
	{ "cpu", "CPU", CELL_NUMBER },	  { "switches", "SWITCHES", CELL_NUMBER }, { "busy_ns", "BUSY", CELL_TIME },
	{ "idle_ns", "IDLE", CELL_TIME }, { NULL, "BUSY %", CELL_PERCENT },	   { "lost", "LOST", CELL_NUMBER },
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static u64 busy_percent_hundredths(const struct cpu_account *account)
{
	u64 span_ns = account->busy_ns + account->idle_ns;

	return span_ns ? (u64)((double)account->busy_ns * 10000 / (double)span_ns + 0.5) : 0;
}

static void fill_row(union cell *cells, u64 cpu, const struct cpu_account *account)
{
	cells[0].number = cpu;
	cells[1].number = account->switches;
	cells[2].number = account->busy_ns;
	cells[3].number = account->idle_ns;
	cells[4].number = busy_percent_hundredths(account);
	cells[5].number = account->lost;
}

static int print_cpus(const struct cpus *cpus, bool json)
{
	struct cpu_account sum = cpus_sum(cpus);
	union cell cells[COLUMNS];
	struct sheet sheet;

	sheet_open(&sheet, stdout, json, columns, COLUMNS);
	for (u32 cpu = 0; cpu < cpus->len; cpu++) {
		if (!cpu_was_seen(&cpus->accounts[cpu]))
			continue;
		fill_row(cells, cpu, &cpus->accounts[cpu]);
		sheet_row(&sheet, cells);
	}
	fill_row(cells, 0, &sum);
	sheet_sum(&sheet, "all", cells);
	if (sheet_close(&sheet))
		return fail("cpus", "out of memory");
	if (cpus->refused || cpus->missed)
		note("not in the table: %" PRIu64 " switches on CPUs without an account, %" PRIu64
		     " skipped by the kernel",
		     cpus->refused, cpus->missed);
	return 0;
}

/* From the first reading to the last. Returns the status to end with. */
static int watch_cpus(struct watch *watch, struct sensor *sensor, struct cpus *cpus)
{
	struct cpus before = { 0 };
	int status, error;

	error = cpus_read(sensor, &before);
	if (error)
		return fail("cpus", "could not read the accounts: %s", strerror(-error));
	status = watch_start(watch);
	if (!status) {
		watch_wait(watch, 0, 0, NULL, NULL);
		error = cpus_read(sensor, cpus);
		if (error)
			fail("cpus", "could not read the accounts: %s", strerror(-error));
		else
			cpus_subtract(cpus, &before);
		status = watch_end(watch);
		status = status || !error ? status : EXIT_FAILURE;
	}
	cpus_free(&before);
	return status;
}

int view_cpus(int argc, char **argv)
{
	struct cpus cpus = { 0 };
	struct options options;
	struct sensor sensor;
	struct watch watch;
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	status = watch_prepare(&watch, &options);
	if (status)
		return status;
	if (sensor_start(&sensor, &cpus_kind, NULL) < 0)
		return watch_abandon(&watch, fail("cpus", "cannot watch the scheduler: %s", sensor.reason.text));
	status = watch_cpus(&watch, &sensor, &cpus);
	sensor_stop(&sensor);
	if (cpus.accounts && print_cpus(&cpus, options.json) && !status)
		status = EXIT_FAILURE;
	cpus_free(&cpus);
	return watch_abandon(&watch, status);
}

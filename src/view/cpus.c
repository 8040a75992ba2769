// SPDX-License-Identifier: GPL-2.0
/* tactus cpus: context switches, busy and idle time of each CPU over a span of time.
 * Counted in the kernel, one account a CPU; read at the start and at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/say.h"
#include "../sink/table.h"
#include "../capture/capture_cpus.h"
#include "every.h"
#include "view.h"

/* What is left of an interval at the end is shown if it is more than that. */
enum { REST_PART = 10 };

const struct command_usage cpus_usage = {
	.name = "cpus",
	.text = "Counts context switches and measures the busy and idle time of each CPU.\v"
		"The counts are for the whole machine; '-- CMD' only sets how long to count.\n"
		"LOST counts switches that happened and were not seen. It is 0 unless something is wrong.\n"
		"\n"
		"Examples:\n"
		"  tactus cpus -d 5              for five seconds\n"
		"  tactus cpus -- make -j8       while a build runs; ends with its exit status\n"
		"  tactus cpus -d 1 --json       for a program to read",
	.takes = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON | TAKES_REPORT | TAKES_REPORT_O | TAKES_ROWS |
		 TAKES_TABLE | TAKES_INTERVAL,
};

#define CPU_TABLE(COLUMN, SHOWN)                          \
	COLUMN(CPU, cpu, "CPU", CELL_NUMBER)              \
	COLUMN(CPU, switches, "SWITCHES", CELL_NUMBER)    \
	COLUMN(CPU, busy_ns, "BUSY", CELL_TIME)           \
	COLUMN(CPU, idle_ns, "IDLE", CELL_TIME)           \
	COLUMN(CPU, busy_percent, "BUSY %", CELL_PERCENT) \
	COLUMN(CPU, lost, "LOST", CELL_NUMBER)
TABLE_OF(columns, CPU);
const struct table_columns cpus_tables[] = { { columns, CPU_CELLS }, { 0 } };
static const struct table_look look = { .drops = "lost,idle", .alarms = "lost" };

static u64 busy_percent_hundredths(const struct cpu_account *account)
{
	u64 span_ns = account->busy_ns + account->idle_ns;

	return span_ns ? (u64)((double)account->busy_ns * 10000 / (double)span_ns + 0.5) : 0;
}

static void fill_row(union cell *cells, u64 cpu, const struct cpu_account *account)
{
	cells[CPU_cpu].number = cpu;
	cells[CPU_switches].number = account->switches;
	cells[CPU_busy_ns].number = account->busy_ns;
	cells[CPU_idle_ns].number = account->idle_ns;
	cells[CPU_busy_percent].number = busy_percent_hundredths(account);
	cells[CPU_lost].number = account->lost;
}

static int print_cpus(const struct cpus *cpus, const struct options *options)
{
	struct cpu_account sum = cpus_sum(cpus);
	union cell cells[CPU_CELLS];
	struct table table;

	table_open_for(&table, options, "cpu", columns, CPU_CELLS, ROWS_ALL, &look);
	for (u32 cpu = 0; cpu < cpus->len; cpu++) {
		if (!cpu_was_seen(&cpus->accounts[cpu]))
			continue;
		fill_row(cells, cpu, &cpus->accounts[cpu]);
		table_row(&table, cells);
	}
	fill_row(cells, 0, &sum);
	table_sum(&table, "all", cells);
	if (table_close(&table))
		return fail("cpus", "out of memory");
	if (cpus->refused || cpus->recursion_misses)
		note("not in the table: %" PRIu64 " switches on CPUs without an account, %" PRIu64
		     " skipped by the kernel",
		     cpus->refused, cpus->recursion_misses);
	return 0;
}

static void on_interval(void *data, const struct cpus *cpus, u64 from_ns, u64 to_ns)
{
	struct cpus_request *request = data;

	every_begin(request->options, request->start_ns, from_ns, to_ns);
	print_cpus(cpus, request->options);
	every_end();
}

int view_cpus(int argc, char **argv)
{
	struct cpus cpus = { 0 };
	struct options options;
	struct cpus_request request = {
		.view = cpus_usage.name, .options = &options, .on_interval = on_interval, .data = &request
	};
	u64 rest_ns;
	int status;

	options_parse(&options, &cpus_usage, NULL, argc, argv);
	table_check(&options, cpus_usage.name, cpus_tables);
	request.interval_ns = every_ns(&options);
	status = capture_cpus(&cpus, &request);
	rest_ns = request.to_ns - request.from_ns;
	if (cpus.accounts && rest_ns >= request.interval_ns / REST_PART) {
		if (request.interval_ns)
			every_begin(&options, request.start_ns, request.from_ns, request.to_ns);
		if (print_cpus(&cpus, &options) && !status)
			status = EXIT_FAILURE;
	}
	cpus_free(&cpus);
	return status;
}

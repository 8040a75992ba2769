// SPDX-License-Identifier: GPL-2.0
/* tactus tasks and tactus affinity: what threads did, from the accounts that the kernel half keeps or from a recording.
 * Two tables over the same rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/tasks.h"
#include "../sink/sheet.h"
#include "../sensor/sensor.h"
#include "source.h"

enum { DEFAULT_ROWS = 20, KEY_BY = 0x200, KEY_SORT };

static bool by_process;
static enum task_order order;

static const char *take_own(int key, const char *value)
{
	static const char *const orders[] = { "cpu", "wait", "switches", "migrations" };

	if (key == KEY_BY) {
		by_process = !strcmp(value, "process");
		return by_process || !strcmp(value, "thread") ? NULL : "is neither 'thread' nor 'process'";
	}
	for (int i = 0; i < 4; i++) {
		if (!strcmp(value, orders[i])) {
			order = (enum task_order)i;
			return NULL;
		}
	}
	return "is none of cpu, wait, switches, migrations";
}

static const struct argp_option own[] = {
	{ "by", KEY_BY, "thread|process", 0, "A row a thread (default), or one for all threads of a process", 0 },
	{ "sort", KEY_SORT, "cpu|wait|switches|migrations", 0, "What the first rows have most of", 0 },
	{ 0 },
};

static const struct command_usage tasks_usage = {
	.name = "tasks",
	.text = "Shows what each thread did: CPU time, runs and their length, how long it waited for a CPU, and how "
		"often it "
		"gave the CPU up or was pushed off.\v"
		"WAITED is the time a thread could run and had no CPU, after wake-ups and after preemptions together. "
		"VOL are "
		"switches by which it went to sleep, INVOL those by which it was pushed off.\n"
		"Counted in the kernel; threads that ended meanwhile are in.\n"
		"\n"
		"Examples:\n"
		"  tactus tasks -d 5\n"
		"  tactus tasks --by process --sort wait -d 5\n"
		"  tactus tasks -- make -j8      just this command and its children",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
	.own = own,
	.take_own = take_own,
};

static const struct command_usage affinity_usage = {
	.name = "affinity",
	.text = "Shows how threads move: the CPUs each ran on, its moves by distance, and how much it keeps to its "
		"place.\v"
		"SCORE is 100 less the share of runs that began with a move, in percent; a move to a core's sibling "
		"counts a "
		"quarter, within a last-level cache a half, across caches three quarters, across memory nodes one.\n"
		"\n"
		"Examples:\n"
		"  tactus affinity -d 5          who moves most\n"
		"  tactus affinity -- ./game     just this command and its children",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
	.own = own,
	.take_own = take_own,
};

static u64 percent_hundredths(u64 part, u64 whole)
{
	return whole ? (u64)((double)part * 10000 / (double)whole + 0.5) : 0;
}

/* The first ones are the same in both tables. */
#define COLUMNS_OF_WHO                                                \
	{ "tid", "TID", CELL_NUMBER }, { "pid", "PID", CELL_NUMBER }, \
	{                                                             \
		"comm", "COMM", CELL_TEXT                             \
	}

static const struct column task_columns[] = {
	COLUMNS_OF_WHO,
	{ "cpu_ns", "CPU", CELL_TIME },
	{ NULL, "CPU %", CELL_PERCENT },
	{ "runs", "RUNS", CELL_NUMBER },
	{ "run_avg_ns", "AVG RUN", CELL_TIME },
	{ "run_dev_ns", NULL, CELL_NUMBER },
	{ "wait_ns", "WAITED", CELL_TIME },
	{ "wake_wait_ns", NULL, CELL_NUMBER },
	{ "preempt_wait_ns", NULL, CELL_NUMBER },
	{ "wait_max_ns", "WORST", CELL_TIME },
	{ "wait_max_at_ns", NULL, CELL_NUMBER },
	{ "voluntary", "VOL", CELL_NUMBER },
	{ "involuntary", "INVOL", CELL_NUMBER },
	{ "wakeups", "WAKEUPS", CELL_NUMBER },
	{ "wake_gap_ns", NULL, CELL_NUMBER },
	{ "migrations", "MOVES", CELL_NUMBER },
	{ "waker_tid", NULL, CELL_NUMBER },
	{ "threads", NULL, CELL_NUMBER },
	{ "ended", NULL, CELL_NUMBER },
};
enum { TASK_COLUMNS = sizeof(task_columns) / sizeof(task_columns[0]) };

static void fill_who(union cell *cells, const struct task *task, char *comm)
{
	memcpy(comm, task->first->comm.text, COMM_LEN);
	comm[COMM_LEN] = '\0';
	cells[0].number = by_process ? task->first->pid : task->first->tid;
	cells[1].number = task->first->pid;
	cells[2].text = comm;
}

static void fill_task(union cell *cells, const struct task *task, u64 window_ns, char *comm)
{
	const struct thread_account *sum = task->sum;
	const u64 numbers[] = {
		sum->cpu_ns,
		percent_hundredths(sum->cpu_ns, window_ns),
		sum->runs,
		sum->run_avg_ns,
		sum->run_dev_ns,
		thread_wait_ns(sum),
		sum->wake_wait_ns,
		sum->preempt_wait_ns,
		sum->wait_max_ns,
		sum->wait_max_at_ns,
		sum->voluntary,
		sum->involuntary,
		sum->wakeups,
		sum->wake_gap_ns,
		thread_migrations(sum),
		sum->waker_tid,
		task->threads,
		task->first->ended,
	};

	_Static_assert(sizeof(numbers) / sizeof(numbers[0]) + 3 == TASK_COLUMNS, "a cell a column");
	fill_who(cells, task, comm);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		cells[3 + i].number = numbers[i];
}

static const struct column affinity_columns[] = {
	COLUMNS_OF_WHO,
	{ "score", "SCORE", CELL_NUMBER },
	{ "cpus", "CPUS", CELL_NUMBER },
	{ "cpu_list", "WHICH", CELL_TEXT },
	{ "runs", "RUNS", CELL_NUMBER },
	{ "migrations", "MOVES", CELL_NUMBER },
	{ "migrations_core", "SIBLING", CELL_NUMBER },
	{ "migrations_llc", "CACHE", CELL_NUMBER },
	{ "migrations_node", "NODE", CELL_NUMBER },
	{ "migrations_cross", "ACROSS", CELL_NUMBER },
};
enum { AFFINITY_COLUMNS = sizeof(affinity_columns) / sizeof(affinity_columns[0]), LIST_SIZE = 64 };

/* "0-3,8", cut with "..." where it does not fit. */
static void format_cpus(char *into, const u64 *cpus)
{
	size_t used = 0;

	into[0] = '\0';
	for (u32 cpu = 0; cpu < ACCOUNT_CPUS; cpu++) {
		u32 last = cpu;

		if (!(cpus[cpu / 64] >> (cpu % 64) & 1))
			continue;
		while (last + 1 < ACCOUNT_CPUS && (cpus[(last + 1) / 64] >> ((last + 1) % 64) & 1))
			last++;
		if (used > LIST_SIZE - 16) {
			snprintf(into + used, LIST_SIZE - used, ",...");
			return;
		}
		used += (size_t)snprintf(into + used, LIST_SIZE - used, last > cpu ? "%s%u-%u" : "%s%u",
					 used ? "," : "", cpu, last);
		cpu = last;
	}
}

static void fill_affinity(union cell *cells, const struct task *task, char *comm, char *list)
{
	const struct thread_account *sum = task->sum;

	fill_who(cells, task, comm);
	format_cpus(list, sum->cpus);
	cells[3].number = account_affinity_score(sum);
	cells[4].number = account_cpus(sum);
	cells[5].text = list;
	cells[6].number = sum->runs;
	cells[7].number = thread_migrations(sum);
	for (int i = 0; i < DISTANCES; i++)
		cells[8 + i].number = sum->migrations[i];
}

static int print_rows(const struct source *source, const struct options *options, bool affinity)
{
	u32 most = options->rows ? options->rows : DEFAULT_ROWS;
	u64 window_ns = source->threads.last_ns - source->threads.first_ns;
	union cell cells[TASK_COLUMNS];
	char comm[COMM_LEN + 1], list[LIST_SIZE];
	struct tasks tasks;
	struct sheet sheet;
	size_t row;

	if (tasks_from_threads(&tasks, &source->threads, by_process))
		return fail(source->view, "out of memory");
	tasks_sort(&tasks, order);
	sheet_open(&sheet, stdout, options->json, affinity ? affinity_columns : task_columns,
		   affinity ? AFFINITY_COLUMNS : TASK_COLUMNS);
	for (row = 0; row < tasks.len && row < most; row++) {
		if (affinity)
			fill_affinity(cells, &tasks.all[row], comm, list);
		else
			fill_task(cells, &tasks.all[row], window_ns, comm);
		sheet_row(&sheet, cells);
	}
	if (sheet_close(&sheet))
		return fail(source->view, "out of memory");
	if (!options->json && row < tasks.len)
		printf("and %zu more (-n all shows them)\n", tasks.len - row);
	tasks_free(&tasks);
	source_print_losses(source);
	return 0;
}

static int view(const struct command_usage *usage, bool affinity, int argc, char **argv)
{
	struct source source = { .view = usage->name, .accounts = true };
	struct options options;
	int status;

	order = affinity ? TASKS_BY_MIGRATIONS : TASKS_BY_CPU;
	options_parse(&options, usage, argc, argv);
	sensor_set_verbose(options.verbose);
	status = source_play(&source, &options);
	if (source.threads.last_ns && print_rows(&source, &options, affinity) && !status)
		status = EXIT_FAILURE;
	source_free(&source);
	return status;
}

int view_tasks(int argc, char **argv)
{
	return view(&tasks_usage, false, argc, argv);
}

int view_affinity(int argc, char **argv)
{
	return view(&affinity_usage, true, argc, argv);
}

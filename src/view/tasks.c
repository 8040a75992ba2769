// SPDX-License-Identifier: GPL-2.0
/* tactus tasks and tactus affinity: what threads did, from the accounts that the kernel half keeps or from a recording.
 * Two tables over the same rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/tasks.h"
#include "../sink/table.h"
#include "../sensor/sensor.h"
#include "../capture/capture.h"
#include "../capture/intervals.h"
#include "every.h"
#include "thread_words.h"
#include "view.h"

enum { DEFAULT_ROWS = 20, KEY_BY = 0x200 };

struct chosen {
	bool by_process;
	enum task_order order;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	(void)key;
	chosen->by_process = !strcmp(value, "process");
	return chosen->by_process || !strcmp(value, "thread") ? NULL : "is neither 'thread' nor 'process'";
}

static const struct argp_option own_options[] = {
	{ "by", KEY_BY, "thread|process", 0, "One row per thread (default) or per process", 0 },
	{ 0 },
};

const struct command_usage tasks_usage = {
	.name = "tasks",
	.text = "Shows what each thread did: CPU time, runs and their length, how long it waited for a CPU, and "
		"its voluntary and involuntary switches.\v"
		"WAITED is the time that a thread was runnable without a CPU, after wake-ups and after "
		"preemptions. VOL counts switches by which it went to sleep, INVOL those by which it was "
		"preempted.\n"
		"The kernel counts; threads that have ended are included.\n"
		"\n"
		"Examples:\n"
		"  tactus tasks -d 5\n"
		"  tactus tasks 1 5              five tables, one per second\n"
		"  tactus tasks --by process --sort wait -d 5\n"
		"  tactus tasks -- make -j8      just this command and its children",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_INTERVAL,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

const struct command_usage affinity_usage = {
	.name = "affinity",
	.text = "Shows how threads move: the CPUs that each ran on, its moves by distance, and a score for how "
		"much it stays in place.\v"
		"SCORE is 100 minus the percentage of runs that began with a move. A move to a sibling of the same "
		"core counts a quarter, within a last-level cache a half, across caches three quarters, and across "
		"memory nodes one.\n"
		"\n"
		"Examples:\n"
		"  tactus affinity -d 5          who moves most\n"
		"  tactus affinity -- ./game     just this command and its children",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_INTERVAL,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

static u64 percent_hundredths(u64 part, u64 whole)
{
	return whole ? (u64)((double)part * 10000 / (double)whole + 0.5) : 0;
}

/* The first ones are the same in both tables. */
#define WHO_OF(OF, COLUMN)                  \
	COLUMN(OF, tid, "TID", CELL_NUMBER) \
	COLUMN(OF, pid, "PID", CELL_NUMBER) \
	COLUMN(OF, comm, "COMM", CELL_TEXT)
enum { WHO_OF(WHO, COLUMN_CELL) };

#define TASK_TABLE(COLUMN, SHOWN)                        \
	WHO_OF(TASK, COLUMN)                             \
	COLUMN(TASK, cpu_ns, "CPU", CELL_TIME)           \
	COLUMN(TASK, cpu_percent, "CPU %", CELL_PERCENT) \
	COLUMN(TASK, runs, "RUNS", CELL_NUMBER)          \
	COLUMN(TASK, run_avg_ns, "AVG RUN", CELL_TIME)   \
	COLUMN(TASK, run_dev_ns, NULL, CELL_NUMBER)      \
	COLUMN(TASK, wait_ns, "WAITED", CELL_TIME)       \
	COLUMN(TASK, wake_wait_ns, NULL, CELL_NUMBER)    \
	COLUMN(TASK, preempt_wait_ns, NULL, CELL_NUMBER) \
	COLUMN(TASK, wait_max_ns, "WORST", CELL_TIME)    \
	COLUMN(TASK, wait_max_at_ns, NULL, CELL_MOMENT)  \
	COLUMN(TASK, switches, NULL, CELL_NUMBER)        \
	COLUMN(TASK, voluntary, "VOL", CELL_NUMBER)      \
	COLUMN(TASK, involuntary, "INVOL", CELL_NUMBER)  \
	COLUMN(TASK, wakeups, "WAKEUPS", CELL_NUMBER)    \
	COLUMN(TASK, wake_gap_ns, NULL, CELL_NUMBER)     \
	COLUMN(TASK, migrations, "MOVES", CELL_NUMBER)   \
	COLUMN(TASK, waker_tid, NULL, CELL_NUMBER)       \
	COLUMN(TASK, threads, NULL, CELL_NUMBER)         \
	COLUMN(TASK, ended, NULL, CELL_NUMBER)           \
	COLUMN(TASK, window_ns, NULL, CELL_NUMBER)
TABLE_OF(task_columns, TASK);
static const struct table_look task_look = { .drops = "pid,wakeups,run_avg,worst,migrations,voluntary,involuntary" };

static void fill_who(union cell *cells, const struct task *task, bool by_process, char *comm)
{
	comm_text(comm, &task->first->comm);
	cells[WHO_tid].number = by_process ? task->first->pid : task->first->tid;
	cells[WHO_pid].number = task->first->pid;
	cells[WHO_comm].text = comm;
}

static void fill_task(union cell *cells, const struct task *task, bool by_process, u64 window_ns, char *comm)
{
	const struct thread_account *sum = task->sum;

	fill_who(&cells[TASK_tid], task, by_process, comm);
	cells[TASK_cpu_ns].number = sum->cpu_ns;
	cells[TASK_cpu_percent].number = percent_hundredths(sum->cpu_ns, window_ns);
	cells[TASK_runs].number = sum->runs;
	cells[TASK_run_avg_ns].number = sum->run_avg_ns;
	cells[TASK_run_dev_ns].number = sum->run_dev_ns;
	cells[TASK_wait_ns].number = thread_wait_ns(sum);
	cells[TASK_wake_wait_ns].number = sum->wake_wait_ns;
	cells[TASK_preempt_wait_ns].number = sum->preempt_wait_ns;
	cells[TASK_wait_max_ns].number = sum->wait_max_ns;
	cells[TASK_wait_max_at_ns].number = sum->wait_max_at_ns;
	cells[TASK_switches].number = sum->voluntary + sum->involuntary;
	cells[TASK_voluntary].number = sum->voluntary;
	cells[TASK_involuntary].number = sum->involuntary;
	cells[TASK_wakeups].number = sum->wakeups;
	cells[TASK_wake_gap_ns].number = sum->wake_gap_ns;
	cells[TASK_migrations].number = thread_migrations(sum);
	cells[TASK_waker_tid].number = sum->waker_tid;
	cells[TASK_threads].number = task->threads;
	cells[TASK_ended].number = task->first->ended;
	cells[TASK_window_ns].number = window_ns;
}

#define AFFINITY_TABLE(COLUMN, SHOWN)                             \
	WHO_OF(AFFINITY, COLUMN)                                  \
	COLUMN(AFFINITY, score, "SCORE", CELL_NUMBER)             \
	COLUMN(AFFINITY, cpus, "CPUS", CELL_NUMBER)               \
	COLUMN(AFFINITY, cpu_list, "WHICH", CELL_TEXT)            \
	COLUMN(AFFINITY, runs, "RUNS", CELL_NUMBER)               \
	COLUMN(AFFINITY, migrations, "MOVES", CELL_NUMBER)        \
	COLUMN(AFFINITY, migrations_core, "SIBLING", CELL_NUMBER) \
	COLUMN(AFFINITY, migrations_llc, "CACHE", CELL_NUMBER)    \
	COLUMN(AFFINITY, migrations_node, "NODE", CELL_NUMBER)    \
	COLUMN(AFFINITY, migrations_cross, "ACROSS", CELL_NUMBER)
TABLE_OF(affinity_columns, AFFINITY);
static const struct table_look affinity_look = {
	.drops = "pid,migrations_cross,migrations_node,migrations_llc,migrations_core"
};
/* The first has room for every CPU; a table's cell has not. */
enum { LIST_SIZE = ACCOUNT_CPUS * 5, LIST_SHOWN = 64 };

/* "0-3,8", cut with "..." where it does not fit. */
static void format_cpus(char *into, size_t size, const u64 *cpus)
{
	size_t used = 0;

	into[0] = '\0';
	for (u32 cpu = 0; cpu < ACCOUNT_CPUS; cpu++) {
		u32 last = cpu;

		if (!(cpus[cpu / 64] >> (cpu % 64) & 1))
			continue;
		while (last + 1 < ACCOUNT_CPUS && (cpus[(last + 1) / 64] >> ((last + 1) % 64) & 1))
			last++;
		if (used > size - 16) {
			snprintf(into + used, size - used, ",...");
			return;
		}
		used += (size_t)snprintf(into + used, size - used, last > cpu ? "%s%u-%u" : "%s%u", used ? "," : "",
					 cpu, last);
		cpu = last;
	}
}

static void fill_affinity(union cell *cells, const struct task *task, bool by_process, char *comm, char *list,
			  size_t size)
{
	const struct thread_account *sum = task->sum;

	fill_who(&cells[AFFINITY_tid], task, by_process, comm);
	format_cpus(list, size, sum->cpus);
	cells[AFFINITY_score].number = account_affinity_score(sum);
	cells[AFFINITY_cpus].number = account_cpus(sum);
	cells[AFFINITY_cpu_list].text = list;
	cells[AFFINITY_runs].number = sum->runs;
	cells[AFFINITY_migrations].number = thread_migrations(sum);
	for (int i = 0; i < DISTANCES; i++)
		cells[AFFINITY_migrations_core + i].number = sum->migrations[i];
}

struct page {
	struct chosen chosen;
	struct options options;
	struct capture capture;
	bool affinity, failed;
};

static int print_rows(const struct page *page, u64 window_ns)
{
	const struct capture *capture = &page->capture;
	const struct options *options = &page->options;
	const struct chosen *chosen = &page->chosen;
	bool affinity = page->affinity;
	union cell cells[TASK_CELLS];
	char comm[COMM_TEXT_SIZE], list[LIST_SIZE];
	struct tasks tasks;
	struct table table;
	size_t row;

	if (tasks_from_threads(&tasks, &capture->threads, chosen->by_process))
		return fail(capture->request.view, "out of memory");
	tasks_sort(&tasks, chosen->order);
	table_open_for(&table, options, affinity ? "affinity" : "task", affinity ? affinity_columns : task_columns,
		       affinity ? AFFINITY_CELLS : TASK_CELLS, DEFAULT_ROWS, affinity ? &affinity_look : &task_look);
	for (row = 0; row < tasks.len; row++) {
		if (affinity)
			fill_affinity(cells, &tasks.all[row], chosen->by_process, comm, list,
				      options->json ? LIST_SIZE : LIST_SHOWN);
		else
			fill_task(cells, &tasks.all[row], chosen->by_process, window_ns, comm);
		table_row(&table, cells);
	}
	if (table_close(&table))
		return fail(capture->request.view, "out of memory");
	tasks_free(&tasks);
	return 0;
}

const struct table_columns tasks_tables[] = { { task_columns, TASK_CELLS }, { 0 } };
const struct table_columns affinity_tables[] = { { affinity_columns, AFFINITY_CELLS }, { 0 } };

static void on_interval(void *data, u64 from_ns, u64 to_ns)
{
	struct page *page = data;

	threads_charge(&page->capture.threads, to_ns);
	every_begin(&page->options, page->capture.threads.first_ns, from_ns, to_ns);
	page->failed |= print_rows(page, to_ns - from_ns) != 0;
	every_end();
	threads_restart(&page->capture.threads);
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

/* Table after table is made from events: the kernel's accounts are for one, at the end. */
static void ask_for_intervals(struct page *page, u64 interval_ns)
{
	struct capture_request *request = &page->capture.request;

	request->accounts = false;
	request->groups = EVENTS_SCHED;
	request->interval_ns = interval_ns;
	request->on_interval = on_interval;
	request->on_tick = on_tick;
	request->forgets_many = true;
}

/* What is left after the last interval, or all of it. */
static int print_rest(struct page *page)
{
	struct capture *capture = &page->capture;
	u64 from_ns = capture->request.interval_ns ? capture->interval_from_ns : capture->window_from_ns;
	int status = 0;

	if (intervals_have_rest(capture)) {
		if (capture->request.interval_ns)
			every_begin(&page->options, capture->threads.first_ns, from_ns, capture->threads.last_ns);
		status = print_rows(page, span_between(from_ns, capture->threads.last_ns));
	}
	capture_print_losses(capture);
	return status || page->failed ? EXIT_FAILURE : 0;
}

static int view(const struct command_usage *usage, bool affinity, int argc, char **argv)
{
	struct page page = { .chosen.order = affinity ? TASKS_BY_MIGRATIONS : TASKS_BY_CPU,
			     .capture.request = { .view = usage->name, .accounts = true, .data = &page },
			     .affinity = affinity };
	u64 interval_ns;
	int status;

	options_parse(&page.options, usage, &page.chosen, argc, argv);
	table_check(&page.options, usage->name, affinity ? affinity_tables : tasks_tables);
	interval_ns = every_ns(&page.options);
	if (interval_ns)
		ask_for_intervals(&page, interval_ns);
	status = capture_run(&page.capture, &page.options);
	if (page.capture.threads.last_ns && print_rest(&page) && !status)
		status = EXIT_FAILURE;
	capture_free(&page.capture);
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

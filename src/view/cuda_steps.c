// SPDX-License-Identifier: GPL-2.0
/* tactus cuda --steps: a line for each slow step with what it went into, and a row for each process's steps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/say.h"
#include "../sink/json.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "cuda_view.h"
#include "thread_words.h"

enum { TIME_SIZE = 16 };

static void print_json(const struct step *step, const struct step_process *process, const struct threads *threads,
		       const struct cuda *cuda)
{
	struct json json = { .out = stdout };
	char words[STEP_WORDS_SIZE];

	cuda_step_words(words, sizeof(words), threads, cuda, step);
	json_record(&json, "cuda_slow_step", true);
	json_u64(&json, "pid", process->pid);
	json_u64(&json, "tid", step->tid);
	json_u64(&json, "step", step->number);
	json_u64(&json, "time_ns", step->at_ns);
	json_u64(&json, "wall_ns", step->wall_ns);
	json_u64(&json, "usual_ns", step->usual_ns);
	json_u64(&json, "cpu_ns", step->cpu_ns);
	json_u64(&json, "launches", step->launches);
	json_u64(&json, "copies", step->copies);
	json_u64(&json, "copy_bytes", step->copy_bytes);
	json_object(&json, "parts_ns");
	for (u32 part = 0; part < STEP_PARTS; part++)
		json_u64(&json, step_part_name(part), step->parts_ns[part]);
	json_object_end(&json);
	json_string(&json, "cause", step_part_name(step->part));
	json_u64(&json, "cause_tid", step->has_cause ? step->cause.tid : 0);
	json_u64(&json, "other_tid", step->has_cause ? step->cause.other_tid : 0);
	json_string(&json, "words", words);
	json_object_end(&json);
	json_line_end(&json);
}

void cuda_print_slow_step(const struct step *step, const struct step_process *process, const struct threads *threads,
			  const struct cuda *cuda, bool json)
{
	char who[THREAD_WORDS_SIZE], span[TIME_SIZE], usual[TIME_SIZE], words[STEP_WORDS_SIZE];

	if (json) {
		print_json(step, process, threads, cuda);
		return;
	}
	comm_words(who, &process->comm, process->pid, THREAD_TIGHT);
	format_time(span, sizeof(span), step->wall_ns);
	format_time(usual, sizeof(usual), step->usual_ns);
	cuda_step_words(words, sizeof(words), threads, cuda, step);
	printf("%s step %" PRIu64 ", %s, usually %s: %s\n", who, step->number, span, usual, words);
}

#define STEPS_TABLE(COLUMN, SHOWN)                           \
	COLUMN(STEPS, pid, "PID", CELL_NUMBER)               \
	COLUMN(STEPS, comm, "COMM", CELL_TEXT)               \
	COLUMN(STEPS, steps, "STEPS", CELL_NUMBER)           \
	COLUMN(STEPS, by, "BY", CELL_TEXT)                   \
	COLUMN(STEPS, p50_ns, "P50", CELL_TIME)              \
	COLUMN(STEPS, p99_ns, "P99", CELL_TIME)              \
	COLUMN(STEPS, max_ns, "LONGEST", CELL_TIME)          \
	COLUMN(STEPS, slow, "SLOW", CELL_NUMBER)             \
	COLUMN(STEPS, launches, "LAUNCHES", CELL_HUNDREDTHS) \
	COLUMN(STEPS, copies, "COPIES", CELL_HUNDREDTHS)     \
	COLUMN(STEPS, copy_bytes, "COPIED", CELL_BYTES)      \
	COLUMN(STEPS, cpu_ns, "CPU", CELL_TIME)              \
	COLUMN(STEPS, ran_ns, "RAN", CELL_TIME)              \
	COLUMN(STEPS, sync_ns, "SYNC", CELL_TIME)            \
	COLUMN(STEPS, copy_ns, "COPY", CELL_TIME)            \
	COLUMN(STEPS, collective_ns, "NCCL", CELL_TIME)      \
	COLUMN(STEPS, cpu_wait_ns, "CPU WAIT", CELL_TIME)    \
	COLUMN(STEPS, data_ns, "DATA", CELL_TIME)            \
	COLUMN(STEPS, lock_ns, "LOCK", CELL_TIME)            \
	COLUMN(STEPS, slept_ns, "SLEPT", CELL_TIME)          \
	COLUMN(STEPS, ranges, NULL, CELL_NUMBER)
TABLE_OF(columns, STEPS);
const struct table_columns cuda_step_tables[] = { { columns, STEPS_CELLS }, { 0 } };
static const struct table_look look = { .drops = "collective,copies,copied,slept,cpu,p99,by,launches",
					.alarms = "slow" };

static const char *rank_name(const struct rhythm *rhythm)
{
	static const char *const names[] = {
		[BEAT_CALL] = "call", [BEAT_LAUNCH] = "launches", [BEAT_GRAPH] = "graph", [BEAT_RANGE] = "range"
	};

	return rhythm->is_given ? "--step-at"
				: names[rhythm->rank < sizeof(names) / sizeof(names[0]) ? rhythm->rank : 0];
}

static void add_row(struct table *table, const struct step_process *process)
{
	const struct step *sum = &process->sum;
	struct step_times times = step_times(process);
	u64 n = process->steps ? process->steps : 1;
	char name[COMM_TEXT_SIZE];
	union cell cells[STEPS_CELLS];

	comm_text(name, &process->comm);
	cells[STEPS_pid].number = process->pid;
	cells[STEPS_comm].text = name;
	cells[STEPS_steps].number = process->steps;
	cells[STEPS_by].text = rank_name(&process->rhythm);
	cells[STEPS_p50_ns].number = times.p50_ns;
	cells[STEPS_p99_ns].number = times.p99_ns;
	cells[STEPS_max_ns].number = times.max_ns;
	cells[STEPS_slow].number = process->slow;
	cells[STEPS_launches].number = sum->launches * 100 / n;
	cells[STEPS_copies].number = sum->copies * 100 / n;
	cells[STEPS_copy_bytes].number = sum->copy_bytes / n;
	cells[STEPS_cpu_ns].number = sum->cpu_ns / n;
	cells[STEPS_ran_ns].number = sum->parts_ns[STEP_RAN] / n;
	cells[STEPS_sync_ns].number = sum->parts_ns[STEP_SYNC] / n;
	cells[STEPS_copy_ns].number = sum->parts_ns[STEP_COPY] / n;
	cells[STEPS_collective_ns].number = sum->parts_ns[STEP_COLLECTIVE] / n;
	cells[STEPS_cpu_wait_ns].number = sum->parts_ns[STEP_CPU_WAIT] / n;
	cells[STEPS_data_ns].number = sum->parts_ns[STEP_DATA] / n;
	cells[STEPS_lock_ns].number = sum->parts_ns[STEP_LOCK] / n;
	cells[STEPS_slept_ns].number = sum->parts_ns[STEP_SLEPT] / n;
	cells[STEPS_ranges].number = process->ranges;
	table_row(table, cells);
}

static void print_worst(const struct step_process *process, const struct threads *threads, const struct cuda *cuda)
{
	const char *gap = "";
	char words[STEP_WORDS_SIZE], span[TIME_SIZE];

	comm_words(words, &process->comm, process->pid, THREAD_TIGHT);
	printf("\n%s: %" PRIu64 " of %" PRIu64 " steps were slow", words, process->slow, process->steps);
	for (u32 part = 0; part < STEP_PARTS; part++)
		if (process->slow_by[part]) {
			printf("%s%s %" PRIu64, *gap ? gap : ": ", step_part_name(part), process->slow_by[part]);
			gap = ", ";
		}
	puts("\nlongest steps:");
	for (u32 i = 0; i < process->worst_len; i++) {
		const struct step *step = &process->worst[i];

		format_time(span, sizeof(span), step->wall_ns);
		cuda_step_words(words, sizeof(words), threads, cuda, step);
		printf("  step %" PRIu64 " at %.3f s: %s%s%s\n", step->number,
		       (double)(step->at_ns - threads->first_ns) / NSEC_PER_SEC, span, step->is_slow ? ": " : "",
		       step->is_slow ? words : "");
	}
}

void cuda_print_steps(const struct steps *steps, const struct options *options, const struct threads *threads,
		      const struct cuda *cuda)
{
	const struct step_process *process = steps->processes;
	struct table table;
	bool found = false;

	for (; process; process = process->next)
		found |= process->steps != 0;
	if (!found) {
		note("no step was found: %s",
		     !steps->processes ? "nothing was launched"
		     : steps->marker
			     ? "nothing of that name came twice"
			     : "no launches that come again and again, five times at least (--step-at NAME says "
			       "what steps begin with)");
		return;
	}
	table_open_for(&table, options, "cuda_steps", columns, STEPS_CELLS, ROWS_ALL, &look);
	for (process = steps->processes; process; process = process->next)
		if (process->steps)
			add_row(&table, process);
	if (table_close(&table) || steps->failed)
		note("some steps are missing: there was no memory for them");
	for (process = steps->processes; process && !options->json; process = process->next)
		if (process->steps)
			print_worst(process, threads, cuda);
}

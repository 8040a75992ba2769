// SPDX-License-Identifier: GPL-2.0
/* The rows of 'tactus frames --each' and --csv, and the table of what frames' parts took.
 * The names of the parts are here once, for every form. */
#include "frame_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../sink/columns.h"
#include "../sink/csv.h"
#include "../sink/text.h"
#include "frame_words.h"
#include "thread_words.h"

_Static_assert(FRAME_UNKNOWN == CELL_NONE, "what the model does not know is what a table shows as a dash");

enum { TIME_SIZE = 16 };

static const struct {
	const char *name;  /* in the table of percentiles */
	const char *field; /* in JSON and CSV */
	const char *title;
} parts[FRAME_PARTS] = {
	[FRAME_CPU] = { "cpu", "cpu_ns", "CPU" },
	[FRAME_SUBMIT] = { "submit", "submit_ns", "SUBMIT" },
	[FRAME_GPU] = { "gpu", "gpu_ns", "GPU" },
	[FRAME_COMPOSITOR] = { "compositor", "compositor_ns", "COMPOSIT" },
	[FRAME_SHOWN] = { "shown", "shown_ns", "SHOWN" },
	[FRAME_PHASE] = { "phase", "phase_ns", "PHASE" },
	[FRAME_ANIMATION_ERROR] = { "animation_error", "animation_error_ns", "ANIM ERR" },
};

void frame_row_heads(void)
{
	printf("%9s  %7s  %-15s %7s %8s", "TIME", "PID", "COMM", "FRAME", "INTERVAL");
	for (u32 part = 0; part < FRAME_PARTS; part++)
		printf(" %8s", parts[part].title);
	printf(" %7s %7s %8s  WHY\n", "DROPPED", "VBLANKS", "LATE");
}

static void time_or_dash(char into[TIME_SIZE], bool is_known, u64 span_ns)
{
	if (is_known)
		format_time(into, TIME_SIZE, span_ns);
	else
		snprintf(into, TIME_SIZE, "-");
}

static void part_time(char into[TIME_SIZE], enum frame_part part, u64 part_ns)
{
	bool is_negative = part == FRAME_ANIMATION_ERROR && part_ns != FRAME_UNKNOWN && (s64)part_ns < 0;

	into[0] = '-';
	time_or_dash(into + is_negative, part_ns != FRAME_UNKNOWN, is_negative ? -part_ns : part_ns);
}

static void print_count(u64 count)
{
	if (count == FRAME_UNKNOWN)
		printf(" %7s", "-");
	else
		printf(" %7" PRIu64, count);
}

void frame_row(const struct threads *threads, const struct frame_process *process, const struct frame_record *record)
{
	const struct late_frame *frame = &record->frame;
	char name[THREAD_NAME_SIZE], padded[2 * THREAD_NAME_SIZE], span[TIME_SIZE + 1], words[FRAME_WORDS_SIZE] = "";

	comm_name(name, &process->comm);
	text_in_columns(padded, sizeof(padded), name, THREAD_NAME_SIZE - 1);
	time_or_dash(span, frame->interval_ns, frame->interval_ns);
	printf("%7.3f s  %7u  %s %7" PRIu64 " %8s",
	       (double)span_between(threads->first_ns, frame->at_ns) / NSEC_PER_SEC, process->pid, padded,
	       frame->number, span);
	for (u32 part = 0; part < FRAME_PARTS; part++) {
		part_time(span, part, record->parts_ns[part]);
		printf(" %8s", span);
	}
	print_count(record->dropped);
	print_count(record->vblanks_missed);
	time_or_dash(span, frame->target_ns, frame->late_ns);
	if (frame->late_ns && frame->parts_len)
		late_frame_words(words, sizeof(words), threads, frame);
	printf(" %8s%s%s\n", span, words[0] ? "  " : "", words);
}

void late_parts_json(struct json *json, const struct threads *threads, const struct late_frame *late)
{
	static const char *const kinds[PATH_KINDS] = { "ran", "waited", "slept", "unknown" };

	json_array(json, "parts");
	for (u32 i = 0; i < late->parts_len; i++) {
		const struct path_item *part = &late->parts[i];
		char comm[COMM_TEXT_SIZE];

		comm_text(comm, thread_comm(threads, part->tid));
		json_object(json, NULL);
		json_string(json, "part", kinds[part->kind]);
		json_u64(json, "part_ns", part->ns);
		json_u64(json, "part_tid", part->tid);
		json_string(json, "part_comm", comm);
		comm_text(comm, part->other_tid ? thread_comm(threads, part->other_tid) : NULL);
		json_u64(json, "other_tid", part->other_tid);
		json_string(json, "other_comm", comm);
		json_object_end(json);
	}
	json_array_end(json);
	json_u64(json, "rest_ns", late->rest_ns);
}

void frame_row_json(const struct threads *threads, const struct frame_process *process,
		    const struct frame_record *record)
{
	const struct late_frame *frame = &record->frame;
	struct json json = { .out = stdout };
	char words[FRAME_WORDS_SIZE], comm[COMM_TEXT_SIZE];

	comm_text(comm, &process->comm);
	json_record(&json, "frame", true);
	json_u64(&json, "frame", frame->number);
	json_u64(&json, "pid", process->pid);
	json_u64(&json, "tid", frame->tid);
	json_string(&json, "comm", comm);
	json_u64(&json, "time_ns", frame->at_ns);
	json_u64_or_null(&json, "interval_ns", frame->interval_ns, frame->interval_ns);
	for (u32 part = 0; part < FRAME_PARTS; part++)
		if (record->parts_ns[part] == FRAME_UNKNOWN)
			json_null(&json, parts[part].field);
		else
			json_s64(&json, parts[part].field, (s64)record->parts_ns[part]);
	json_u64_or_null(&json, "dropped", record->dropped != FRAME_UNKNOWN, record->dropped);
	json_u64_or_null(&json, "vblanks_missed", record->vblanks_missed != FRAME_UNKNOWN, record->vblanks_missed);
	json_u64_or_null(&json, "target_ns", frame->target_ns, frame->target_ns);
	json_u64_or_null(&json, "late_ns", frame->target_ns, frame->late_ns);
	if (frame->late_ns && frame->parts_len) {
		late_frame_words(words, sizeof(words), threads, frame);
		json_string(&json, "why", words);
		late_parts_json(&json, threads, frame);
	}
	json_object_end(&json);
	json_line_end(&json);
}

void frame_csv_heads(FILE *csv)
{
	fputs(FRAMES_CSV_BEGINNING
	      "fps,frametime,cpu_load,cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,"
	      "gpu_power,ram_used,swap_used,process_rss,elapsed,pid,tid,frame",
	      csv);
	for (u32 part = 0; part < FRAME_PARTS; part++)
		fprintf(csv, ",%s", parts[part].field);
	fputs(",dropped,vblanks_missed,target_ns,late_ns,why\n", csv);
}

static void csv_number(FILE *csv, bool is_known, u64 number)
{
	fputc(',', csv);
	if (is_known)
		fprintf(csv, "%" PRId64, (s64)number);
}

/* Names of threads may have any character. */
static void csv_text(FILE *csv, const char *text)
{
	fputs(csv_is_formula(text) ? ",\"'" : ",\"", csv);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', csv);
		fputc(*text, csv);
	}
	fputc('"', csv);
}

void frame_csv_row(FILE *csv, const struct threads *threads, const struct frame_process *process,
		   const struct frame_record *record, u64 from_ns)
{
	const struct late_frame *frame = &record->frame;
	char words[FRAME_WORDS_SIZE];

	fprintf(csv, "%.4f,%.6f,,,,,,,,,,,,,%" PRIu64 ",%u,%u,%" PRIu64,
		(double)NSEC_PER_SEC / (double)frame->interval_ns, (double)frame->interval_ns / NSEC_PER_MSEC,
		span_between(from_ns, frame->at_ns), process->pid, frame->tid, frame->number);
	for (u32 part = 0; part < FRAME_PARTS; part++)
		csv_number(csv, record->parts_ns[part] != FRAME_UNKNOWN, record->parts_ns[part]);
	csv_number(csv, record->dropped != FRAME_UNKNOWN, record->dropped);
	csv_number(csv, record->vblanks_missed != FRAME_UNKNOWN, record->vblanks_missed);
	csv_number(csv, frame->target_ns, frame->target_ns);
	csv_number(csv, frame->target_ns, frame->late_ns);
	if (frame->late_ns && frame->parts_len) {
		late_frame_words(words, sizeof(words), threads, frame);
		csv_text(csv, words);
	} else {
		fputc(',', csv);
	}
	fputc('\n', csv);
}

const struct column frame_part_columns[FRAME_PART_CELLS] = { FRAME_PART_TABLE(COLUMN_NAMED, COLUMN_SHOWN) };

static void add_part(struct table *table, const struct frame_process *process, const char *name,
		     const struct frame_times *times)
{
	char comm[COMM_TEXT_SIZE];
	bool is_known = times->len;

	comm_text(comm, &process->comm);
	table_row(table, (union cell[FRAME_PART_CELLS]){
				 [FRAME_PART_pid] = { .number = process->pid },
				 [FRAME_PART_comm] = { .text = comm },
				 [FRAME_PART_part] = { .text = name },
				 [FRAME_PART_frames] = { .number = times->len },
				 [FRAME_PART_p50_ns] = { .number = is_known ? times->p50_ns : CELL_NONE },
				 [FRAME_PART_p95_ns] = { .number = is_known ? times->p95_ns : CELL_NONE },
				 [FRAME_PART_p99_ns] = { .number = is_known ? times->p99_ns : CELL_NONE },
				 [FRAME_PART_p999_ns] = { .number = is_known ? times->p999_ns : CELL_NONE },
				 [FRAME_PART_max_ns] = { .number = is_known ? times->max_ns : CELL_NONE },
			 });
}

void frame_parts_table(const struct options *options, const struct frames *frames)
{
	struct frame_times times;
	struct table table;

	table_open_for(&table, options, "frame_part", frame_part_columns, FRAME_PART_CELLS, ~0u, NULL);
	for (const struct frame_process *process = frames->processes; process; process = process->next) {
		if (!process->frames)
			continue;
		times = frame_times(process, 0);
		add_part(&table, process, "interval", &times);
		for (u32 part = 0; part < FRAME_PARTS; part++) {
			times = frame_part_times(process, part);
			add_part(&table, process, parts[part].name, &times);
		}
	}
	table_close(&table);
}

// SPDX-License-Identifier: GPL-2.0
/* The records of 'tactus report': those that single views print, by the same functions, and what only a page has.
 * Times in them are counted from the beginning of what is shown. */
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../base/sort.h"
#include "../model/roles.h"
#include "../model/tasks.h"
#include "../sink/json.h"
#include "cuda_view.h"
#include "report_live.h"
#include "report_view.h"
#include "tables.h"
#include "thread_words.h"

enum { THREADS_SHOWN = 1000, STEPS = 64, ROWS_SHOWN = 200, PAIRS_SHOWN = 1000, PER_MILLE = 1000 };

static u64 since(const struct report *report, u64 time_ns)
{
	return span_between(report->from_ns, time_ns);
}

static struct json begin(const char *record)
{
	struct json json = { .out = stdout };

	json_record(&json, record, false);
	return json;
}

static void end(struct json *json)
{
	json_object_end(json);
	json_line_end(json);
}

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static void print_head(const struct report_show *show)
{
	const struct report *report = show->report;
	const struct recording_info *info = &show->capture.info;
	struct json json = { .out = stdout };

	json_record(&json, "report", true);
	json_string(&json, "version", TACTUS_VERSION);
	json_string(&json, "source", last_part(show->options.input));
	json_string(&json, "kernel", info->kernel);
	json_u64(&json, "wall_ns", info->wall_start_ns + span_between(info->mono_start_ns, report->from_ns));
	json_u64(&json, "from_ns", report->from_ns);
	json_u64(&json, "to_ns", report->to_ns);
	json_u64(&json, "span_ns", since(report, report->to_ns));
	json_u64(&json, "cpus", info->cpus_len);
	json_u64(&json, "events", report->events);
	json_u64(&json, "lost", show->capture.losses.events);
	json_bool(&json, "is_part", show->capture.is_excerpt);
	json_bool(&json, "is_live", show->live);
	json_u64(&json, "bin_ns", report->bin_ns);
	json_u64(&json, "bins", report->bins);
	json_u64(&json, "late_frames", report->frames.late_all);
	json_u64(&json, "late_frames_shown", report->frames.late_len);
	json_u64(&json, "behind_ns", REPORT_BEHIND_NS);
	end(&json);
}

static void print_sentence(void *data, enum verdict_kind kind, const char *text)
{
	struct json json = begin("report_verdict");

	(void)data;
	json_string(&json, "kind", verdict_kind_name(kind));
	json_string(&json, "text", text);
	end(&json);
}

/* As they are: the reader escapes them. */
static void print_names(const struct report_names *names)
{
	static const char *const fixed[REPORT_NAMES_FIRST] = { "not known", "idle", "others" };
	struct json json = begin("report_names");

	json_array(&json, "names");
	for (u32 i = 0; i < REPORT_NAMES_FIRST; i++)
		json_string(&json, NULL, fixed[i]);
	for (u32 i = REPORT_NAMES_FIRST; i < names->len; i++) {
		char text[COMM_TEXT_SIZE];

		comm_text(text, &names->all[i]);
		json_string(&json, NULL, text);
	}
	json_array_end(&json);
	end(&json);
}

/* How many of the frames took how long, in steps from nothing to twice the 99th percentile; the last is what is over.
 */
static void print_histogram(struct json *json, const struct frames *frames, u32 pid)
{
	const struct frame_process *process = frames->processes;
	u64 counts[STEPS + 1] = { 0 }, step_ns;

	while (process && process->pid != pid)
		process = process->next;
	if (!process)
		return;
	step_ns = frame_times(process, 0).p99_ns * 2 / STEPS + 1;
	for (size_t i = 0; i < process->len; i++) {
		u64 at = process->intervals_ns[i] / step_ns;

		counts[at < STEPS ? at : STEPS]++;
	}
	json_u64(json, "step_ns", step_ns);
	json_array(json, "counts");
	for (u32 i = 0; i <= STEPS; i++)
		json_u64(json, NULL, counts[i]);
	json_array_end(json);
}

/* Frames have numbers one after another; here is where that begins anew. */
static void print_numbers(struct json *json, const struct report_presenter *presenter)
{
	u64 next = 0;

	json_array(json, "numbers");
	for (size_t i = 0; i < presenter->len && presenter->each == 1; i++) {
		if (presenter->all[i].number != next || !i) {
			json_u64(json, NULL, i);
			json_u64(json, NULL, presenter->all[i].number);
		}
		next = presenter->all[i].number + 1;
	}
	json_array_end(json);
}

/* When each came, as the time since the one before it, and how long it took. */
static void print_frames(const struct report *report, const struct frames *frames,
			 const struct report_presenter *presenter)
{
	struct json json = begin("report_frames");
	u64 before_us = 0;

	json_u64(&json, "pid", presenter->pid);
	json_u64(&json, "each", presenter->each);
	print_histogram(&json, frames, presenter->pid);
	print_numbers(&json, presenter);
	json_array(&json, "after_us");
	for (size_t i = 0; i < presenter->len; i++) {
		u64 at_us = since(report, presenter->all[i].at_ns) / NSEC_PER_USEC;

		json_s64(&json, NULL, (s64)(at_us - before_us));
		before_us = at_us;
	}
	json_array_end(&json);
	json_array(&json, "took_us");
	for (size_t i = 0; i < presenter->len; i++)
		json_u64(&json, NULL, presenter->all[i].interval_ns / NSEC_PER_USEC);
	json_array_end(&json);
	json_array(&json, "late");
	for (size_t i = 0; i < presenter->len; i++)
		if (presenter->all[i].is_late)
			json_u64(&json, NULL, i);
	json_array_end(&json);
	json_array(&json, "unjudged");
	for (size_t i = 0; i < presenter->len; i++)
		if (!presenter->all[i].is_judged)
			json_u64(&json, NULL, i);
	json_array_end(&json);
	end(&json);
}

static const char *const path_names[PATH_KINDS] = { "ran", "waited", "slept", "unknown" };

/* All of its time by what it went into, the cause first. */
static void print_parts(struct json *json, const struct report_late *late)
{
	json_array(json, "parts");
	for (u32 i = 0; i < late->frame.parts_len && i < LATE_PARTS; i++) {
		const struct path_item *part = &late->frame.parts[i];

		json_array(json, NULL);
		json_string(json, NULL, path_names[part->kind < PATH_KINDS ? part->kind : PATH_UNKNOWN]);
		json_u64(json, NULL, part->ns);
		json_u64(json, NULL, part->tid);
		json_u64(json, NULL, late->parts[i].name);
		json_u64(json, NULL, part->other_tid);
		json_u64(json, NULL, late->parts[i].other_name);
		json_array_end(json);
	}
	json_array_end(json);
	json_u64(json, "rest_ns", late->frame.rest_ns);
}

static void print_late(const struct report *report, const struct report_late *late)
{
	const struct late_frame *frame = &late->frame;
	u64 began_ns = frame->at_ns - frame->interval_ns;
	struct json json = begin("report_late");

	json_u64(&json, "pid", late->pid);
	json_u64(&json, "frame", frame->number);
	json_u64(&json, "tid", frame->tid);
	json_u64(&json, "at_ns", since(report, frame->at_ns));
	json_u64(&json, "interval_ns", frame->interval_ns);
	json_u64(&json, "late_ns", frame->late_ns);
	json_u64(&json, "target_ns", frame->target_ns);
	json_u64(&json, "moves", frame->moves);
	json_string(&json, "blame", report_blame_name(report_blame_of(frame)));
	json_string(&json, "why", late->words);
	json_u64(&json, "not_shown_ns", late->not_shown_ns);
	print_parts(&json, late);
	json_array(&json, "steps");
	for (u32 i = 0; i < late->steps_len; i++) {
		const struct report_step *step = &late->steps[i];

		json_array(&json, NULL);
		json_u64(&json, NULL, span_between(began_ns, step->from_ns) / NSEC_PER_USEC);
		json_u64(&json, NULL, span_between(began_ns, step->to_ns) / NSEC_PER_USEC);
		json_string(&json, NULL, path_names[step->kind < PATH_KINDS ? step->kind : PATH_UNKNOWN]);
		json_u64(&json, NULL, step->tid);
		json_u64(&json, NULL, step->name);
		json_u64(&json, NULL, step->cpu);
		json_u64(&json, NULL, step->other_tid);
		json_u64(&json, NULL, step->other_name);
		json_array_end(&json);
	}
	json_array_end(&json);
	end(&json);
}

static void print_causes(const struct report *report)
{
	for (u32 i = 0; i < report->frames.causes_len; i++) {
		const struct report_cause *cause = &report->frames.causes[i];
		struct json json = begin("report_cause");

		json_u64(&json, "pid", cause->pid);
		json_string(&json, "blame", report_blame_name(cause->blame));
		json_u64(&json, "name", cause->name);
		json_u64(&json, "frames", cause->frames);
		json_u64(&json, "late_ns", cause->late_ns);
		end(&json);
	}
}

static void print_waits(const struct report *report, u32 role)
{
	struct json json = begin("report_waits");

	json_string(&json, "role", role_name(role));
	json_array(&json, "cells");
	for (u32 bin = 0; bin < report->bins; bin++)
		for (u32 octave = 0; octave < REPORT_OCTAVES; octave++) {
			if (!report->waits[role][bin][octave])
				continue;
			json_u64(&json, NULL, bin);
			json_u64(&json, NULL, octave);
			json_u64(&json, NULL, report->waits[role][bin][octave]);
		}
	json_array_end(&json);
	end(&json);
}

static int longer_first(const void *a, const void *b)
{
	const struct report_pair *one = a, *other = b;

	return one->wait_ns > other->wait_ns ? -1 : one->wait_ns < other->wait_ns;
}

static void print_pairs(struct report *report)
{
	u64 left_waits = report->pairs_refused, left_ns = report->pairs_refused_ns;
	struct json json = begin("report_behind");

	if (report->pairs_len)
		sort_rows(report->pairs, report->pairs_len, sizeof(*report->pairs), longer_first);
	json_array(&json, "pairs");
	for (size_t i = 0; i < report->pairs_len; i++) {
		const struct report_pair *pair = &report->pairs[i];

		if (i >= PAIRS_SHOWN) {
			left_waits += pair->waits;
			left_ns += pair->wait_ns;
			continue;
		}
		json_array(&json, NULL);
		json_u64(&json, NULL, pair->waiter);
		json_u64(&json, NULL, pair->culprit);
		json_u64(&json, NULL, pair->waits);
		json_u64(&json, NULL, pair->wait_ns);
		json_u64(&json, NULL, pair->max_ns);
		json_array_end(&json);
	}
	json_array_end(&json);
	json_u64(&json, "left_out_waits", left_waits);
	json_u64(&json, "left_out_ns", left_ns);
	end(&json);
}

static const char *kind_name(u32 kind)
{
	return kind == REPORT_UNWATCHED ? "not watched" : role_name(kind);
}

static void print_cpu_time(const struct report *report)
{
	for (u32 kind = 0; kind < REPORT_KINDS; kind++) {
		struct json json = begin("report_cpu_time");
		u64 sum_ns = 0;

		json_string(&json, "kind", kind_name(kind));
		json_array(&json, "cpu_us");
		for (u32 bin = 0; bin < report->bins; bin++) {
			json_u64(&json, NULL, report->kinds_ns[bin][kind] / NSEC_PER_USEC);
			sum_ns += report->kinds_ns[bin][kind];
		}
		json_array_end(&json);
		json_u64(&json, "cpu_ns", sum_ns);
		end(&json);
	}
}

/* Of each bin how busy the CPU was, and with what most. */
static void print_lane(const struct report *report, u32 cpu)
{
	const struct report_cpu *lane = &report->cpus[cpu];
	u8 most[REPORT_BINS] = { 0 };
	struct json json;

	if (!lane->kinds_ns)
		return;
	json = begin("report_cpu");
	json_u64(&json, "cpu", cpu);
	json_array(&json, "busy_per_mille");
	for (u32 bin = 0; bin < report->bins; bin++) {
		u64 busy_ns = 0;

		for (u32 kind = 0; kind < REPORT_KINDS; kind++) {
			busy_ns += lane->kinds_ns[bin][kind];
			if (lane->kinds_ns[bin][kind] > lane->kinds_ns[bin][most[bin]])
				most[bin] = (u8)kind;
		}
		json_u64(&json, NULL, busy_ns * PER_MILLE / report->bin_ns);
	}
	json_array_end(&json);
	json_array(&json, "mostly");
	for (u32 bin = 0; bin < report->bins; bin++)
		json_u64(&json, NULL, most[bin]);
	json_array_end(&json);
	end(&json);
}

static void print_counts(const struct report *report)
{
	static const char *const names[REPORT_COUNTS] = { "switches",	   "wakeups",	    "moves",   "submits",
							  "launches",	   "copies",	    "sync_ns", "preempts",
							  "decided_moves", "urgent_misses", "lost" };
	struct json json = begin("report_counts");

	for (u32 what = 0; what < REPORT_COUNTS; what++) {
		json_array(&json, names[what]);
		for (u32 bin = 0; bin < report->bins; bin++)
			json_u64(&json, NULL, report->counts[what][bin]);
		json_array_end(&json);
	}
	end(&json);
}

static void print_effects(const struct report *report)
{
	for (u32 i = 0; i < report->effects_len; i++) {
		const struct report_effect *effect = &report->effects[i];
		struct json json = begin("report_effect");

		json_u64(&json, "at_ns", since(report, effect->at_ns));
		json_u64(&json, "pid", effect->pid);
		json_u64(&json, "name", effect->name);
		json_u64(&json, "cause_pid", effect->cause_pid);
		json_u64(&json, "cause_name", effect->cause_name);
		json_u64(&json, "acted_p99_ns", effect->acted_p99_ns);
		json_u64(&json, "held_p99_ns", effect->held_p99_ns);
		json_u64(&json, "what", effect->what);
		json_u64(&json, "span_ns", effect->span_ns);
		end(&json);
	}
}

static u64 weight(const struct task *task)
{
	return task->sum->cpu_ns + thread_wait_ns(task->sum);
}

static int heavier_first(const void *a, const void *b)
{
	const struct task *one = a, *other = b;

	if (weight(one) != weight(other))
		return weight(one) > weight(other) ? -1 : 1;
	return one->first->tid < other->first->tid ? -1 : one->first->tid > other->first->tid;
}

static void print_thread(const struct report_show *show, const struct task *task)
{
	const struct thread *thread = task->first;
	const struct thread_account *sum = task->sum;
	struct latency_summary waits = { 0 };
	struct json json = begin("report_thread");
	char comm[COMM_TEXT_SIZE];

	comm_text(comm, &thread->comm);
	latency_of_thread(&show->latency, thread, &waits);
	json_u64(&json, "tid", thread->tid);
	json_u64(&json, "pid", thread->pid);
	json_string(&json, "comm", comm);
	json_string(&json, "role", role_name(thread->role ? thread->role->role : ROLE_UNKNOWN));
	json_string(&json, "tier", thread->role ? tier_name(thread->role->tier) : "");
	json_u64(&json, "confidence", thread->role ? thread->role->confidence : 0);
	json_u64(&json, "cpu_ns", sum->cpu_ns);
	json_u64(&json, "runs", sum->runs);
	json_u64(&json, "wait_ns", thread_wait_ns(sum));
	json_u64(&json, "waits", waits.waits);
	json_u64(&json, "p50_ns", waits.p50_ns);
	json_u64(&json, "p99_ns", waits.p99_ns);
	json_u64(&json, "wait_max_ns", sum->wait_max_ns);
	json_u64(&json, "voluntary", sum->voluntary);
	json_u64(&json, "involuntary", sum->involuntary);
	json_u64(&json, "wakeups", sum->wakeups);
	json_u64(&json, "migrations", thread_migrations(sum));
	end(&json);
}

static int print_threads(const struct report_show *show)
{
	u64 left_cpu_ns = 0, left_wait_ns = 0;
	struct tasks tasks;
	struct json json;

	if (tasks_from_threads(&tasks, &show->capture.threads, false))
		return -1;
	if (tasks.len)
		sort_rows(tasks.all, tasks.len, sizeof(*tasks.all), heavier_first);
	for (size_t i = 0; i < tasks.len; i++) {
		if (i < THREADS_SHOWN) {
			print_thread(show, &tasks.all[i]);
			continue;
		}
		left_cpu_ns += tasks.all[i].sum->cpu_ns;
		left_wait_ns += thread_wait_ns(tasks.all[i].sum);
	}
	json = begin("report_threads");
	json_u64(&json, "threads", tasks.len);
	json_u64(&json, "left_out", tasks.len > THREADS_SHOWN ? tasks.len - THREADS_SHOWN : 0);
	json_u64(&json, "left_out_cpu_ns", left_cpu_ns);
	json_u64(&json, "left_out_wait_ns", left_wait_ns);
	end(&json);
	tasks_free(&tasks);
	return 0;
}

/* The tables that single views print. */
static int print_tables(const struct report_show *show)
{
	const struct threads *threads = &show->capture.threads;
	struct options options = { .json = true, .rows = ROWS_SHOWN };
	int error = frames_print_processes(&show->frames, &options);

	error |= latency_print_summaries(&show->latency, &options);
	error |= moves_print_causes(&show->moves, &options);
	/* Without a move there is no list, which is no want of memory. */
	if (show->moves.all.moves)
		error |= moves_print_threads(threads, &options);
	error |= misses_print_threads(&show->misses, threads, &options);
	submits_print_tables(&show->submits, &options);
	report_print_clicks(&show->clicks, &options, threads);
	report_print_steps(&show->steps, &options, threads, &show->cuda);
	cuda_print_tables(&show->cuda, &options, threads->first_ns, false, NAMES_SHORT);
	return error;
}

struct verdict_of report_verdict_of(const struct report_show *show)
{
	return (struct verdict_of){ .report = show->report,
				    .frames = &show->frames,
				    .latency = &show->latency,
				    .cuda = &show->cuda,
				    .steps = &show->steps,
				    .misses = &show->misses,
				    .threads = &show->capture.threads,
				    .lost = show->capture.losses.events };
}

int report_print_records(struct report_show *show)
{
	struct report *report = show->report;
	struct verdict_of of = report_verdict_of(show);
	int error = 0;

	print_head(show);
	if (show->live && !report_live_watches(show->live))
		print_sentence(NULL, VERDICT_NOTE,
			       "Without root only what 'tactus run' tells of itself is seen: as root this page shows "
			       "frames, waits and threads too.");
	else
		error = report_verdict(&of, print_sentence, NULL);
	print_names(&report->names);
	error |= print_tables(show);
	for (u32 i = 0; i < report->frames.presenters_len; i++)
		print_frames(report, &show->frames, &report->frames.presenters[i]);
	print_causes(report);
	for (u32 i = 0; i < report->frames.late_len; i++)
		print_late(report, report->frames.late[i]);
	for (u32 role = 0; role < ROLES; role++)
		print_waits(report, role);
	print_pairs(report);
	print_cpu_time(report);
	for (u32 cpu = 0; cpu < report->cpus_len; cpu++)
		print_lane(report, cpu);
	print_counts(report);
	print_effects(report);
	error |= print_threads(show);
	if (show->live)
		report_live_print_run(show->live);
	return error || report->failed || report->names.failed || report->frames.failed || show->frames.failed ||
	       show->latency.failed || show->moves.failed || show->misses.failed || show->cuda.failed ||
	       show->steps.failed;
}

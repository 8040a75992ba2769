// SPDX-License-Identifier: GPL-2.0
/* See report.h. Everything that is kept over time is kept by bins, and folded together with them.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/hist.h"
#include "../base/sort.h"
#include "../base/vec.h"

struct report *report_new(u32 cpus_len, report_explain explain)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->cpus = calloc(cpus_len ? cpus_len : 1, sizeof(*report->cpus));
	report->cpus_len = cpus_len;
	report->bin_ns = REPORT_BIN_NS;
	report->frames.explain = explain;
	if (report->cpus)
		return report;
	free(report);
	return NULL;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (u32 cpu = 0; cpu < report->cpus_len; cpu++)
		free(report->cpus[cpu].kinds_ns);
	free(report->cpus);
	free(report->pairs);
	map_free(&report->by_pair);
	report_names_free(&report->names);
	report_frames_free(&report->frames);
	free(report);
}

void report_restart(struct report *report, u64 now_ns)
{
	report->from_ns = report->to_ns = now_ns;
	report->bin_ns = REPORT_BIN_NS;
	report->bins = 0;
	report->events = 0;
	memset(report->waits, 0, sizeof(report->waits));
	memset(report->kinds_ns, 0, sizeof(report->kinds_ns));
	memset(report->counts, 0, sizeof(report->counts));
	for (u32 cpu = 0; cpu < report->cpus_len; cpu++) {
		if (report->cpus[cpu].kinds_ns)
			memset(report->cpus[cpu].kinds_ns, 0, REPORT_BINS * sizeof(*report->cpus[cpu].kinds_ns));
		if (report->cpus[cpu].since_ns)
			report->cpus[cpu].since_ns = now_ns;
	}
	report->pairs_len = 0;
	map_clear(&report->by_pair);
	report->pairs_refused = report->pairs_refused_ns = 0;
	report->miss_causes_len = 0;
	report->misses_refused = 0;
	report->effects_len = 0;
	report->effects_all = 0;
	report_frames_restart(&report->frames);
}

static void fold_lane(u64 (*lane)[REPORT_KINDS], u32 from, u32 to)
{
	for (u32 kind = 0; lane && kind < REPORT_KINDS; kind++) {
		lane[to][kind] += lane[from][kind];
		lane[from][kind] = 0;
	}
}

/* Bins become longer by that power of two. */
static void fold(struct report *report, u32 shift)
{
	for (u32 from = 1; from < report->bins; from++) {
		u32 to = (u32)((u64)from >> shift);

		for (u32 role = 0; role < ROLES; role++)
			for (u32 octave = 0; octave < REPORT_OCTAVES; octave++) {
				report->waits[role][to][octave] += report->waits[role][from][octave];
				report->waits[role][from][octave] = 0;
			}
		for (u32 kind = 0; kind < REPORT_KINDS; kind++) {
			report->kinds_ns[to][kind] += report->kinds_ns[from][kind];
			report->kinds_ns[from][kind] = 0;
		}
		for (u32 count = 0; count < REPORT_COUNTS; count++) {
			report->counts[count][to] += report->counts[count][from];
			report->counts[count][from] = 0;
		}
		for (u32 cpu = 0; cpu < report->cpus_len; cpu++)
			fold_lane(report->cpus[cpu].kinds_ns, from, to);
	}
	report->bins = report->bins ? (u32)((u64)(report->bins - 1) >> shift) + 1 : 0;
	report->bin_ns <<= shift;
}

/* The bin of a point in time; what was before the beginning counts there. */
static u32 bin_of(struct report *report, u64 time_ns)
{
	u64 since_ns = span_between(report->from_ns, time_ns);
	u32 bin, shift = 0;

	while (since_ns / (report->bin_ns << shift) >= REPORT_BINS)
		shift++;
	if (shift)
		fold(report, shift);
	bin = (u32)(since_ns / report->bin_ns);
	if (bin >= report->bins)
		report->bins = bin + 1;
	return bin;
}

void report_count(struct report *report, enum report_count what, u64 time_ns, u64 amount)
{
	u32 bin = bin_of(report, time_ns);

	report->counts[what][bin] += amount;
}

/* How much of what follows lies in the bin of that moment. */
static u64 until_bin_ends(const struct report *report, u64 at_ns, u64 to_ns)
{
	u64 left_ns = report->bin_ns - (at_ns - report->from_ns) % report->bin_ns;

	return to_ns - at_ns < left_ns ? to_ns : at_ns + left_ns;
}

void report_count_span(struct report *report, enum report_count what, u64 from_ns, u64 to_ns)
{
	u64 at_ns = from_ns > report->from_ns ? from_ns : report->from_ns;

	/* Nothing is folded from here on. */
	bin_of(report, to_ns);
	report->counts[what][0] += span_between(from_ns, at_ns < to_ns ? at_ns : to_ns);
	while (at_ns < to_ns) {
		u64 until_ns = until_bin_ends(report, at_ns, to_ns);

		report->counts[what][bin_of(report, at_ns)] += until_ns - at_ns;
		at_ns = until_ns;
	}
}

u32 report_octave(u64 wait_ns)
{
	u64 wait_us = wait_ns / NSEC_PER_USEC;
	u32 octave = wait_us ? log2_floor(wait_us) + 1 : 0;

	return octave < REPORT_OCTAVES ? octave : REPORT_OCTAVES - 1;
}

u64 report_octave_low_ns(u32 octave)
{
	return octave ? (1ULL << (octave - 1)) * NSEC_PER_USEC : 0;
}

static u32 role_of(const struct thread *thread)
{
	u32 role = thread && thread->role ? thread->role->role : ROLE_UNKNOWN;

	/* A recording may say anything. */
	return role < ROLES ? role : ROLE_UNKNOWN;
}

/* A CPU's lane, made if there is room. NULL: there is none. */
static u64 (*lane_of(struct report *report, struct report_cpu *cpu))[REPORT_KINDS]
{
	if (!cpu->kinds_ns && report->lanes < REPORT_CPUS) {
		cpu->kinds_ns = calloc(REPORT_BINS, sizeof(*cpu->kinds_ns));
		report->failed |= !cpu->kinds_ns;
		report->lanes += cpu->kinds_ns != NULL;
	}
	return cpu->kinds_ns;
}

/* The thread has had the CPU until now. */
static void charge(struct report *report, const struct threads *threads, struct report_cpu *cpu, u64 now_ns)
{
	const struct thread *thread = cpu->tid ? threads_by_tid(threads, cpu->tid) : NULL;
	u32 kind = thread && thread->bystander ? REPORT_UNWATCHED : role_of(thread);
	u64 at_ns = cpu->since_ns > report->from_ns ? cpu->since_ns : report->from_ns;
	u64(*lane)[REPORT_KINDS] = lane_of(report, cpu);

	if (!cpu->since_ns || !thread || at_ns >= now_ns)
		return;
	/* Nothing is folded from here on. */
	bin_of(report, now_ns);
	while (at_ns < now_ns) {
		u32 bin = bin_of(report, at_ns);
		u64 until_ns = until_bin_ends(report, at_ns, now_ns);

		report->kinds_ns[bin][kind] += until_ns - at_ns;
		if (lane)
			lane[bin][kind] += until_ns - at_ns;
		at_ns = until_ns;
	}
}

static void handle_cpu(struct report *report, const struct threads *threads, const struct event_header *event)
{
	struct report_cpu *cpu = event->cpu < report->cpus_len ? &report->cpus[event->cpu] : NULL;
	u64 now_ns = event->time_ns;

	if (!cpu)
		return;
	switch (event->kind) {
	case EVENT_SWITCH:
		/* Somebody else may have left unseen. */
		if (cpu->tid == event->tid)
			charge(report, threads, cpu, now_ns);
		cpu->tid = ((const struct event_switch *)event)->next_tid;
		cpu->since_ns = now_ns;
		break;
	case EVENT_UNSEEN_SWITCH:
		cpu->tid = event->tid;
		cpu->since_ns = ((const struct event_unseen_switch *)event)->since_ns;
		break;
	case EVENT_SAMPLE:
		if ((event->flags & EVENT_FLAG_CLOSING) && cpu->tid == event->tid)
			charge(report, threads, cpu, now_ns);
		cpu->tid = event->tid;
		cpu->since_ns = now_ns;
		break;
	case EVENT_LOST:
		cpu->since_ns = 0;
		break;
	default:
		break;
	}
}

static void add_pair(struct report *report, u16 waiter, u16 culprit, u64 wait_ns)
{
	u64 key = (u64)waiter << 16 | culprit;
	u32 place = map_get(&report->by_pair, key);
	struct report_pair *pair;

	if (!place && (report->pairs_len == REPORT_PAIRS ||
		       !vec_reserve(report->pairs, report->pairs_room, report->pairs_len + 1, 64) ||
		       !map_set(&report->by_pair, key, (u32)report->pairs_len + 1))) {
		report->pairs_refused++;
		report->pairs_refused_ns += wait_ns;
		return;
	}
	if (!place) {
		report->pairs[report->pairs_len++] = (struct report_pair){ .waiter = waiter, .culprit = culprit };
		place = (u32)report->pairs_len;
	}
	pair = &report->pairs[place - 1];
	pair->waits++;
	pair->wait_ns += wait_ns;
	if (wait_ns > pair->max_ns)
		pair->max_ns = wait_ns;
}

static void take_wait(struct report *report, const struct threads *threads, const struct history *history,
		      const struct wait *ended)
{
	u64 wait_ns = span_between(ended->from_ns, ended->to_ns);
	u32 bin = bin_of(report, ended->to_ns), tid = 0;
	u16 culprit = REPORT_NAME_UNKNOWN;

	report->waits[role_of(ended->thread)][bin][report_octave(wait_ns)]++;
	if (wait_ns < REPORT_BEHIND_NS)
		return;
	if (history_culprit(history, ended->cpu, ended->from_ns, ended->to_ns, &tid) != CULPRIT_UNKNOWN)
		culprit = report_name_of(&report->names, threads, tid);
	add_pair(report, report_name(&report->names, &ended->thread->comm), culprit, wait_ns);
}

static void take_decision(struct report *report, const struct event_decision *event)
{
	static const enum report_count counts[] = { [DECISION_PREEMPT] = REPORT_PREEMPTS,
						    [DECISION_MOVE] = REPORT_DECIDED_MOVES,
						    [DECISION_DEADLINE_MISS] = REPORT_URGENT_MISSES };

	if (event->what != DECISION_NONE && event->what < sizeof(counts) / sizeof(counts[0]))
		report_count(report, counts[event->what], event->head.time_ns, 1);
}

static void take_effect(struct report *report, const struct threads *threads, const struct event_effect *event)
{
	report->effects_all++;
	if (report->effects_len == REPORT_EFFECTS)
		return;
	report->effects[report->effects_len++] = (struct report_effect){
		.at_ns = event->head.time_ns,
		.acted_p99_ns = event->acted_p99_ns,
		.held_p99_ns = event->held_p99_ns,
		.span_ns = event->span_ns,
		.pid = event->pid,
		.cause_pid = event->cause_pid,
		.what = (u32)event->what,
		.name = event->pid ? report_name_of(&report->names, threads, event->pid) : REPORT_NAME_UNKNOWN,
		.cause_name = event->cause_pid ? report_name_of(&report->names, threads, event->cause_pid)
					       : REPORT_NAME_UNKNOWN,
	};
}

static void take_count(struct report *report, const struct threads *threads, const struct event_header *event)
{
	switch (event->kind) {
	case EVENT_SWITCH:
		report_count(report, REPORT_SWITCHES, event->time_ns, 1);
		break;
	case EVENT_WAKEUP:
		report_count(report, REPORT_WAKEUPS, event->time_ns, 1);
		break;
	case EVENT_MIGRATE:
		report_count(report, REPORT_MOVES, event->time_ns, 1);
		break;
	case EVENT_SUBMIT:
		report_count(report, REPORT_SUBMITS, event->time_ns, 1);
		break;
	case EVENT_CUDA_LAUNCH:
		report_count(report, REPORT_LAUNCHES, event->time_ns, 1);
		break;
	case EVENT_DECISION:
		take_decision(report, (const struct event_decision *)event);
		break;
	case EVENT_EFFECT:
		take_effect(report, threads, (const struct event_effect *)event);
		break;
	case EVENT_LOST:
		report_count(report, REPORT_LOST, event->time_ns, ((const struct event_lost *)event)->count);
		break;
	default:
		break;
	}
}

/* Of a stream with many short threads, what each did would be most of what is kept. */
static void forget_some(struct report *report, struct threads *threads, const struct event_header *event)
{
	if (event->kind != EVENT_SWITCH || !(((const struct event_switch *)event)->prev_state & STATE_DEAD))
		return;
	if (++report->ends % REPORT_FORGETS == 0)
		path_forget_ended(threads);
}

void report_handle(struct report *report, struct threads *threads, const struct frames *frames,
		   const struct event_header *event, const struct wait *ended, const struct late_frame *frame,
		   const struct frame_process *process)
{
	if (!report->from_ns)
		report->from_ns = event->time_ns;
	if (event->time_ns > report->to_ns)
		report->to_ns = event->time_ns;
	report->events++;
	handle_cpu(report, threads, event);
	take_count(report, threads, event);
	if (ended)
		take_wait(report, threads, &frames->history, ended);
	if (frame && process)
		report_frames_take(&report->frames, &report->names, threads, frames, frame, process);
	forget_some(report, threads, event);
}

void report_take_miss(struct report *report, const struct threads *threads, const struct miss *miss)
{
	struct report_miss_cause *cause = report->miss_causes, *end = cause + report->miss_causes_len;
	struct report_miss_cause wanted = { .tid = miss->tid, .who = REPORT_NOT_KNOWN };

	if (miss->verdict.kind == MISS_OVERRAN || (miss->culprit == CULPRIT_THREAD && miss->behind_tid == miss->tid))
		wanted.who = REPORT_ITSELF;
	else if (miss->culprit == CULPRIT_IDLE)
		wanted.who = REPORT_IDLE_CPU;
	else if (miss->culprit == CULPRIT_THREAD)
		wanted.who = REPORT_ANOTHER;
	if (wanted.who == REPORT_ANOTHER)
		wanted.name = report_name_of(&report->names, threads, miss->behind_tid);
	while (cause < end && (cause->tid != wanted.tid || cause->who != wanted.who || cause->name != wanted.name))
		cause++;
	if (cause == end && report->miss_causes_len == REPORT_MISS_CAUSES) {
		report->misses_refused++;
		return;
	}
	if (cause == end) {
		*cause = wanted;
		report->miss_causes_len++;
	}
	cause->misses++;
}

static int most_missed_first(const void *a, const void *b)
{
	const struct report_miss_cause *one = a, *other = b;

	return one->misses > other->misses ? -1 : one->misses < other->misses;
}

void report_end(struct report *report, const struct threads *threads, u64 now_ns)
{
	for (u32 cpu = 0; cpu < report->cpus_len; cpu++) {
		charge(report, threads, &report->cpus[cpu], now_ns);
		report->cpus[cpu].since_ns = 0;
	}
	if (now_ns > report->to_ns)
		report->to_ns = now_ns;
	if (report->from_ns)
		bin_of(report, report->to_ns > report->from_ns ? report->to_ns - 1 : report->to_ns);
	report_frames_order(&report->frames);
	sort_rows(report->miss_causes, report->miss_causes_len, sizeof(*report->miss_causes), most_missed_first);
}

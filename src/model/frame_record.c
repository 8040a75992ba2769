// SPDX-License-Identifier: GPL-2.0
/* Puts together what is known of each frame. Figures of what comes after the present are found by their times or
 * numbers among the last frames; what nobody reported stays FRAME_UNKNOWN. */
#include "frame_record.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/sched_config.h"
#include "../base/vec.h"
#include "frames.h"

enum { PHASE_PERIODS_MOST = 8, SMALL_PART = 64 };

static bool is_cause(const struct late_frame *late, const struct path_item *item)
{
	return late->has_cause && item->kind == late->cause.kind && item->tid == late->cause.tid &&
	       item->other_tid == late->cause.other_tid;
}

static void insert_part(struct late_frame *late, const struct path_item *item)
{
	u32 first = late->has_cause, at = late->parts_len;

	while (at > first && late->parts[at - 1].ns < item->ns)
		at--;
	if (at == LATE_PARTS) {
		late->rest_ns += item->ns;
		return;
	}
	if (late->parts_len == LATE_PARTS)
		late->rest_ns += late->parts[--late->parts_len].ns;
	memmove(&late->parts[at + 1], &late->parts[at], (late->parts_len - at) * sizeof(*item));
	late->parts[at] = *item;
	late->parts_len++;
}

/* Sleeps and runs of a thread are one part each, whoever ended them; waits are by who was in the way. */
static bool is_same_part(const struct path_item *a, const struct path_item *b)
{
	return a->kind == b->kind && a->tid == b->tid && (a->kind != PATH_WAITED || a->other_tid == b->other_tid);
}

void late_frame_parts(struct late_frame *late, const struct path *path)
{
	struct path_item merged[PATH_ITEMS];
	u32 len = 0, at;

	late->parts_len = 0;
	late->rest_ns = path->unlisted_ns;
	if (late->has_cause)
		late->parts[late->parts_len++] = late->cause;
	for (u32 i = 0; i < path->len; i++) {
		const struct path_item *item = &path->items[i];

		if (is_cause(late, item))
			continue;
		for (at = 0; at < len && !is_same_part(&merged[at], item); at++)
			;
		if (at == len) {
			merged[len++] = *item;
			continue;
		}
		merged[at].ns += item->ns;
		if (item->longest_ns > merged[at].longest_ns) {
			merged[at].longest_ns = item->longest_ns;
			merged[at].cpu = item->cpu;
			merged[at].other_tid = item->other_tid;
			merged[at].woken_by = item->woken_by;
		}
	}
	for (at = 0; at < len; at++) {
		if (merged[at].ns * SMALL_PART < late->interval_ns)
			late->rest_ns += merged[at].ns;
		else
			insert_part(late, &merged[at]);
	}
}

static u32 pid_of(const struct threads *threads, u32 tid)
{
	const struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;

	return thread ? thread->pid : 0;
}

static void run_turns_to(struct frames *frames, u32 cpu, u32 pid, u64 now_ns)
{
	struct frame_run *run = &frames->runs.cpus[cpu];
	struct frame_process *process = run->pid ? frames_process(frames, run->pid) : NULL;

	if (process)
		process->ran_ns += span_between(run->since_ns, now_ns);
	*run = (struct frame_run){ .pid = pid, .since_ns = now_ns };
}

bool frame_runs_handle(struct frames *frames, const struct threads *threads, const struct event_header *event)
{
	bool begins = event->kind == EVENT_SAMPLE && !(event->flags & EVENT_FLAG_CLOSING);
	u32 pid;

	if (event->kind != EVENT_SWITCH && event->kind != EVENT_UNSEEN_SWITCH && !begins)
		return true;
	if (event->cpu >= SCHED_CPUS_MAX)
		return true;
	if (!vec_lengthen(frames->runs.cpus, frames->runs.len, event->cpu + 1u))
		return false;
	if (!frames->runs.from_ns)
		frames->runs.from_ns = event->time_ns;
	pid = event->kind == EVENT_SWITCH ? pid_of(threads, ((const struct event_switch *)event)->next_tid)
					  : pid_of(threads, event->tid);
	run_turns_to(frames, event->cpu, pid,
		     event->kind == EVENT_UNSEEN_SWITCH ? ((const struct event_unseen_switch *)event)->since_ns
							: event->time_ns);
	return true;
}

/* CPU time of the process's threads until now. */
static u64 ran_until(const struct frames *frames, const struct frame_process *process, u64 now_ns)
{
	u64 ran_ns = process->ran_ns;

	for (u32 cpu = 0; cpu < frames->runs.len; cpu++)
		if (frames->runs.cpus[cpu].pid == process->pid)
			ran_ns += span_between(frames->runs.cpus[cpu].since_ns, now_ns);
	return ran_ns;
}

/* Popped are those that the span reaches back over. */
static void busy_add(struct gpu_busy *busy, u64 from_ns, u64 to_ns)
{
	while (busy->len && busy->to_ns[busy->len - 1] >= from_ns) {
		busy->len--;
		if (busy->from_ns[busy->len] < from_ns)
			from_ns = busy->from_ns[busy->len];
		if (busy->to_ns[busy->len] > to_ns)
			to_ns = busy->to_ns[busy->len];
	}
	if (busy->len == GPU_SPANS) {
		busy->before_ns += busy->to_ns[0] - busy->from_ns[0];
		busy->len--;
		memmove(busy->from_ns, busy->from_ns + 1, busy->len * sizeof(*busy->from_ns));
		memmove(busy->to_ns, busy->to_ns + 1, busy->len * sizeof(*busy->to_ns));
	}
	busy->from_ns[busy->len] = from_ns;
	busy->to_ns[busy->len++] = to_ns;
}

static u64 busy_ns(const struct gpu_busy *busy)
{
	u64 sum_ns = busy->before_ns;

	for (u32 i = 0; i < busy->len; i++)
		sum_ns += busy->to_ns[i] - busy->from_ns[i];
	return sum_ns;
}

static struct frame_pending *pending_at(struct frame_records *records, u32 index)
{
	return &records->last[(records->first + index) % RECORDS_KEPT];
}

/* The last submit counts if it came since the frame before: what was submitted earlier was of that one. */
static u64 submit_part(const struct frame_process *process, const struct event_frame *event, u64 interval_ns)
{
	u64 now_ns = event->head.time_ns, since_ns = event->submit_ns ? event->submit_ns : ~0ull;

	if (process->submitted_ns && process->submitted_ns <= now_ns && now_ns - process->submitted_ns < since_ns)
		since_ns = now_ns - process->submitted_ns;
	return interval_ns && since_ns <= interval_ns ? since_ns : FRAME_UNKNOWN;
}

static u64 phase_part(const struct vblank_clock *clock, u64 now_ns)
{
	if (!clock || !clock->at_ns || !clock->period_ns || now_ns < clock->at_ns ||
	    now_ns - clock->at_ns > PHASE_PERIODS_MOST * clock->period_ns)
		return FRAME_UNKNOWN;
	return (now_ns - clock->at_ns) % clock->period_ns;
}

static u64 cpu_part(const struct frames *frames, const struct frame_process *process, struct frame_records *records,
		    const struct late_frame *frame)
{
	u64 ran_ns = ran_until(frames, process, frame->at_ns), before_ns = records->ran_before_ns;
	u64 from_ns = frame->at_ns - frame->interval_ns;

	records->ran_before_ns = ran_ns;
	if (!frame->interval_ns || !frames->runs.from_ns || frames->runs.from_ns > from_ns ||
	    frames->lost_ns >= from_ns)
		return FRAME_UNKNOWN;
	return span_between(before_ns, ran_ns);
}

void frame_record_begin(struct frames *frames, const struct threads *threads, struct frame_process *process,
			struct frame_stream *stream, const struct event_frame *event, const struct late_frame *frame,
			const struct pace_verdict *verdict)
{
	struct frame_records *records = stream->records;
	const struct vblank_clock *clock = frames_clock(frames, stream);
	struct frame_pending *pending;
	u64 *parts_ns;

	if (!records)
		records = stream->records = calloc(1, sizeof(*records));
	if (!records) {
		frames->failed = true;
		return;
	}
	/* Whoever wants records takes them in time; else the oldest is lost to the percentiles. */
	if (records->len == RECORDS_KEPT) {
		records->first = (records->first + 1) % RECORDS_KEPT;
		records->len--;
	}
	pending = pending_at(records, records->len++);
	*pending =
		(struct frame_pending){ .record.frame = *frame, .busy = records->busy, .sent_number = event->number };
	records->busy = (struct gpu_busy){ 0 };
	parts_ns = pending->record.parts_ns;
	for (u32 part = 0; part < FRAME_PARTS; part++)
		parts_ns[part] = FRAME_UNKNOWN;
	parts_ns[FRAME_CPU] = cpu_part(frames, process, records, frame);
	parts_ns[FRAME_SUBMIT] = submit_part(process, event, frame->interval_ns);
	parts_ns[FRAME_PHASE] = phase_part(clock, frame->at_ns);
	pending->record.dropped = verdict->display_ns ? verdict->dropped : FRAME_UNKNOWN;
	/* Whoever flips learns the display's own count. */
	pending->record.vblanks_missed = clock && !stream->flips ? pending->record.dropped : FRAME_UNKNOWN;
	if (frames->explains && frame->interval_ns)
		pending->began_ns = path_began_ns(threads, stream->tid, frame->at_ns - frame->interval_ns,
						  frame->at_ns);
}

/* A display's own fences end when it shows a picture: no GPU works until then. */
static bool is_of_display(const struct event_fence *event)
{
	return !strncmp(event->timeline.text, "CRTC", 4);
}

static void add_fence(struct frame_records *records, u64 from_ns, u64 to_ns)
{
	for (u32 i = 0; i < records->len; i++) {
		struct frame_pending *pending = pending_at(records, i);
		const struct late_frame *frame = &pending->record.frame;

		if (from_ns <= frame->at_ns) {
			if (from_ns > frame->at_ns - frame->interval_ns)
				busy_add(&pending->busy, from_ns, to_ns);
			return;
		}
	}
	busy_add(&records->busy, from_ns, to_ns);
}

void frame_record_fence(struct frames *frames, const struct threads *threads, const struct event_fence *event)
{
	struct frame_process *process = frames_process(frames, pid_of(threads, event->head.tid));
	u64 to_ns = event->head.time_ns;

	if (!process || !event->took_ns || event->took_ns > to_ns || is_of_display(event) ||
	    (event->head.flags & EVENT_FLAG_QUEUED))
		return;
	process->has_jobs |= (event->head.flags & EVENT_FLAG_RAN) != 0;
	if (process->has_jobs && !(event->head.flags & EVENT_FLAG_RAN))
		return;
	process->has_fences = true;
	for (struct frame_stream *stream = process->streams; stream; stream = stream->next)
		if (stream->records)
			add_fence(stream->records, to_ns - event->took_ns, to_ns);
}

/* The newest that was presented before: only one flip is under way at a time. */
void frame_record_shown(struct frame_stream *stream, u64 at_ns, u64 missed)
{
	struct frame_records *records = stream->records;

	for (u32 i = records ? records->len : 0; i > 0; i--) {
		struct frame_pending *pending = pending_at(records, i - 1);

		if (pending->record.frame.at_ns > at_ns)
			continue;
		if (!pending->shown_at_ns) {
			pending->shown_at_ns = at_ns;
			pending->record.parts_ns[FRAME_SHOWN] = at_ns - pending->record.frame.at_ns;
			pending->record.vblanks_missed = missed;
		}
		return;
	}
}

void frame_record_composited(struct frame_stream *stream, u64 had_ns)
{
	struct frame_records *records = stream->records;

	for (u32 i = 0; records && i < records->len; i++)
		if (pending_at(records, i)->sent_number == stream->handed_number)
			pending_at(records, i)->record.parts_ns[FRAME_COMPOSITOR] = had_ns;
}

static bool awaits(const struct frame_process *process, const struct frame_stream *stream,
		   const struct frame_pending *pending)
{
	const u64 *parts_ns = pending->record.parts_ns;

	return process->has_fences || (stream->flips && parts_ns[FRAME_SHOWN] == FRAME_UNKNOWN) ||
	       (stream->hands_over && parts_ns[FRAME_COMPOSITOR] == FRAME_UNKNOWN);
}

/* By when both frames were shown, or presented where no display tells. */
static u64 animation_error(struct frame_records *records, const struct frame_stream *stream,
			   const struct frame_pending *pending)
{
	u64 up_ns = stream->flips ? pending->shown_at_ns : pending->record.frame.at_ns;
	u64 error_ns = FRAME_UNKNOWN;

	if (pending->record.frame.interval_ns && pending->began_ns && up_ns && records->began_before_ns &&
	    records->up_before_ns)
		error_ns = (up_ns - records->up_before_ns) - (pending->began_ns - records->began_before_ns);
	records->began_before_ns = pending->began_ns;
	records->up_before_ns = up_ns;
	return error_ns;
}

static u64 amount(enum frame_part part, u64 part_ns)
{
	return part == FRAME_ANIMATION_ERROR && (s64)part_ns < 0 ? -part_ns : part_ns;
}

static void take_record(struct frames *frames, struct frame_process *process, struct frame_stream *stream,
			struct frame_record *record)
{
	struct frame_records *records = stream->records;
	struct frame_pending *pending = pending_at(records, 0);

	if (pending->busy.len)
		pending->record.parts_ns[FRAME_GPU] = busy_ns(&pending->busy);
	pending->record.parts_ns[FRAME_ANIMATION_ERROR] = animation_error(records, stream, pending);
	*record = pending->record;
	records->first = (records->first + 1) % RECORDS_KEPT;
	records->len--;
	for (u32 part = 0; part < FRAME_PARTS; part++)
		if (record->parts_ns[part] != FRAME_UNKNOWN &&
		    !frames_keep(frames, &process->parts[part], amount(part, record->parts_ns[part])))
			frames->failed = true;
}

bool frames_next_record(struct frames *frames, u64 now_ns, struct frame_record *record,
			const struct frame_process **out)
{
	for (struct frame_process *process = frames->processes; process; process = process->next)
		for (struct frame_stream *stream = process->streams; stream; stream = stream->next) {
			struct frame_records *records = stream->records;
			struct frame_pending *oldest = records && records->len ? pending_at(records, 0) : NULL;

			if (!oldest || (records->len <= RECORDS_AWAITED && awaits(process, stream, oldest) &&
					span_between(oldest->record.frame.at_ns, now_ns) < RECORD_WAITS_NS))
				continue;
			take_record(frames, process, stream, record);
			*out = process;
			return true;
		}
	return false;
}

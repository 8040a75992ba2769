// SPDX-License-Identifier: GPL-2.0
/* See report_frames.h. A frame that is merged with another leaves the longer of both: what stands out stays.
 */
#include "report_frames.h"

#include <stdlib.h>

#include "../base/sort.h"
#include "../base/vec.h"

void report_frames_restart(struct report_frames *frames)
{
	report_explain explain = frames->explain;

	report_frames_free(frames);
	*frames = (struct report_frames){ .explain = explain };
}

void report_frames_free(struct report_frames *frames)
{
	for (u32 i = 0; i < frames->presenters_len; i++)
		free(frames->presenters[i].all);
	for (u32 i = 0; i < frames->late_len; i++)
		free(frames->late[i]);
	frames->presenters_len = frames->late_len = 0;
}

/* NULL: there is no room. */
static struct report_presenter *presenter_of(struct report_frames *frames, u32 pid)
{
	for (u32 i = 0; i < frames->presenters_len; i++)
		if (frames->presenters[i].pid == pid)
			return &frames->presenters[i];
	if (frames->presenters_len == REPORT_PRESENTERS)
		return NULL;
	frames->presenters[frames->presenters_len] = (struct report_presenter){ .pid = pid, .each = 1 };
	return &frames->presenters[frames->presenters_len++];
}

static void merge_frame(struct report_frame *into, const struct report_frame *other)
{
	bool is_late = into->is_late || other->is_late;

	if (other->interval_ns > into->interval_ns)
		*into = *other;
	into->is_late = is_late;
}

/* Each entry stands for twice as many frames. */
static void halve(struct report_frames *frames, struct report_presenter *presenter)
{
	size_t kept = (presenter->len + 1) / 2;

	for (size_t i = 0; i < kept; i++) {
		struct report_frame one = presenter->all[2 * i];

		if (2 * i + 1 < presenter->len)
			merge_frame(&one, &presenter->all[2 * i + 1]);
		presenter->all[i] = one;
	}
	if (presenter->len % 2 == 0)
		presenter->in_last += presenter->each;
	frames->kept -= presenter->len - kept;
	presenter->len = kept;
	presenter->each *= 2;
}

static void make_room(struct report_frames *frames)
{
	struct report_presenter *largest = &frames->presenters[0];

	for (u32 i = 1; i < frames->presenters_len; i++)
		if (frames->presenters[i].len > largest->len)
			largest = &frames->presenters[i];
	halve(frames, largest);
}

static void keep_frame(struct report_frames *frames, struct report_presenter *presenter,
		       const struct report_frame *frame)
{
	if (presenter->len && presenter->in_last < presenter->each) {
		merge_frame(&presenter->all[presenter->len - 1], frame);
		presenter->in_last++;
		return;
	}
	if (!vec_reserve(presenter->all, presenter->room, presenter->len + 1, 256)) {
		frames->failed = true;
		return;
	}
	presenter->all[presenter->len++] = *frame;
	presenter->in_last = 1;
	if (++frames->kept == REPORT_FRAMES)
		make_room(frames);
}

enum report_blame report_blame_of(const struct late_frame *frame)
{
	const struct path_item *cause = &frame->cause;
	bool is_own = cause->tid == frame->tid;

	if (!frame->has_cause)
		return REPORT_BLAME_UNKNOWN;
	if (cause->kind == PATH_WAITED)
		return REPORT_BLAME_CPU;
	/* Most of what it is late by was in the driver. */
	if (frame->gpu_ns > frame->usual_gpu_ns && (frame->gpu_ns - frame->usual_gpu_ns) * 2 >= frame->late_ns)
		return REPORT_BLAME_GPU;
	if (cause->kind == PATH_RAN)
		return is_own ? REPORT_BLAME_ITSELF : REPORT_BLAME_WORK;
	return cause->kind == PATH_SLEPT ? REPORT_BLAME_SLEEP : REPORT_BLAME_UNKNOWN;
}

/* Who is to blame, where that is somebody. */
static u16 guilty_name(struct report_names *names, const struct threads *threads, const struct late_frame *frame,
		       enum report_blame blame)
{
	const struct path_item *cause = &frame->cause;

	if (blame == REPORT_BLAME_CPU || (blame == REPORT_BLAME_SLEEP && cause->tid == frame->tid))
		return cause->other_tid ? report_name_of(names, threads, cause->other_tid) : REPORT_NAME_UNKNOWN;
	if (blame == REPORT_BLAME_WORK || blame == REPORT_BLAME_SLEEP)
		return report_name_of(names, threads, cause->tid);
	return REPORT_NAME_UNKNOWN;
}

static void count_cause(struct report_frames *frames, struct report_names *names, const struct threads *threads,
			const struct late_frame *frame, u32 pid)
{
	enum report_blame blame = report_blame_of(frame);
	struct report_cause *cause = frames->causes, *end = cause + frames->causes_len;
	u16 name = guilty_name(names, threads, frame, blame);

	while (cause < end && (cause->pid != pid || cause->blame != blame || cause->name != name))
		cause++;
	if (cause == end && frames->causes_len == REPORT_CAUSES) {
		frames->causes_refused++;
		return;
	}
	if (cause == end) {
		*cause = (struct report_cause){ .pid = pid, .blame = blame, .name = name };
		frames->causes_len++;
	}
	cause->frames++;
	cause->late_ns += frame->late_ns;
}

/* A place for one more: a new one, or that of the least late of those that are there. NULL: none. */
static struct report_late *late_place(struct report_frames *frames, const struct late_frame *frame)
{
	u32 least = 0;

	if (frames->late_len < REPORT_LATE) {
		frames->late[frames->late_len] = calloc(1, sizeof(struct report_late));
		if (!frames->late[frames->late_len]) {
			frames->failed = true;
			return NULL;
		}
		return frames->late[frames->late_len++];
	}
	for (u32 i = 1; i < frames->late_len; i++)
		if (frames->late[i]->frame.late_ns < frames->late[least]->frame.late_ns)
			least = i;
	return frames->late[least]->frame.late_ns < frame->late_ns ? frames->late[least] : NULL;
}

static int longer_first(const void *a, const void *b)
{
	u64 one = *(const u64 *)a, other = *(const u64 *)b;

	return one > other ? -1 : one < other;
}

/* How long a step is at least that is shown. */
static u64 least_shown_ns(const struct path_trail *trail)
{
	u64 spans_ns[PATH_STEPS];

	if (trail->len <= REPORT_STEPS)
		return 0;
	for (u32 i = 0; i < trail->len; i++)
		spans_ns[i] = trail->steps[i].to_ns - trail->steps[i].from_ns;
	sort_rows(spans_ns, trail->len, sizeof(*spans_ns), longer_first);
	return spans_ns[REPORT_STEPS - 1];
}

static void keep_steps(struct report_late *late, struct report_names *names, const struct threads *threads,
		       const struct path_trail *trail)
{
	u64 least_ns = least_shown_ns(trail);

	late->steps_len = 0;
	late->not_shown_ns = 0;
	for (u32 i = trail->len; i-- > 0;) {
		const struct path_step *step = &trail->steps[i];
		u64 span_ns = step->to_ns - step->from_ns;

		if (span_ns < least_ns || late->steps_len == REPORT_STEPS) {
			late->not_shown_ns += span_ns;
			continue;
		}
		late->steps[late->steps_len++] = (struct report_step){
			.from_ns = step->from_ns,
			.to_ns = step->to_ns,
			.kind = (u8)step->kind,
			.woken_by = (u8)step->woken_by,
			.cpu = (u16)step->cpu,
			.tid = step->tid,
			.other_tid = step->other_tid,
			.name = report_name_of(names, threads, step->tid),
			.other_name = step->other_tid ? report_name_of(names, threads, step->other_tid)
						      : REPORT_NAME_UNKNOWN,
		};
	}
}

static void keep_parts(struct report_late *late, struct report_names *names, const struct threads *threads)
{
	for (u32 i = 0; i < late->frame.parts_len && i < LATE_PARTS; i++) {
		const struct path_item *part = &late->frame.parts[i];

		late->parts[i].name = report_name_of(names, threads, part->tid);
		late->parts[i].other_name = part->other_tid ? report_name_of(names, threads, part->other_tid)
							    : REPORT_NAME_UNKNOWN;
	}
}

static void keep_late(struct report_frames *frames, struct report_names *names, const struct threads *threads,
		      const struct frames *model, const struct late_frame *frame, const struct frame_process *process)
{
	struct report_late *late = late_place(frames, frame);
	struct path_trail *trail = late ? malloc(sizeof(*trail)) : NULL;
	struct path path;

	if (late && !trail)
		frames->failed = true;
	if (!late)
		return;
	late->frame = *frame;
	late->pid = process->pid;
	late->process_name = report_name(names, &process->comm);
	late->words[0] = '\0';
	if (frames->explain)
		frames->explain(late->words, sizeof(late->words), threads, frame);
	if (!trail)
		return;
	path_walk_trail(&path, trail, threads, &model->history, frame->tid, frame->at_ns - frame->interval_ns,
			frame->at_ns);
	keep_steps(late, names, threads, trail);
	keep_parts(late, names, threads);
	free(trail);
}

void report_frames_take(struct report_frames *frames, struct report_names *names, const struct threads *threads,
			const struct frames *model, const struct late_frame *frame, const struct frame_process *process)
{
	struct report_presenter *presenter;

	if (!frame->interval_ns)
		return;
	presenter = presenter_of(frames, process->pid);
	if (presenter)
		keep_frame(frames, presenter,
			   &(struct report_frame){ .at_ns = frame->at_ns,
						   .interval_ns = frame->interval_ns,
						   .number = frame->number,
						   .is_late = frame->late_ns != 0,
						   .is_judged = frame->target_ns != 0 });
	else
		frames->presenters_refused++;
	if (!frame->late_ns)
		return;
	frames->late_all++;
	count_cause(frames, names, threads, frame, process->pid);
	keep_late(frames, names, threads, model, frame, process);
}

static int earlier_first(const void *a, const void *b)
{
	const struct report_late *one = *(struct report_late *const *)a, *other = *(struct report_late *const *)b;

	return one->frame.at_ns < other->frame.at_ns ? -1 : one->frame.at_ns > other->frame.at_ns;
}

static int most_first(const void *a, const void *b)
{
	const struct report_cause *one = a, *other = b;

	if (one->frames != other->frames)
		return one->frames > other->frames ? -1 : 1;
	return one->late_ns > other->late_ns ? -1 : one->late_ns < other->late_ns;
}

void report_frames_order(struct report_frames *frames)
{
	sort_rows(frames->late, frames->late_len, sizeof(*frames->late), earlier_first);
	sort_rows(frames->causes, frames->causes_len, sizeof(*frames->causes), most_first);
}

// SPDX-License-Identifier: GPL-2.0
/* Counts and times frames by process, judges each by core/pace.h, and finds what a late one's time went into.
 * What a thread usually does in a frame is learned from frames that were on time. */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/vec.h"

enum { USUAL_SHIFT = 3 };

void frames_init(struct frames *frames, bool explains)
{
	*frames = (struct frames){ .explains = explains };
}

struct frame_process *frames_process(const struct frames *frames, u32 pid)
{
	struct frame_process *process = frames->processes;

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

/* NULL for want of memory, or of room. */
static void *new_row(struct frames *frames, size_t bytes)
{
	void *row = frames->rows_len < FRAMES_ROWS_MAX ? calloc(1, bytes) : NULL;

	frames->rows_len += row != NULL;
	frames->rows_refused += row == NULL;
	return row;
}

static struct frame_process *process_of(struct frames *frames, const struct thread *thread, u64 now_ns)
{
	struct frame_process **end = &frames->processes, *process;

	for (process = *end; process; process = process->next) {
		if (process->pid == thread->pid)
			return process;
		end = &process->next;
	}
	process = new_row(frames, sizeof(*process));
	if (process) {
		process->pid = thread->pid;
		process->first_ns = now_ns;
	}
	*end = process;
	return process;
}

static struct frame_stream *stream_of(struct frames *frames, struct frame_process *process, u32 tid)
{
	struct frame_stream *stream = process->streams;

	while (stream && stream->tid != tid)
		stream = stream->next;
	if (stream)
		return stream;
	stream = new_row(frames, sizeof(*stream));
	if (stream) {
		stream->tid = tid;
		stream->next = process->streams;
		process->streams = stream;
	}
	return stream;
}

static bool keep(struct frames *frames, u64 **list, size_t *len, size_t *room, u64 value)
{
	if (frames->times_len == FRAMES_TIMES_MAX)
		return false;
	frames->times_len++;
	if (!vec_reserve(*list, *room, *len + 1, 256))
		return false;
	(*list)[(*len)++] = value;
	return true;
}

bool frames_keep(struct frames *frames, struct frame_list *list, u64 value)
{
	return keep(frames, &list->ns, &list->len, &list->room, value);
}

static bool keep_interval(struct frames *frames, struct frame_process *process, u64 interval_ns)
{
	if (!keep(frames, &process->intervals_ns, &process->len, &process->room, interval_ns))
		return false;
	process->shown_ns[process->shown_next] = interval_ns;
	process->shown_next = (process->shown_next + 1) % FRAMES_SHOWN;
	if (process->shown_len < FRAMES_SHOWN)
		process->shown_len++;
	return true;
}

static void keep_worst(struct frame_process *process, const struct late_frame *frame)
{
	u32 at = process->worst_len;

	while (at > 0 && process->worst[at - 1].interval_ns < frame->interval_ns)
		at--;
	if (at == FRAMES_WORST)
		return;
	if (process->worst_len < FRAMES_WORST)
		process->worst_len++;
	memmove(&process->worst[at + 1], &process->worst[at], (process->worst_len - at - 1) * sizeof(*frame));
	process->worst[at] = *frame;
}

static u64 average(u64 so_far, u64 value)
{
	return so_far ? so_far - (so_far >> USUAL_SHIFT) + (value >> USUAL_SHIFT) : value;
}

static u64 excess(u64 value, u64 usual)
{
	return value > usual ? value - usual : 0;
}

/* The largest item of what there is most more of than usual. */
static void find_cause(const struct frame_stream *stream, const struct path *path, struct late_frame *late)
{
	u64 most_more_ns = 0, most_ns = 0;
	u32 kind = PATH_UNKNOWN, whose = PATH_OWN;

	for (u32 i = 0; i < PATH_UNKNOWN; i++)
		for (u32 j = 0; j < PATH_WHOSE; j++) {
			u64 more_ns = excess(path->kinds_ns[i][j], stream->usual_ns[i][j]);

			if (more_ns <= most_more_ns)
				continue;
			most_more_ns = more_ns;
			kind = i;
			whose = j;
		}
	for (u32 i = 0; i < path->len; i++) {
		const struct path_item *item = &path->items[i];

		if (item->kind != kind || (item->tid == stream->tid) != (whose == PATH_OWN) || item->ns <= most_ns)
			continue;
		most_ns = item->ns;
		late->cause = *item;
		late->usual_ns = stream->usual_ns[kind][whose];
		late->has_cause = true;
	}
	late_frame_parts(late, path);
}

static void explain(struct frames *frames, const struct threads *threads, struct frame_stream *stream,
		    struct late_frame *frame)
{
	struct path path;

	path_walk(&path, threads, &frames->history, stream->tid, frame->at_ns - frame->interval_ns, frame->at_ns);
	if (frame->late_ns) {
		find_cause(stream, &path, frame);
		return;
	}
	for (u32 kind = 0; kind < PATH_KINDS; kind++)
		for (u32 whose = 0; whose < PATH_WHOSE; whose++)
			stream->usual_ns[kind][whose] = average(stream->usual_ns[kind][whose],
								path.kinds_ns[kind][whose]);
}

static struct vblank_clock *display_of(struct frames *frames, u32 display)
{
	for (u32 i = 0; i < frames->displays_len; i++)
		if (frames->displays[i].display == display)
			return &frames->displays[i];
	if (frames->displays_len == FRAMES_DISPLAYS) {
		frames->displays_refused++;
		return NULL;
	}
	frames->displays[frames->displays_len] = (struct vblank_clock){ .display = display };
	return &frames->displays[frames->displays_len++];
}

/* A picture is up. After a pause nothing was missed. */
static void take_shown(struct frames *frames, const struct threads *threads, const struct event_vblank *event)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid);
	bool counts = thread && !thread->bystander;
	struct frame_process *process = counts ? process_of(frames, thread, event->head.time_ns) : NULL;
	struct frame_stream *stream = process ? stream_of(frames, process, event->head.tid) : NULL;
	u64 missed = FRAME_UNKNOWN;

	if (!stream)
		return;
	if (stream->shown_at_ns && stream->display == event->display &&
	    span_between(stream->shown_at_ns, event->at_ns) <= PACE_PAUSE_NS) {
		missed = vblanks_missed(stream->shown_seq, event->seq);
		process->vblanks_missed += missed;
	}
	frame_record_shown(stream, event->at_ns, missed);
	stream->flips = true;
	stream->display = event->display;
	stream->shown_seq = event->seq;
	stream->shown_at_ns = event->at_ns;
}

/* The stream of a thread that has presented; NULL: it has not. */
static struct frame_stream *known_stream(const struct frames *frames, const struct threads *threads, u32 tid)
{
	const struct thread *thread = threads_by_tid(threads, tid);
	const struct frame_process *process = thread ? frames_process(frames, thread->pid) : NULL;
	struct frame_stream *stream = process ? process->streams : NULL;

	while (stream && stream->tid != tid)
		stream = stream->next;
	return stream;
}

/* The time in the call counts only of threads that present: others hand their work over to those, or are followed for
 * what they did. */
static void handle_submit(struct frames *frames, const struct threads *threads, const struct event_submit *event)
{
	struct frame_stream *stream = known_stream(frames, threads, event->head.tid);
	const struct thread *thread = threads_by_tid(threads, event->head.tid);
	struct frame_process *process = thread ? frames_process(frames, thread->pid) : NULL;
	u64 began_ns = span_between(event->took_ns, event->head.time_ns);

	if (stream)
		stream->gpu_ns += event->took_ns;
	if (process && began_ns > process->submitted_ns)
		process->submitted_ns = began_ns;
}

static void handle_commit(struct frames *frames, const struct threads *threads, const struct event_commit *event)
{
	struct frame_stream *stream = known_stream(frames, threads, event->head.tid);

	if (!stream)
		return;
	handed_over(&stream->handover, event->head.time_ns);
	stream->handed_number = event->number;
	stream->hands_over = true;
}

static void handle_served(struct frames *frames, const struct event_served *event)
{
	struct frame_server *server = frames->servers;

	while (server && server->pid != event->pid)
		server = server->next;
	if (!server) {
		server = new_row(frames, sizeof(*server));
		if (!server) {
			frames->failed = true;
			return;
		}
		server->next = frames->servers;
		frames->servers = server;
	}
	server->pid = event->pid;
	server->server_pid = event->server_pid;
	server->at_ns = event->head.time_ns;
}

/* A process presents, and with that what its clients have handed to it. */
static void serve(struct frames *frames, u32 server_pid, u64 now_ns)
{
	for (const struct frame_server *server = frames->servers; server; server = server->next)
		for (struct frame_process *process = frames->processes; process; process = process->next) {
			if (server->server_pid != server_pid || server->pid != process->pid)
				continue;
			for (struct frame_stream *stream = process->streams; stream; stream = stream->next) {
				u64 had_ns = handover_presented(&stream->handover, now_ns);

				if (had_ns)
					frame_record_composited(stream, had_ns);
				if (had_ns && !keep(frames, &process->server_ns, &process->server_len,
						    &process->server_room, had_ns))
					frames->failed = true;
			}
		}
}

/* What is missing may be just the present that a picture was waiting for. */
static void forget_handovers(struct frames *frames)
{
	for (struct frame_process *process = frames->processes; process; process = process->next)
		for (struct frame_stream *stream = process->streams; stream; stream = stream->next)
			stream->handover = (struct handover){ 0 };
}

static void handle_vblank(struct frames *frames, const struct threads *threads, const struct event_vblank *event)
{
	struct vblank_clock *clock = display_of(frames, event->display);

	if (event->head.tid)
		take_shown(frames, threads, event);
	else if (clock)
		vblank_seen(clock, event->seq, event->at_ns);
}

/* Whoever flips a display has that one; of others it is not known where they are shown, so it is the one whose pace
 * they keep. */
const struct vblank_clock *frames_clock(const struct frames *frames, const struct frame_stream *stream)
{
	for (u32 i = 0; i < frames->displays_len; i++) {
		const struct vblank_clock *clock = &frames->displays[i];

		if (stream->flips ? clock->display == stream->display && clock->period_ns != 0
				  : vblank_near(clock, stream->pace.median_ns) != 0)
			return clock;
	}
	return NULL;
}

/* The period that the stream has to keep, as a display reports it; 0: none does. */
static u64 display_period_ns(const struct frames *frames, const struct frame_stream *stream)
{
	const struct vblank_clock *clock = frames_clock(frames, stream);

	if (!clock)
		return 0;
	return stream->flips ? clock->period_ns : vblank_near(clock, stream->pace.median_ns);
}

/* Frames before this one were lost on the way here: its interval is the one that the kernel half has seen. */
static void skip_lost(struct frame_stream *stream, const struct event_frame *event)
{
	u64 now_ns = event->head.time_ns;

	if (stream->number && event->number > stream->number + 1 && event->interval_ns && now_ns > event->interval_ns &&
	    now_ns - event->interval_ns > stream->pace.last_ns)
		stream->pace.last_ns = now_ns - event->interval_ns;
	stream->number = event->number;
}

static bool handle_frame(struct frames *frames, struct threads *threads, const struct event_frame *event,
			 struct late_frame *late, const struct frame_process **out)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid);
	bool counts = !thread || !thread->bystander;
	struct frame_process *process = thread && counts ? process_of(frames, thread, event->head.time_ns) : NULL;
	struct frame_stream *stream = process ? stream_of(frames, process, event->head.tid) : NULL;
	struct pace_verdict verdict;
	u64 moves;

	if (thread)
		serve(frames, thread->pid, event->head.time_ns);
	if (!counts)
		return false;
	if (!stream) {
		frames->failed = true;
		return false;
	}
	*out = process;
	process->comm = thread->comm;
	skip_lost(stream, event);
	verdict = pace_frame_on(&stream->pace, event->head.time_ns, display_period_ns(frames, stream));
	process->frames++;
	process->line_frames++;
	process->last_ns = event->head.time_ns;
	process->target_ns = verdict.display_ns;
	process->dropped += verdict.dropped;
	process->line_dropped += verdict.dropped;
	process->stutters += verdict.is_stutter;
	process->pauses += verdict.is_pause;
	process->late += verdict.late_ns != 0;
	process->line_late += verdict.late_ns != 0;
	moves = thread_migrations(&thread->account);
	*late = (struct late_frame){ .number = process->frames_before + process->frames,
				     .at_ns = event->head.time_ns,
				     .interval_ns = verdict.interval_ns,
				     .late_ns = verdict.late_ns,
				     .target_ns = verdict.target_ns,
				     .tid = event->head.tid,
				     .moves = (u32)(moves - stream->moves_before) };
	stream->moves_before = moves;
	late->gpu_ns = stream->gpu_ns;
	late->usual_gpu_ns = stream->usual_gpu_ns;
	stream->gpu_ns = 0;
	if (verdict.interval_ns && !verdict.late_ns)
		stream->usual_gpu_ns = average(stream->usual_gpu_ns, late->gpu_ns);
	if (verdict.interval_ns) {
		if (!keep_interval(frames, process, verdict.interval_ns))
			frames->failed = true;
		if (frames->explains)
			explain(frames, threads, stream, late);
		keep_worst(process, late);
	}
	if (frames->keeps_records)
		frame_record_begin(frames, threads, process, stream, event, late, &verdict);
	return verdict.late_ns != 0;
}

bool frames_handle(struct frames *frames, struct threads *threads, const struct event_header *event,
		   struct late_frame *late, const struct frame_process **process)
{
	if (frames->explains && (!history_handle(&frames->history, event) || !path_handle(threads, event)))
		frames->failed = true;
	if (frames->keeps_records && !frame_runs_handle(frames, threads, event))
		frames->failed = true;
	if (event->kind == EVENT_FENCE && frames->keeps_records)
		frame_record_fence(frames, threads, (const struct event_fence *)event);
	if (event->kind == EVENT_SUBMIT)
		handle_submit(frames, threads, (const struct event_submit *)event);
	if (event->kind == EVENT_COMMIT)
		handle_commit(frames, threads, (const struct event_commit *)event);
	if (event->kind == EVENT_SERVED)
		handle_served(frames, (const struct event_served *)event);
	if (event->kind == EVENT_LOST) {
		forget_handovers(frames);
		frames->lost_ns = event->time_ns;
	}
	if (event->kind == EVENT_VBLANK)
		handle_vblank(frames, threads, (const struct event_vblank *)event);
	return event->kind == EVENT_FRAME &&
	       handle_frame(frames, threads, (const struct event_frame *)event, late, process);
}

static int by_length(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The value that so many of a thousand do not exceed. */
static u64 rank(const u64 *sorted, size_t len, u32 per_mille)
{
	size_t at = (len * per_mille + 999) / 1000;

	return len ? sorted[at ? at - 1 : 0] : 0;
}

static u64 mean_of_longest(const u64 *sorted, size_t len, size_t part)
{
	size_t count = len / part ? len / part : 1;
	u64 sum = 0;

	for (size_t i = 0; i < count && i < len; i++)
		sum += sorted[len - 1 - i];
	return len ? sum / count : 0;
}

static struct frame_times times_of(const u64 *spans_ns, size_t len)
{
	struct frame_times times = { .len = len };
	u64 *sorted = len ? malloc(len * sizeof(*sorted)) : NULL;

	if (!sorted)
		return times;
	memcpy(sorted, spans_ns, len * sizeof(*sorted));
	sort_rows(sorted, times.len, sizeof(*sorted), by_length);
	for (size_t i = 0; i < times.len; i++)
		times.sum_ns += sorted[i];
	times.p50_ns = rank(sorted, times.len, 500);
	times.p95_ns = rank(sorted, times.len, 950);
	times.p99_ns = rank(sorted, times.len, 990);
	times.p999_ns = rank(sorted, times.len, 999);
	times.max_ns = sorted[times.len - 1];
	times.low1_ns = mean_of_longest(sorted, times.len, 100);
	times.low01_ns = mean_of_longest(sorted, times.len, 1000);
	free(sorted);
	return times;
}

struct frame_times frame_times(const struct frame_process *process, size_t from)
{
	if (from >= process->len)
		return times_of(NULL, 0);
	return times_of(process->intervals_ns + from, process->len - from);
}

struct frame_times frame_server_times(const struct frame_process *process)
{
	return times_of(process->server_ns, process->server_len);
}

struct frame_times frame_part_times(const struct frame_process *process, enum frame_part part)
{
	return times_of(process->parts[part].ns, process->parts[part].len);
}

void frames_turn_over(struct frames *frames)
{
	for (struct frame_process *process = frames->processes; process; process = process->next) {
		process->line_frames = process->line_late = process->line_dropped = 0;
		process->line_from = process->len;
	}
}

void frames_restart(struct frames *frames)
{
	for (struct frame_process *process = frames->processes; process; process = process->next) {
		process->frames_before += process->frames;
		process->frames = process->late = process->dropped = process->stutters = process->pauses = 0;
		process->vblanks_missed = 0;
		process->shown_len = process->worst_len = 0;
		/* Their threads' accounts begin anew too. */
		for (struct frame_stream *stream = process->streams; stream; stream = stream->next)
			stream->moves_before = 0;
		for (struct frame_stream *stream = process->streams; stream; stream = stream->next)
			if (stream->records)
				stream->records->len = 0;
	}
	frames_turn_over_for_good(frames);
}

void frames_turn_over_for_good(struct frames *frames)
{
	for (struct frame_process *process = frames->processes; process; process = process->next) {
		process->len = process->server_len = 0;
		for (u32 part = 0; part < FRAME_PARTS; part++)
			process->parts[part].len = 0;
	}
	frames->times_len = 0;
	frames_turn_over(frames);
}

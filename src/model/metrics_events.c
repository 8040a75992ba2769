// SPDX-License-Identifier: GPL-2.0
/* The models that the views ask; only sums of what they find are kept here.
 */
#include "metrics_events.h"

#include <string.h>

/* Who did nothing for so long has ended, or may be learned anew; where there is no room left, sooner. */
#define SILENT_NS (60ULL * NSEC_PER_SEC)
#define SILENT_FULL_NS (5ULL * NSEC_PER_SEC)
#define FORGET_AGAIN_NS (1ULL * NSEC_PER_SEC)
#define TURN_NS (10ULL * NSEC_PER_SEC)

void metrics_events_init(struct metrics_events *events, bool with_cuda)
{
	memset(events, 0, sizeof(*events));
	frames_init(&events->frames, false);
	cuda_init(&events->cuda);
	events->cuda.rows_most = METRICS_CUDA_ROWS;
	events->cuda.no_allocations = true;
	steps_init(&events->steps, NULL);
	events->with_cuda = with_cuda;
}

void metrics_events_free(struct metrics_events *events)
{
	frames_free(&events->frames);
	misses_free(&events->misses);
	submits_free(&events->submits);
	cuda_free(&events->cuda);
	steps_free(&events->steps);
}

const char *late_cause_name(enum late_cause cause)
{
	static const char *const names[LATE_CAUSES] = { "cpu_wait", "ran", "other_ran", "slept", "gpu", "unknown" };

	return names[cause < LATE_CAUSES ? cause : LATE_UNKNOWN];
}

const char *metrics_stall_name(u32 kind)
{
	static const char *const names[METRICS_STALLS] = { "none", "ioctl", "gap", "fence", "queue", "run" };

	return names[kind < METRICS_STALLS ? kind : 0];
}

enum late_cause late_cause_of(const struct late_frame *late)
{
	if (late->gpu_ns > late->usual_gpu_ns && late->gpu_ns - late->usual_gpu_ns > late->late_ns / 2)
		return LATE_GPU;
	if (!late->has_cause)
		return LATE_UNKNOWN;
	switch (late->cause.kind) {
	case PATH_WAITED:
		return LATE_CPU_WAIT;
	case PATH_RAN:
		return late->cause.tid == late->tid ? LATE_RAN : LATE_OTHER;
	case PATH_SLEPT:
		return LATE_SLEPT;
	default:
		return LATE_UNKNOWN;
	}
}

static void take_frame(struct metrics_events *events, const struct threads *threads, const struct event_frame *event,
		       const struct late_frame *late)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid), *behind;
	struct metrics_example example = { .value_ns = event->interval_ns,
					   .at_ns = event->head.time_ns,
					   .pid = thread ? thread->pid : 0 };

	events->frames_seen++;
	if (!event->interval_ns)
		return;
	if (thread)
		example.comm = thread->comm;
	behind = late && late->has_cause && late->cause.other_tid ? threads_by_tid(threads, late->cause.other_tid)
								  : NULL;
	if (behind)
		example.behind = behind->comm;
	metrics_hist_add(&events->frame_times, event->interval_ns, late ? &example : NULL);
	if (late)
		events->late[late_cause_of(late)]++;
}

static struct metrics_cuda *cuda_place(struct metrics_events *events, const struct threads *threads, u32 tid)
{
	const struct thread *thread = threads_by_tid(threads, tid);
	const struct thread *first = thread ? threads_by_tid(threads, thread->pid) : NULL;
	const struct comm *comm = first ? &first->comm : thread ? &thread->comm : NULL;

	if (!comm)
		return &events->of[METRICS_CUDA_NAMES];
	for (u32 i = 0; i < events->of_len; i++)
		if (!memcmp(&events->of[i].comm, comm, sizeof(*comm)))
			return &events->of[i];
	if (events->of_len == METRICS_CUDA_NAMES)
		return &events->of[METRICS_CUDA_NAMES];
	events->of[events->of_len].comm = *comm;
	return &events->of[events->of_len++];
}

static void take_call(struct metrics_events *events, const struct threads *threads, const struct event_cuda_call *event)
{
	const char *name = cuda_function_name(&events->cuda, event->function);
	enum cuda_class class = name ? cuda_api_of(name)->class : CUDA_OTHER;
	struct metrics_cuda *of;

	if (class != CUDA_COPIES && class != CUDA_WAITS && class != CUDA_COLLECTIVES)
		return;
	of = cuda_place(events, threads, event->head.tid);
	if (class == CUDA_COPIES) {
		of->copies++;
		of->copied_bytes += event->bytes;
	} else if (class == CUDA_WAITS) {
		of->syncs++;
		of->sync_ns += event->duration_ns;
	} else {
		of->collectives++;
		of->collective_ns += event->duration_ns;
	}
}

static bool take_cuda(struct metrics_events *events, struct threads *threads, const struct event_header *event,
		      struct step *step, const struct step_process **process)
{
	cuda_handle(&events->cuda, threads, event);
	if (event->kind == EVENT_CUDA_LAUNCH)
		cuda_place(events, threads, event->tid)->launches++;
	else if (event->kind == EVENT_CUDA_CALL)
		take_call(events, threads, (const struct event_cuda_call *)event);
	return steps_handle(&events->steps, threads, &events->cuda, event, step, process);
}

static void take_submit(struct metrics_events *events, const struct threads *threads, const struct event_header *event)
{
	const struct event_submit *submit = (const struct event_submit *)event;
	struct stall stall;

	if (submits_handle(&events->submits, threads, event, &stall) && (u32)stall.kind < METRICS_STALLS)
		events->stalls[stall.kind]++;
	if (event->kind != EVENT_SUBMIT || submit->driver >= METRICS_DRIVERS)
		return;
	events->submitted[submit->driver]++;
	events->submit_ns[submit->driver] += submit->took_ns;
}

static void forget(struct metrics_events *events, const struct threads *threads, u64 now_ns, u64 silent_ns)
{
	u64 since_ns = span_between(silent_ns, now_ns);

	frames_forget(&events->frames, threads, since_ns);
	submits_forget(&events->submits, threads, since_ns);
	if (!events->with_cuda)
		return;
	cuda_forget(&events->cuda, threads, since_ns);
	steps_forget(&events->steps, threads, since_ns);
}

static bool is_full(const struct metrics_events *events)
{
	return events->frames.rows_len == FRAMES_ROWS_MAX || events->submits.len == SUBMIT_ROWS_MAX ||
	       events->cuda.rows_len == METRICS_CUDA_ROWS || events->steps.processes_len == STEPS_PROCESSES;
}

/* Whether anybody asks for figures or not: what models keep of single frames, and of who has ended or does nothing any
 * more, is not needed. */
static void turn_if_due(struct metrics_events *events, const struct threads *threads, u64 now_ns)
{
	u64 since_ns = span_between(events->turned_ns, now_ns);

	if (since_ns < FORGET_AGAIN_NS || (since_ns < TURN_NS && !is_full(events)))
		return;
	events->turned_ns = now_ns;
	frames_turn_over_for_good(&events->frames);
	forget(events, threads, now_ns, is_full(events) ? SILENT_FULL_NS : SILENT_NS);
}

bool metrics_events_handle(struct metrics_events *events, struct threads *threads, const struct event_header *event,
			   struct step *step, const struct step_process **process)
{
	struct miss missed[MISSES_AT_ONCE];
	const struct frame_process *presenter;
	struct late_frame late;
	bool is_late;
	u32 misses;

	turn_if_due(events, threads, event->time_ns);
	is_late = frames_handle(&events->frames, threads, event, &late, &presenter);
	misses = misses_handle(&events->misses, threads, event, missed);
	for (u32 i = 0; i < misses; i++)
		events->missed[missed[i].role < ROLES ? missed[i].role : ROLE_UNKNOWN]++;
	if (event->kind == EVENT_FRAME)
		take_frame(events, threads, (const struct event_frame *)event, is_late ? &late : NULL);
	if (event->kind == EVENT_SUBMIT || event->kind == EVENT_FENCE || event->kind == EVENT_GPU_MEMORY)
		take_submit(events, threads, event);
	return events->with_cuda && take_cuda(events, threads, event, step, process);
}

void metrics_events_told(struct metrics_events *events)
{
	memset(events->frame_times.examples, 0, sizeof(events->frame_times.examples));
}

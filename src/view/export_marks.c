// SPDX-License-Identifier: GPL-2.0
/* Frames, GPUs, CUDA, input, displays, the scheduler's decisions and losses, as marks of a trace.
 * Numbers come from recordings too, so each is checked before it is an index. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/effect.h"
#include "../../core/event_info.h"
#include "../model/gpu.h"
#include "../model/nvidia.h"
#include "../model/roles.h"
#include "cuda_view.h"
#include "export_trace.h"
#include "frame_words.h"
#include "thread_words.h"

/* Where a span of that length began that ends now. */
static u64 began(const struct exporter *exporter, u64 now_ns, u64 span_ns)
{
	u64 from_ns = span_ns < now_ns ? now_ns - span_ns : 0;

	if (from_ns < exporter->from_ns)
		from_ns = exporter->from_ns;
	/* Whatever a recording claims. */
	return from_ns < now_ns ? from_ns : now_ns;
}

/* The longest wait of the thread in that span that has an arrow; 0: none has. */
static u64 flow_of_wait(const struct exporter *exporter, u32 tid, u32 behind_tid, u64 from_ns, u64 to_ns)
{
	const struct thread *thread = threads_by_tid(exporter->threads, tid);
	u64 flow = 0, longest_ns = 0;

	for (u32 i = 0; thread && thread->lanes && i < WAITS_REMEMBERED; i++) {
		const struct noted_wait *wait = &thread->lanes->waits[i];

		if (!wait->flow || wait->behind_tid != behind_tid || wait->to_ns <= from_ns || wait->from_ns >= to_ns ||
		    wait->to_ns - wait->from_ns <= longest_ns)
			continue;
		longest_ns = wait->to_ns - wait->from_ns;
		flow = wait->flow;
	}
	return flow;
}

/* An arrow to who is to blame: to the wait and to who was in its way, or to the thread that the frame waited for. */
u64 export_flow_to_guilty(struct exporter *exporter, const struct late_frame *frame, const char *what)
{
	const struct path_item *cause = &frame->cause;
	u64 from_ns = frame->at_ns - frame->interval_ns, flow;
	char name[EXPORT_NAME_SIZE];
	struct trace_arg args[] = { NUMBER_ARG("ns", cause->ns) };
	struct trace_mark mark = { .from_ns = frame->at_ns,
				   .is_instant = true,
				   .name = name,
				   .name_is_rare = true,
				   .category = "late",
				   ARGS(args) };
	bool waited = cause->kind == PATH_WAITED;
	u32 guilty_tid = waited || cause->tid == frame->tid ? cause->other_tid : cause->tid;

	if (!frame->has_cause || !guilty_tid)
		return 0;
	flow = waited ? flow_of_wait(exporter, cause->tid, cause->other_tid, from_ns, frame->at_ns) : 0;
	if (flow)
		return flow;
	mark.flow = flow = ++exporter->last_flow;
	snprintf(name, sizeof(name), "%s %" PRIu64 " %s it", what, frame->number,
		 waited			   ? "waited behind"
		 : cause->kind == PATH_RAN ? "waited for"
					   : "slept until");
	export_mark(exporter, guilty_tid, LANE_IN_THE_WAY, &mark);
	return flow;
}

void export_frame(struct exporter *exporter, const struct event_frame *event, const struct late_frame *frame,
		  const struct frame_process *process, bool is_late)
{
	static const char *const kinds[PATH_KINDS] = { "ran", "waited", "slept", "unknown" };
	char name[EXPORT_NAME_SIZE], reason[FRAME_WORDS_SIZE] = "";
	struct trace_arg args[] = {
		NUMBER_ARG("frame", frame->number),	     NUMBER_ARG("target_ns", frame->target_ns),
		NUMBER_ARG("submit_ns", event->submit_ns),   NUMBER_ARG("gpu_ns", frame->gpu_ns),
		NUMBER_ARG("late_ns", frame->late_ns),	     TEXT_ARG("reason", reason),
		TEXT_ARG("cause", kinds[frame->cause.kind]), NUMBER_ARG("cause_tid", frame->cause.tid),
		NUMBER_ARG("cause_ns", frame->cause.ns),     NUMBER_ARG("behind_tid", frame->cause.other_tid)
	};
	enum { ARGS_ON_TIME = 4, ARGS_LATE = 6 };
	struct trace_mark mark = { .from_ns = frame->at_ns - frame->interval_ns,
				   .to_ns = frame->at_ns,
				   .is_instant = !frame->interval_ns,
				   .name = name,
				   .name_is_rare = true,
				   .category = is_late ? "late" : "frame",
				   ARGS(args) };

	(void)process;
	snprintf(name, sizeof(name), is_late ? "late frame %" PRIu64 : "frame %" PRIu64, frame->number);
	if (is_late) {
		late_frame_words(reason, sizeof(reason), exporter->threads, frame);
		mark.flow = export_flow_to_guilty(exporter, frame, "late frame");
	}
	if (!is_late || !frame->has_cause)
		mark.args_len = is_late ? ARGS_LATE : ARGS_ON_TIME;
	if (!mark.is_instant)
		mark.from_ns = began(exporter, frame->at_ns, frame->interval_ns);
	export_mark(exporter, frame->tid, LANE_FRAMES, &mark);
}

static void put_submit(struct exporter *exporter, const struct event_submit *event)
{
	char name[EXPORT_NAME_SIZE];
	struct trace_arg args[] = { HEX_ARG("cmd", event->cmd), NUMBER_ARG("interval_ns", event->interval_ns),
				    SIGNED_ARG("result", event->result) };
	struct trace_mark mark = { .from_ns = began(exporter, event->head.time_ns, event->took_ns),
				   .to_ns = event->head.time_ns,
				   .is_instant = !event->took_ns,
				   .name = name,
				   .category = "gpu",
				   ARGS(args) };

	snprintf(name, sizeof(name), "%s %s", gpu_driver_name(event->driver), gpu_work_name(event->work));
	export_mark(exporter, event->head.tid, LANE_SUBMITS, &mark);
}

static void put_fence(struct exporter *exporter, const struct event_fence *event)
{
	char driver[COMM_TEXT_SIZE], timeline[COMM_TEXT_SIZE], by[THREAD_WORDS_SIZE], name[EXPORT_NAME_SIZE];
	struct trace_arg args[] = { NUMBER_ARG("context", event->context), NUMBER_ARG("seqno", event->seqno),
				    TEXT_ARG("begun_by", by) };
	struct trace_mark mark = { .from_ns = began(exporter, event->head.time_ns, event->took_ns),
				   .to_ns = event->head.time_ns,
				   .name = "fence",
				   .category = "gpu",
				   ARGS(args) };
	struct place *place;

	if (event->head.flags & (EVENT_FLAG_QUEUED | EVENT_FLAG_RAN)) {
		export_job(exporter, event);
		return;
	}
	place = export_place(exporter, PLACE_FENCES, event->context);
	comm_text(driver, &event->driver);
	comm_text(timeline, &event->timeline);
	thread_words(by, exporter->threads, event->head.tid, THREAD_TIGHT);
	snprintf(name, sizeof(name), "GPU %s %s %u", driver, timeline, event->context);
	mark.track = export_place_lane(exporter, place, name, mark.from_ns, mark.to_ns);
	if (mark.track)
		exporter->form->mark(exporter->sink, &mark);
}

static void put_memory(struct exporter *exporter, const struct event_gpu_memory *event)
{
	struct place *place = export_place(exporter, PLACE_MEMORY, (u64)event->gpu << 32 | event->pid);
	char name[EXPORT_NAME_SIZE];

	if (!place)
		return;
	snprintf(name, sizeof(name), "GPU %u memory", event->gpu);
	exporter->form->count(exporter->sink, export_counter(exporter, place, event->pid, name, "bytes"),
			      event->head.time_ns, event->bytes);
}

static void put_call(struct exporter *exporter, const struct event_cuda_call *event)
{
	const char *function = cuda_function_name(&exporter->cuda, event->function);
	const char *result = cuda_result_name(event->result);
	const struct cuda_api *api = function ? cuda_api_of(function) : NULL;
	bool is_driver = api && api->class == CUDA_DRIVER, is_copy = api && api->class == CUDA_COPIES;
	struct trace_arg args[] = { NUMBER_ARG("result", event->result),
				    TEXT_ARG("result_name", result ? result : "?"),
				    NUMBER_ARG("wait_ns", event->wait_ns),
				    NUMBER_ARG("bytes", event->bytes),
				    HEX_ARG("address", event->address),
				    HEX_ARG("stream", event->stream),
				    TEXT_ARG("copy", is_copy ? cuda_copy_name(cuda_copy_of(api, event->copy)) : "") };
	struct trace_mark mark = { .from_ns = began(exporter, event->head.time_ns, event->duration_ns),
				   .to_ns = event->head.time_ns,
				   .name = function ? function : "?",
				   .category = is_driver ? "driver"
					       : is_copy ? "copy"
							 : "cuda",
				   ARGS(args) };

	mark.args_len -= !is_copy;
	export_mark(exporter, event->head.tid, LANE_CUDA, &mark);
}

static const char *words_of(struct exporter *exporter, const struct cuda_kernel *kernel)
{
	size_t slot = (size_t)kernel / sizeof(*kernel) % WORDED_KERNELS, len = kernel->name ? strlen(kernel->name) : 0;
	bool shortened = false;

	/* A name may come later, and piece by piece. */
	if (exporter->worded[slot].kernel != kernel || exporter->worded[slot].name != kernel->name ||
	    exporter->worded[slot].len != len) {
		free(exporter->worded[slot].words);
		exporter->worded[slot].kernel = kernel;
		exporter->worded[slot].name = kernel->name;
		exporter->worded[slot].len = len;
		exporter->worded[slot].words = cuda_kernel_words(kernel, NAMES_WHOLE, &shortened);
	}
	return exporter->worded[slot].words;
}

static void put_launch(struct exporter *exporter, const struct event_cuda_launch *event)
{
	const struct thread *thread = threads_by_tid(exporter->threads, event->head.tid);
	const struct cuda_kernel *kernel = cuda_kernel_of(&exporter->cuda, thread ? thread->pid : event->head.tid,
							  event->kernel);
	const char *function = cuda_function_name(&exporter->cuda, event->function);
	const char *words = kernel ? words_of(exporter, kernel) : NULL;
	char nameless[EXPORT_NAME_SIZE], grid[64], block[64];
	struct trace_arg args[] = { TEXT_ARG("grid", grid), TEXT_ARG("block", block),
				    NUMBER_ARG("shared_bytes", event->shared_bytes), HEX_ARG("stream", event->stream),
				    TEXT_ARG("function", function ? function : "?") };
	struct trace_mark mark = { .from_ns = event->head.time_ns,
				   .is_instant = true,
				   .name = words ? words : nameless,
				   .category = "launch",
				   ARGS(args) };

	snprintf(nameless, sizeof(nameless), "kernel 0x%" PRIx64, event->kernel);
	snprintf(grid, sizeof(grid), "%u, %u, %u", event->grid_x, event->grid_y, event->grid_z);
	snprintf(block, sizeof(block), "%u, %u, %u", event->block_x, event->block_y, event->block_z);
	export_mark(exporter, event->head.tid, LANE_LAUNCHES, &mark);
}

static void put_ioctl(struct exporter *exporter, const struct event_cuda_ioctl *event)
{
	char name[EXPORT_NAME_SIZE];
	struct trace_arg args[] = { HEX_ARG("cmd", event->cmd), HEX_ARG("status", event->status),
				    SIGNED_ARG("result", event->result) };
	struct trace_mark mark = { .from_ns = began(exporter, event->head.time_ns, event->duration_ns),
				   .to_ns = event->head.time_ns,
				   .name = name,
				   .category = "ioctl",
				   ARGS(args) };

	nvidia_describe(name, sizeof(name), event->device, event->cmd, event->inner_nr, event->detail);
	export_mark(exporter, event->head.tid, LANE_IOCTLS, &mark);
}

/* An instant that belongs to no thread. */
static void put_at(struct exporter *exporter, enum place_kind kind, u64 key, const char *track,
		   const struct trace_mark *mark)
{
	struct trace_mark placed = *mark;

	placed.is_instant = true;
	placed.track = export_place_lane(exporter, export_place(exporter, kind, key), track, ~0ULL, 0);
	if (placed.track)
		exporter->form->mark(exporter->sink, &placed);
}

static void device_name(char *into, size_t size, const struct exporter *exporter, u32 device)
{
	const struct input_source *source = exporter->inputs.sources;
	char name[TAIL_LEN + 1] = "";

	while (source && source->number != device)
		source = source->next;
	if (source)
		memcpy(name, source->name.text, TAIL_LEN);
	snprintf(into, size, name[0] ? "input: %s" : "input device %.0s%u", name, device);
}

static void put_input(struct exporter *exporter, const struct event_input *event)
{
	char name[EXPORT_NAME_SIZE];
	struct trace_arg args[] = { NUMBER_ARG("events", event->events),
				    NUMBER_ARG("interval_ns", event->interval_ns) };
	struct trace_mark mark = { .from_ns = event->head.time_ns, .name = "report", .category = "input", ARGS(args) };

	device_name(name, sizeof(name), exporter, event->device);
	put_at(exporter, PLACE_DEVICE, event->device, name, &mark);
}

static void put_input_wake(struct exporter *exporter, const struct event_input_wake *event)
{
	char name[EXPORT_NAME_SIZE];
	struct trace_mark mark = { .from_ns = began(exporter, event->head.time_ns, event->delay_ns),
				   .to_ns = event->head.time_ns,
				   .name = name,
				   .category = "input" };

	device_name(name, sizeof(name), exporter, event->device);
	export_mark(exporter, event->head.tid, LANE_INPUT, &mark);
}

static void put_vblank(struct exporter *exporter, const struct event_vblank *event)
{
	char name[EXPORT_NAME_SIZE];
	struct trace_arg args[] = { NUMBER_ARG("seq", event->seq), NUMBER_ARG("display", event->display) };
	struct trace_mark mark = { .from_ns = event->head.time_ns, .category = "display", ARGS(args) };

	if (event->head.tid) {
		mark.name = "picture is up";
		mark.is_instant = true;
		export_mark(exporter, event->head.tid, LANE_FRAMES, &mark);
		return;
	}
	mark.name = "vblank";
	snprintf(name, sizeof(name), "display %u", event->display);
	put_at(exporter, PLACE_DISPLAY, event->display, name, &mark);
}

static void put_decision(struct exporter *exporter, const struct event_decision *event)
{
	char name[EXPORT_NAME_SIZE], other[THREAD_WORDS_SIZE];
	struct trace_arg args[] = { TEXT_ARG("tier", tier_name(event->tier)),
				    NUMBER_ARG("from_cpu", event->from_cpu),
				    NUMBER_ARG("to_cpu", event->to_cpu),
				    NUMBER_ARG("boost", event->boost),
				    NUMBER_ARG("wait_ns", event->wait_ns),
				    NUMBER_ARG("other_tid", event->other_tid),
				    TEXT_ARG("other_tier", tier_name(event->other_tier)) };
	struct trace_mark mark = { .from_ns = event->head.time_ns,
				   .is_instant = true,
				   .name = name,
				   .name_is_rare = true,
				   .category = "scheduler",
				   ARGS(args) };

	thread_words(other, exporter->threads, event->other_tid, THREAD_TIGHT);
	if (event->what == DECISION_PREEMPT)
		snprintf(name, sizeof(name), "preempts %s", other);
	else if (event->what == DECISION_MOVE)
		snprintf(name, sizeof(name), "moved to CPU %u", event->to_cpu);
	else if (event->what == DECISION_DEADLINE_MISS)
		snprintf(name, sizeof(name), "deadline miss behind %s", other);
	else
		snprintf(name, sizeof(name), "decision %u", event->what);
	export_mark(exporter, event->head.tid, LANE_SCHEDULER, &mark);
}

static void put_effect(struct exporter *exporter, const struct event_effect *event)
{
	static const char *const remedies[EFFECT_REMEDIES] = { "waits longer because of tactus",
							       "hints of the cause held back", "treated as urgent",
							       "scheduler leaves" };
	struct trace_arg args[] = { NUMBER_ARG("acted_p99_ns", event->acted_p99_ns),
				    NUMBER_ARG("held_p99_ns", event->held_p99_ns),
				    NUMBER_ARG("cause_pid", event->cause_pid), NUMBER_ARG("span_ns", event->span_ns) };
	struct trace_mark mark = { .from_ns = event->head.time_ns,
				   .is_instant = true,
				   .name = remedies[event->what < EFFECT_REMEDIES ? event->what : 0],
				   .category = "scheduler",
				   ARGS(args) };

	export_mark(exporter, event->head.tid, LANE_SCHEDULER, &mark);
}

static void put_loss(struct exporter *exporter, const struct event_lost *event)
{
	const struct event_info *info = event_info(event->of_kind);
	struct trace_arg args[] = { NUMBER_ARG("count", event->count), NUMBER_ARG("cpu", event->head.cpu),
				    TEXT_ARG("kind", info ? info->name : "any") };
	struct trace_mark mark = {
		.from_ns = event->head.time_ns, .name = "events lost", .category = "loss", ARGS(args)
	};

	put_at(exporter, PLACE_LOSSES, 0, "losses", &mark);
}

static void put_xid(struct exporter *exporter, const struct event_cuda_xid *event)
{
	char name[EXPORT_NAME_SIZE], message[LONG_NAME_LEN + 1] = "";
	struct trace_arg args[] = { NUMBER_ARG("code", event->code), TEXT_ARG("message", message) };
	struct trace_mark mark = { .from_ns = event->head.time_ns, .name = name, .category = "gpu", ARGS(args) };

	memcpy(message, event->message.text, LONG_NAME_LEN);
	snprintf(name, sizeof(name), "Xid %u", event->code);
	put_at(exporter, PLACE_XIDS, 0, "GPU errors", &mark);
}

static void put_exec(struct exporter *exporter, const struct event_exec *event)
{
	char path[TAIL_LEN + 1] = "", name[EXPORT_NAME_SIZE];
	struct trace_mark mark = { .from_ns = event->head.time_ns,
				   .is_instant = true,
				   .name = name,
				   .name_is_rare = true,
				   .category = "program" };
	struct trace_thread known = { .at_ns = event->head.time_ns,
				      .cpu = event->head.cpu,
				      .tid = event->pid,
				      .pid = event->pid,
				      .parent_pid = event->parent_pid,
				      .comm = thread_comm(exporter->threads, event->pid),
				      .program = path };

	memcpy(path, event->path.text, TAIL_LEN);
	snprintf(name, sizeof(name), "exec %s", path);
	exporter->form->thread(exporter->sink, &known);
	export_mark(exporter, event->head.tid, LANE_LIFE, &mark);
}

static void put_commit(struct exporter *exporter, const struct event_commit *event)
{
	struct trace_arg args[] = { NUMBER_ARG("number", event->number) };
	struct trace_mark mark = { .from_ns = event->head.time_ns,
				   .is_instant = true,
				   .name = "handed to its server",
				   .category = "frame",
				   ARGS(args) };

	export_mark(exporter, event->head.tid, LANE_FRAMES, &mark);
}

#define PUT(KIND, put, type)                                       \
	case EVENT_##KIND:                                         \
		put(exporter, (const struct event_##type *)event); \
		break;

void export_other(struct exporter *exporter, const struct event_header *event)
{
	switch (event->kind) {
		PUT(SUBMIT, put_submit, submit)
		PUT(FENCE, put_fence, fence)
		PUT(GPU_MEMORY, put_memory, gpu_memory)
		PUT(CUDA_CALL, put_call, cuda_call)
		PUT(CUDA_LAUNCH, put_launch, cuda_launch)
		PUT(CUDA_IOCTL, put_ioctl, cuda_ioctl)
		PUT(CUDA_XID, put_xid, cuda_xid)
		PUT(CUDA_NAME, export_range, cuda_name)
		PUT(CUDA_WORK, export_driver_work, cuda_work)
		PUT(INPUT, put_input, input)
		PUT(INPUT_WAKE, put_input_wake, input_wake)
		PUT(VBLANK, put_vblank, vblank)
		PUT(DECISION, put_decision, decision)
		PUT(EFFECT, put_effect, effect)
		PUT(LOST, put_loss, lost)
		PUT(EXEC, put_exec, exec)
		PUT(COMMIT, put_commit, commit)
	default:
		break;
	}
}

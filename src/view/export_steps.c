// SPDX-License-Identifier: GPL-2.0
/* Training steps as slices of the thread that launches, slow ones marked with their reason; ranges that the program
 * names, and what kernel threads did for it inside NVIDIA's driver. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cuda_view.h"
#include "export_trace.h"
#include "thread_words.h"

static u64 flow_of(struct exporter *exporter, const struct step *step)
{
	struct late_frame frame = { .tid = step->tid,
				    .number = step->number,
				    .at_ns = step->at_ns,
				    .interval_ns = step->wall_ns,
				    .has_cause = step->has_cause,
				    .cause = step->cause };

	return step->is_slow ? export_flow_to_guilty(exporter, &frame, "slow step") : 0;
}

void export_step(struct exporter *exporter, const struct step *step)
{
	char name[EXPORT_NAME_SIZE], reason[STEP_WORDS_SIZE] = "";
	const u64 *parts_ns = step->parts_ns;
	struct trace_arg args[] = { NUMBER_ARG("step", step->number),
				    NUMBER_ARG("usual_ns", step->usual_ns),
				    NUMBER_ARG("launches", step->launches),
				    NUMBER_ARG("ran_ns", parts_ns[STEP_RAN]),
				    NUMBER_ARG("sync_ns", parts_ns[STEP_SYNC]),
				    NUMBER_ARG("copy_ns", parts_ns[STEP_COPY]),
				    NUMBER_ARG("collective_ns", parts_ns[STEP_COLLECTIVE]),
				    NUMBER_ARG("cpu_wait_ns", parts_ns[STEP_CPU_WAIT]),
				    NUMBER_ARG("data_ns", parts_ns[STEP_DATA]),
				    NUMBER_ARG("lock_ns", parts_ns[STEP_LOCK]),
				    NUMBER_ARG("slept_ns", parts_ns[STEP_SLEPT]),
				    TEXT_ARG("cause", step_part_name(step->part)),
				    TEXT_ARG("reason", reason) };
	enum { ARGS_OF_SLOW = 2 };
	u64 from_ns = step->wall_ns < step->at_ns ? step->at_ns - step->wall_ns : 0;
	struct trace_mark mark = { .from_ns = from_ns > exporter->from_ns ? from_ns : exporter->from_ns,
				   .to_ns = step->at_ns,
				   .name = name,
				   .name_is_rare = true,
				   .category = step->is_slow ? "slow" : "step",
				   .flow = flow_of(exporter, step),
				   ARGS(args) };

	snprintf(name, sizeof(name), step->is_slow ? "slow step %" PRIu64 : "step %" PRIu64, step->number);
	if (step->is_slow)
		cuda_step_words(reason, sizeof(reason), exporter->threads, &exporter->cuda, step);
	else
		mark.args_len -= ARGS_OF_SLOW;
	export_mark(exporter, step->tid, LANE_STEPS, &mark);
}

void export_range(struct exporter *exporter, const struct event_cuda_name *event)
{
	char name[LONG_NAME_LEN + 1] = "";
	struct trace_mark mark = { .from_ns = event->head.time_ns,
				   .is_instant = true,
				   .name = name,
				   .name_is_rare = true,
				   .category = "range" };

	if (event->what != CUDA_NAMED_RANGE)
		return;
	memcpy(name, event->name.text, LONG_NAME_LEN);
	export_mark(exporter, event->head.tid, LANE_CUDA, &mark);
}

void export_driver_work(struct exporter *exporter, const struct event_cuda_work *event)
{
	char name[TAIL_LEN + 1] = "", whose[THREAD_WORDS_SIZE];
	struct trace_arg args[] = { TEXT_ARG("for", whose), NUMBER_ARG("for_tid", event->for_tid),
				    NUMBER_ARG("queued_ns", event->queued_ns) };
	u64 now_ns = event->head.time_ns, from_ns = event->duration_ns < now_ns ? now_ns - event->duration_ns : 0;
	struct trace_mark mark = { .from_ns = from_ns > exporter->from_ns ? from_ns : exporter->from_ns,
				   .to_ns = now_ns,
				   .name = name,
				   .category = "driver",
				   ARGS(args) };
	/* A filter may leave out the kernel's thread. */
	bool is_known = threads_by_tid(exporter->threads, event->head.tid);

	memcpy(name, event->function.text, TAIL_LEN);
	thread_words(whose, exporter->threads, event->for_tid, THREAD_TIGHT);
	export_mark(exporter, is_known ? event->head.tid : event->for_tid, LANE_DRIVER_WORK, &mark);
}

// SPDX-License-Identifier: GPL-2.0
/* The sensor of jobs in the queues of the kernel's scheduler for GPUs, which amdgpu, xe, nouveau, msm and others use:
 * by its tracepoints, which are there once one of them is loaded; it looks for them until then. Their names changed in
 * Linux 6.17. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/job_format.h"
#include "../base/system.h"
#include "../base/tracepoint_format.h"
#include "sensor_set.h"
#include "jobs.skel.h"
#include "kinds.h"
#include "sched.h"

static const char category[] = "gpu_scheduler";

/* One generation of names. */
struct job_names {
	const char *queue, *run, *done;
	const char *first, *second, *device; /* fields; NULL: there is none */
};

static const struct job_names generations[] = {
	{ "drm_sched_job_queue", "drm_sched_job_run", "drm_sched_job_done", "fence_context", "fence_seqno", "dev" },
	{ "drm_sched_job", "drm_run_job", "drm_sched_process_job", "fence", NULL, NULL },
};
enum { GENERATIONS = sizeof(generations) / sizeof(generations[0]), LINKS = 3 };

static const struct job_names *names_here(void)
{
	for (int i = 0; i < GENERATIONS; i++)
		if (tracepoint_is_here(category, generations[i].queue))
			return &generations[i];
	return NULL;
}

static bool probe_jobs(struct reason *why)
{
	return probe_btf(why) && probe_tracefs(why);
}

static const struct sensor_hook hooks[] = {
	{ "tracepoint/gpu_scheduler", NULL, probe_jobs },
	{ 0 },
};

struct jobs_state {
	const struct sensor *sched; /* NULL: only tried */
	const struct job_names *names;
	struct jobs_bpf *skeleton; /* NULL: no driver with such jobs is here yet, or they can't be watched */
	struct bpf_link *links[LINKS];
	bool given_up;
};

/* 0 for a field that this generation does not have. */
static int find_field(const char *tracepoint, const char *field, u32 *offset)
{
	*offset = 0;
	return field ? tracepoint_offset(category, tracepoint, field, offset) : 0;
}

static int find_fields(const struct job_names *names, struct job_format *format, struct reason *why)
{
	int error = find_field(names->queue, names->first, &format->job_first);

	if (!error)
		error = find_field(names->queue, names->second, &format->job_second);
	if (!error)
		error = find_field(names->queue, "name", &format->ring);
	if (!error)
		error = find_field(names->queue, names->device, &format->device);
	if (!error)
		error = find_field(names->done, names->first, &format->done_first);
	if (!error)
		error = find_field(names->done, names->second, &format->done_second);
	if (error)
		reason_set(why, "the tracepoints of gpu_scheduler have other fields than those that are known");
	return error;
}

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct jobs_state *state = data;
	const struct jobs_bpf *skeleton = opened;
	struct job_format format;
	int error = find_fields(state->names, &format, why);

	(void)attempt;
	if (error)
		return error;
	memcpy((void *)&skeleton->rodata->format, &format, sizeof(format));
	return sched_share(state->sched, skeleton->obj);
}

LOADABLE(jobs);

static int jobs_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct jobs_state *state = calloc(1, sizeof(*state));

	(void)hook;
	(void)why;
	*out = state;
	if (!state)
		return -ENOMEM;
	state->sched = settings ? settings->sched : NULL;
	return 0;
}

/* Ends before beginnings, so that none that is seen to begin is missed. */
static int attach(struct jobs_state *state)
{
	const struct {
		const struct bpf_program *program;
		const char *name;
	} parts[LINKS] = {
		{ state->skeleton->progs.on_job_done, state->names->done },
		{ state->skeleton->progs.on_job_run, state->names->run },
		{ state->skeleton->progs.on_job_queue, state->names->queue },
	};

	for (int i = 0; i < LINKS; i++) {
		state->links[i] = sensor_attach_tracepoint(parts[i].program, category, parts[i].name);
		if (!state->links[i])
			return -errno;
	}
	return 0;
}

static void unhook(struct jobs_state *state)
{
	for (int i = 0; i < LINKS; i++) {
		bpf_link__destroy(state->links[i]);
		state->links[i] = NULL;
	}
	jobs_bpf__destroy(state->skeleton);
	state->skeleton = NULL;
}

/* Where the fields lie is known only once the tracepoints are there. */
static int hook_jobs(struct jobs_state *state, struct reason *why)
{
	const struct load_plan plan = { &jobs_loadable, NULL, configure, state };
	int error;

	state->skeleton = load_programs(&plan, &error, why);
	if (!error)
		error = attach(state);
	if (error)
		unhook(state);
	return error;
}

static int jobs_attach(void *data, int hook, struct reason *why)
{
	struct jobs_state *state = data;

	(void)hook;
	state->names = names_here();
	return state->names ? hook_jobs(state, why) : 0;
}

/* A driver may be loaded later. The scheduler for GPUs, which it brings, has no device that would tell. */
static void jobs_work(void *data)
{
	struct jobs_state *state = data;
	struct reason why = { "" };
	int error;

	if (state->skeleton || state->given_up)
		return;
	state->names = names_here();
	if (!state->names)
		return;
	error = hook_jobs(state, &why);
	if (!error && sensor_is_verbose())
		note("jobs: %s and its like: watched from now on", state->names->queue);
	if (!error)
		return;
	if (!why.text[0])
		sensor_explain(&why, error);
	note("jobs: the scheduler for GPUs, which was loaded now, can't be watched: %s", why.text);
	state->given_up = true;
}

static void jobs_close(void *data)
{
	struct jobs_state *state = data;

	if (!state)
		return;
	unhook(state);
	free(state);
}

static const char *jobs_hook_name(const void *data)
{
	return ((const struct jobs_state *)data)->skeleton ? hooks[0].name : SENSOR_WAITS;
}

static u64 jobs_lost(const void *data)
{
	const struct jobs_state *state = data;

	return state->skeleton ? state->skeleton->bss->jobs_refused : 0;
}

const struct sensor_kind jobs_kind = {
	.name = "jobs",
	.subject = "jobs in the queues of GPUs",
	.hooks = hooks,
	.absent = "no driver that is loaded uses the kernel's scheduler for GPUs (amdgpu, xe, nouveau and msm do)",
	.open = jobs_open,
	.attach = jobs_attach,
	.close = jobs_close,
	.hook_name = jobs_hook_name,
	.work = jobs_work,
	.groups = EVENTS_GPU,
	.lost = jobs_lost,
};

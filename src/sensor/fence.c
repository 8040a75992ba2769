// SPDX-License-Identifier: GPL-2.0
/* The sensors of what a GPU has done and what memory of it is used: both by the kernel's own tracepoints, which are
 * there where some driver was built that has a use for them. Two rows in the table, since either can be absent alone.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../core/sched_config.h"
#include "../base/system.h"
#include "sensor_set.h"
#include "fence.skel.h"
#include "sched.h"

enum { LINKS_MAX = 4 };

struct fence_state {
	struct fence_bpf *skeleton;
	struct bpf_link *links[LINKS_MAX];
};

static bool probe_tracepoint(const char *path, const char *option, struct reason *why)
{
	int fd;
	bool found;

	if (!probe_tracefs(why))
		return false;
	fd = tracefs_open();
	found = fd >= 0 && !faccessat(fd, path, F_OK, 0);
	if (fd >= 0)
		close(fd);
	if (!found)
		reason_set(why, "this kernel has no such tracepoint (%s)", option);
	return found;
}

static bool probe_fences(struct reason *why)
{
	return probe_btf(why) && probe_tracepoint("events/dma_fence/dma_fence_signaled",
						  "CONFIG_DMA_SHARED_BUFFER, which GPU drivers bring", why);
}

static bool probe_memory(struct reason *why)
{
	return probe_btf(why) &&
	       probe_tracepoint("events/gpu_mem/gpu_mem_total", "CONFIG_TRACE_GPU_MEM, which few drivers use", why);
}

static const struct sensor_hook fence_hooks[] = {
	{ "tracepoint/dma_fence", NULL, probe_fences },
	{ 0 },
};

static const struct sensor_hook memory_hooks[] = {
	{ "tracepoint/gpu_mem/gpu_mem_total", NULL, probe_memory },
	{ 0 },
};

static const struct load_optional optional[] = {
	{ "on_fence_destroy", "work that a GPU never ends takes up room until there is none" },
	{ "on_fence_emit", "work is timed from when its fence was made" },
	{ "on_fence_init", "work of drivers that do not report when they submit it is not seen" },
	{ NULL, NULL },
};

struct wishes {
	const struct sensor *sched;
	bool is_memory;
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct wishes *wishes = data;
	const struct fence_bpf *skeleton = opened;
	struct bpf_program *program;

	(void)attempt;
	(void)why;
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, (program == skeleton->progs.on_memory) == wishes->is_memory);
	return sched_share(wishes->sched, skeleton->obj);
}

LOADABLE(fence);

static int open_part(void **out, const struct sensor_settings *given, bool is_memory, struct reason *why)
{
	struct fence_state *state = calloc(1, sizeof(*state));
	struct wishes wishes = { given ? given->sched : NULL, is_memory };
	const struct load_plan plan = { &fence_loadable, optional, configure, &wishes };
	int error;

	*out = state;
	if (!state)
		return -ENOMEM;
	state->skeleton = load_programs(&plan, &error, why);
	return error;
}

static int fence_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	(void)hook;
	return open_part(out, settings, false, why);
}

static int memory_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	(void)hook;
	return open_part(out, settings, true, why);
}

/* Ends before beginnings, so that none that is seen to begin is missed. */
static int fence_attach(void *data, int hook, struct reason *why)
{
	struct fence_state *state = data;
	const struct {
		const struct bpf_program *program;
		const char *name;
	} parts[LINKS_MAX] = {
		{ state->skeleton->progs.on_fence_signaled, "dma_fence_signaled" },
		{ state->skeleton->progs.on_fence_destroy, "dma_fence_destroy" },
		{ state->skeleton->progs.on_fence_emit, "dma_fence_emit" },
		{ state->skeleton->progs.on_fence_init, "dma_fence_init" },
	};

	(void)hook;
	(void)why;
	for (int i = 0; i < LINKS_MAX; i++) {
		if (!bpf_program__autoload(parts[i].program))
			continue;
		state->links[i] = sensor_attach_tracepoint(parts[i].program, "dma_fence", parts[i].name);
		if (!state->links[i] && !i)
			return -errno;
		if (!state->links[i])
			load_note_absent(bpf_program__name(parts[i].program), optional, -errno);
	}
	return 0;
}

static int memory_attach(void *data, int hook, struct reason *why)
{
	struct fence_state *state = data;

	(void)hook;
	(void)why;
	state->links[0] = sensor_attach_tracepoint(state->skeleton->progs.on_memory, "gpu_mem", "gpu_mem_total");
	return state->links[0] ? 0 : -errno;
}

static void fence_close(void *data)
{
	struct fence_state *state = data;

	if (!state)
		return;
	for (int i = 0; i < LINKS_MAX; i++)
		bpf_link__destroy(state->links[i]);
	fence_bpf__destroy(state->skeleton);
	free(state);
}

static u64 fence_lost(const void *data)
{
	const struct fence_state *state = data;

	return state->skeleton->bss->fences_refused;
}

const struct sensor_kind fence_kind = {
	.name = "fence",
	.subject = "work that a GPU has done",
	.hooks = fence_hooks,
	.open = fence_open,
	.attach = fence_attach,
	.close = fence_close,
	.groups = EVENTS_GPU,
	.lost = fence_lost,
};

const struct sensor_kind memory_kind = {
	.name = "memory",
	.subject = "memory of GPUs in use",
	.hooks = memory_hooks,
	.open = memory_open,
	.attach = memory_attach,
	.close = fence_close,
	.groups = EVENTS_GPU,
};

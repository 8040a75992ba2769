// SPDX-License-Identifier: GPL-2.0
/* The stacks sensor: loads bpf/stacks.bpf.c where stacks are asked for, and finds the names of the functions on them
 * while the processes are there. The names go into the stream, so that a recording has them too. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../core/stacks_config.h"
#include "../base/say.h"
#include "../base/vec.h"
#include "kinds.h"
#include "sched.h"
#include "sensor_set.h"
#include "stack_names.h"
#include "stacks.skel.h"

static const struct sensor_hook hooks[] = {
	{ "tp_btf/sched_switch", NULL, probe_btf },
	{ 0 },
};

enum { FOUND_MAX = 1 << 16 };

struct stacks_state {
	const struct sensor *sched; /* NULL: only tried */
	u64 over_ns;
	struct stacks_bpf *skeleton;
	struct ring_buffer *wishes;
	struct stack_names *names;
	struct event_stack_frame *found; /* to be handed out */
	size_t found_len, found_room;
	u64 refused; /* stacks whose names found no room */
};

static int configure(void *data, void *opened, const struct load_attempt *attempt, struct reason *why)
{
	const struct stacks_state *state = data;
	struct stacks_bpf *skeleton = opened;

	(void)attempt;
	(void)why;
	memcpy((void *)&skeleton->rodata->stacks_config, &(struct stacks_config){ .over_ns = state->over_ns },
	       sizeof(struct stacks_config));
	return sched_share(state->sched, skeleton->obj);
}

LOADABLE(stacks);

/* What stands above the kernel's own functions is this program at its hook. */
static u32 hook_frames(const struct long_name *names, u32 len)
{
	u32 hook = 0;

	for (u32 i = 0; i < len && i < 8; i++)
		if (!strncmp(names[i].text, "bpf_", 4) || !strncmp(names[i].text, "__bpf_", 6) ||
		    !strncmp(names[i].text, "__traceiter_", 12))
			hook = i + 1;
	return hook;
}

static int take_wish(void *data, void *bytes, size_t size)
{
	const struct stack_wish *wish = bytes;
	struct stacks_state *state = data;
	struct long_name names[STACK_DEPTH] = { 0 };
	u64 addresses[STACK_DEPTH];
	u32 len = 0, first;

	if (size < sizeof(*wish) ||
	    bpf_map_lookup_elem(bpf_map__fd(state->skeleton->maps.stacks), &wish->stack, addresses))
		return 0;
	while (len < STACK_DEPTH && addresses[len])
		len++;
	stack_names_find(state->names, wish->pid, addresses, len, names);
	first = wish->pid ? 0 : hook_frames(names, len);
	if (state->found_len + len > FOUND_MAX ||
	    !vec_reserve(state->found, state->found_room, state->found_len + len, 1024)) {
		state->refused++;
		return 0;
	}
	for (u32 i = first; i < len; i++)
		state->found[state->found_len++] = (struct event_stack_frame){ .head.kind = EVENT_STACK_FRAME,
									       .pid = wish->pid,
									       .stack = wish->stack,
									       .frame = i - first,
									       .name = names[i] };
	return 0;
}

static int stacks_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct stacks_state *state = calloc(1, sizeof(*state));
	const struct load_plan plan = { &stacks_loadable, NULL, configure, state };
	int error = -ENOMEM;

	(void)hook;
	*out = state;
	if (!state)
		return error;
	state->sched = settings ? settings->sched : NULL;
	state->over_ns = settings ? settings->stacks_over_ns : 0;
	state->skeleton = load_programs(&plan, &error, why);
	if (error || !settings)
		return error;
	state->wishes = ring_buffer__new(bpf_map__fd(state->skeleton->maps.wishes), take_wish, state, NULL);
	error = state->wishes ? stack_names_open(&state->names) : -ENOMEM;
	if (!error && !stack_names_has_kernel(state->names))
		note("stacks: the kernel's functions are addresses without names: /proc/kallsyms hides them "
		     "(CAP_SYSLOG, kernel.kptr_restrict)");
	return error;
}

static int stacks_attach(void *data, int hook, struct reason *why)
{
	(void)hook;
	(void)why;
	return load_attach(((struct stacks_state *)data)->skeleton, NULL);
}

static void stacks_close(void *data)
{
	struct stacks_state *state = data;

	if (!state)
		return;
	ring_buffer__free(state->wishes);
	stacks_bpf__destroy(state->skeleton);
	stack_names_close(state->names);
	free(state->found);
	free(state);
}

static int stacks_fd(const void *data)
{
	const struct stacks_state *state = data;

	return state->wishes ? ring_buffer__epoll_fd(state->wishes) : -1;
}

static void stacks_work(void *data)
{
	struct stacks_state *state = data;

	if (state->wishes)
		ring_buffer__consume(state->wishes);
}

static void stacks_emit(void *data, u64 now_ns, event_handler handle, void *to)
{
	struct stacks_state *state = data;

	for (size_t i = 0; i < state->found_len; i++) {
		state->found[i].head.time_ns = now_ns;
		handle(to, &state->found[i].head);
	}
	state->found_len = 0;
}

/* At the end: what is still to be named. */
static int stacks_snapshot(void *data, event_handler handle, void *to)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	stacks_work(data);
	stacks_emit(data, (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec, handle, to);
	return 0;
}

static u64 stacks_lost(const void *data)
{
	const struct stacks_state *state = data;

	return state->skeleton->bss->stacks_refused + state->refused;
}

const struct sensor_kind stacks_kind = {
	.name = "stacks",
	.subject = "stacks of threads that wait, and of who wakes them",
	.hooks = hooks,
	.open = stacks_open,
	.attach = stacks_attach,
	.close = stacks_close,
	.fd = stacks_fd,
	.work = stacks_work,
	.emit = stacks_emit,
	.snapshot = stacks_snapshot,
	.groups = EVENTS_STACKS,
	.lost = stacks_lost,
};

// SPDX-License-Identifier: GPL-2.0
/* Loads bpf/cpus.bpf.c, or cpus_plain.bpf.c where there is no BTF, and reads the accounts that it keeps.
 * Open -> configure -> load -> attach, as for every sensor. */
#include "cpus.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/system.h"
#include "../../core/cpus_config.h"
#include "cpus.skel.h"
#include "cpus_plain.skel.h"

enum cpus_hook { HOOK_TP_BTF, HOOK_TRACEPOINT };

struct cpus_state {
	struct bpf_object *object;
	struct bpf_program *on_switch;
	struct bpf_program *snapshot_cpu;
	struct bpf_link *link;
	struct cpu_account *accounts; /* the kernel half's, mapped */
	const u64 *refused;
	u32 cpus_len;
};

static const struct sensor_hook hooks[] = {
	[HOOK_TP_BTF] = { "tp_btf/sched_switch", NULL, probe_btf },
	[HOOK_TRACEPOINT] = { "tracepoint/sched/sched_switch", "each switch costs a little more", probe_tracefs },
	{ 0 },
};

/* Two objects, one shape: the names of programs and maps are the same in both. */
static struct bpf_object *open_object(int hook)
{
	size_t size;
	const void *bytes = hook == HOOK_TP_BTF ? cpus_bpf__elf_bytes(&size) : cpus_plain_bpf__elf_bytes(&size);
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "tactus_cpus");

	return bpf_object__open_mem(bytes, size, &options);
}

static void *map_memory(const struct cpus_state *state, const char *name, size_t least)
{
	struct bpf_map *map = bpf_object__find_map_by_name(state->object, name);
	size_t size = 0;
	void *memory = map ? bpf_map__initial_value(map, &size) : NULL;

	return size >= least ? memory : NULL;
}

static int configure(struct cpus_state *state, int hook)
{
	struct bpf_map *accounts = bpf_object__find_map_by_name(state->object, ".data.cpus");
	struct cpus_config *config = map_memory(state, ".rodata", sizeof(*config));

	state->on_switch = bpf_object__find_program_by_name(state->object, "on_sched_switch");
	state->snapshot_cpu = bpf_object__find_program_by_name(state->object, "snapshot_cpu");
	if (!accounts || !config || !state->on_switch || !state->snapshot_cpu)
		return -EINVAL;
	*config = (struct cpus_config){ .cpus_len = state->cpus_len, .named_by_tid = hook == HOOK_TRACEPOINT };
	return bpf_map__set_value_size(accounts, state->cpus_len * (u32)sizeof(struct cpu_account));
}

static int cpus_open(void **out, int hook, const struct sensor_settings *settings, struct reason *why)
{
	struct cpus_state *state = calloc(1, sizeof(*state));
	int error;

	(void)settings;
	(void)why;
	*out = state;
	if (!state)
		return -ENOMEM;
	state->cpus_len = possible_cpus();
	state->object = open_object(hook);
	if (!state->object)
		return -errno;
	error = configure(state, hook);
	if (!error)
		error = bpf_object__load(state->object);
	if (error)
		return error;
	state->accounts = map_memory(state, ".data.cpus", state->cpus_len * sizeof(struct cpu_account));
	state->refused = map_memory(state, ".bss", sizeof(u64));
	return state->accounts && state->refused ? 0 : -EINVAL;
}

/* Runs the kernel half's snapshot_cpu on every CPU. One that is offline has nothing to snapshot. */
static int snapshot_cpus(const struct cpus_state *state)
{
	int snapshot_fd = bpf_program__fd(state->snapshot_cpu);

	for (u32 cpu = 0; cpu < state->cpus_len; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
		int error = bpf_prog_test_run_opts(snapshot_fd, &options);

		if (error && error != -ENXIO)
			return error;
	}
	return 0;
}

static int cpus_attach(void *data, int hook, struct reason *why)
{
	struct cpus_state *state = data;

	(void)why;
	if (hook == HOOK_TP_BTF)
		state->link = bpf_program__attach(state->on_switch);
	else
		state->link = sensor_attach_tracepoint(state->on_switch, "sched", "sched_switch");
	return state->link ? snapshot_cpus(state) : -errno;
}

static void cpus_close(void *data)
{
	struct cpus_state *state = data;

	if (!state)
		return;
	bpf_link__destroy(state->link);
	bpf_object__close(state->object);
	free(state);
}

const struct sensor_kind cpus_kind = {
	.name = "cpus",
	.subject = "context switches of CPUs",
	.hooks = hooks,
	.open = cpus_open,
	.attach = cpus_attach,
	.close = cpus_close,
};

int cpus_read(struct sensor *sensor, struct cpus *cpus)
{
	const struct cpus_state *state = sensor->data;
	int error = snapshot_cpus(state);

	if (error)
		return error;
	if (!cpus->accounts)
		error = cpus_init(cpus, state->cpus_len);
	if (error)
		return error;
	memcpy(cpus->accounts, state->accounts, state->cpus_len * sizeof(struct cpu_account));
	cpus->refused = __atomic_load_n(state->refused, __ATOMIC_RELAXED);
	cpus->recursion_misses = sensor_recursion_misses_of(bpf_program__fd(state->on_switch));
	return 0;
}

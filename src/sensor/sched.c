// SPDX-License-Identifier: GPL-2.0
/* Loads bpf/sched.bpf.c at the best hook there is and reads the accounts that it keeps.
 * Open -> configure -> load -> attach, as for every sensor. */
#include "sched.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/system.h"
#include "sched.skel.h"

enum sched_hook { HOOK_TP_BTF, HOOK_TRACEPOINT };

struct sched_state {
	struct sched_bpf *skeleton;
	struct bpf_link *link;
	struct bpf_program *program;
	struct cpu_account *shared; /* the kernel half's accounts, mapped */
	u32 cpus_len;
};

static const struct sensor_hook hooks[] = {
	[HOOK_TP_BTF] = { "tp_btf/sched_switch", NULL, probe_btf },
	[HOOK_TRACEPOINT] = { "tracepoint/sched/sched_switch", "each switch costs a little more", probe_tracefs },
	{ 0 },
};

static int configure(struct sched_state *state, int hook)
{
	struct sched_bpf *skeleton = state->skeleton;

	state->program = hook == HOOK_TP_BTF ? skeleton->progs.switch_btf : skeleton->progs.switch_tracepoint;
	bpf_program__set_autoload(skeleton->progs.switch_btf, hook == HOOK_TP_BTF);
	bpf_program__set_autoload(skeleton->progs.switch_tracepoint, hook == HOOK_TRACEPOINT);
	skeleton->rodata->named_by_tid = hook == HOOK_TRACEPOINT;
	skeleton->rodata->cpus_len = state->cpus_len;
	return bpf_map__set_value_size(skeleton->maps.data_cpus, state->cpus_len * sizeof(struct cpu_account));
}

static int sched_open(void **out, int hook, struct reason *why)
{
	struct sched_state *state = calloc(1, sizeof(*state));
	size_t size;
	int error;

	(void)why;
	*out = state;
	if (!state)
		return -ENOMEM;
	state->cpus_len = possible_cpus();
	state->skeleton = sched_bpf__open();
	if (!state->skeleton)
		return -errno;
	error = configure(state, hook);
	if (!error)
		error = sched_bpf__load(state->skeleton);
	if (error)
		return error;
	state->shared = bpf_map__initial_value(state->skeleton->maps.data_cpus, &size);
	return state->shared && size >= state->cpus_len * sizeof(struct cpu_account) ? 0 : -EINVAL;
}

/* Runs the kernel half's `settle` on every CPU. One that is offline has nothing to settle. */
static int settle_all(const struct sched_state *state)
{
	int settle_fd = bpf_program__fd(state->skeleton->progs.settle);

	for (u32 cpu = 0; cpu < state->cpus_len; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
		int error = bpf_prog_test_run_opts(settle_fd, &options);

		if (error && error != -ENXIO)
			return error;
	}
	return 0;
}

static int sched_attach(void *data, int hook, struct reason *why)
{
	struct sched_state *state = data;

	(void)why;
	if (hook == HOOK_TP_BTF)
		state->link = bpf_program__attach(state->program);
	else
		state->link = sensor_attach_tracepoint(state->program, "sched", "sched_switch");
	return state->link ? settle_all(state) : -errno;
}

static void sched_close(void *data)
{
	struct sched_state *state = data;

	if (!state)
		return;
	bpf_link__destroy(state->link);
	sched_bpf__destroy(state->skeleton);
	free(state);
}

const struct sensor_kind sched_kind = {
	.name = "sched",
	.subject = "context switches",
	.hooks = hooks,
	.open = sched_open,
	.attach = sched_attach,
	.close = sched_close,
};

static u64 missed_runs(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	u32 size = sizeof(info);

	return bpf_prog_get_info_by_fd(bpf_program__fd(program), &info, &size) ? 0 : info.recursion_misses;
}

int sched_read_cpus(struct sensor *sensor, struct cpus *cpus)
{
	const struct sched_state *state = sensor->data;
	int error = settle_all(state);

	if (error)
		return error;
	if (!cpus->accounts)
		error = cpus_init(cpus, state->cpus_len);
	if (error)
		return error;
	memcpy(cpus->accounts, state->shared, state->cpus_len * sizeof(struct cpu_account));
	cpus->refused = state->skeleton->bss->refused;
	cpus->missed = missed_runs(state->program);
	return 0;
}

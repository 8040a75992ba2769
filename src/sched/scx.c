// SPDX-License-Identifier: GPL-2.0
/* Loads the scheduler, attaches it through a link, reads its counters and its last words.
 * Everything that decides is in bpf/scx.bpf.c and core/tier.h. */
#include "scx.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/system.h"
#include "../sensor/sched.h"
#include "../sensor/sensor.h"
#include "scx.skel.h"

enum { FAREWELL_WAIT_MS = 1000 };

struct scx {
	struct scx_bpf *skeleton;
	struct bpf_link *link;
	int cpus;
};

static int refuse(struct reason *why, int error)
{
	struct sched_ext_state state = sched_ext_state();

	if (error == -EBUSY && state.loaded[0])
		reason_set(why, "another sched_ext scheduler is in charge: %s", state.loaded);
	else
		sensor_explain(why, error);
	return error;
}

/* Numbers the caches from 0 without gaps, in the order of their first CPUs. */
static void number_caches(struct scx_config *config, const struct cpu_place *places)
{
	for (u32 cpu = 0; cpu < config->cpus_len; cpu++) {
		u32 other = 0;

		while (other < cpu &&
		       (places[other].llc != places[cpu].llc || places[other].known != places[cpu].known))
			other++;
		if (other < cpu)
			config->cache_of[cpu] = config->cache_of[other];
		else if (config->caches_len < SCX_CACHES_MAX)
			config->cache_of[cpu] = (u16)config->caches_len++;
	}
}

static void configure(struct scx_bpf *skeleton, const struct scx_settings *settings)
{
	struct scx_config config = { .slice_ns = settings->slice_ns ? settings->slice_ns : TIER_SLICE_NS,
				     .cpus_len = settings->cpus_len < SCX_CPUS_MAX ? settings->cpus_len
										   : SCX_CPUS_MAX };

	number_caches(&config, settings->places);
	memcpy((void *)&skeleton->rodata->settings, &config, sizeof(config));
}

int scx_start(struct scx **out, const struct scx_settings *settings, struct reason *why)
{
	struct scx *scx = calloc(1, sizeof(*scx));
	int error;

	*out = NULL;
	if (!scx)
		return refuse(why, -ENOMEM);
	scx->cpus = libbpf_num_possible_cpus();
	error = scx->cpus < 0 ? scx->cpus : 0;
	if (!error) {
		scx->skeleton = scx_bpf__open();
		error = scx->skeleton ? sched_share(settings->sched, scx->skeleton->obj) : -errno;
	}
	if (!error) {
		configure(scx->skeleton, settings);
		error = scx_bpf__load(scx->skeleton);
	}
	if (!error) {
		scx->link = bpf_map__attach_struct_ops(scx->skeleton->maps.tactus_ops);
		error = scx->link ? 0 : -errno;
	}
	if (error) {
		refuse(why, error);
		scx_bpf__destroy(scx->skeleton);
		free(scx);
		return error;
	}
	*out = scx;
	return 0;
}

bool scx_is_out(const struct scx *scx)
{
	return __atomic_load_n(&scx->skeleton->bss->farewell.kind, __ATOMIC_ACQUIRE) != 0;
}

void scx_read_counters(const struct scx *scx, u64 counters[SCX_COUNTERS])
{
	int map_fd = bpf_map__fd(scx->skeleton->maps.counters);
	u64 values[scx->cpus];

	for (u32 which = 0; which < SCX_COUNTERS; which++) {
		counters[which] = 0;
		if (bpf_map_lookup_elem(map_fd, &which, values))
			continue;
		for (int cpu = 0; cpu < scx->cpus; cpu++)
			counters[which] += values[cpu];
	}
}

void scx_read_waits(const struct scx *scx, struct scx_waits *waits)
{
	struct scx_waits *each = calloc((size_t)scx->cpus, sizeof(*each));
	u32 zero = 0;

	memset(waits, 0, sizeof(*waits));
	if (each && !bpf_map_lookup_elem(bpf_map__fd(scx->skeleton->maps.waits), &zero, each))
		for (int cpu = 0; cpu < scx->cpus; cpu++)
			for (u32 tier = 0; tier < TIERS; tier++)
				hist_merge(&waits->tiers[tier], &each[cpu].tiers[tier]);
	free(each);
}

struct scx_farewell scx_stop(struct scx *scx)
{
	struct timespec step = { .tv_nsec = NSEC_PER_MSEC };
	struct scx_farewell last;

	bpf_link__destroy(scx->link);
	/* The kernel takes a scheduler out beside the call that asked for it. */
	for (int waited_ms = 0; waited_ms < FAREWELL_WAIT_MS && !scx_is_out(scx); waited_ms++)
		nanosleep(&step, NULL);
	last = scx->skeleton->bss->farewell;
	scx_bpf__destroy(scx->skeleton);
	free(scx);
	return last;
}

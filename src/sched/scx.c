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

int scx_start(struct scx **out, struct reason *why)
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
		error = scx->skeleton ? scx_bpf__load(scx->skeleton) : -errno;
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

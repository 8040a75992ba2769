// SPDX-License-Identifier: GPL-2.0
#include "cuda_work.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "../../core/cuda.h"
#include "../../core/sched_config.h"
#include "../base/say.h"
#include "kernel_types.h"
#include "cuda.skel.h"

static struct bpf_program *queued_by(const struct cuda_bpf *skeleton, bool interrupts_seen)
{
	return interrupts_seen ? skeleton->progs.on_work_queued : skeleton->progs.on_work_queued_blind;
}

void cuda_work_configure(struct cuda_bpf *skeleton, bool wanted, bool interrupts_seen)
{
	bool has_queues = wanted && kernel_has_tracepoint("workqueue_queue_work") &&
			  kernel_has_tracepoint("workqueue_execute_start") &&
			  kernel_has_tracepoint("workqueue_execute_end");

	bpf_program__set_autoload(skeleton->progs.on_work_queued, has_queues && interrupts_seen);
	bpf_program__set_autoload(skeleton->progs.on_work_queued_blind, has_queues && !interrupts_seen);
	bpf_program__set_autoload(skeleton->progs.on_work, has_queues);
	bpf_program__set_autoload(skeleton->progs.on_work_end, has_queues);
	bpf_program__set_autoload(skeleton->progs.on_worker_woken, wanted);
	bpf_program__set_autoload(skeleton->progs.on_worker_switch, wanted);
}

void cuda_work_attach(struct cuda_work *work, struct cuda_bpf *skeleton, bool interrupts_seen)
{
	/* First where work ends: what begins now is seen whole. */
	struct bpf_program *all[WORK_HOOKS] = { skeleton->progs.on_work_end, skeleton->progs.on_work,
						queued_by(skeleton, interrupts_seen), skeleton->progs.on_worker_switch,
						skeleton->progs.on_worker_woken };

	for (int i = 0; i < WORK_HOOKS; i++) {
		if (!bpf_program__autoload(all[i]))
			continue;
		work->links[i] = bpf_program__attach(all[i]);
		if (!work->links[i]) {
			note("cuda: work of kernel threads is not seen: %s", strerror(errno));
			cuda_work_detach(work);
			return;
		}
	}
}

void cuda_work_detach(struct cuda_work *work)
{
	for (int i = 0; i < WORK_HOOKS; i++) {
		bpf_link__destroy(work->links[i]);
		work->links[i] = NULL;
	}
}

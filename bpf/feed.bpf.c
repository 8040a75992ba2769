// SPDX-License-Identifier: GPL-2.0
/* Which threads feed a GPU by CUDA. NVIDIA's driver is given work through memory, without a system call, so it is seen
 * in the library alone. A probe at each launch would cost the thread that launches a hundred thousand a second dearly:
 * src/sensor/feed.c puts them there for moments. */
#include "roles.h"
#include "../core/gpu_config.h"

char LICENSE[] SEC("license") = "GPL";

/* Launches and copies that were seen. */
u64 feeds = 0;

SEC("uprobe.multi")
int on_feed(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = role_here(current);
	struct role_facts *facts;
	u64 now_ns;

	(void)ctx;
	__sync_fetch_and_add(&feeds, 1);
	if (!thread || thread->role.facts.gpu_submits == ~0u)
		return 0;
	facts = &thread->role.facts;
	facts->gpu_driver = GPU_CUDA;
	facts->gpu_submits++;
	now_ns = bpf_ktime_get_ns();
	thread->role.submitted_ns = now_ns;
	/* Those at which the answer can change, see opinion_of_gpu; and who had stopped does so again. */
	if (facts->gpu_submits == 1 || facts->gpu_submits == 11 || (facts->faded & FADED_SUBMITS)) {
		facts->faded &= (u8)~FADED_SUBMITS;
		thread->role.no_submits_ms = 0;
		role_update(current, thread, now_ns);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Cuts a run into pieces of time and adds up who had the CPUs.
 */
#include "compare_run.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/vec.h"

/* What a run is cut into at first; blocks of several are made where it is long. */
#define PIECE_NS (NSEC_PER_SEC / 4)

int compare_run_init(struct compare_run *run, const struct cpu_topology *topology, u32 cpus_len, u64 start_ns,
		     bool for_fidelity)
{
	*run = (struct compare_run){ .start_ns = start_ns, .for_fidelity = for_fidelity };
	compare_take_init(&run->take);
	run->take.no_misses = for_fidelity;
	run->take.frames.explains = false;
	return threads_init(&run->threads, topology, cpus_len);
}

void compare_run_free(struct compare_run *run)
{
	compare_take_free(&run->take);
	threads_free(&run->threads);
	blocks_free(&run->blocks);
	map_free(&run->by_pid);
	free(run->cpu_ns);
	free(run->pids);
	*run = (struct compare_run){ 0 };
}

static void add_share(struct compare_run *run, u32 pid, u64 cpu_ns)
{
	u32 place = map_get(&run->by_pid, pid);

	if (!place) {
		if (!vec_reserve(run->cpu_ns, run->cpu_room, run->pids_len + 1, 64) ||
		    !vec_reserve(run->pids, run->pids_room, run->pids_len + 1, 64) ||
		    !map_set(&run->by_pid, pid, run->pids_len + 1)) {
			run->failed = true;
			return;
		}
		run->cpu_ns[run->pids_len] = 0;
		run->pids[run->pids_len] = pid;
		place = ++run->pids_len;
	}
	run->cpu_ns[place - 1] += cpu_ns;
}

static void piece_ends(struct compare_run *run, u64 to_ns)
{
	struct threads *threads = &run->threads;

	threads_charge(threads, to_ns);
	for (size_t i = 0; i < threads->len; i++) {
		const struct thread *thread = threads->all[i];

		if (!thread->account.cpu_ns || thread->bystander)
			continue;
		add_share(run, thread->pid, thread->account.cpu_ns);
		if (thread->role && thread->role->tier == TIER_LATENCY_CRITICAL)
			run->urgent_ns += thread->account.cpu_ns;
	}
	run->take.blocks = &run->blocks;
	compare_take_piece_ends(&run->take, threads, run->piece_from_ns, to_ns);
	run->piece_from_ns = to_ns;
}

void compare_run_take(struct compare_run *run, const struct event_header *event)
{
	bool is_counted = event->time_ns >= run->start_ns;
	struct wait ended;
	bool has_ended;

	if (is_counted && !run->piece_from_ns) {
		compare_take_restart(&run->take, &run->threads);
		run->piece_from_ns = run->start_ns ? run->start_ns : 1;
	}
	while (is_counted && event->time_ns >= run->piece_from_ns + PIECE_NS)
		piece_ends(run, run->piece_from_ns + PIECE_NS);
	run->take.blocks = is_counted ? &run->blocks : NULL;
	if (event->kind == EVENT_FRAME && !run->for_fidelity)
		run->take.frames.explains = true;
	if (event->time_ns > run->last_ns)
		run->last_ns = event->time_ns;
	has_ended = threads_handle(&run->threads, event, &ended);
	compare_take_event(&run->take, &run->threads, event, has_ended ? &ended : NULL);
}

void compare_run_end(struct compare_run *run)
{
	if (run->piece_from_ns && run->last_ns > run->piece_from_ns)
		piece_ends(run, run->last_ns);
	blocks_end(&run->blocks);
	run->blocks.failed |= run->take.frames.failed || run->take.misses.failed || run->failed;
}

// SPDX-License-Identifier: GPL-2.0
/* Cuts a run into pieces of time and adds up who had the CPUs.
 */
#include "compare_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hash.h"
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

static void free_shares(struct compare_shares *shares)
{
	map_free(&shares->by_key);
	free(shares->keys);
	free(shares->cpu_ns);
}

void compare_run_free(struct compare_run *run)
{
	compare_take_free(&run->take);
	threads_free(&run->threads);
	blocks_free(&run->blocks);
	free_shares(&run->by_pid);
	free_shares(&run->by_name);
	*run = (struct compare_run){ 0 };
}

static bool add_share(struct compare_shares *shares, u64 key, u64 cpu_ns)
{
	u32 place = map_get(&shares->by_key, key);

	if (!place) {
		if (!vec_reserve(shares->cpu_ns, shares->cpu_room, shares->len + 1, 64) ||
		    !vec_reserve(shares->keys, shares->keys_room, shares->len + 1, 64) ||
		    !map_set(&shares->by_key, key, shares->len + 1))
			return false;
		shares->cpu_ns[shares->len] = 0;
		shares->keys[shares->len] = key;
		place = ++shares->len;
	}
	shares->cpu_ns[place - 1] += cpu_ns;
	return true;
}

static void piece_ends(struct compare_run *run, u64 to_ns)
{
	struct threads *threads = &run->threads;
	u64 name;

	threads_charge(threads, to_ns);
	for (size_t i = 0; i < threads->len; i++) {
		const struct thread *thread = threads->all[i];

		if (!thread->account.cpu_ns || thread->bystander)
			continue;
		name = hash_keyed(thread->comm.text, strnlen(thread->comm.text, COMM_LEN));
		run->failed |= !add_share(&run->by_pid, thread->pid, thread->account.cpu_ns) ||
			       !add_share(&run->by_name, name, thread->account.cpu_ns);
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

/* SPDX-License-Identifier: GPL-2.0 */
/* One run of a comparison, from its events alone, wherever they come from: blocks of time for model/compare.h, and what
 * each process had of the CPUs. */
#ifndef TACTUS_MODEL_COMPARE_RUN_H
#define TACTUS_MODEL_COMPARE_RUN_H

#include "compare_take.h"

/* CPU time by what it was for: a process, or all threads of a name. */
struct compare_shares {
	struct map by_key; /* the index of its CPU time, plus one */
	u64 *keys, *cpu_ns;
	u32 len, keys_room, cpu_room;
};

struct compare_run {
	struct threads threads;
	struct compare_take take;
	struct blocks blocks;
	u64 start_ns;	   /* what comes before is known, and not counted */
	u64 piece_from_ns; /* 0: it has not begun */
	u64 last_ns;
	struct compare_shares by_pid, by_name; /* names: hash_keyed() */
	u64 urgent_ns;			       /* CPU time of latency-critical threads */
	bool failed;
	bool for_fidelity;
};

/* Returns 0 or -ENOMEM. `topology` stays the caller's. `for_fidelity`: only what model/fidelity.h asks for, waits,
 * frames and shares. Late frames are explained from the first frame on. */
int compare_run_init(struct compare_run *run, const struct cpu_topology *topology, u32 cpus_len, u64 start_ns,
		     bool for_fidelity);
void compare_run_free(struct compare_run *run);

/* The next event. */
void compare_run_take(struct compare_run *run, const struct event_header *event);
/* There are no more. */
void compare_run_end(struct compare_run *run);

#endif

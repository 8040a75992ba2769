/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's settings before it is loaded: slices, and which CPUs share a cache.
 * Written by src/sched/scx.c, read by bpf/scx.bpf.c. */
#ifndef TACTUS_CORE_SCX_CONFIG_H
#define TACTUS_CORE_SCX_CONFIG_H

#include "place.h"
#include "placement.h"
#include "tier.h"

enum {
	SCX_CPUS_MAX = 1024,
	SCX_CACHES_MAX = 64, /* caches past this share a queue with an earlier one */
	SCX_QUEUES = SCX_CACHES_MAX + SCX_CPUS_MAX,
	SCX_PARKED = SCX_QUEUES, /* a queue that no CPU takes from: threads whose group has used up its quota */
};

/* A release of Linux as it is compared. Only for what can't be seen otherwise. */
#define SCX_KERNEL(major, minor) (((major) << 16) | ((minor) << 8))

struct scx_config {
	u64 slice_ns;
	u64 light_ns;	/* who ran no longer before it slept is light: tier_is_light */
	u32 credit;	/* of an urgent thread that slept, in slices */
	u32 discount;	/* an urgent thread is charged one of so many parts */
	u32 kernel;	/* SCX_KERNEL() of the running one */
	u32 has_quotas; /* the kernel reports groups' quotas to the scheduler, which it must keep itself */
	u64 at_once;   /* SCX_ENQ_IMMED of 7.1: what can't run on its CPU at once is enqueued again; 0: there is none */
	u64 again;     /* SCX_ENQ_REENQ */
	u32 sees_held; /* threads that may not leave their CPU for now are enqueued like all others */
	u32 refuses_timers; /* for tests: as if there were no room for any */
	u32 own_pid;	    /* of the process that runs the scheduler */
	u32 cpus_len;
	u32 caches_len;
	u16 cache_of[SCX_CPUS_MAX]; /* a CPU's last-level cache, numbered from 0 without gaps */
	/* The CPUs in the order of their caches, and where each cache's begin in that list; one more marks the end. */
	u16 by_cache[SCX_CPUS_MAX];
	u16 cache_begins[SCX_CACHES_MAX + 1];
	/* For each cache, from which others its CPUs take threads, see steal_order(). */
	u8 steal_order[SCX_CACHES_MAX * SCX_CACHES_MAX];
	u32 power;	/* enum power */
	u32 ranks_cpus; /* idle CPUs are ranked here; else the kernel's own choice is as good */
	u32 has_small;
	u8 is_small[SCX_CPUS_MAX];
	u16 next_sibling[SCX_CPUS_MAX]; /* of the same core, in a ring */
};

#endif

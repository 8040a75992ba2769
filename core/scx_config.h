/* SPDX-License-Identifier: GPL-2.0 */
/* What the two halves of the scheduler tell each other: settings that are fixed before loading, and how long threads of
 * each tier waited. */
#ifndef TACTUS_CORE_SCX_CONFIG_H
#define TACTUS_CORE_SCX_CONFIG_H

#include "hist.h"
#include "place.h"
#include "tier.h"

enum {
	SCX_CPUS_MAX = 1024,
	SCX_CACHES_MAX = 64, /* caches past this share a queue with an earlier one */
	SCX_QUEUES = SCX_CACHES_MAX + SCX_CPUS_MAX,
};

struct scx_config {
	u64 slice_ns;
	u32 cpus_len;
	u32 caches_len;
	u16 cache_of[SCX_CPUS_MAX]; /* a CPU's last-level cache, numbered from 0 without gaps */
};

struct scx_waits {
	struct hist tiers[TIERS];
};

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The sched_ext actuator: puts bpf/scx.bpf.c in charge of the CPUs and takes it out again.
 * It is held by a link, so the kernel's own scheduler is back as soon as this process ends, however it ends. */
#ifndef TACTUS_SCHED_SCX_H
#define TACTUS_SCHED_SCX_H

#include <stdbool.h>

#include "../../core/scx_config.h"
#include "../../core/scx_exit.h"
#include "../base/say.h"
#include "../sensor/load.h"

struct scx;

struct sensor;

struct scx_settings {
	struct sensor *sched; /* whose threads have the roles */
	const struct cpu_topology *topology;
	u32 cpus_len;
	u64 slice_ns; /* 0: the default */
	u64 light_ns; /* the same, as of struct scx_config */
	u32 credit;   /* the same, as of struct scx_config */
	u32 discount;
	u32 power;	 /* enum power */
	bool is_partial; /* only threads whose policy is SCHED_EXT */
	bool is_trial;	 /* loaded and never attached: see scx_try */
};

/* Returns 0, or -errno with the reason in words. */
int scx_start(struct scx **scx, const struct scx_settings *settings, struct reason *why);

/* What it does without on this kernel. */
const struct load_losses *scx_losses(const struct scx *scx);

/* Whether the scheduler can be had here: loads it as scx_start does, puts it in charge of nothing, and drops it.
 * Returns 0, or -errno with the kernel's reason. */
int scx_try(struct load_losses *losses, struct reason *why);

/* Whether the scheduler keeps control groups' quotas here: the kernel does not do it for a sched_ext scheduler. */
bool scx_keeps_quotas(void);

/* True once the kernel has put the scheduler out. */
bool scx_is_out(const struct scx *scx);

enum scx_standing {
	SCX_ACTS,
	SCX_NEUTRAL, /* in charge, and nobody is urgent */
	SCX_OUT,     /* taken out of the kernel, and kept loaded */
};

/* Returns 0 or -errno. */
int scx_hold(struct scx *scx, enum scx_standing standing);
enum scx_standing scx_standing(const struct scx *scx);

void scx_read_counters(const struct scx *scx, u64 counters[SCX_COUNTERS]);

/* Control groups that there was no room for: their weights have no effect. */
u64 scx_groups_refused(const struct scx *scx);
/* CPUs for whose timer there was no room: turns there end with the tick. */
u32 scx_untimed_cpus(const struct scx *scx);

/* Takes the scheduler out if it is still in, and says why it ended. */
void scx_stop(struct scx *scx, struct scx_exit_record *last);

#endif

// SPDX-License-Identifier: GPL-2.0
/* sched_getattr and sched_setattr, as the kernel lays them out.
 * What a kernel takes is tried, not guessed from its version; how it picks threads cannot be tried. */
#include "attr.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/system.h"

/* struct sched_attr, version 1 (with clamps); part of the kernel's promise to user space. */
struct kernel_attr {
	u32 size;
	u32 policy;
	u64 flags;
	s32 nice;
	u32 priority;
	u64 runtime_ns;
	u64 deadline_ns;
	u64 period_ns;
	u32 util_min;
	u32 util_max;
};

enum { FLAG_RESET_ON_FORK = 0x01, FLAG_UTIL_CLAMP_MIN = 0x20, TRIED_SLICE_NS = 7 * NSEC_PER_MSEC, NICE_PRESSING = -20 };

static int get(u32 tid, struct kernel_attr *attr)
{
	*attr = (struct kernel_attr){ .size = sizeof(*attr) };
	return syscall(SYS_sched_getattr, tid, attr, sizeof(*attr), 0) < 0 ? -errno : 0;
}

static int set(u32 tid, struct kernel_attr *attr)
{
	attr->size = sizeof(*attr);
	return syscall(SYS_sched_setattr, tid, attr, 0) < 0 ? -errno : 0;
}

int thread_attr_get(u32 tid, struct attr *attr)
{
	struct kernel_attr raw;
	int error = get(tid, &raw);

	*attr = (struct attr){ .policy = raw.policy,
			       .flags = raw.flags,
			       .hint = { .slice_ns = raw.runtime_ns, .nice = raw.nice, .clamp_min = raw.util_min } };
	return error;
}

int thread_attr_set(u32 tid, const struct attr *attr, const struct hint_means *means, u32 reset_on_fork)
{
	struct kernel_attr raw = { .policy = attr->policy,
				   .flags = reset_on_fork ? FLAG_RESET_ON_FORK : 0,
				   .nice = attr->hint.nice };

	if (means->slices)
		raw.runtime_ns = attr->hint.slice_ns;
	if (means->clamps) {
		raw.flags |= FLAG_UTIL_CLAMP_MIN;
		raw.util_min = attr->hint.clamp_min;
	}
	return set(tid, &raw);
}

int attr_put_back(u32 tid, const struct attr *attr, const struct hint_means *means)
{
	if (attr->policy == SCHED_OTHER || attr->policy == SCHED_BATCH)
		return thread_attr_set(tid, attr, means, 0);
	return setpriority(PRIO_PROCESS, tid, attr->hint.nice) < 0 ? -errno : 0;
}

int attr_resets_on_fork(const struct attr *attr)
{
	return !!(attr->flags & FLAG_RESET_ON_FORK);
}

bool thread_attr_press(void)
{
	struct kernel_attr own, pressed;

	if (get(0, &own) || own.policy != SCHED_OTHER || own.nice)
		return false;
	pressed = (struct kernel_attr){ .policy = own.policy, .nice = NICE_PRESSING, .flags = FLAG_RESET_ON_FORK };
	return !set(0, &pressed);
}

void thread_attr_ease(void)
{
	struct kernel_attr usual = { .policy = SCHED_OTHER };

	set(0, &usual);
}

struct hint_means attr_means(void)
{
	struct hint_means means = { 0 };
	struct kernel_attr own, tried, seen;

	if (get(0, &own) || (own.policy != SCHED_OTHER && own.policy != SCHED_BATCH))
		return means;
	tried = (struct kernel_attr){ .policy = own.policy, .nice = own.nice, .runtime_ns = TRIED_SLICE_NS };
	if (!set(0, &tried) && !get(0, &seen) && seen.runtime_ns == TRIED_SLICE_NS) {
		means.slices = 1;
		means.usual_slice_ns = own.runtime_ns;
	}
	tried = (struct kernel_attr){ .policy = own.policy, .nice = own.nice - 1 };
	means.presses = own.nice <= NICE_PRESSING || !set(0, &tried);
	tried = (struct kernel_attr){ .policy = own.policy,
				      .nice = own.nice,
				      .flags = own.flags | FLAG_UTIL_CLAMP_MIN,
				      .util_min = own.util_min };
	/* This also takes slice and nice value back. */
	if (!set(0, &tried)) {
		means.clamps = 1;
		return means;
	}
	tried = (struct kernel_attr){ .policy = own.policy, .nice = own.nice, .flags = own.flags };
	set(0, &tried);
	return means;
}

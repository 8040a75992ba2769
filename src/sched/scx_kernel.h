/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel's sched_ext offers, asked of its BTF: the values of flags, whether what the scheduler cannot
 * do without is there, and which operations it knows. */
#ifndef TACTUS_SCHED_SCX_KERNEL_H
#define TACTUS_SCHED_SCX_KERNEL_H

#include <stdbool.h>

#include "../../core/types.h"
#include "../base/say.h"

struct bpf_object;
struct btf;

/* A constant by the kernel's own number; 0 if it has no such one. */
u64 scx_kernel_value(const struct btf *btf, const char *enumeration, const char *name);

/* Returns 0 if the scheduler can work there, else -EOPNOTSUPP with the reason in words. */
int scx_kernel_suffices(const struct btf *btf, struct reason *why);

/* Whether the kernel reports control groups' quotas, and has what it takes to keep them. */
bool scx_kernel_has_quotas(const struct btf *btf, u32 release);

/* Takes those operations out of the table, which is the object's first of that type, that the kernel does not know.
 * Returns 0, or -EOPNOTSUPP if one is among them that the scheduler can't do without. */
int scx_kernel_fit(const struct btf *btf, struct bpf_object *object, void *ops, struct reason *why);

/* The running release, as SCX_KERNEL() makes it. */
u32 scx_kernel_release(void);

#endif

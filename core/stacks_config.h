/* SPDX-License-Identifier: GPL-2.0 */
/* What the stacks sensor's two halves agree on. */
#ifndef TACTUS_CORE_STACKS_CONFIG_H
#define TACTUS_CORE_STACKS_CONFIG_H

#include "types.h"

enum { STACK_DEPTH = 64, STACKS_MAX = 16384 };

struct stacks_config {
	u64 over_ns; /* stacks are sent of threads that had no CPU for at least so long */
};

/* A stack whose functions' names are wanted: of a process, or with pid 0 of the kernel. */
struct stack_wish {
	u32 pid;
	u32 stack;
};

#endif

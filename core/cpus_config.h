/* SPDX-License-Identifier: GPL-2.0 */
/* The settings of the kernel half of the CPUs' accounts, made before it is loaded.
 * Alone in its object's read-only data, so that either half finds it without a skeleton. */
#ifndef TACTUS_CORE_CPUS_CONFIG_H
#define TACTUS_CORE_CPUS_CONFIG_H

#include "types.h"

struct cpus_config {
	u32 cpus_len;	  /* how many accounts there are */
	u32 named_by_tid; /* threads are told apart by tid, where the hook gives no task_struct */
};

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* 'tactus top' by what the kernel half has added up (core/sums.h), instead of every switch: far cheaper, and the same
 * figures. Of single waits only each thread's longest of a second is known, and moves and wakers of some threads only.
 */
#ifndef TACTUS_MODEL_TOP_SUMS_H
#define TACTUS_MODEL_TOP_SUMS_H

#include "top.h"

/* From now on by sums, or by every switch again. `now_ns`: what came before counts as it came. */
void top_sums_begin(struct top *top);
void top_sums_end(struct top *top, struct threads *threads, u64 now_ns);

/* What a thread did in the turn that goes on. */
void top_sums_add(struct top *top, const struct threads *threads, const struct sums_row *row);

/* What a CPU did in it, and who runs there now. */
void top_sums_add_cpu(struct top *top, u32 cpu, u64 busy_ns, u64 switches, u32 tid);

#endif

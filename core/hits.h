/* SPDX-License-Identifier: GPL-2.0 */
/* What hooks reported of threads so far, by hook: what 'tactus run' counts and shows. */
#ifndef TACTUS_CORE_HITS_H
#define TACTUS_CORE_HITS_H

#include "types.h"

/* HIT(KIND, name): the name is that of the JSON field. */
/* clang-format off */
#define HIT_TABLE(HIT)                                 \
	HIT(WINE_MICROSOFT, wine_microsoft)            \
	HIT(WINE_SYSTEM_V, wine_system_v)              \
	HIT(WINE_UNFIT, wine_unfit)                    \
	HIT(PRESENTS, presents)                        \
	HIT(LIBRARY_SUBMITS, library_submits)          \
	HIT(GPU_SUBMITS, gpu_submits)                  \
	HIT(GPU_OTHERS, gpu_other_ioctls)              \
	HIT(CUDA_FEEDS, cuda_feeds)                    \
	HIT(INPUT_READS, input_reads)                  \
	HIT(SOUND_WRITES, sound_writes)                \
	HIT(NETWORK_TURNS, network_turns)
/* clang-format on */

#define HIT_ENUM(KIND, name) HIT_##KIND,
enum hit { HIT_TABLE(HIT_ENUM) HITS };
#undef HIT_ENUM

#endif

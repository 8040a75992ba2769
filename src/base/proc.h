/* SPDX-License-Identifier: GPL-2.0 */
/* Small questions to /proc about one thread.
 * The text is parsed apart from the reading, so that any bytes can be tried on the parser. */
#ifndef TACTUS_BASE_PROC_H
#define TACTUS_BASE_PROC_H

#include <stddef.h>

#include "../../core/types.h"

/* When the thread started, in clock ticks since boot: with its tid, who it is. 0 if the text is no /proc/TID/stat. */
u64 stat_start_ticks(const char *text);

/* Of a living thread; 0 if there is none of this tid. */
u64 proc_start_ticks(u32 tid);

#endif

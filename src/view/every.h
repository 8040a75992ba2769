/* SPDX-License-Identifier: GPL-2.0 */
/* Tables that are printed again and again: every so often, or on a terminal in place.
 */
#ifndef TACTUS_VIEW_EVERY_H
#define TACTUS_VIEW_EVERY_H

#include "../base/options.h"

/* How often; 0: one table at the end. On a terminal, without -d and a command, every second. Where tables are to fit a
 * terminal, -n gets what fits. */
u64 every_ns(struct options *options);

/* Before each: clears the terminal, or says which time it is about. `start_ns`: of the window. */
void every_begin(const struct options *options, u64 start_ns, u64 from_ns, u64 to_ns);

/* After each. */
void every_end(void);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Lines for somebody who may not read them: printing never waits. What there is no room for is kept for a while, then
 * whole lines are dropped and counted. */
#ifndef TACTUS_BASE_LINES_H
#define TACTUS_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"

struct lines;

/* Makes a descriptor one that never waits, for this process alone: others that have the same pipe or terminal are not
 * disturbed. Returns 0, or -errno if it stays as it was. */
int never_wait(int fd);

/* For a descriptor that never waits. NULL for want of memory. */
struct lines *lines_open(int fd);

/* One text of whole lines. False once the reader has gone. */
bool lines_put(struct lines *lines, const char *text, size_t len);

/* Writes what was kept, as far as it goes without waiting. False once the reader has gone. */
bool lines_flush(struct lines *lines);

/* Waits for the reader so long at most, and frees it all. Returns how many texts were dropped. */
u64 lines_close(struct lines *lines, u64 patience_ns);

#endif

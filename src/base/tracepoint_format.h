/* SPDX-License-Identifier: GPL-2.0 */
/* Where a field of a tracepoint lies, as the kernel describes it in events/CATEGORY/NAME/format.
 */
#ifndef TACTUS_BASE_TRACEPOINT_FORMAT_H
#define TACTUS_BASE_TRACEPOINT_FORMAT_H

#include <stdbool.h>

#include "../../core/types.h"

/* Whether the line describes this field; then its offset in bytes. */
bool tracepoint_line_has(const char *line, const char *field, u32 *offset);

/* 0 and the offset, or -errno; -ENOENT if the tracepoint or the field is not there. */
int tracepoint_offset(const char *category, const char *name, const char *field, u32 *offset);

bool tracepoint_is_here(const char *category, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* For a process of our own that looks at what others made: it becomes a user that nobody else is, who may do next to
 * nothing. There is no way back. */
#ifndef TACTUS_BASE_CONFINE_H
#define TACTUS_BASE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"

/* Closes all files but that one, and leaves its session and folder. */
void confine_files(int kept_fd);

/* A user and group that nobody else has, without capabilities and without a way to get any. False: it is the same user
 * still, since another is not to be had here. */
bool confine_user(void);

/* The same user still, with none but these capabilities, and without a way to others. */
void confine_capabilities(u64 kept);

/* So many bytes more than now, no core, no file that is written, so many descriptors and processes of this user. */
void confine_limits(u64 more_bytes, u64 descriptors, u64 processes);

/* From now on only these calls, and mmap of what can't be run; any other ends the process. False: this kernel has no
 * such filter. Those that are given later are allowed only if they were before. */
bool confine_calls(const int *allowed, size_t len);

#endif

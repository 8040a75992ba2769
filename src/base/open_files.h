/* SPDX-License-Identifier: GPL-2.0 */
/* What a process has open, by /proc/PID/fd. Processes may share one table of descriptors, and each of them be looked
 * at: so many are looked at in one go, and no more. */
#ifndef TACTUS_BASE_OPEN_FILES_H
#define TACTUS_BASE_OPEN_FILES_H

#include <stdbool.h>

#include "../../core/types.h"

enum { OPEN_FILES_MAX = 1024 };

/* Looks at one descriptor, whose number is its name in the folder. False: that is enough. */
typedef bool (*open_file_look)(void *data, int folder_fd, const char *name);

/* Returns 0, or -E2BIG if there are more than were looked at, or -errno. */
int open_files_each(u32 pid, open_file_look look, void *data);

/* Where a descriptor leads, cut if there is no room; empty if it is not known. */
void open_file_target(int folder_fd, const char *name, char *target, u32 size);

#endif

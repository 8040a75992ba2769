/* SPDX-License-Identifier: GPL-2.0 */
/* What kind of file system a device number stands for, by the kernel's list of mounts: the file system itself is not
 * asked, since one that a user's program serves may never answer. */
#ifndef TACTUS_BASE_MOUNTS_H
#define TACTUS_BASE_MOUNTS_H

#include <stdbool.h>

#include "../../core/types.h"

/* Whether a line of /proc/PID/mountinfo is of this device; then the type of its file system, cut if there is no room.
 * The line is any bytes. */
bool mount_line_type(const char *line, u32 major, u32 minor, char *type, u32 size);

/* Whether files of this device, which the process has mapped, may be read without waiting for an ordinary user's
 * program. */
bool mount_is_answered(u32 pid, u32 major, u32 minor);

/* The number of the mount that a line of /proc/PID/mountinfo is of, and its device. */
bool mount_line_device(const char *line, u64 *mount, u32 *major, u32 *minor);

/* The same of a file that was found by its descriptor (O_PATH). A mapping's device is of what was mapped when it was
 * read; what is found may be another file by then. Nobody is asked. */
bool found_is_answered(u32 pid, int found);

#endif

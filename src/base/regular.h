/* SPDX-License-Identifier: GPL-2.0 */
/* Opens files whose names others may have chosen. What is there is looked at before it is opened: to open a device or a
 * pipe has effects of its own, and a link leads wherever its maker likes. */
#ifndef TACTUS_BASE_REGULAR_H
#define TACTUS_BASE_REGULAR_H

#include <sys/stat.h>

/* For reading, and only if it is a regular file; links are followed. Returns a descriptor or -errno; -EINVAL: it is no
 * regular file. `seen` is what was found there. */
int regular_open(const char *path, struct stat *seen);

/* The same for a file that was found (O_PATH), whose descriptor is taken over. */
int regular_take(int found, struct stat *seen);

/* Finds a path below a folder's descriptor, with no link on the way, without opening it. The kernel answers from memory
 * or not at all, so that no file system is asked, which may be a user's program: a file that somebody maps is in memory
 * with all of its path. Returns a descriptor (O_PATH) or -errno; -EREMOTEIO: somebody would have to be asked. */
int regular_find_below(int folder_fd, const char *path);

#endif

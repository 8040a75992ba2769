/* SPDX-License-Identifier: GPL-2.0 */
/* Opens files whose names others may have chosen. What is there is looked at before it is opened: to open a device or a
 * pipe has effects of its own, and a link leads wherever its maker likes. */
#ifndef TACTUS_BASE_REGULAR_H
#define TACTUS_BASE_REGULAR_H

#include <sys/stat.h>

/* For reading, and only if it is a regular file; links are followed. Returns a descriptor or -errno; -EINVAL: it is no
 * regular file. `seen` is what was found there. */
int regular_open(const char *path, struct stat *seen);

/* The same for a path below a folder's descriptor, with no link on the way. */
int regular_open_below(int folder_fd, const char *path, struct stat *seen);

#endif

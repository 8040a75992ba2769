/* SPDX-License-Identifier: GPL-2.0 */
/* The way to a file that is named by a path. A link on it leads wherever its maker likes: only those of root, of who
 * runs this program and of who called sudo are followed. */
#ifndef TACTUS_BASE_WAY_H
#define TACTUS_BASE_WAY_H

#include <limits.h>

#include "say.h"

enum { WAY_NAME_SIZE = NAME_MAX + 1 };

/* Opens the folder in which the last part of the path lies, to find things in it and for nothing else (O_PATH), and
 * gives that part's name, which is not looked at; it is "." where the path ends with a slash. Returns a descriptor, or
 * -errno with a reason. */
int way_open(const char *path, char name[WAY_NAME_SIZE], struct reason *why);

#endif

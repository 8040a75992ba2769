/* SPDX-License-Identifier: GPL-2.0 */
/* Folders that nobody but root and this user can have put anything into: every part of the path is a folder of one of
 * the two, which no group and no others may write to, and no link. */
#ifndef TACTUS_BASE_OWN_FOLDER_H
#define TACTUS_BASE_OWN_FOLDER_H

#include <stddef.h>
#include <sys/stat.h>

/* Opens such a folder by an absolute path; parts that are missing are made, with this mode. Returns a descriptor, or
 * -errno; -EPERM: others could put something there. */
int own_folder_open(const char *path, mode_t mode);

/* Makes a folder with a name that nobody can guess in the folder open as `in`, and locks it for as long as the
 * descriptor is open: the name is appended to `path`. Removes those before that nobody has locked any more, with the
 * files in them. Returns a descriptor, or -errno. */
int own_folder_make(int in, char *path, size_t path_bytes);

/* Removes the folder at `path` that is open as `fd`, with the files in it. */
void own_folder_remove(int fd, const char *path);

#endif

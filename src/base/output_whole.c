// SPDX-License-Identifier: GPL-2.0
/* A temporary file in the same folder takes the place of the old one by rename. A new file is made under its name at
 * once: there is nothing to lose. */
#include "output_whole.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

/* For the same people as the old one. Where the file system has no owners it is whose the file system is. */
static void take_rights(int fd, int old_fd)
{
	struct stat old;

	if (fstat(old_fd, &old))
		return;
	if (fchown(fd, old.st_uid, old.st_gid) || fchmod(fd, old.st_mode & 0777)) {
		/* It is then for who made it, and nobody else. */
	}
}

int output_whole_begin(struct output_whole *whole, const char *path, int fd, bool is_new, struct reason *why)
{
	int made;

	*whole = (struct output_whole){ .old_fd = -1 };
	whole->folder = way_open(path, whole->name, why);
	if (whole->folder < 0) {
		close(fd);
		return whole->folder;
	}
	whole->begun = true;
	if (is_new) {
		memcpy(whole->made, whole->name, sizeof(whole->made));
		return fd;
	}
	made = output_temporary(whole->folder, whole->made);
	if (made >= 0) {
		take_rights(made, fd);
		whole->old_fd = fd;
		return made;
	}
	whole->begun = false;
	close(whole->folder);
	if (made == -EACCES || made == -EPERM)
		return fd;
	close(fd);
	reason_set(why, "%s", strerror(-made));
	return made;
}

int output_whole_end(struct output_whole *whole, bool is_whole)
{
	int error = 0;

	if (!whole->begun)
		return 0;
	if (is_whole && whole->old_fd >= 0 && renameat(whole->folder, whole->made, whole->folder, whole->name))
		error = -errno;
	if (error || !is_whole)
		unlinkat(whole->folder, whole->made, 0);
	if (whole->old_fd >= 0)
		close(whole->old_fd);
	close(whole->folder);
	whole->begun = false;
	return error;
}

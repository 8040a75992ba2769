// SPDX-License-Identifier: GPL-2.0
#include "open_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int open_files_each(u32 pid, open_file_look look, void *data)
{
	const struct dirent *entry;
	bool goes_on = true;
	char path[32];
	u32 seen = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	folder = opendir(path);
	if (!folder)
		return -errno;
	while (goes_on && seen <= OPEN_FILES_MAX && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]) && seen++ < OPEN_FILES_MAX)
			goes_on = look(data, dirfd(folder), entry->d_name);
	closedir(folder);
	return seen > OPEN_FILES_MAX ? -E2BIG : 0;
}

void open_file_target(int folder_fd, const char *name, char *target, u32 size)
{
	ssize_t len = readlinkat(folder_fd, name, target, size - 1);

	target[len > 0 ? len : 0] = '\0';
}

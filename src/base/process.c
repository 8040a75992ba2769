// SPDX-License-Identifier: GPL-2.0
/* Reads /proc/PID. The texts come as the process made them: any bytes, and no promise that they are true.
 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As much of a file as there is room for, with a NUL after it. Returns its length or -errno. */
static ssize_t read_part(u32 pid, const char *name, char *into, size_t size)
{
	char path[48];
	ssize_t got = 1, len = 0;
	int fd;

	into[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (got > 0 && (size_t)len < size - 1) {
		got = read(fd, into + len, size - 1 - (size_t)len);
		if (got > 0)
			len += got;
	}
	into[len] = '\0';
	close(fd);
	return len;
}

int process_read_exe(u32 pid, char *exe, size_t size)
{
	char path[48];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	len = readlink(path, exe, size - 1);
	exe[len > 0 ? len : 0] = '\0';
	return len < 0 ? -errno : (int)len;
}

int process_read(struct process_texts *texts, u32 pid)
{
	int error = process_read_exe(pid, texts->exe, sizeof(texts->exe));
	ssize_t len;

	if (error < 0)
		return error;
	read_part(pid, "comm", texts->comm, sizeof(texts->comm));
	texts->comm[strcspn(texts->comm, "\n")] = '\0';
	len = read_part(pid, "cmdline", texts->words, sizeof(texts->words));
	texts->words_len = len > 0 ? (size_t)len : 0;
	len = read_part(pid, "environ", texts->environ, sizeof(texts->environ));
	texts->environ_len = len > 0 ? (size_t)len : 0;
	return 0;
}

int processes_each(void (*each)(void *data, u32 pid), void *data)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	if (!proc)
		return -errno;
	while ((entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			each(data, (u32)strtoul(entry->d_name, NULL, 10));
	closedir(proc);
	return 0;
}

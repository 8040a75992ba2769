// SPDX-License-Identifier: GPL-2.0
/* Reads /proc/PID. The texts come as the process made them: any bytes, and no promise that they are true.
 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "proc_apart.h"

/* As much as there is room for, with a NUL after it. Returns its length; 0: there is none, or it can't be had. */
static size_t read_part(u32 pid, const char *name, char *into, size_t size)
{
	ssize_t len = proc_apart_read(pid, name, into, size - 1);

	into[len > 0 ? len : 0] = '\0';
	return len > 0 ? (size_t)len : 0;
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
	struct comm comm;

	if (error < 0)
		return error;
	proc_comm(pid, &comm);
	memcpy(texts->comm, comm.text, sizeof(comm.text));
	texts->words_len = read_part(pid, "cmdline", texts->words, sizeof(texts->words));
	texts->environ_len = read_part(pid, "environ", texts->environ, sizeof(texts->environ));
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

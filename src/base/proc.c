// SPDX-License-Identifier: GPL-2.0
/* Reads and parses /proc/TID/stat.
 * A thread's name may hold spaces, brackets and newlines: what counts comes after the last bracket. */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USER_FIELD = 14, SYSTEM_FIELD = 15, START_FIELD = 22, FIRST_FIELD_AFTER_NAME = 3, TOP_LEVELS = 2 };
enum { NICE_NONE = 20, NICE_LIMIT_MOST = 40 }; /* a limit of n allows nice values down to 20 - n */

static u64 field_of(const char *text, int wanted)
{
	const char *at = strrchr(text, ')');

	for (int field = FIRST_FIELD_AFTER_NAME - 1; at && field < wanted; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : 0;
}

u64 stat_start_ticks(const char *text)
{
	return field_of(text, START_FIELD);
}

u64 stat_cpu_ticks(const char *text)
{
	return field_of(text, USER_FIELD) + field_of(text, SYSTEM_FIELD);
}

int status_real_uid(const char *text, u32 *uid)
{
	/* The name comes first, with its newlines written as "\\n": a line that begins so is the kernel's. */
	const char *line = strstr(text, "\nUid:\t");
	char *end;

	if (!line)
		return -EINVAL;
	*uid = (u32)strtoul(line + 6, &end, 10);
	return end == line + 6 ? -EINVAL : 0;
}

u32 status_pid(const char *text)
{
	const char *line = strstr(text, "\nTgid:\t");

	return line ? (u32)strtoul(line + 7, NULL, 10) : 0;
}

u32 status_parent(const char *text)
{
	const char *line = strstr(text, "\nPPid:\t");

	return line ? (u32)strtoul(line + 7, NULL, 10) : 0;
}

size_t cgroup_top_len(const char *path)
{
	size_t len = 0;

	if (path[0] != '/' || !path[1] || path[1] == '\n')
		return 0;
	for (int level = 0; level < TOP_LEVELS && path[len] == '/'; level++)
		len += 1 + strcspn(path + len + 1, "/\n");
	return len;
}

/* Reads a thread's file, with a NUL after it. Returns 0 or -errno, -ESRCH if there is no such thread. */
static int read_file(u32 tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd, error;

	/* A process's own file sums its threads up; below task/ each has its own, and the number of any thread leads
	 * there. */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", tid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	got = read(fd, text, size - 1);
	error = got < 0 ? -errno : 0;
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return error ? error : got ? 0 : -ESRCH;
}

int proc_run_times(u32 tid, u64 *cpu_ns, u64 *wait_ns)
{
	char text[128];
	int error = read_file(tid, "schedstat", text, sizeof(text));
	unsigned long long cpu, wait;

	if (error)
		return error;
	if (sscanf(text, "%llu %llu", &cpu, &wait) != 2 || !cpu)
		return -ENODATA;
	*cpu_ns = cpu;
	*wait_ns = wait;
	return 0;
}

s32 limits_least_nice(const char *text)
{
	static const char name[] = "\nMax nice priority ";
	const char *line = strstr(text, name);
	unsigned long limit;
	char *end;

	if (!line)
		return NICE_NONE;
	line += sizeof(name) - 1;
	line += strspn(line, " ");
	if (!strncmp(line, "unlimited", 9))
		return NICE_NONE - NICE_LIMIT_MOST;
	limit = strtoul(line, &end, 10);
	if (end == line)
		return NICE_NONE;
	return NICE_NONE - (s32)(limit < NICE_LIMIT_MOST ? limit : NICE_LIMIT_MOST);
}

s32 proc_least_nice(u32 tid)
{
	char text[4096];
	u32 uid;

	if (!read_file(tid, "status", text, sizeof(text)) && !status_real_uid(text, &uid) && !uid)
		return NICE_NONE - NICE_LIMIT_MOST;
	return read_file(tid, "limits", text, sizeof(text)) ? NICE_NONE : limits_least_nice(text);
}

int proc_times(u32 tid, struct thread_times *times)
{
	char text[1024];
	int error;

	*times = (struct thread_times){ 0 };
	error = read_file(tid, "stat", text, sizeof(text));
	if (error)
		return error;
	times->start_ticks = stat_start_ticks(text);
	times->cpu_ticks = stat_cpu_ticks(text);
	return times->start_ticks ? 0 : -ESRCH;
}

u32 proc_pid(u32 tid)
{
	char text[4096];

	return read_file(tid, "status", text, sizeof(text)) ? 0 : status_pid(text);
}

u32 proc_parents(u32 pid, u32 *parents, u32 most)
{
	char text[4096];
	u32 len = 0;

	while (len < most && pid > 1 && !read_file(pid, "status", text, sizeof(text)) && (pid = status_parent(text)))
		parents[len++] = pid;
	return len;
}

int proc_real_uid(u32 tid, u32 *uid)
{
	char text[4096];
	int error = read_file(tid, "status", text, sizeof(text));

	return error ? error : status_real_uid(text, uid);
}

void proc_comm(u32 pid, struct comm *comm)
{
	char text[4 * COMM_LEN];

	*comm = (struct comm){ 0 };
	if (!read_file(pid, "comm", text, sizeof(text)))
		snprintf(comm->text, sizeof(comm->text), "%.*s", (int)strcspn(text, "\n"), text);
}

u64 proc_start_ticks(u32 tid)
{
	struct thread_times times;

	return proc_times(tid, &times) ? 0 : times.start_ticks;
}

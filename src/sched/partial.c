// SPDX-License-Identifier: GPL-2.0
/* Gives threads to the scheduler by their policy and takes them back, found through /proc.
 * Nice values stay what they are. */
#include "partial.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/process.h"

enum { POLICY_EXT = 7 };

struct search {
	bool takes_back;
	u32 found;
};

int partial_give(u32 pid)
{
	struct sched_param none = { 0 };

	return sched_setscheduler((pid_t)pid, POLICY_EXT, &none) ? -errno : 0;
}

static void look_at(void *data, u32 pid)
{
	struct search *search = data;
	struct sched_param none = { 0 };
	char path[32];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || (sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK) != POLICY_EXT)
			continue;
		search->found++;
		if (search->takes_back)
			sched_setscheduler(tid, SCHED_OTHER, &none);
	}
	if (tasks)
		closedir(tasks);
}

u32 partial_count(void)
{
	struct search search = { 0 };

	processes_each(look_at, &search);
	return search.found;
}

u32 partial_take_back(void)
{
	struct search search = { .takes_back = true };

	processes_each(look_at, &search);
	return search.found;
}

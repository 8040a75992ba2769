// SPDX-License-Identifier: GPL-2.0
/* Gives threads to the scheduler by their policy and takes them back, found through /proc.
 * Nice values stay what they are. A journal of one line says while they are given. */
#include "sched_ext_policy.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/process.h"
#include "journal_file.h"

enum { POLICY_EXT = 7, PASSES = 4 };
#define JOURNAL_NAME "partial.journal"
#define JOURNAL_LINE "policy ext end\n"

struct search {
	bool takes_back;
	u32 found, refused;
};

static struct journal_file journal = { .fd = -1 };

int sched_ext_policy_give(u32 pid)
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
		if (search->takes_back && sched_setscheduler(tid, SCHED_OTHER, &none) && errno != ESRCH)
			search->refused++;
	}
	/* What can't be looked at may have some left. */
	if (tasks)
		closedir(tasks);
	else if (errno != ENOENT && errno != ESRCH)
		search->refused++;
}

u32 sched_ext_policy_count(void)
{
	struct search search = { 0 };

	processes_each(look_at, &search);
	return search.found;
}

/* Threads that are started meanwhile are found by the next pass. */
static struct search take_back_all(void)
{
	struct search search = { .takes_back = true }, pass;

	for (int i = 0; i < PASSES; i++) {
		pass = (struct search){ .takes_back = true };
		if (processes_each(look_at, &pass))
			pass.refused++;
		search.found += pass.found - (pass.refused < pass.found ? pass.refused : pass.found);
		search.refused = pass.refused;
		if (!pass.found)
			break;
	}
	return search;
}

int sched_ext_policy_begin(struct reason *why)
{
	int error = journal_file_open(&journal, JOURNAL_NAME, 1, why);

	if (error)
		return error;
	error = journal_file_replace(&journal, JOURNAL_LINE, strlen(JOURNAL_LINE), 1);
	if (error) {
		reason_set(why, "the journal cannot be written: %s", strerror(-error));
		journal_file_close(&journal, 1);
	}
	return error;
}

u32 sched_ext_policy_end(void)
{
	struct search search = take_back_all();

	journal_file_close(&journal, !search.refused);
	return search.refused;
}

int sched_ext_policy_undo(size_t *stuck, struct reason *why)
{
	struct journal_file left;
	struct search search = { 0 };
	char line[sizeof(JOURNAL_LINE)] = "";
	int error = journal_file_open(&left, JOURNAL_NAME, 0, why);
	ssize_t got;

	*stuck = 0;
	if (error)
		return error == -ENOENT ? 0 : error;
	got = pread(left.fd, line, sizeof(line) - 1, 0);
	if (got < 0) {
		error = -errno;
		reason_set(why, "%s: %s", left.path, strerror(-error));
		journal_file_close(&left, 0);
		return error;
	}
	if (!strcmp(line, JOURNAL_LINE))
		search = take_back_all();
	*stuck = search.refused;
	journal_file_close(&left, !search.refused);
	return (int)search.found;
}

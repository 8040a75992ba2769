// SPDX-License-Identifier: GPL-2.0
/* The parts of the sched sensor that are lists and look-ups: which of its programs can be missed, and which control
 * group a filter means. */
#include "sched_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/system.h"
#include "sched.h"

const struct load_optional sched_optional[] = {
	{ "on_sched_waking", SCHED_LOSS_INTERRUPTS },
	{ "__preempt_count", SCHED_LOSS_INTERRUPTS },
	{ "pcpu_hot", SCHED_LOSS_INTERRUPTS },
	{ "on_sched_waking_blind", "who wakes a thread is not known" },
	{ "on_sched_wakeup", "wake-ups and the waits after them are not seen" },
	{ "on_sched_wakeup_new", "the first wait of a new thread is not seen" },
	{ "on_sched_migrate_task", "moves between CPUs are not seen" },
	{ "on_sched_process_fork", "threads that begin later are not seen" },
	{ "on_task_rename", "a thread that changes its name keeps the old one" },
	{ "on_sched_process_exec",
	  "a program that is started by another than its process's first thread is not followed" },
	{ "on_cpuhp_enter", "moves away from a CPU that goes offline look like any other" },
	{ "assign", "what the program finds out about threads does not count for their roles" },
	{ "dump_roles", "roles are known only from events" },
	{ "take_waits", "whether acting makes threads wait longer is not seen" },
	{ "take_sums", "'tactus top' reads every switch, which costs more" },
	{ "ease", "who waits longer because of the scheduler gets no relief" },
	{ "learn_find_exe", "what kinds of threads were like before is neither used nor learned" },
	{ NULL, NULL },
};

/* A cgroup is known to the kernel by its number, which is its folder's inode, and by how deep it lies. */
static int find_cgroup(const char *path, struct filter_cgroup *cgroup, struct reason *why)
{
	char at[FILTER_PATH_SIZE], line[8];
	struct stat info;
	int error;

	snprintf(at, sizeof(at), "%s", path);
	if (stat(at, &info) < 0) {
		error = -errno;
		reason_set(why, "cgroup %.200s: %s", path, strerror(-error));
		return error;
	}
	cgroup->id = info.st_ino;
	/* Every cgroup but the topmost has cgroup.type: count the steps up to the one that has not. */
	for (cgroup->level = 0;; cgroup->level++) {
		size_t used = strlen(at);

		if (used + 32 > sizeof(at))
			return -ENAMETOOLONG;
		snprintf(at + used, sizeof(at) - used, "/cgroup.procs");
		if (access(at, F_OK) < 0) {
			reason_set(why, "%.200s: not a cgroup of version 2", path);
			return -EINVAL;
		}
		snprintf(at + used, sizeof(at) - used, "/cgroup.type");
		error = read_line_at(AT_FDCWD, at, line, sizeof(line));
		if (error == -ENOENT)
			return 0;
		snprintf(at + used, sizeof(at) - used, "/..");
	}
}

/* Every cgroup that one pattern means. */
static int add_cgroups(const char *pattern, struct sched_config *config, struct reason *why)
{
	char absolute[FILTER_PATH_SIZE + 32];
	glob_t found;
	int error = 0;

	snprintf(absolute, sizeof(absolute), "%s%s", pattern[0] == '/' ? "" : "/sys/fs/cgroup/", pattern);
	/* One that is no pattern comes back as it is, and then it is said what is wrong with it. */
	if (glob(absolute, GLOB_ONLYDIR | (strpbrk(pattern, "*?[") ? 0 : GLOB_NOCHECK), NULL, &found)) {
		reason_set(why, "no cgroup fits %.200s", pattern);
		return -ENOENT;
	}
	for (size_t i = 0; i < found.gl_pathc && !error; i++) {
		if (config->cgroups_len == FILTER_CGROUPS_MAX) {
			reason_set(why, "more than %d cgroups fit %.200s: name fewer", FILTER_CGROUPS_MAX, pattern);
			error = -E2BIG;
		} else {
			error = find_cgroup(found.gl_pathv[i], &config->cgroups[config->cgroups_len++], why);
		}
	}
	globfree(&found);
	return error;
}

int sched_find_cgroups(const struct filter *filter, struct sched_config *config, struct reason *why)
{
	int error = 0;

	for (u32 i = 0; i < filter->cgroups_len && !error; i++)
		error = add_cgroups(filter->cgroups[i], config, why);
	return error;
}

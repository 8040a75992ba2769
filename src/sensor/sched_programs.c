// SPDX-License-Identifier: GPL-2.0
/* The parts of the sched sensor that are lists and look-ups: which of its programs can be missed, and which control
 * group a filter means. */
#include "sched_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/system.h"

const struct load_optional sched_optional[] = {
	{ "on_sched_waking", "whether a thread or an interrupt wakes another is not known" },
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
	{ "dump_roles", "roles are known only as far as events told them" },
	{ "learn_find_exe", "what kinds of threads were like before is neither used nor learned" },
	{ NULL, NULL },
};

/* A cgroup is known to the kernel by its number, which is its folder's inode, and by how deep it lies. */
int sched_find_cgroup(const char *path, struct sched_config *config, struct reason *why)
{
	char absolute[512], line[8];
	struct stat info;
	int error;

	snprintf(absolute, sizeof(absolute), "%s%s", path[0] == '/' ? "" : "/sys/fs/cgroup/", path);
	if (stat(absolute, &info) < 0) {
		error = -errno;
		reason_set(why, "cgroup %.200s: %s", absolute, strerror(-error));
		return error;
	}
	config->cgroup_id = info.st_ino;
	/* Every cgroup but the topmost has cgroup.type: count the steps up to the one that has not. */
	for (config->cgroup_level = 0;; config->cgroup_level++) {
		size_t used = strlen(absolute);

		if (used + 32 > sizeof(absolute))
			return -ENAMETOOLONG;
		snprintf(absolute + used, sizeof(absolute) - used, "/cgroup.procs");
		if (access(absolute, F_OK) < 0) {
			reason_set(why, "%.200s: not a cgroup of version 2", path);
			return -EINVAL;
		}
		snprintf(absolute + used, sizeof(absolute) - used, "/cgroup.type");
		error = read_line_at(AT_FDCWD, absolute, line, sizeof(line));
		if (error == -ENOENT)
			return 0;
		snprintf(absolute + used, sizeof(absolute) - used, "/..");
	}
}

// SPDX-License-Identifier: GPL-2.0
/* A command in a group of its own is ended by its group. In front of a terminal it is in the group of whoever called
 * tactus, with others: there its descendants are looked for.
 */
#include "child_group.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "process.h"

enum { ANCESTORS_MAX = 64 };

struct family {
	pid_t root, group;
	int signal;
	bool found;
};

static bool is_in_front_of_a_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	bool is_so = fd >= 0 && tcgetpgrp(fd) == getpgrp();

	if (fd >= 0)
		close(fd);
	return is_so;
}

void child_group_enter(void)
{
	if (!is_in_front_of_a_terminal())
		setpgid(0, 0);
}

struct relations {
	char state;
	int parent, group;
};

/* The name may have any bytes, a ')' too: what follows the last one is numbers. */
static bool read_relations(pid_t pid, struct relations *relations)
{
	char path[32], line[512];
	const char *end;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	len = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[len] = '\0';
	end = line + len;
	while (end > line && *end != ')')
		end--;
	return sscanf(end, ") %c %d %d", &relations->state, &relations->parent, &relations->group) == 3;
}

static void signal_relative(void *data, u32 pid)
{
	struct family *family = data;
	struct relations of = { 0 };
	pid_t at = (pid_t)pid;

	if (!read_relations(at, &of) || of.group != family->group || of.state == 'Z')
		return;
	for (int i = 0; at > 1 && at != family->root && i < ANCESTORS_MAX; i++)
		at = read_relations(at, &of) ? of.parent : 0;
	if (at != family->root)
		return;
	family->found = true;
	if (family->signal)
		kill((pid_t)pid, family->signal);
}

bool child_group_signal(const struct child *child, int signal)
{
	struct family family = { .root = child->pid, .group = getpgrp(), .signal = signal };

	if (child->has_own_group)
		return !kill(-child->pid, signal);
	processes_each(signal_relative, &family);
	return family.found;
}

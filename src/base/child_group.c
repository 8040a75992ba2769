// SPDX-License-Identifier: GPL-2.0
/* A command in a group of its own is ended by its group. In front of a terminal it is in the group of whoever called
 * tactus, with others: there its descendants are looked for. They are stopped first: one that forks or ends while they
 * are looked for would leave a child that nobody finds.
 */
#include "child_group.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

enum { ANCESTORS_MAX = 64, MEMBERS_MAX = 4096, PASSES_MAX = 100, PASS_MS = 2 };

struct family {
	pid_t root, group;
	pid_t members[MEMBERS_MAX];
	size_t len;
	bool runs;
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

static void add_member(void *data, u32 pid)
{
	struct family *family = data;
	struct relations of = { 0 };
	pid_t at = (pid_t)pid;
	char state;

	if (!read_relations(at, &of) || of.group != family->group || of.state == 'Z' || family->len == MEMBERS_MAX)
		return;
	state = of.state;
	for (int i = 0; at > 1 && at != family->root && i < ANCESTORS_MAX; i++)
		at = read_relations(at, &of) ? of.parent : 0;
	if (at != family->root)
		return;
	family->members[family->len++] = (pid_t)pid;
	family->runs |= state != 'T' && state != 't';
}

static void find_members(struct family *family)
{
	family->len = 0;
	family->runs = false;
	processes_each(add_member, family);
}

static void signal_members(const struct family *family, int signal)
{
	for (size_t i = 0; i < family->len; i++)
		kill(family->members[i], signal);
}

bool child_group_signal(const struct child *child, int signal)
{
	static struct family family;
	struct timespec pass = { .tv_nsec = PASS_MS * 1000000L };

	if (child->has_own_group)
		return !kill(-child->pid, signal);
	family.root = child->pid;
	family.group = getpgrp();
	find_members(&family);
	if (!signal)
		return family.len > 0;
	for (int i = 0; family.runs && i < PASSES_MAX; i++) {
		signal_members(&family, SIGSTOP);
		nanosleep(&pass, NULL);
		find_members(&family);
	}
	signal_members(&family, signal);
	signal_members(&family, SIGCONT);
	return family.len > 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Reads whose a thread is from /proc, and keeps a record for each owner.
 * The owner of a file in /proc is no answer: a process can have them say root. */
#include "owners.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/hash.h"
#include "../base/owner.h"
#include "../base/proc.h"

enum { OWNERS_MOST = 512 };

struct owners {
	struct owner all[OWNERS_MOST];
	struct owner others[2]; /* users and groups that there was no room for */
	u32 len;
};

struct owners *owners_new(void)
{
	return calloc(1, sizeof(struct owners));
}

void owners_free(struct owners *owners)
{
	free(owners);
}

static ssize_t read_text(u32 tid, const char *name, char *text, size_t size)
{
	char path[48];
	ssize_t got;
	int fd, error;

	snprintf(path, sizeof(path), "/proc/%u/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, text, size - 1);
	error = got < 0 ? -errno : 0;
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return error ? error : got;
}

static u64 group_key(u32 tid)
{
	char text[4096], *path;
	size_t len;

	if (read_text(tid, "cgroup", text, sizeof(text)) <= 0)
		return 0;
	path = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text;
	if (!path)
		return 0;
	path += path == text ? 3 : 4;
	len = cgroup_top_len(path);
	return len ? hash_keyed(path, len) | 1 : 0;
}

static struct owner *find(struct owners *owners, u64 key, int is_group)
{
	struct owner *free_one = NULL;

	for (u32 i = 0; i < owners->len; i++) {
		struct owner *owner = &owners->all[i];

		if (owner->key == key && owner->is_group == is_group)
			return owner;
		/* Who owes something is remembered. */
		if (!owner->threads && owner->account.left_ns >= 0)
			free_one = owner;
	}
	if (!free_one && owners->len < OWNERS_MOST)
		free_one = &owners->all[owners->len++];
	if (!free_one)
		return &owners->others[is_group];
	*free_one = (struct owner){ .key = key, .is_group = is_group };
	return free_one;
}

int owners_find(struct owners *owners, u32 tid, struct owner **user, struct owner **group)
{
	u32 uid;
	u64 key;
	int error = process_charged_to(tid, &uid);

	*user = *group = NULL;
	if (error)
		return error;
	key = group_key(tid);
	*user = find(owners, uid, 0);
	(*user)->threads++;
	if (key) {
		*group = find(owners, key, 1);
		(*group)->threads++;
	}
	return 0;
}

static void fill(struct owner *owner, u32 cpus, u64 now_ns)
{
	urgency_fill(&owner->account, cpus, now_ns);
	owner->burnt_ns = 0;
}

void owners_fill(struct owners *owners, u32 cpus, u64 now_ns)
{
	for (u32 i = 0; i < owners->len; i++)
		fill(&owners->all[i], cpus, now_ns);
	for (u32 i = 0; i < 2; i++)
		fill(&owners->others[i], cpus, now_ns);
}

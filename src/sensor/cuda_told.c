// SPDX-License-Identifier: GPL-2.0
/* Reads the rings of programs that tell of their launches. Read, not mapped: a program may cut its file short at any
 * time. */
#include "cuda_told.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../model/detour.h"

enum { AT_ONCE = 1024, NAME_BYTES = 64 };

struct cuda_teller {
	char name[NAME_BYTES];
	int fd; /* -1: it tells nothing that can be read */
	u64 taken;
};

static bool add_launch(struct cuda_told *told, const struct event_cuda_launch *event)
{
	struct event_cuda_launch *launches;
	size_t room = told->room ? told->room * 2 : AT_ONCE;

	if (told->len == told->room) {
		launches = realloc(told->launches, room * sizeof(*launches));
		if (!launches)
			return false;
		told->launches = launches;
		told->room = room;
	}
	told->launches[told->len++] = *event;
	return true;
}

static off_t launch_offset(u64 turn)
{
	return (off_t)(DETOUR_COUNTS_BYTES + offsetof(struct detour_told, launches) +
		       turn % DETOUR_TOLD_LEN * sizeof(struct detour_launch));
}

/* Takes one stretch that does not go round the ring's end. Returns how far it came. */
static u64 read_stretch(struct cuda_told *told, const struct cuda_teller *teller, u64 until, u32 functions, bool all)
{
	static struct detour_launch some[AT_ONCE];
	u64 turn = teller->taken, len = until - turn, to_end = DETOUR_TOLD_LEN - turn % DETOUR_TOLD_LEN;
	struct event_cuda_launch event;
	ssize_t got;

	len = len > to_end ? to_end : len;
	len = len > AT_ONCE ? AT_ONCE : len;
	got = pread(teller->fd, some, len * sizeof(some[0]), launch_offset(turn));
	for (u64 i = 0; got > 0 && i < (u64)got / sizeof(some[0]); i++, turn++) {
		/* One that is still being written is waited for; a program that was killed never comes to it. */
		if (some[i].turn != turn + 1 && !all)
			break;
		if (detour_launch_read(&some[i], turn, functions, &event) && !add_launch(told, &event))
			break;
	}
	return turn;
}

static void read_teller(struct cuda_told *told, struct cuda_teller *teller, u32 functions, bool all)
{
	off_t ring = DETOUR_COUNTS_BYTES;
	u64 begun = 0, turn;

	if (pread(teller->fd, &begun, sizeof(begun), ring + (off_t)offsetof(struct detour_told, begun)) !=
		    sizeof(begun) ||
	    begun - teller->taken > DETOUR_TOLD_LEN)
		return;
	while (teller->taken != begun) {
		turn = read_stretch(told, teller, begun, functions, all);
		if (turn == teller->taken)
			break;
		teller->taken = turn;
	}
	if (pwrite(teller->fd, &teller->taken, sizeof(teller->taken),
		   ring + (off_t)offsetof(struct detour_told, taken)) < 0)
		return;
}

static void meet_teller(struct cuda_told *told, const char *folder, const char *name)
{
	struct cuda_teller *tellers, *teller;
	char path[4096];
	struct stat seen;

	for (u32 i = 0; i < told->tellers_len; i++)
		if (!strcmp(told->tellers[i].name, name))
			return;
	tellers = strlen(name) < NAME_BYTES ? realloc(told->tellers, (told->tellers_len + 1) * sizeof(*tellers)) : NULL;
	if (!tellers)
		return;
	told->tellers = tellers;
	teller = &tellers[told->tellers_len];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	*teller = (struct cuda_teller){ .fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) };
	snprintf(teller->name, sizeof(teller->name), "%s", name);
	if (teller->fd < 0 || fstat(teller->fd, &seen))
		return;
	/* Its room may not be there yet: then it is met the next time. */
	if (S_ISREG(seen.st_mode) && seen.st_size == DETOUR_TELLING_BYTES)
		told->tellers_len++;
	else
		close(teller->fd);
}

static int by_time(const void *a, const void *b)
{
	const struct event_cuda_launch *one = a, *other = b;

	return one->head.time_ns < other->head.time_ns ? -1 : one->head.time_ns > other->head.time_ns;
}

void cuda_told_collect(struct cuda_told *told, const char *folder, u32 functions, bool all)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t had;

	told->len -= told->taken;
	if (told->len)
		memmove(told->launches, told->launches + told->taken, told->len * sizeof(*told->launches));
	told->taken = 0;
	had = told->len;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			meet_teller(told, folder, entry->d_name);
	if (dir)
		closedir(dir);
	for (u32 i = 0; i < told->tellers_len; i++)
		read_teller(told, &told->tellers[i], functions, all);
	if (told->len > had)
		qsort(told->launches, told->len, sizeof(*told->launches), by_time);
}

const struct event_cuda_launch *cuda_told_take(struct cuda_told *told, u64 before_ns)
{
	if (told->taken == told->len || told->launches[told->taken].head.time_ns >= before_ns)
		return NULL;
	return &told->launches[told->taken++];
}

void cuda_told_free(struct cuda_told *told)
{
	for (u32 i = 0; i < told->tellers_len; i++)
		close(told->tellers[i].fd);
	free(told->tellers);
	free(told->launches);
}

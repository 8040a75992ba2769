// SPDX-License-Identifier: GPL-2.0
/* Reads the rings of programs that tell of their launches. Read, not mapped: what is there may change at any time. A
 * program has its own ring and no other, and what it tells is held in bounded room: it goes to the probe for the rest.
 */
#include "cuda_told.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../model/detour.h"

enum { AT_ONCE = 1024 };

static bool make_room(struct cuda_told *told)
{
	size_t room = told->room ? told->room * 2 : AT_ONCE;
	struct cuda_told_launch *launches;

	if (told->len < told->room)
		return true;
	launches = realloc(told->launches, room * sizeof(*launches));
	if (!launches)
		return false;
	told->launches = launches;
	told->room = room;
	return true;
}

static off_t launch_offset(u64 turn)
{
	return (off_t)(DETOUR_COUNTS_BYTES + offsetof(struct detour_told, launches) +
		       turn % DETOUR_TOLD_LEN * sizeof(struct detour_launch));
}

/* Takes one stretch that does not go round the ring's end. Returns how far it came. */
static u64 read_stretch(struct cuda_told *told, const struct cuda_ring *ring, u64 until,
			const struct cuda_told_wishes *wishes)
{
	static struct detour_launch some[AT_ONCE];
	u64 since_ns = ring->met_ns > told->given_until_ns ? ring->met_ns : told->given_until_ns, turn = ring->taken;
	u64 len = detour_stretch(until, turn, AT_ONCE);
	ssize_t got = pread(ring->fd, some, len * sizeof(some[0]), launch_offset(turn));
	u64 now_ns = wishes->clock();

	for (u64 i = 0; got > 0 && i < (u64)got / sizeof(some[0]) && told->len < wishes->most; i++, turn++) {
		/* One that is still being written is waited for; a program that was killed never comes to it. */
		if ((some[i].turn != turn + 1 && !wishes->all) || !make_room(told))
			break;
		told->launches[told->len].pid = ring->pid;
		if (detour_launch_read(&some[i], turn, wishes->functions, since_ns, now_ns,
				       &told->launches[told->len].event))
			told->len++;
	}
	return turn;
}

u64 cuda_told_read(struct cuda_told *told, struct cuda_ring *ring, const struct cuda_told_wishes *wishes)
{
	off_t at = DETOUR_COUNTS_BYTES;
	u64 begun = 0, turn;

	if (pread(ring->fd, &begun, sizeof(begun), at + (off_t)offsetof(struct detour_told, begun)) != sizeof(begun) ||
	    !detour_stretch(begun, ring->taken, AT_ONCE))
		return 0;
	while (ring->taken != begun) {
		turn = read_stretch(told, ring, begun, wishes);
		if (turn == ring->taken)
			break;
		ring->taken = turn;
	}
	/* Who can't be told finds no more room and goes to the probe. */
	if (pwrite(ring->fd, &ring->taken, sizeof(ring->taken), at + (off_t)offsetof(struct detour_told, taken)) < 0)
		return 0;
	return begun - ring->taken;
}

static int by_time(const void *a, const void *b)
{
	const struct cuda_told_launch *one = a, *other = b;
	u64 one_ns = one->event.head.time_ns, other_ns = other->event.head.time_ns;

	return one_ns < other_ns ? -1 : one_ns > other_ns;
}

void cuda_told_begin(struct cuda_told *told)
{
	told->len -= told->taken;
	if (told->len)
		memmove(told->launches, told->launches + told->taken, told->len * sizeof(*told->launches));
	told->taken = 0;
}

void cuda_told_end(struct cuda_told *told)
{
	if (told->len > told->taken)
		qsort(told->launches + told->taken, told->len - told->taken, sizeof(*told->launches), by_time);
}

const struct cuda_told_launch *cuda_told_take(struct cuda_told *told, u64 before_ns)
{
	if (before_ns != ~0ULL && before_ns > told->given_until_ns)
		told->given_until_ns = before_ns;
	if (told->taken == told->len || told->launches[told->taken].event.head.time_ns >= before_ns)
		return NULL;
	return &told->launches[told->taken++];
}

void cuda_told_free(struct cuda_told *told)
{
	free(told->launches);
}

// SPDX-License-Identifier: GPL-2.0
/* Reads the rings of programs that report their launches. Read, not mapped: what is there may change at any time. A
 * program has its own ring and no other, and what it reports is held in bounded room: it goes to the probe for the
 * rest.
 */
#include "cuda_reports.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/sort.h"
#include "../base/vec.h"
#include "../model/detour.h"

enum { AT_ONCE = 1024 };

static bool make_room(struct cuda_reports *reports)
{
	return vec_reserve(reports->launches, reports->room, reports->len + 1, AT_ONCE);
}

static off_t launch_offset(u64 sequence)
{
	return (off_t)(DETOUR_COUNTS_BYTES + offsetof(struct detour_reports, launches) +
		       sequence % DETOUR_REPORTS_LEN * sizeof(struct detour_launch));
}

/* Takes one stretch that does not go round the ring's end. Returns how far it came. */
static u64 read_stretch(struct cuda_reports *reports, const struct cuda_ring *ring, u64 until,
			const struct cuda_reports_wishes *wishes)
{
	static struct detour_launch some[AT_ONCE];
	u64 since_ns = ring->met_ns > reports->given_until_ns ? ring->met_ns : reports->given_until_ns,
	    sequence = ring->taken;
	u64 len = detour_stretch(until, sequence, AT_ONCE);
	ssize_t got = pread(ring->fd, some, len * sizeof(some[0]), launch_offset(sequence));
	u64 now_ns = wishes->clock();

	for (u64 i = 0; got > 0 && i < (u64)got / sizeof(some[0]) && reports->len < wishes->most; i++, sequence++) {
		/* One that is still being written is waited for; a program that was killed never comes to it. */
		if ((some[i].sequence != sequence + 1 && !wishes->all) || !make_room(reports))
			break;
		reports->launches[reports->len].pid = ring->pid;
		if (detour_launch_read(&some[i], sequence, wishes->functions, since_ns, now_ns,
				       &reports->launches[reports->len].event))
			reports->len++;
	}
	return sequence;
}

u64 cuda_reports_read(struct cuda_reports *reports, struct cuda_ring *ring, const struct cuda_reports_wishes *wishes)
{
	off_t at = DETOUR_COUNTS_BYTES;
	u64 begun = 0, sequence;

	if (pread(ring->fd, &begun, sizeof(begun), at + (off_t)offsetof(struct detour_reports, begun)) !=
		    sizeof(begun) ||
	    !detour_stretch(begun, ring->taken, AT_ONCE))
		return 0;
	while (ring->taken != begun) {
		sequence = read_stretch(reports, ring, begun, wishes);
		if (sequence == ring->taken)
			break;
		ring->taken = sequence;
	}
	/* Who can't be answered finds no more room and goes to the probe. */
	if (pwrite(ring->fd, &ring->taken, sizeof(ring->taken), at + (off_t)offsetof(struct detour_reports, taken)) < 0)
		return 0;
	return begun - ring->taken;
}

static int by_time(const void *a, const void *b)
{
	const struct cuda_reports_launch *one = a, *other = b;
	u64 one_ns = one->event.head.time_ns, other_ns = other->event.head.time_ns;

	return one_ns < other_ns ? -1 : one_ns > other_ns;
}

void cuda_reports_begin(struct cuda_reports *reports)
{
	reports->len -= reports->taken;
	if (reports->len)
		memmove(reports->launches, reports->launches + reports->taken,
			reports->len * sizeof(*reports->launches));
	reports->taken = 0;
}

void cuda_reports_end(struct cuda_reports *reports)
{
	if (reports->len > reports->taken)
		sort_rows(reports->launches + reports->taken, reports->len - reports->taken, sizeof(*reports->launches),
			  by_time);
}

const struct cuda_reports_launch *cuda_reports_first(struct cuda_reports *reports, u64 before_ns)
{
	if (before_ns != ~0ULL && before_ns > reports->given_until_ns)
		reports->given_until_ns = before_ns;
	if (reports->taken == reports->len || reports->launches[reports->taken].event.head.time_ns >= before_ns)
		return NULL;
	return &reports->launches[reports->taken];
}

void cuda_reports_drop(struct cuda_reports *reports)
{
	reports->taken++;
}

void cuda_reports_free(struct cuda_reports *reports)
{
	free(reports->launches);
}

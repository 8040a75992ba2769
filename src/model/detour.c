// SPDX-License-Identifier: GPL-2.0
/* Reads counts and launches. They are copied out first: bytes may lie anywhere, and the program may be writing them
 * still. */
#include "detour.h"

#include <errno.h>
#include <string.h>

enum { ANSWER_NS = NSEC_PER_MSEC, ANSWERS_AT_ONCE = 64 };

static u64 smaller(u64 one, u64 other)
{
	return one < other ? one : other;
}

static u64 larger(u64 one, u64 other)
{
	return one > other ? one : other;
}

u64 detour_sum(u64 one, u64 other)
{
	return one > ~0ULL - other ? ~0ULL : one + other;
}

u64 detour_most_calls(u64 ns, u32 cpus)
{
	return cpus && ns > ~0ULL / cpus ? ~0ULL : ns * cpus;
}

int detour_counts_read(const void *bytes, size_t len, u64 most,
		       void (*take)(void *data, u32 number, const struct detour_row *row), void *data)
{
	const char *at = (const char *)bytes + sizeof(struct detour_counts);
	struct detour_counts head;
	struct detour_row row;
	int taken = 0;

	/* Without what may follow the rows. */
	if (len != DETOUR_COUNTS_BYTES)
		return -EINVAL;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != DETOUR_COUNTS_MAGIC || head.version != DETOUR_VERSION || head.len != DETOUR_ROWS)
		return -EINVAL;
	for (u32 i = 0; i < DETOUR_ROWS; i++) {
		memcpy(&row, at + i * sizeof(row), sizeof(row));
		if (row.used != 1)
			continue;
		row.calls = smaller(row.calls, most);
		most -= row.calls;
		/* They are not counted all at once. */
		row.sent = smaller(row.sent, row.calls);
		row.trapped = smaller(row.trapped, row.calls - row.sent);
		row.failed = smaller(row.failed, row.calls - row.sent - row.trapped);
		take(data, i, &row);
		taken++;
	}
	return taken;
}

void detour_seen_take(struct detour_seen *seen, const struct detour_row *row)
{
	seen->calls = larger(seen->calls, row->calls);
	seen->failed = larger(seen->failed, row->failed);
	/* What runs into a probe is seen to return there. */
	if (seen->is_whole)
		seen->returned = larger(seen->returned, row->calls - row->sent - row->trapped);
}

u64 detour_stretch(u64 begun, u64 taken, u64 most)
{
	u64 len = begun - taken;

	if (len > DETOUR_REPORTS_LEN)
		return 0;
	return smaller(smaller(len, DETOUR_REPORTS_LEN - taken % DETOUR_REPORTS_LEN), most);
}

bool detour_launch_read(const struct detour_launch *launch, u64 sequence, u32 functions, u64 since_ns, u64 until_ns,
			struct event_cuda_launch *event)
{
	if (launch->sequence != sequence + 1 || !launch->event.function || launch->event.function >= functions)
		return false;
	*event = launch->event;
	event->head.kind = EVENT_CUDA_LAUNCH;
	event->head.flags = EVENT_FLAG_ENTRY;
	event->head.cpu = 0;
	event->head.time_ns = larger(smaller(event->head.time_ns, until_ns), since_ns);
	return true;
}

bool detour_may_answer(u64 *paid_until_ns, u64 now_ns)
{
	if (*paid_until_ns > now_ns + ANSWERS_AT_ONCE * ANSWER_NS - ANSWER_NS)
		return false;
	*paid_until_ns = larger(*paid_until_ns, now_ns) + ANSWER_NS;
	return true;
}

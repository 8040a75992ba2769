// SPDX-License-Identifier: GPL-2.0
/* A short list: hardly ever is anybody in it.
 */
#include "holds.h"

#include "../../core/effect.h"

u64 holds_add(struct holds *holds, u32 pid, u64 start_ticks, u64 now_ns)
{
	struct hold *hold = &holds->all[0];
	u64 span_ns;

	for (u32 i = 0; i < HOLDS_MOST; i++) {
		struct hold *other = &holds->all[i];

		if (other->pid == pid && other->start_ticks == start_ticks) {
			hold = other;
			break;
		}
		if (other->until_ns < hold->until_ns)
			hold = other;
	}
	if (hold->pid != pid || hold->start_ticks != start_ticks)
		*hold = (struct hold){ .pid = pid, .start_ticks = start_ticks };
	span_ns = effect_hold_ns(hold->times++);
	hold->until_ns = now_ns + span_ns;
	if (hold->until_ns > holds->longest_ns)
		holds->longest_ns = hold->until_ns;
	return span_ns;
}

bool holds_has(const struct holds *holds, u32 pid, u64 now_ns)
{
	if (!pid || now_ns >= holds->longest_ns)
		return false;
	for (u32 i = 0; i < HOLDS_MOST; i++)
		if (holds->all[i].pid == pid && holds->all[i].until_ns > now_ns)
			return true;
	return false;
}

u32 holds_count(const struct holds *holds, u64 now_ns)
{
	u32 count = 0;

	for (u32 i = 0; i < HOLDS_MOST; i++)
		count += holds->all[i].pid && holds->all[i].until_ns > now_ns;
	return count;
}

// SPDX-License-Identifier: GPL-2.0
/* A short list: hardly ever is anybody in it.
 */
#include "bars.h"

#include "../../core/effect.h"

u64 bars_add(struct bars *bars, u32 pid, u64 start_ticks, u64 now_ns)
{
	struct bar *bar = &bars->all[0];
	u64 span_ns;

	for (u32 i = 0; i < BARS_MOST; i++) {
		struct bar *other = &bars->all[i];

		if (other->pid == pid && other->start_ticks == start_ticks) {
			bar = other;
			break;
		}
		if (other->until_ns < bar->until_ns)
			bar = other;
	}
	if (bar->pid != pid || bar->start_ticks != start_ticks)
		*bar = (struct bar){ .pid = pid, .start_ticks = start_ticks };
	span_ns = effect_bar_ns(bar->times++);
	bar->until_ns = now_ns + span_ns;
	if (bar->until_ns > bars->longest_ns)
		bars->longest_ns = bar->until_ns;
	return span_ns;
}

bool bars_has(const struct bars *bars, u32 pid, u64 now_ns)
{
	if (!pid || now_ns >= bars->longest_ns)
		return false;
	for (u32 i = 0; i < BARS_MOST; i++)
		if (bars->all[i].pid == pid && bars->all[i].until_ns > now_ns)
			return true;
	return false;
}

u32 bars_count(const struct bars *bars, u64 now_ns)
{
	u32 count = 0;

	for (u32 i = 0; i < BARS_MOST; i++)
		count += bars->all[i].pid && bars->all[i].until_ns > now_ns;
	return count;
}

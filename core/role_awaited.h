/* SPDX-License-Identifier: GPL-2.0 */
/* What a wake-up says of two threads: whether the one that is woken waited for the one that wakes it, and how urgency
 * goes from one to the other. Pure; the kernel half calls it at each wake-up of an urgent thread. */
#ifndef TACTUS_CORE_ROLE_AWAITED_H
#define TACTUS_CORE_ROLE_AWAITED_H

#include "role.h"

/* An urgent thread slept until this one woke it. */
core_fn void role_is_awaited(struct role_state *role, u32 depth_of_woken, u64 now_ns)
{
	u64 gap_ms = span_between(role->awaited_ns, now_ns) / NSEC_PER_MSEC;
	u8 depth = (u8)(depth_of_woken + 1);

	gap_ms = !role->awaited_ns ? 0 : gap_ms < AWAITED_GAP_MOST_MS ? gap_ms : AWAITED_GAP_MOST_MS;
	if (role->awaited_gap_ms)
		role->awaited_gap_ms += (u32)(gap_ms + 3) / 4 - role->awaited_gap_ms / 4;
	else
		role->awaited_gap_ms = (u32)gap_ms;
	role->awaited_ns = now_ns;
	role->awaited++;
	if (!role->awaited_depth_seen || depth < role->awaited_depth_seen)
		role->awaited_depth_seen = depth;
}

/* How a thread that is urgent was woken. */
struct wait_end {
	u64 now_ns;
	u32 group; /* that the waker is of, see awaited_group */
	u32 tid;
	u32 waiter_tid;
	u32 slept_us;
	u32 was_asked; /* the woken one had woken the waker last */
};

core_fn u32 slept_us(const struct thread_account *account, u64 now_ns)
{
	u64 us = account->run_since_ns ? 0 : span_between(account->charged_ns, now_ns) / NSEC_PER_USEC;

	return us < EDGE_SLEPT_MOST_US ? (u32)us : EDGE_SLEPT_MOST_US;
}

/* An urgent thread is woken, by `waker` or by something else (NULL). Whether it waited for that one: not where a more
 * urgent one asks it for something, nor where it is asked by such at times and has nothing to answer now: then it
 * waited for anybody who wants something of it. */
core_step int role_wait_ends(struct role_state *role, struct role_state *waker, const struct wait_end *end)
{
	u32 depth, waker_depth;
	int found;

	if (!role || !end)
		return 0;
	edges_wait(&role->edges, end->slept_us, end->now_ns);
	depth = role_urgency_depth(role);
	if (!waker || depth >= AWAITED_DEPTH_MOST)
		return 0;
	if (waker->owes_tid == end->waiter_tid)
		waker->owes_tid = 0;
	waker_depth = role_urgency_depth(waker);
	if (waker_depth < depth) {
		role->owes_tid = end->tid;
		role->asked_ns = end->now_ns;
		return 0;
	}
	if (end->was_asked && waker_depth > depth)
		waker->asked_ns = end->now_ns;
	if (!end->group || (depth && !role->owes_tid && role->asked_ns &&
			    end->now_ns - role->asked_ns < ASKED_LASTS_S * (u64)NSEC_PER_SEC))
		return 0;
	found = edge_ended(&role->edges, &waker->turn, end->group, (u64)end->waiter_tid << 32 | end->tid,
			   end->slept_us);
	if (end->group == GROUP_SIBLINGS && found == EDGE_WEAK)
		return 0;
	waker->in_turn |= found == EDGE_IN_TURN;
	role_is_awaited(waker, depth, end->now_ns);
	return 0;
}

/* A thread is woken by another of its process. */
core_fn void role_is_asked_within(struct role_state *role, const struct role_state *waker)
{
	role->asked += role_urgency_depth(waker) < AWAITED_DEPTH_MOST;
}

/* Whether who is woken by this thread, while an input event is near, is told of it: people wait for what that one does
 * then, as an urgent thread waits for who wakes it. */
core_fn int role_tells_of_input(const struct role_state *waker)
{
	return waker->answer.tier == TIER_LATENCY_CRITICAL && input_reads_now(&waker->facts) >= LEAST_WAKES;
}

#endif

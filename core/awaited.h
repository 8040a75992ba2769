/* SPDX-License-Identifier: GPL-2.0 */
/* Whom an urgent thread waits for: its edges to a few groups of threads, each with its weight among the thread's latest
 * waits, its age, and who of the group ended them. Kept with the thread that waits, so they go when that one goes, and
 * nobody can make them more. Pure; core/role.h says what follows for who is waited for. */
#ifndef TACTUS_CORE_AWAITED_H
#define TACTUS_CORE_AWAITED_H

#include "account.h"

enum {
	EDGES = 4,	/* a power of two; the lightest makes room */
	EDGE_SHIFT = 5, /* a weight is of the latest 32 waits or so */
	EDGE_WAIT = 1 << 10,
	EDGE_SLEPT_MOST_US = 1000000, /* a longer sleep counts as so much */
	EDGE_STRONG_PERCENT = 20,     /* of the waits, or of the time they took */
	EDGE_KEEPS_PERCENT = 10,      /* a strong edge stays so until it has less */
	EDGE_WAITS_LEAST = 8,	      /* fewer show nothing */
	EDGE_FAIR = 4,	   /* whose turn comes so many times less often than it would by turns is no part of a pool */
	ASKED_LASTS_S = 5, /* who was asked by an urgent thread waits to be asked again for so long */
};
#define EDGE_TURN_NS (5ull * NSEC_PER_SEC) /* an edge dies after one to two of these without a wait */

struct edge {
	u32 group;	    /* see awaited_group; 0: there is no such edge */
	u32 waits;	    /* that the group ended */
	u32 often;	    /* the same among the latest of all */
	u32 slept_us;	    /* how long these took */
	u64 members;	    /* who ended them in this turn, a bit each by tid, */
	u64 members_before; /* and in the turn before */
};

struct edges {
	u64 turned_ns;
	u32 often; /* all waits, as in struct edge */
	u32 slept_us;
	u32 strong; /* a bit for each edge */
	u32 unused;
	struct edge to[EDGES];
};

/* Where a thread stands in a group that another one waits for. */
struct edge_turn {
	u32 waiter_tid;
	u32 waits; /* of that edge, when it last ended one */
};

/* What binds two threads. */
struct kin {
	u32 pid;
	u32 parent_pid;
};

/* Groups of threads, as the one that they wake sees them. */
enum {
	GROUP_NONE,
	GROUP_OWN = 1 << 28,
	GROUP_PARENT = 2 << 28,
	GROUP_CHILDREN = 3 << 28,
	GROUP_SIBLINGS = 4 << 28,
	GROUP_OTHER = 5 << 28, /* and the process */
	GROUP_PID_MASK = (1 << 28) - 1,
	INIT_PID = 1,
};

/* What one that is woken has to do with who wakes it: the group that the waker is of, 0 for a stranger. They belong
 * together by process, as parent and child, or where the woken one had woken the waker before: it asked and got an
 * answer. Children of one parent may hand things on to each other, as a shell's pipeline does; who was left to init has
 * no parent. */
core_fn u32 awaited_group(struct kin woken, struct kin waker, int was_asked)
{
	if (waker.pid == woken.pid)
		return GROUP_OWN;
	if (waker.parent_pid == woken.pid)
		return GROUP_CHILDREN;
	if (woken.parent_pid == waker.pid)
		return GROUP_PARENT;
	if (was_asked)
		return GROUP_OTHER | (waker.pid & GROUP_PID_MASK);
	if (waker.parent_pid == woken.parent_pid && woken.parent_pid > INIT_PID)
		return GROUP_SIBLINGS;
	return GROUP_NONE;
}

core_fn u32 count_bits(u64 bits)
{
	bits -= bits >> 1 & 0x5555555555555555ull;
	bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (u32)(bits * 0x0101010101010101ull >> 56);
}

core_fn u64 edge_bit_of(u32 tid)
{
	return 1ull << ((tid * 0x9e3779b1u) >> 26);
}

/* The thread is woken, by whomever: what it waited for before counts less. */
core_step int edges_wait(struct edges *edges, u32 slept_us, u64 now_ns)
{
	int turns;

	if (!edges)
		return 0;
	turns = span_between(edges->turned_ns, now_ns) >= EDGE_TURN_NS;
	slept_us = slept_us < EDGE_SLEPT_MOST_US ? slept_us : EDGE_SLEPT_MOST_US;
	edges->often += EDGE_WAIT - (edges->often >> EDGE_SHIFT);
	edges->slept_us += slept_us - (edges->slept_us >> EDGE_SHIFT);
	for (u32 i = 0; i < EDGES; i++) {
		struct edge *edge = &edges->to[i];

		edge->often -= edge->often >> EDGE_SHIFT;
		edge->slept_us -= edge->slept_us >> EDGE_SHIFT;
		if (!turns)
			continue;
		edge->members_before = edge->members;
		edge->members = 0;
		if (!edge->members_before) {
			edge->group = edge->waits = edge->often = edge->slept_us = 0;
			edges->strong &= ~(1u << i);
		}
	}
	if (turns)
		edges->turned_ns = now_ns;
	return 0;
}

/* The edge to a group: a new one in the place of the lightest, if there is none. */
core_fn u32 edge_place(struct edges *edges, u32 group)
{
	u32 place = 0, least = ~0u;

	for (u32 i = 0; i < EDGES; i++) {
		u32 often = edges->to[i].group == group ? 0 : edges->to[i].often + 1;

		if (often < least) {
			least = often;
			place = i;
		}
	}
	place &= EDGES - 1;
	if (edges->to[place].group != group) {
		edges->to[place] = (struct edge){ .group = group };
		edges->strong &= ~(1u << place);
	}
	return place;
}

core_fn u32 edge_percent(u32 part, u32 whole)
{
	return whole ? (u32)((u64)part * 100 / whole) : 0;
}

core_fn int edge_is_strong(const struct edges *edges, u32 place)
{
	const struct edge *edge = &edges->to[place & (EDGES - 1)];
	u32 often = edge_percent(edge->often, edges->often), slept = edge_percent(edge->slept_us, edges->slept_us);
	u32 least = edges->strong >> place & 1 ? EDGE_KEEPS_PERCENT : EDGE_STRONG_PERCENT;

	return edge->waits >= EDGE_WAITS_LEAST && (often >= least || slept >= least);
}

/* What the end of a wait says of who ended it. */
enum { EDGE_WEAK, EDGE_STRONG, EDGE_IN_TURN };

/* A wait that edges_wait has counted was ended by that thread of that group. In turn: its group is waited for time and
 * again, and this thread does its part of that, however many share it. */
core_step int edge_ended(struct edges *edges, struct edge_turn *turn, u32 group, u64 waiter_and_tid, u32 slept_us)
{
	u32 waiter_tid = (u32)(waiter_and_tid >> 32), tid = (u32)waiter_and_tid, place, waits, is_known;
	struct edge *edge;

	if (!edges || !turn)
		return EDGE_WEAK;
	place = edge_place(edges, group);
	edge = &edges->to[place & (EDGES - 1)];
	edge->waits++;
	edge->often += EDGE_WAIT;
	edge->slept_us += slept_us < EDGE_SLEPT_MOST_US ? slept_us : EDGE_SLEPT_MOST_US;
	edge->members |= edge_bit_of(tid);
	waits = edge->waits - turn->waits;
	is_known = turn->waiter_tid == waiter_tid;
	turn->waiter_tid = waiter_tid;
	turn->waits = edge->waits;
	if (!edge_is_strong(edges, place)) {
		edges->strong &= ~(1u << place);
		return EDGE_WEAK;
	}
	edges->strong |= 1u << place;
	return is_known && waits <= EDGE_FAIR * count_bits(edge->members | edge->members_before) ? EDGE_IN_TURN
												 : EDGE_STRONG;
}

#endif

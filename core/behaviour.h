/* SPDX-License-Identifier: GPL-2.0 */
/* What a stretch of a thread's running, waiting and sleeping looks like, and what many of them add up to.
 * Pure; core/role.h weighs it against what hooks saw. */
#ifndef TACTUS_CORE_BEHAVIOUR_H
#define TACTUS_CORE_BEHAVIOUR_H

#include "account.h"
#include "event.h"
#include "period.h"

/* render: makes frames or other work for a GPU. */
enum role {
	ROLE_UNKNOWN,
	ROLE_RENDER,
	ROLE_INPUT,
	ROLE_AUDIO,
	ROLE_NETWORK,
	ROLE_COMPOSITOR,
	ROLE_BACKGROUND,
	ROLE_CPU_BOUND,
	ROLES
};

/* How a thread ran over a stretch of time. */
struct behaviour {
	u64 span_ns;
	u64 cpu_ns;
	u64 wait_ns; /* able to run and without a CPU */
	u64 wakeups;
	u64 gap_ns;	/* between wake-ups: moving average */
	u64 gap_dev_ns; /* and deviation from it */
	u64 periods;	/* wake-ups from outside its process; the timer that is found in them, see core/timer.h */
	u64 period_ns;
	u64 period_dev_ns;
	u64 told; /* of these wake-ups those by a thread, which no timer makes itself */
	u64 net_wakes;
	u64 frame_wakes;
	u64 serves;	    /* wake-ups by it of urgent threads of its process that work by a timer */
	u64 awaits;	    /* wake-ups by it of urgent threads that waited for it, see role_is_awaited */
	u64 asks;	    /* wake-ups of it by urgent threads of its process */
	u32 prio;	    /* as in core/event.h */
	u32 in_turn;	    /* it was its turn in a pool that an urgent thread waits for, see core/awaited.h */
	u32 awaited_gap_ms; /* between waits for it: moving average */
	u32 unused;
};

struct opinion {
	u32 role;
	u32 confidence; /* 0 to 100 */
};

#define ROLE_WAKEUPS_NEVER 0xffffffffu /* behaviour is not judged */

enum {
	ROLE_WAKEUPS_DEFAULT = 100,
	ROLE_WINDOW_NS = 500 * NSEC_PER_MSEC, /* behaviour is judged after so many wake-ups or so much time */
	ROLE_LEAST_SPAN_NS = 20 * NSEC_PER_MSEC,
	REGULAR_PERCENT = 20,	/* gaps that deviate by less are a period */
	EXACT_PERCENT = 5,	/* and by less than this an exact one */
	PRIO_HINTED = 112,	/* nice -9: what hints give, which says nothing of the thread itself */
	PRIO_URGENT_LAST = 111, /* nice -10 */
	DEMAND_BOUND_PERCENT = 70,
	BURST_BOUND_NS = 10 * NSEC_PER_MSEC,
	PERIOD_FRAME_LEAST_NS = 4 * NSEC_PER_MSEC,
	PERIOD_FRAME_MOST_NS = 45 * NSEC_PER_MSEC,
	PERIOD_SOUND_MOST_NS = 60 * NSEC_PER_MSEC,
	PERIOD_RARE_NS = 100 * NSEC_PER_MSEC,
	TIMELY_SHARE_PERCENT = 30,
	SOUND_SHARE_PERCENT = 12, /* of a period: a sound thread works less, a render thread more */
	SOUND_WRITES_ENOUGH = 8,
	SOUND_SENT_LEAST_NS = 80 * NSEC_PER_MSEC,
	SOUND_SENT_MOST_NS = 800 * NSEC_PER_MSEC,
	MOSTLY_PERCENT = 60,
	CROWDED_PERCENT = 30,
	SPARE_DEMAND_PERCENT = 10,
	LEAST_WAKES = 8,		  /* fewer show no period */
	AWAITED_LEAST = 4,		  /* waits of urgent threads for this one, in a stretch */
	AWAITED_PERCENT = 20,		  /* of its wake-ups */
	ASKED_PERCENT = 33,		  /* of its wake-ups: a barrier wakes it for its end too */
	AWAITED_PARTS = 100,		  /* of a window */
	AWAITED_FADES = 8,		  /* an eighth of it goes in a window without */
	AWAITED_GAP_MOST_MS = 1000,	  /* of one that is waited for seldom, such a window is two gaps */
	NET_TURN_NS = 10 * NSEC_PER_MSEC, /* the longest tick of a kernel */
};

core_fn struct opinion opinion_of(u32 role, u32 confidence)
{
	struct opinion opinion = { role, confidence };

	return opinion;
}

core_fn u64 percent_of(u64 part, u64 whole)
{
	return whole ? part * 100 / whole : 0;
}

/* Whether the thread wakes by a timer. */
core_fn int behaviour_is_regular(const struct behaviour *seen)
{
	return seen->wakeups >= LEAST_WAKES && seen->gap_ns &&
	       percent_of(seen->gap_dev_ns, seen->gap_ns) <= REGULAR_PERCENT;
}

/* Whether a timer is found in the wake-ups from outside, however often its own process wakes it in between. */
core_fn int behaviour_has_timer(const struct behaviour *seen)
{
	return seen->periods >= LEAST_WAKES && seen->period_ns && seen->period_ns <= PERIOD_FRAME_MOST_NS &&
	       percent_of(seen->period_dev_ns, seen->period_ns) <= EXACT_PERCENT;
}

/* A thread that waits for a CPU most of the time cannot show what it is. */
core_fn int behaviour_is_hindered(const struct behaviour *seen)
{
	return percent_of(seen->wait_ns, seen->span_ns) >= MOSTLY_PERCENT;
}

/* Whether it waits for a CPU for much of the time from one wake-up to the next, so that these may come as regularly as
 * threads get their turns: of forty that wake each other some always seem to work by a clock. The stretch says less: it
 * may have slept until there was something to do. */
core_fn int behaviour_is_crowded(const struct behaviour *seen)
{
	return percent_of(seen->wait_ns, seen->gap_ns * seen->wakeups) >= CROWDED_PERCENT;
}

/* Whether the timer that is found is one: what other processes hand to a thread in such a crowd comes regularly too. */
core_fn int behaviour_has_true_timer(const struct behaviour *seen)
{
	return behaviour_has_timer(seen) &&
	       (!behaviour_is_crowded(seen) || percent_of(seen->told, seen->periods) < MOSTLY_PERCENT);
}

/* Whether it wakes by a clock, by its regular wake-ups. In a crowd only a timer counts. */
core_fn int behaviour_shows_clock(const struct behaviour *seen)
{
	return behaviour_is_regular(seen) &&
	       (!(behaviour_is_hindered(seen) || behaviour_is_crowded(seen)) || behaviour_has_true_timer(seen));
}

/* Programs ask for the most urgent nice values for sound, where they may not have a realtime priority. */
core_fn int behaviour_is_urgent(const struct behaviour *seen)
{
	return seen->prio > PRIO_REALTIME_LAST && seen->prio <= PRIO_URGENT_LAST;
}

/* The period that a thread wakes by. The moving average is good while wake-ups are on time, and forgets a stall soon;
 * with late ones the mean over the stretch is better, since they even out. */
core_fn u64 behaviour_clock_ns(const struct behaviour *seen)
{
	return percent_of(seen->gap_dev_ns, seen->gap_ns) <= EXACT_PERCENT ? seen->gap_ns
									   : seen->span_ns / seen->wakeups;
}

/* What a thread that wakes by a timer and does little each time is for. */
core_fn struct opinion opinion_of_clock(const struct behaviour *seen)
{
	u64 clock_ns = behaviour_clock_ns(seen);

	if (behaviour_is_urgent(seen) && seen->gap_ns <= PERIOD_SOUND_MOST_NS)
		return opinion_of(ROLE_AUDIO, is_sound_period(clock_ns) ? 80 : 65);
	if (is_sound_period(clock_ns) || (clock_ns == seen->gap_ns && is_sound_timer(clock_ns)))
		return opinion_of(ROLE_AUDIO, 60);
	if (is_picture_period(clock_ns))
		return opinion_of(ROLE_RENDER, 50);
	if (seen->gap_ns > PERIOD_FRAME_MOST_NS)
		return opinion_of(ROLE_BACKGROUND, 50);
	return opinion_of(ROLE_UNKNOWN, 0);
}

/* What a thread that wakes by a timer is for, judged by how much of each period it works. */
core_fn struct opinion opinion_of_period(const struct behaviour *seen)
{
	u64 share = percent_of(seen->cpu_ns, seen->span_ns);

	if (is_input_period(seen->gap_ns) && is_input_period(seen->span_ns / seen->wakeups) &&
	    share < SOUND_SHARE_PERCENT * 2)
		return opinion_of(ROLE_INPUT, 55);
	if (share < SOUND_SHARE_PERCENT)
		return opinion_of_clock(seen);
	if (seen->gap_ns >= PERIOD_FRAME_LEAST_NS && seen->gap_ns <= PERIOD_FRAME_MOST_NS)
		return opinion_of(ROLE_RENDER, 55);
	return opinion_of(ROLE_UNKNOWN, 0);
}

/* What a stretch of behaviour looks like, names and hooks aside. */
core_fn struct opinion role_of_behaviour(const struct behaviour *seen)
{
	u64 demand = percent_of(seen->cpu_ns + seen->wait_ns, seen->span_ns);
	u64 burst_ns = seen->wakeups ? seen->cpu_ns / seen->wakeups : seen->cpu_ns;
	u64 period_ns = seen->wakeups ? seen->span_ns / seen->wakeups : seen->span_ns;

	if (seen->prio && seen->prio <= PRIO_REALTIME_LAST && demand < DEMAND_BOUND_PERCENT &&
	    period_ns < PERIOD_RARE_NS)
		return opinion_of(ROLE_AUDIO, behaviour_is_regular(seen) ? 90 : 75);
	if (seen->wakeups >= LEAST_WAKES && percent_of(seen->frame_wakes, seen->wakeups) >= MOSTLY_PERCENT)
		return opinion_of(ROLE_RENDER, 70);
	if (demand >= DEMAND_BOUND_PERCENT && (!seen->wakeups || burst_ns >= BURST_BOUND_NS))
		return opinion_of(ROLE_CPU_BOUND, demand >= 95 ? 90 : 75);
	if (behaviour_shows_clock(seen) && period_ns < PERIOD_RARE_NS)
		return opinion_of_period(seen);
	if (period_ns >= PERIOD_RARE_NS && demand < SPARE_DEMAND_PERCENT)
		return opinion_of(ROLE_BACKGROUND, 60);
	return opinion_of(ROLE_UNKNOWN, 0);
}

/* The role that behaviour gives over time. */
struct pattern {
	u8 role;
	u8 confidence;
	u8 net;	      /* whether most wake-ups are for sockets: 0 to 100, as confidence is */
	u8 calls;     /* how often it was judged, up to 255 */
	u8 busy;      /* whether it wakes often for little, as net is */
	u8 timely;    /* whether it wakes by a timer and does its work in a part of each period, as net is */
	u8 awaited;   /* whether urgent threads wait for it, as net is */
	u8 unawaited; /* for how long they have not, in parts of a window, since that was last less */
};

enum {
	PATTERN_MOST = 95,
	PATTERN_CONTRADICTED = 25, /* a contradiction costs so much, so a sure role takes several */
	PATTERN_DOUBTED = 12,
	PATTERN_GIVEN_UP = 35,
};

/* Confidence grows with agreement and falls with contradiction; only when little is left does the role change. */
core_step int pattern_learn_opinion(struct pattern *pattern, u32 role, u32 confidence)
{
	u32 cost = role == ROLE_UNKNOWN ? PATTERN_DOUBTED : PATTERN_CONTRADICTED;

	if (!pattern)
		return 0;
	if (pattern->calls < 255)
		pattern->calls++;
	if (role != ROLE_UNKNOWN && role == pattern->role) {
		u32 most = confidence + 15 < PATTERN_MOST ? confidence + 15 : PATTERN_MOST;

		if (pattern->confidence < most)
			pattern->confidence += (most - pattern->confidence + 3) / 4;
		return 0;
	}
	if (pattern->role != ROLE_UNKNOWN && pattern->confidence >= PATTERN_GIVEN_UP + cost) {
		pattern->confidence -= (u8)cost;
		return 0;
	}
	pattern->role = (u8)role;
	pattern->confidence = (u8)confidence;
	return 0;
}

core_fn void pattern_learn(struct pattern *pattern, struct opinion seen)
{
	pattern_learn_opinion(pattern, seen.role, seen.confidence);
}

core_step int pattern_learn_role(struct pattern *pattern, const struct behaviour *seen)
{
	if (pattern && seen)
		pattern_learn(pattern, role_of_behaviour(seen));
	return 0;
}

/* Names the turn in which a thread uses the network, so that many uses in one turn count once: what follows a wake-up,
 * or a tick of what lasts longer, since a thread with enough to do never sleeps. */
core_fn u64 net_turn(u64 wakeups, u64 ticks)
{
	return (wakeups + 1) << 32 | (ticks & 0xffffffff);
}

/* Whether sockets are what the thread wakes for. */
core_fn int behaviour_is_net(const struct behaviour *seen)
{
	u64 long_turns = seen->cpu_ns / NET_TURN_NS;
	u64 turns = seen->wakeups > long_turns ? seen->wakeups : long_turns;
	/* A timer faster than any frame's paces who may send only so much a second: most turns are for looking whether
	 * it is time. */
	int is_paced = behaviour_is_regular(seen) && behaviour_clock_ns(seen) < PERIOD_FRAME_LEAST_NS;

	/* One that works by a timer, as a game's loop, wakes for the timer, whatever it sends each time. */
	if (behaviour_is_regular(seen) && opinion_of_period(seen).role == ROLE_RENDER)
		return 0;
	return seen->net_wakes * (is_paced ? 4 : 2) >= turns;
}

core_step int pattern_learn_net(struct pattern *pattern, const struct behaviour *seen)
{
	if (!pattern || !seen || (!seen->wakeups && seen->cpu_ns < NET_TURN_NS))
		return 0;
	if (seen->net_wakes && behaviour_is_net(seen))
		pattern->net += (u8)((101u - pattern->net) / 2);
	else
		pattern->net -= pattern->net / 4u;
	return 0;
}

/* Threads of a sound server wake several times in a period, so that no timer is to be seen. */
core_step int pattern_learn_busy(struct pattern *pattern, const struct behaviour *seen)
{
	int often;

	if (!pattern || !seen)
		return 0;
	often = seen->wakeups >= LEAST_WAKES && seen->span_ns / seen->wakeups <= PERIOD_SOUND_MOST_NS;
	if (often && percent_of(seen->cpu_ns, seen->span_ns) < SOUND_SHARE_PERCENT)
		pattern->busy += (u8)((101u - pattern->busy) / 2);
	else
		pattern->busy -= (pattern->busy + 3u) / 4u;
	return 0;
}

/* Whether an urgent thread waits for what this one does, nearly whenever it does something: then it is late if this one
 * is. */
core_fn int behaviour_serves(const struct behaviour *seen)
{
	return seen->wakeups >= LEAST_WAKES && percent_of(seen->serves, seen->wakeups) >= MOSTLY_PERCENT;
}

/* Whether urgent threads wait for it: often; or for a pool in which its turn comes, however seldom that is among many,
 * and what it does is for them. Who meets others at a barrier may be the last of them once in a while only, but is
 * asked each time. */
core_fn int behaviour_is_awaited(const struct behaviour *seen)
{
	u64 share = percent_of(seen->awaits, seen->wakeups);

	if (share >= AWAITED_PERCENT)
		return seen->in_turn || seen->awaits >= AWAITED_LEAST;
	return seen->in_turn && percent_of(seen->asks, seen->wakeups) >= ASKED_PERCENT;
}

/* How long it takes until a part of having been waited for is gone: half a second, or twice the time from one wait to
 * the next, up to two seconds. */
core_fn u64 awaited_window_ns(u32 gap_ms)
{
	u64 window_ns = (u64)(gap_ms < AWAITED_GAP_MOST_MS ? gap_ms : AWAITED_GAP_MOST_MS) * NSEC_PER_MSEC * 2;

	return window_ns > ROLE_WINDOW_NS ? window_ns : ROLE_WINDOW_NS;
}

/* Urgent threads wait for it time and again. It keeps that for some seconds after the last of them: the queue between
 * them may be full for a while, and who loses his urgency then is late as soon as it is empty. One that gets no CPU
 * keeps it longer, and so does one of many that take turns. It goes by time and not by stretches, of which a thread
 * that wakes often has fifty a second. */
core_step int pattern_learn_awaited(struct pattern *pattern, const struct behaviour *seen)
{
	u64 window_ns;
	u32 parts;

	if (!pattern || !seen)
		return 0;
	if (behaviour_is_awaited(seen)) {
		pattern->awaited += (u8)((101u - pattern->awaited) / 2);
		pattern->unawaited = 0;
		return 0;
	}
	window_ns = awaited_window_ns(seen->awaited_gap_ms);
	parts = seen->span_ns < window_ns ? (u32)(seen->span_ns / (window_ns / AWAITED_PARTS)) : AWAITED_PARTS;
	parts = pattern->unawaited + (behaviour_is_hindered(seen) ? parts / 4 : parts);
	if (parts >= AWAITED_PARTS) {
		pattern->awaited -= (pattern->awaited + AWAITED_FADES - 1u) / AWAITED_FADES;
		parts -= AWAITED_PARTS;
	}
	pattern->unawaited = (u8)parts;
	return 0;
}

/* A thread that works by a timer, or for one that does, wants to run on time, whatever it is for. Not to be on time for
 * want of a CPU does not count against it, or it would never get one. */
core_step int pattern_learn_timely(struct pattern *pattern, const struct behaviour *seen)
{
	int by_clock;

	if (!pattern || !seen)
		return 0;
	by_clock = (behaviour_shows_clock(seen) && seen->gap_ns <= PERIOD_SOUND_MOST_NS) ||
		   behaviour_has_true_timer(seen) || behaviour_serves(seen);
	if (percent_of(seen->cpu_ns, seen->span_ns) >= TIMELY_SHARE_PERCENT)
		pattern->timely -= (pattern->timely + 3u) / 4u;
	else if (by_clock)
		pattern->timely += (u8)((101u - pattern->timely) / 2);
	else if (!behaviour_is_hindered(seen))
		pattern->timely -= (pattern->timely + 3u) / 4u;
	return 0;
}

#endif

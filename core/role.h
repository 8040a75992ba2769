/* SPDX-License-Identifier: GPL-2.0 */
/* What a thread is for: from facts that hooks saw and from how it runs, one answer with its evidence and confidence.
 * Pure: the kernel half decides by these functions where the facts arrive, the tests on behaviour that was recorded. */
#ifndef TACTUS_CORE_ROLE_H
#define TACTUS_CORE_ROLE_H

#include "account.h"
#include "event.h"
#include "period.h"
#include "tier.h"

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

/* Where an answer comes from, the weaker before the stronger. io: it reads an input device, feeds a sound card or
 * server, or serves sockets. */
enum evidence {
	EVIDENCE_NONE,
	EVIDENCE_NAME,
	EVIDENCE_LEARNED,
	EVIDENCE_RUNTIME,
	EVIDENCE_IO,
	EVIDENCE_GPU, /* it submitted to a GPU, or it presents, or others present to it */
	EVIDENCE_WINE,
	EVIDENCE_USER,
	EVIDENCES
};

/* What is known of a thread's whole process. */
enum {
	PROCESS_GAME = 1 << 0,
	PROCESS_WINE = 1 << 1, /* runs a Windows program */
	PROCESS_COMPOSITOR = 1 << 2,
	PROCESS_SOUND_SERVER = 1 << 3,
	PROCESS_SOUND_CLIENT = 1 << 4, /* has a sound card open, or a connection to a sound server */
	PROCESS_HELPER = 1 << 5,       /* of a game: launcher, crash reporter, overlay */
	PROCESS_PRESENTED_TO = 1 << 6, /* others were seen to present to it: a compositor by deed, not by name */
};

/* role_facts.has */
enum {
	HAS_WINE_PRIORITY = 1 << 0,
	HAS_FIRST_THREAD = 1 << 1, /* it is its process's first thread */
	HAS_KERNEL_THREAD = 1 << 2,
	HAS_LEARNED = 1 << 3, /* something was predicted of its kind, at least a tier */
};

enum {
	WINE_TIME_CRITICAL = 15, /* THREAD_PRIORITY_TIME_CRITICAL, and 16 to 31 of the realtime class */
	WINE_HIGHEST = 2,
	WINE_BELOW_NORMAL = -1,
};

enum present_api { PRESENT_NONE, PRESENT_GLX, PRESENT_EGL, PRESENT_VULKAN, PRESENT_WAYLAND, PRESENT_X11, PRESENT_APIS };

enum input_kind {
	INPUT_NONE,
	INPUT_MOUSE,
	INPUT_KEYBOARD,
	INPUT_PAD,
	INPUT_TOUCH,
	INPUT_TABLET,
	INPUT_OTHER,
	INPUT_KINDS
};

/* What hooks saw of one thread. A hook adds to its own fields and calls role_decide. */
struct role_facts {
	u32 gpu_submits;
	u32 presents;
	u32 input_reads;  /* wake-ups by, or reads from, an input device */
	u32 audio_writes; /* to a sound card or a sound server's socket */
	u32 net_wakes;	  /* turns in which it sent or received on a network socket, see net_turn */
	u32 frame_wakes;  /* wake-ups for a frame, by threads of its process */
	s16 wine_priority;
	u16 process;	/* PROCESS_* */
	u8 has;		/* HAS_* */
	u8 gpu_driver;	/* enum gpu_driver, of the last submit */
	u8 present_api; /* enum present_api, of the last present */
	u8 input_kind;	/* enum input_kind, of the last device read */
	u8 user_role;
	u8 name_role;
	u8 learned_role;
	u8 learned_confidence;
	u8 learned_tier; /* with HAS_LEARNED */
	u8 unused[3];
};

/* How a thread ran over a stretch of time. */
struct behaviour {
	u64 span_ns;
	u64 cpu_ns;
	u64 wait_ns; /* able to run and without a CPU */
	u64 wakeups;
	u64 gap_ns;	/* between wake-ups: moving average */
	u64 gap_dev_ns; /* and deviation from it */
	u64 net_wakes;
	u64 frame_wakes;
	u32 prio; /* as in core/event.h */
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
	SPARE_DEMAND_PERCENT = 10,
	LEAST_WAKES = 8,		  /* fewer tell no period */
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

/* Whether the thread wakes by a clock. */
core_fn int behaviour_is_regular(const struct behaviour *seen)
{
	return seen->wakeups >= LEAST_WAKES && seen->gap_ns &&
	       percent_of(seen->gap_dev_ns, seen->gap_ns) <= REGULAR_PERCENT;
}

/* Programs ask for the most urgent nice values for sound, where they may not have a realtime priority. */
core_fn int behaviour_is_urgent(const struct behaviour *seen)
{
	return seen->prio > PRIO_REALTIME_LAST && seen->prio <= PRIO_URGENT_LAST;
}

/* The clock that a thread wakes by. The moving average is good while wake-ups are on time, and forgets a stall soon;
 * with late ones the mean over the stretch is better, since they even out. */
core_fn u64 behaviour_clock_ns(const struct behaviour *seen)
{
	return percent_of(seen->gap_dev_ns, seen->gap_ns) <= EXACT_PERCENT ? seen->gap_ns
									   : seen->span_ns / seen->wakeups;
}

/* What a thread that wakes by a clock and does little each time is for. */
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

/* What a thread that wakes by a clock is for, told by how much of each period it works. */
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
	if (behaviour_is_regular(seen) && period_ns < PERIOD_RARE_NS)
		return opinion_of_period(seen);
	if (period_ns >= PERIOD_RARE_NS && demand < SPARE_DEMAND_PERCENT)
		return opinion_of(ROLE_BACKGROUND, 60);
	return opinion_of(ROLE_UNKNOWN, 0);
}

/* The role that behaviour gives over time. */
struct pattern {
	u8 role;
	u8 confidence;
	u8 net;	   /* whether most wake-ups are for sockets: 0 to 100, as confidence is */
	u8 calls;  /* how often it was judged, up to 255 */
	u8 busy;   /* whether it wakes often for little, as net is */
	u8 timely; /* whether it wakes by a clock and does its work in a part of each period, as net is */
};

enum {
	PATTERN_MOST = 95,
	PATTERN_CONTRADICTED = 25, /* a contradiction costs so much, so a sure role takes several */
	PATTERN_DOUBTED = 12,
	PATTERN_GIVEN_UP = 35,
};

/* Confidence grows with agreement and falls with contradiction; only when little is left does the role change. */
core_fn void pattern_learn(struct pattern *pattern, struct opinion seen)
{
	u32 cost = seen.role == ROLE_UNKNOWN ? PATTERN_DOUBTED : PATTERN_CONTRADICTED;

	if (pattern->calls < 255)
		pattern->calls++;
	if (seen.role != ROLE_UNKNOWN && seen.role == pattern->role) {
		u32 most = seen.confidence + 15 < PATTERN_MOST ? seen.confidence + 15 : PATTERN_MOST;

		if (pattern->confidence < most)
			pattern->confidence += (most - pattern->confidence + 3) / 4;
		return;
	}
	if (pattern->role != ROLE_UNKNOWN && pattern->confidence >= PATTERN_GIVEN_UP + cost) {
		pattern->confidence -= (u8)cost;
		return;
	}
	pattern->role = (u8)seen.role;
	pattern->confidence = (u8)seen.confidence;
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

	/* One that works by a clock, as a game's loop, wakes for the clock, whatever it sends each time. */
	if (behaviour_is_regular(seen) && opinion_of_period(seen).role == ROLE_RENDER)
		return 0;
	return seen->net_wakes * 2 >= turns;
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

/* Threads of a sound server wake several times in a period, so that no clock is to be seen. */
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

/* A thread that works by a clock wants to run on time, whatever it is for. */
core_step int pattern_learn_timely(struct pattern *pattern, const struct behaviour *seen)
{
	int by_clock;

	if (!pattern || !seen)
		return 0;
	by_clock = behaviour_is_regular(seen) && seen->gap_ns <= PERIOD_SOUND_MOST_NS;
	if (by_clock && percent_of(seen->cpu_ns, seen->span_ns) < TIMELY_SHARE_PERCENT)
		pattern->timely += (u8)((101u - pattern->timely) / 2);
	else
		pattern->timely -= (pattern->timely + 3u) / 4u;
	return 0;
}

struct role_answer {
	u8 role;
	u8 confidence;
	u8 evidence;
	u8 tier;
	u8 boost; /* by how many powers of two its deadline shrinks */
	u8 unused[3];
};

/* Windows priorities say how urgent a thread is. Only the top ones are in use for one thing alone: sound. */
core_fn struct opinion opinion_of_wine(const struct role_facts *facts)
{
	s32 priority = facts->wine_priority;

	if (!(facts->has & HAS_WINE_PRIORITY))
		return opinion_of(ROLE_UNKNOWN, 0);
	if (facts->presents || (facts->gpu_submits && priority > WINE_BELOW_NORMAL))
		return priority >= WINE_HIGHEST ? opinion_of(ROLE_RENDER, 100) : opinion_of(ROLE_UNKNOWN, 0);
	/* Urgent, and seen at what it is urgent for. */
	if (priority >= WINE_HIGHEST && (facts->audio_writes >= LEAST_WAKES || facts->input_reads >= LEAST_WAKES))
		return opinion_of(facts->audio_writes >= LEAST_WAKES ? ROLE_AUDIO : ROLE_INPUT, 100);
	if (priority >= WINE_TIME_CRITICAL)
		return opinion_of(ROLE_AUDIO, 95);
	if (priority >= WINE_HIGHEST)
		return opinion_of(ROLE_RENDER, 60);
	if (priority <= WINE_BELOW_NORMAL)
		return opinion_of(ROLE_BACKGROUND, 85);
	return opinion_of(ROLE_UNKNOWN, 0);
}

core_fn struct opinion opinion_of_gpu(const struct role_facts *facts)
{
	if ((facts->process & (PROCESS_COMPOSITOR | PROCESS_PRESENTED_TO)) &&
	    (facts->presents || facts->gpu_submits || (facts->has & HAS_FIRST_THREAD)))
		return opinion_of(ROLE_COMPOSITOR, facts->process & PROCESS_PRESENTED_TO ? 95 : 70);
	if (facts->presents)
		return opinion_of(ROLE_RENDER, facts->presents > 10 ? 100 : 95);
	if (facts->gpu_submits)
		return opinion_of(ROLE_RENDER, facts->gpu_submits > 10 ? 100 : 95);
	return opinion_of(ROLE_UNKNOWN, 0);
}

core_fn struct opinion opinion_of_io(const struct role_facts *facts, const struct pattern *pattern)
{
	if (facts->audio_writes >= SOUND_WRITES_ENOUGH)
		return opinion_of(ROLE_AUDIO, 90);
	if ((facts->process & (PROCESS_SOUND_SERVER | PROCESS_SOUND_CLIENT)) && pattern->role == ROLE_AUDIO)
		return opinion_of(ROLE_AUDIO, 90);
	if ((facts->process & PROCESS_SOUND_SERVER) && pattern->busy >= 75)
		return opinion_of(ROLE_AUDIO, 80);
	if (facts->input_reads >= LEAST_WAKES)
		return opinion_of(ROLE_INPUT, 90);
	if (pattern->net >= 50)
		return opinion_of(ROLE_NETWORK, pattern->net > 90 ? 90 : pattern->net);
	return opinion_of(ROLE_UNKNOWN, 0);
}

core_fn struct opinion opinion_of_runtime(const struct role_facts *facts, const struct pattern *pattern)
{
	/* The kernel's own threads serve everybody and are nobody's. */
	if (facts->has & HAS_KERNEL_THREAD)
		return opinion_of(ROLE_BACKGROUND, 80);
	return opinion_of(pattern->role, pattern->confidence);
}

enum {
	ROLE_TRUSTED = 50,
	TIMELY_ENOUGH = 50,
	LEARNED_CALLS = 4, /* a thread that was judged so often has shown what it is, whatever its kind is like */
};

core_fn u32 tier_of_role(u32 role)
{
	switch (role) {
	case ROLE_RENDER:
	case ROLE_INPUT:
	case ROLE_AUDIO:
	case ROLE_COMPOSITOR:
		return TIER_LATENCY_CRITICAL;
	case ROLE_BACKGROUND:
	case ROLE_CPU_BOUND:
		return TIER_BATCH;
	default:
		return TIER_INTERACTIVE;
	}
}

core_fn u32 boost_of_role(u32 role)
{
	switch (role) {
	case ROLE_INPUT:
	case ROLE_AUDIO:
		return 3;
	case ROLE_RENDER:
	case ROLE_COMPOSITOR:
		return 2;
	case ROLE_NETWORK:
		return 1;
	default:
		return 0;
	}
}

/* How urgently a role runs. One that is hardly believed changes nothing. */
core_fn void answer_urgency(struct role_answer *answer, const struct role_facts *facts, const struct pattern *pattern)
{
	u32 trusted = answer->confidence >= ROLE_TRUSTED ? answer->role : ROLE_UNKNOWN;

	/* The kernel's threads work for whoever asked, who may be urgent. */
	answer->tier = facts->has & HAS_KERNEL_THREAD ? TIER_INTERACTIVE : (u8)tier_of_role(trusted);
	answer->boost = (u8)boost_of_role(trusted);
	if (trusted == ROLE_UNKNOWN && pattern->timely >= TIMELY_ENOUGH && !(facts->has & HAS_KERNEL_THREAD)) {
		answer->tier = TIER_LATENCY_CRITICAL;
		answer->boost = 1;
	} else if ((facts->has & HAS_LEARNED) && pattern->calls < LEARNED_CALLS &&
		   (trusted == ROLE_UNKNOWN || answer->evidence <= EVIDENCE_LEARNED)) {
		answer->tier = facts->learned_tier;
		if (answer->evidence == EVIDENCE_NONE)
			answer->evidence = EVIDENCE_LEARNED;
		answer->boost = answer->tier != TIER_LATENCY_CRITICAL ? 0 : answer->boost ? answer->boost : 1;
	}
	if ((facts->has & HAS_WINE_PRIORITY) && facts->wine_priority >= WINE_HIGHEST && answer->boost)
		answer->boost++;
}

/* An answer while it is found. */
struct weighing {
	struct role_answer answer;
	u32 confidence;
	u32 is_settled; /* weaker evidence changes nothing any more */
};

core_fn void weigh(struct weighing *so_far, u32 evidence, struct opinion opinion)
{
	if (so_far->is_settled || opinion.role == ROLE_UNKNOWN || opinion.role >= ROLES)
		return;
	if (so_far->answer.role == ROLE_UNKNOWN) {
		so_far->answer.role = (u8)opinion.role;
		so_far->answer.evidence = (u8)evidence;
		so_far->confidence = opinion.confidence;
		return;
	}
	so_far->is_settled = 1;
	if (opinion.role == so_far->answer.role)
		so_far->confidence += (100 - so_far->confidence) / 4;
	else if (so_far->answer.evidence < EVIDENCE_GPU && so_far->confidence > 10 && evidence >= EVIDENCE_RUNTIME)
		so_far->confidence -= 10;
}

/* One answer out of all evidence: the strongest that has an opinion gives the role, the next one that has confirms or
 * weakens it. What somebody saw a thread do, or asked for, no pattern can weaken. Written out, not as a loop: the
 * verifiers of older kernels refuse what the compiler makes of that. */
core_fn struct role_answer role_decide(const struct role_facts *facts, const struct pattern *pattern)
{
	struct weighing found = { 0 };

	weigh(&found, EVIDENCE_USER, opinion_of(facts->user_role, 100));
	weigh(&found, EVIDENCE_WINE, opinion_of_wine(facts));
	weigh(&found, EVIDENCE_GPU, opinion_of_gpu(facts));
	weigh(&found, EVIDENCE_IO, opinion_of_io(facts, pattern));
	weigh(&found, EVIDENCE_RUNTIME, opinion_of_runtime(facts, pattern));
	weigh(&found, EVIDENCE_LEARNED, opinion_of(facts->learned_role, facts->learned_confidence));
	weigh(&found, EVIDENCE_NAME, opinion_of(facts->name_role, 50));
	found.answer.confidence = (u8)(found.confidence > 100 ? 100 : found.confidence);
	answer_urgency(&found.answer, facts, pattern);
	return found.answer;
}

/* Everything that the kernel half keeps of a thread's role. */
struct role_state {
	struct role_facts facts;
	struct pattern pattern;
	u8 told_role; /* of the last event sent, with its confidence and evidence */
	u8 told_confidence;
	u8 told_evidence;
	u8 for_frames; /* what woke it last was at work for a frame */
	u8 told_tier;
	struct role_answer answer;
	u64 first_ns; /* watched as what it is since */
	/* The account as it was when the present stretch of behaviour began. */
	u64 since_ns;
	u64 cpu_ns;
	u64 wait_ns;
	u64 wakeups;
	u32 net_wakes;
	u32 frame_wakes;
	u64 net_turn; /* the last turn that was counted in net_wakes */
	u64 sound_ns; /* when sound was last sent to a server and counted in audio_writes */
	/* Of input devices: the wake-up by one that was counted last, and the run, counted from 1, in which one was
	 * read without such a wake-up. */
	u64 input_wake;
	u64 input_run;
};

core_step int role_answers(struct role_state *role)
{
	if (role)
		role->answer = role_decide(&role->facts, &role->pattern);
	return 0;
}

/* Counts what is sent to a sound server. A client asks it things in bursts too; only a stream goes on. Returns whether
 * enough has come together to know. */
core_fn int sound_was_sent(struct role_state *role, u64 now_ns)
{
	u64 since_ns = span_between(role->sound_ns, now_ns);

	if (role->sound_ns && since_ns < SOUND_SENT_LEAST_NS)
		return 0;
	if (role->facts.audio_writes < SOUND_WRITES_ENOUGH && since_ns > SOUND_SENT_MOST_NS)
		role->facts.audio_writes = 0;
	role->sound_ns = now_ns;
	return ++role->facts.audio_writes == SOUND_WRITES_ENOUGH;
}

/* Whether what a thread does now is for a frame: it makes them, or it was woken for one, by a maker or by another that
 * was. So a renderer's helpers are found however they hand its work on to each other. */
core_fn int role_is_for_frames(const struct role_state *role)
{
	return role->for_frames || (role->answer.role == ROLE_RENDER && role->answer.evidence >= EVIDENCE_GPU);
}

/* Whether enough has happened since the last judgement; however often it wakes, that takes a while. */
core_fn int role_is_due(const struct role_state *role, const struct thread_account *account, u64 now_ns, u32 wakeups)
{
	u64 span_ns = wakeups == ROLE_WAKEUPS_NEVER ? 0 : span_between(role->since_ns, now_ns);

	return span_ns >= ROLE_WINDOW_NS ||
	       (span_ns >= ROLE_LEAST_SPAN_NS && account->wakeups - role->wakeups >= wakeups);
}

core_fn void role_window_begins(struct role_state *role, const struct thread_account *account, u64 now_ns)
{
	role->since_ns = now_ns;
	role->cpu_ns = account->cpu_ns;
	role->wait_ns = thread_wait_ns(account);
	role->wakeups = account->wakeups;
	role->net_wakes = role->facts.net_wakes;
	role->frame_wakes = role->facts.frame_wakes;
}

/* Judges the stretch of behaviour that ends now, and begins the next. */
core_fn void role_judge(struct role_state *role, const struct thread_account *account, u64 now_ns)
{
	u64 running_ns = account->run_since_ns ? span_between(account->charged_ns, now_ns) : 0;
	u64 waiting_ns = account->wait_since_ns ? span_between(account->wait_since_ns, now_ns) : 0;
	struct behaviour seen = {
		.span_ns = span_between(role->since_ns, now_ns),
		.cpu_ns = account->cpu_ns + running_ns - role->cpu_ns,
		.wait_ns = thread_wait_ns(account) + waiting_ns - role->wait_ns,
		.wakeups = account->wakeups - role->wakeups,
		.gap_ns = account->wake_gap_ns,
		.gap_dev_ns = account->wake_gap_dev_ns,
		.net_wakes = role->facts.net_wakes - role->net_wakes,
		.frame_wakes = role->facts.frame_wakes - role->frame_wakes,
		.prio = account->prio,
	};

	if (role->since_ns && seen.span_ns >= ROLE_LEAST_SPAN_NS) {
		pattern_learn_role(&role->pattern, &seen);
		pattern_learn_net(&role->pattern, &seen);
		pattern_learn_busy(&role->pattern, &seen);
		pattern_learn_timely(&role->pattern, &seen);
	}
	role_window_begins(role, account, now_ns);
	role->cpu_ns += running_ns;
	role->wait_ns += waiting_ns;
}

/* Whether an answer differs enough from what was told last to be told again. */
core_fn int role_is_news(const struct role_state *role)
{
	u32 told = role->told_confidence, now = role->answer.confidence;

	return role->answer.role != role->told_role || role->answer.evidence != role->told_evidence ||
	       role->answer.tier != role->told_tier || (now > told ? now - told : told - now) >= 20;
}

#endif

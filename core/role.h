/* SPDX-License-Identifier: GPL-2.0 */
/* What a thread is for: from facts that hooks saw and from how it runs, one answer with its evidence and confidence.
 * Pure: the kernel half decides by these functions where the facts arrive, the tests on behaviour that was recorded. */
#ifndef TACTUS_CORE_ROLE_H
#define TACTUS_CORE_ROLE_H

#include "timer.h"
#include "awaited.h"
#include "behaviour.h"
#include "event.h"
#include "facts.h"
#include "ioc.h"
#include "tier.h"
#include "wine.h"

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

struct role_answer {
	u8 role;
	u8 confidence;
	u8 evidence;
	u8 tier;
	u8 boost; /* by how many powers of two its deadline shrinks */
	u8 unused[3];
};

/* A process that stands behind others by its class, as far as its threads neither submit nor asked for more. */
core_fn struct opinion opinion_of_wine_class(const struct role_facts *facts)
{
	if (presents_now(facts) || submits_now(facts))
		return opinion_of(ROLE_UNKNOWN, 0);
	if (facts->wine_class == WINE_IDLE_CLASS)
		return opinion_of(ROLE_BACKGROUND, 85);
	if (facts->wine_class == WINE_BELOW_NORMAL_CLASS)
		return opinion_of(ROLE_BACKGROUND, 70);
	return opinion_of(ROLE_UNKNOWN, 0);
}

/* Windows priorities say how urgent a thread is. Only the top ones are in use for one thing alone: sound, the more so
 * in a process of the realtime class. The class of its process stands behind what the thread was given itself. */
core_fn struct opinion opinion_of_wine(const struct role_facts *facts)
{
	s32 priority = facts->has & HAS_WINE_PRIORITY ? facts->wine_priority : 0;

	if (priority > WINE_BELOW_NORMAL && priority < WINE_HIGHEST)
		return opinion_of_wine_class(facts);
	if (presents_now(facts) || (submits_now(facts) && priority > WINE_BELOW_NORMAL))
		return priority >= WINE_HIGHEST ? opinion_of(ROLE_RENDER, 100) : opinion_of(ROLE_UNKNOWN, 0);
	/* Urgent, and seen at what it is urgent for. */
	if (priority >= WINE_HIGHEST && audio_writes_now(facts) >= LEAST_WAKES)
		return opinion_of(ROLE_AUDIO, 100);
	if (priority >= WINE_HIGHEST && input_reads_now(facts) >= LEAST_WAKES)
		return opinion_of(ROLE_INPUT, 100);
	if (priority >= WINE_TIME_CRITICAL)
		return opinion_of(ROLE_AUDIO, facts->wine_class == WINE_REALTIME_CLASS ? 99 : 95);
	if (priority >= WINE_HIGHEST)
		return opinion_of(ROLE_RENDER, 60);
	if (priority <= WINE_BELOW_NORMAL)
		return opinion_of(ROLE_BACKGROUND, 85);
	return opinion_of(ROLE_UNKNOWN, 0);
}

core_fn struct opinion opinion_of_gpu(const struct role_facts *facts)
{
	if ((facts->process & (PROCESS_COMPOSITOR | PROCESS_PRESENTED_TO)) &&
	    (presents_now(facts) || submits_now(facts) || (facts->has & HAS_FIRST_THREAD)))
		return opinion_of(ROLE_COMPOSITOR, facts->process & PROCESS_PRESENTED_TO ? 95 : 70);
	if (presents_now(facts))
		return opinion_of(ROLE_RENDER, facts->presents > 10 ? 100 : 95);
	if (submits_now(facts))
		return opinion_of(ROLE_RENDER, facts->gpu_submits > 10 ? 100 : 95);
	return opinion_of(ROLE_UNKNOWN, 0);
}

core_fn struct opinion opinion_of_io(const struct role_facts *facts, const struct pattern *pattern)
{
	if (audio_writes_now(facts) >= SOUND_WRITES_ENOUGH)
		return opinion_of(ROLE_AUDIO, 90);
	if ((facts->process & (PROCESS_SOUND_SERVER | PROCESS_SOUND_CLIENT)) && pattern->role == ROLE_AUDIO)
		return opinion_of(ROLE_AUDIO, 90);
	if ((facts->process & PROCESS_SOUND_SERVER) && pattern->busy >= 75)
		return opinion_of(ROLE_AUDIO, 80);
	if (input_reads_now(facts) >= LEAST_WAKES)
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
	AWAITED_ENOUGH = 50,
	AWAITED_KEEPS = 25,	/* who is urgent for that stays so until less is left: five seconds after many waits */
	AWAITED_DEPTH_MOST = 3, /* through so many threads urgency goes back to who is waited for */
	FADES_MS = 3000,	/* a thread that was at work for so long and did nothing of a kind does it no more */
	FADES_SOUND_MS = 10000, /* streams pause between two pieces */
	FADES_INPUT_MS = 60000, /* and hands rest on a mouse */
	COMPILES_AHEAD = 90,	/* how sure it is that who compiles shaders before a game's first frame has time */
	LEARNED_CALLS = 4,	/* a thread that was judged so often has shown what it is, whatever its kind is like */
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

/* Whether Windows code wants it before others that do the same. */
core_fn int wine_asks_for_more(const struct role_facts *facts)
{
	if ((facts->has & HAS_WINE_PRIORITY) && facts->wine_priority != 0)
		return facts->wine_priority >= WINE_HIGHEST;
	return facts->wine_class == WINE_HIGH_CLASS || facts->wine_class == WINE_REALTIME_CLASS;
}

/* How urgently a role runs. One that is hardly believed changes nothing. */
core_step int answer_urgency(struct role_answer *answer, const struct role_facts *facts, const struct pattern *pattern)
{
	u32 trusted;

	if (!answer || !facts || !pattern)
		return 0;
	trusted = answer->confidence >= ROLE_TRUSTED ? answer->role : ROLE_UNKNOWN;

	/* The kernel's threads work for whoever asked, who may be urgent. */
	answer->tier = facts->has & HAS_KERNEL_THREAD ? TIER_INTERACTIVE : (u8)tier_of_role(trusted);
	answer->boost = (u8)boost_of_role(trusted);
	if (facts_compile_ahead(facts) && answer->evidence == EVIDENCE_NAME)
		return 0;
	/* What a thread does says more than what its kind did. */
	if ((trusted == ROLE_UNKNOWN || answer->evidence <= EVIDENCE_LEARNED) && pattern->timely >= TIMELY_ENOUGH &&
	    !(facts->has & HAS_KERNEL_THREAD)) {
		answer->tier = TIER_LATENCY_CRITICAL;
		answer->boost = answer->boost ? answer->boost : 1;
	} else if ((facts->has & HAS_LEARNED) && pattern->calls < LEARNED_CALLS &&
		   (trusted == ROLE_UNKNOWN || answer->evidence <= EVIDENCE_LEARNED)) {
		answer->tier = facts->learned_tier;
		if (answer->evidence == EVIDENCE_NONE)
			answer->evidence = EVIDENCE_LEARNED;
		answer->boost = answer->tier != TIER_LATENCY_CRITICAL ? 0 : answer->boost ? answer->boost : 1;
	}
	/* Who is urgent is late if this one is. */
	if ((facts->has & HAS_AWAITED) && answer->evidence <= EVIDENCE_IO && answer->tier != TIER_LATENCY_CRITICAL &&
	    !(facts->has & HAS_KERNEL_THREAD)) {
		answer->tier = TIER_LATENCY_CRITICAL;
		answer->boost = answer->boost ? answer->boost : 1;
	}
	if (answer->boost && wine_asks_for_more(facts))
		answer->boost++;
	return 0;
}

/* An answer while it is found. */
struct weighing {
	struct role_answer answer;
	u32 confidence;
	u32 is_settled; /* weaker evidence changes nothing any more */
};

core_step int weigh_role(struct weighing *so_far, u32 evidence, u32 role, u32 confidence)
{
	if (!so_far || so_far->is_settled || role == ROLE_UNKNOWN || role >= ROLES)
		return 0;
	if (so_far->answer.role == ROLE_UNKNOWN) {
		so_far->answer.role = (u8)role;
		so_far->answer.evidence = (u8)evidence;
		so_far->confidence = confidence;
		return 0;
	}
	so_far->is_settled = 1;
	if (role == so_far->answer.role)
		so_far->confidence += (100 - so_far->confidence) / 4;
	else if (so_far->answer.evidence < EVIDENCE_GPU && so_far->confidence > 10 && evidence >= EVIDENCE_RUNTIME)
		so_far->confidence -= 10;
	return 0;
}

core_fn void weigh(struct weighing *so_far, u32 evidence, struct opinion opinion)
{
	weigh_role(so_far, evidence, opinion.role, opinion.confidence);
}

/* One answer out of all evidence: the strongest that has an opinion gives the role, the next one that has confirms or
 * weakens it. What somebody saw a thread do, or asked for, no pattern can weaken. Written out, not as a loop: the
 * verifiers of older kernels refuse what the compiler makes of that. */
core_fn struct role_answer role_decide(const struct role_facts *facts, const struct pattern *pattern)
{
	struct weighing found = { 0 };

	weigh(&found, EVIDENCE_USER, opinion_of(facts->user_role, 100));
	if (facts_compile_ahead(facts))
		weigh(&found, EVIDENCE_NAME, opinion_of(ROLE_BACKGROUND, COMPILES_AHEAD));
	weigh(&found, EVIDENCE_WINE, opinion_of_wine(facts));
	weigh(&found, EVIDENCE_GPU, opinion_of_gpu(facts));
	weigh(&found, EVIDENCE_IO, opinion_of_io(facts, pattern));
	weigh(&found, EVIDENCE_RUNTIME, opinion_of_runtime(facts, pattern));
	weigh(&found, EVIDENCE_LEARNED, opinion_of(facts->learned_role, facts->learned_confidence));
	weigh(&found, EVIDENCE_NAME, opinion_of(facts->has & HAS_COMPILES ? ROLE_UNKNOWN : facts->name_role, 50));
	found.answer.confidence = (u8)(found.confidence > 100 ? 100 : found.confidence);
	answer_urgency(&found.answer, facts, pattern);
	return found.answer;
}

/* Everything that the kernel half keeps of a thread's role. */
struct role_state {
	struct role_facts facts;
	struct pattern pattern;
	u8 reported_role; /* of the last event sent, with its confidence and evidence */
	u8 reported_confidence;
	u8 reported_evidence;
	u8 for_frames; /* what woke it last was at work for a frame */
	u8 reported_tier;
	u8 awaited_depth; /* through how many threads it is waited for; and the least since the stretch began, or 0 */
	u8 awaited_depth_seen;
	u8 in_turn; /* it was its turn in a pool that is waited for, in this stretch */
	u8 unused;
	struct role_answer answer;
	u64 first_ns; /* watched as what it is since */
	struct timer timer;
	struct edges edges;    /* to whom it waits for, while it is urgent */
	struct edge_turn turn; /* when it was last waited for */
	u64 awaited_ns;	       /* the same by the clock, and the moving average of the gaps between */
	u32 awaited_gap_ms;
	u32 owes_tid;	 /* an urgent thread asked it and has no answer yet; 0: none */
	u64 asked_ns;	 /* when one did last */
	u64 asks, asked; /* wake-ups by urgent threads of its process: when the stretch began, and until now */
	u64 tells, told; /* the same of those by threads of other processes */
	/* The account as it was when the present stretch of behaviour began. */
	u64 since_ns;
	u64 cpu_ns;
	u64 wait_ns;
	u64 wakeups;
	u64 periods;
	u64 serves, served;  /* urgent threads that it woke: then, and until now */
	u64 awaits, awaited; /* the same of those that waited for it */
	u32 net_wakes;
	u32 frame_wakes;
	/* What was seen of these when the stretch began, and for how long nothing has come. */
	u32 presents, gpu_submits, input_reads, audio_writes;
	u16 no_presents_ms, no_submits_ms, no_input_ms, no_sound_ms;
	u64 net_turn;	  /* the last turn that was counted in net_wakes */
	u64 submitted_ns; /* when it last submitted to a GPU, where frames are sent */
	u64 sound_ns;	  /* when sound was last sent to a server and counted in audio_writes */
	/* Of input devices: the wake-up by one that was counted last, and the run, counted from 1, in which one was
	 * read without such a wake-up. */
	u64 input_wake;
	u64 input_ns; /* the report that woke it, while it has not run since; 0: none. And the device */
	u32 input_device;
	u64 input_run;
};

core_step int role_answers(struct role_state *role)
{
	int is_awaited;

	if (!role)
		return 0;
	is_awaited = role->pattern.awaited >= (role->facts.has & HAS_AWAITED ? AWAITED_KEEPS : AWAITED_ENOUGH);
	role->facts.has &= (u8)~HAS_AWAITED;
	role->facts.has |= is_awaited ? HAS_AWAITED : 0;
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

/* Whether people see, hear or feel it when the thread is late: pictures, sound, input. Not where a rule says so, which
 * may be wrong, nor where a GPU gets something else to do. */
core_fn int role_has_audience(const struct role_state *role)
{
	const struct role_answer *answer = &role->answer;

	if (answer->tier != TIER_LATENCY_CRITICAL || answer->confidence < ROLE_TRUSTED ||
	    tier_of_role(answer->role) != TIER_LATENCY_CRITICAL)
		return 0;
	return answer->evidence >= EVIDENCE_RUNTIME && answer->evidence != EVIDENCE_USER &&
	       (role->facts.gpu_driver != GPU_CUDA || presents_now(&role->facts));
}

/* Whether a thread is urgent by a timer of its own, and not since it serves such a one. */
core_fn int role_is_by_clock(const struct role_state *role)
{
	return role->answer.tier == TIER_LATENCY_CRITICAL && role->timer.periods >= LEAST_WAKES;
}

/* Whether the wake-ups from outside its process are those of a timer, and not only regular. */
core_fn int role_has_timer(const struct role_state *role)
{
	return role->timer.periods >= LEAST_WAKES && role->timer.gap_ns &&
	       percent_of(role->timer.gap_dev_ns, role->timer.gap_ns) <= EXACT_PERCENT;
}

/* Through how many threads a thread is urgent: 0 by what it was seen to do or by a timer of its own, else by who waits
 * for it. AWAITED_DEPTH_MOST: it is not, or through so many that nobody else is for its sake. So two that only wait for
 * each other do not keep each other urgent. */
core_fn u32 role_urgency_depth(const struct role_state *role)
{
	const struct role_answer *answer = &role->answer;

	if (answer->tier != TIER_LATENCY_CRITICAL)
		return AWAITED_DEPTH_MOST;
	if ((answer->confidence >= ROLE_TRUSTED && answer->evidence >= EVIDENCE_IO &&
	     tier_of_role(answer->role) == TIER_LATENCY_CRITICAL) ||
	    (role->pattern.timely >= TIMELY_ENOUGH && role_has_timer(role)))
		return 0;
	return role->awaited_depth && role->awaited_depth < AWAITED_DEPTH_MOST ? role->awaited_depth
									       : AWAITED_DEPTH_MOST;
}

/* Whether a thread is woken by the one that runs, of its own process, and not from outside. An interrupt that meets a
 * thread of the process is a timer's or a device's all the same: a process that keeps its CPU busy would miss most of
 * its timers else, and none of its threads would be known to have one. Where nobody knows whether it is an interrupt,
 * such a period is missed, which core/timer.h bears. */
core_fn int role_is_woken_within(int by_interrupt, int is_own_process)
{
	return is_own_process && !by_interrupt;
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
	role->periods = role->timer.periods;
	role->net_wakes = role->facts.net_wakes;
	role->frame_wakes = role->facts.frame_wakes;
	role->serves = role->served;
	role->awaits = role->awaited;
	role->asks = role->asked;
	role->tells = role->told;
	role->in_turn = 0;
	if (role->awaited_depth_seen)
		role->awaited_depth = role->awaited_depth_seen;
	role->awaited_depth_seen = 0;
	role->presents = role->facts.presents;
	role->gpu_submits = role->facts.gpu_submits;
	role->input_reads = role->facts.input_reads;
	role->audio_writes = role->facts.audio_writes;
}

/* For how long a thread that goes on has done nothing of a kind. A long sleep counts as one stretch: who sleeps does no
 * harm. */
core_fn u16 quiet_ms(u32 before_ms, u32 before, u32 now, u64 span_ns)
{
	u64 counted_ns = span_ns < ROLE_WINDOW_NS ? span_ns : ROLE_WINDOW_NS;
	u32 ms = before_ms + (u32)(counted_ns / NSEC_PER_MSEC);

	if (now != before || now == ~0u)
		return 0;
	return (u16)(ms < FADES_INPUT_MS ? ms : FADES_INPUT_MS);
}

/* What a thread did once, and does no more, fades: a few frames do not make it one that renders for ever. A count that
 * is full can't grow, and is believed. */
core_step int role_fade(struct role_state *role, u64 span_ns)
{
	struct role_facts *facts;

	if (!role)
		return 0;
	facts = &role->facts;
	role->no_presents_ms = quiet_ms(role->no_presents_ms, role->presents, facts->presents, span_ns);
	role->no_submits_ms = quiet_ms(role->no_submits_ms, role->gpu_submits, facts->gpu_submits, span_ns);
	role->no_input_ms = quiet_ms(role->no_input_ms, role->input_reads, facts->input_reads, span_ns);
	role->no_sound_ms = quiet_ms(role->no_sound_ms, role->audio_writes, facts->audio_writes, span_ns);
	facts->faded = (u8)((role->no_presents_ms >= FADES_MS ? FADED_PRESENTS : 0) |
			    (role->no_submits_ms >= FADES_MS ? FADED_SUBMITS : 0) |
			    (role->no_input_ms >= FADES_INPUT_MS ? FADED_INPUT : 0) |
			    (role->no_sound_ms >= FADES_SOUND_MS ? FADED_SOUND : 0));
	return 0;
}

/* Judges the stretch of behaviour that ends now, and begins the next. */
core_fn void judge_stretch(struct role_state *role, const struct thread_account *account, u64 now_ns)
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
		.periods = role->timer.periods - role->periods,
		.period_ns = role->timer.gap_ns,
		.period_dev_ns = role->timer.gap_dev_ns,
		.net_wakes = role->facts.net_wakes - role->net_wakes,
		.frame_wakes = role->facts.frame_wakes - role->frame_wakes,
		.serves = role->served - role->serves,
		.awaits = role->awaited - role->awaits,
		.asks = role->asked - role->asks,
		.told = role->told - role->tells,
		.in_turn = role->in_turn,
		.awaited_gap_ms = role->awaited_gap_ms,
		.prio = account->prio,
	};

	if (role->since_ns && seen.span_ns >= ROLE_LEAST_SPAN_NS) {
		pattern_learn_role(&role->pattern, &seen);
		pattern_learn_net(&role->pattern, &seen);
		pattern_learn_busy(&role->pattern, &seen);
		pattern_learn_timely(&role->pattern, &seen);
		pattern_learn_awaited(&role->pattern, &seen);
		role_fade(role, seen.span_ns);
	}
	role_window_begins(role, account, now_ns);
	role->cpu_ns += running_ns;
	role->wait_ns += waiting_ns;
}

/* A step of its own, since callers' stacks are short. */
core_step int role_judge(struct role_state *role, const struct thread_account *account, u64 now_ns)
{
	if (role && account)
		judge_stretch(role, account, now_ns);
	return 0;
}

/* Whether an answer differs enough from the last one sent to be sent again. */
core_fn int role_is_news(const struct role_state *role)
{
	u32 reported = role->reported_confidence, now = role->answer.confidence;

	return role->answer.role != role->reported_role || role->answer.evidence != role->reported_evidence ||
	       role->answer.tier != role->reported_tier || (now > reported ? now - reported : reported - now) >= 20;
}

/* Whether the thread has become urgent since the last answer sent, or is so no more. */
core_fn int role_changes_urgency(const struct role_state *role)
{
	return role->answer.tier != role->reported_tier &&
	       (role->answer.tier == TIER_LATENCY_CRITICAL || role->reported_tier == TIER_LATENCY_CRITICAL);
}

#endif

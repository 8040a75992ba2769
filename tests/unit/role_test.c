// SPDX-License-Identifier: GPL-2.0
/* core/role.h: what behaviour looks like, how confidence grows and falls, which evidence outweighs which.
 * Behaviour that was recorded from real programs is in behaviour_data.h; here are the edges. */
#include "../../core/role.h"
#include "../../src/model/roles.h"
#include "../../src/view/role_words.h"
#include "tap.h"

#include <string.h>

static struct behaviour steady(u64 period_us, u64 run_us)
{
	u64 wakeups = 500000 / period_us;

	return (struct behaviour){
		.span_ns = wakeups * period_us * NSEC_PER_USEC,
		.cpu_ns = wakeups * run_us * NSEC_PER_USEC,
		.wakeups = wakeups,
		.gap_ns = period_us * NSEC_PER_USEC,
		.gap_dev_ns = period_us * NSEC_PER_USEC / 50,
		.prio = 121,
	};
}

static void test_behaviour(void)
{
	struct behaviour seen = { .span_ns = NSEC_PER_SEC, .cpu_ns = NSEC_PER_SEC / 4, .prio = 121 };
	struct opinion opinion;

	seen.wait_ns = NSEC_PER_SEC / 4 * 3;
	is(role_of_behaviour(&seen).role, ROLE_CPU_BOUND, "a quarter of a CPU and waiting for the rest is cpu-bound");
	seen.wait_ns = 0;
	is(role_of_behaviour(&seen).role, ROLE_UNKNOWN, "a quarter of a CPU at will is not, and tells nothing");
	seen = steady(10667, 300);
	is(role_of_behaviour(&seen).role, ROLE_AUDIO, "10.7 ms, 0.3 ms of work each: sound");
	seen = steady(16667, 6000);
	is(role_of_behaviour(&seen).role, ROLE_RENDER, "16.7 ms, 6 ms of work each: frames");
	seen.gap_dev_ns = seen.gap_ns / 2;
	ok(role_of_behaviour(&seen).role != ROLE_RENDER, "thread that wakes at any time makes no frames");
	seen = steady(1000, 20);
	is(role_of_behaviour(&seen).role, ROLE_INPUT, "every millisecond for 20 us: input");
	seen.prio = 41;
	opinion = role_of_behaviour(&seen);
	is(opinion.role, ROLE_AUDIO, "thread at a realtime priority that wakes every millisecond is for sound");
	ok(opinion.confidence >= 90, "thread at a realtime priority that wakes every millisecond is surely for sound");
	seen = (struct behaviour){ .span_ns = NSEC_PER_SEC, .cpu_ns = NSEC_PER_MSEC, .wakeups = 2, .prio = 121 };
	is(role_of_behaviour(&seen).role, ROLE_BACKGROUND,
	   "thread that wakes for little, two times a second, is background");
	seen = steady(5000, 1000);
	seen.gap_dev_ns = seen.gap_ns;
	seen.frame_wakes = seen.wakeups;
	is(role_of_behaviour(&seen).role, ROLE_RENDER, "thread that is woken by who makes frames is for rendering");
	memset(&seen, 0, sizeof(seen));
	ok(role_of_behaviour(&seen).confidence <= 100, "behaviour of nothing at all has a role");
	memset(&seen, 0xff, sizeof(seen));
	ok(role_of_behaviour(&seen).role < ROLES, "behaviour of the largest numbers has a role");
}

static void test_hysteresis(void)
{
	struct pattern pattern = { 0 };
	struct opinion audio = { ROLE_AUDIO, 60 }, hog = { ROLE_CPU_BOUND, 90 }, none = { ROLE_UNKNOWN, 0 };
	u32 first, calls = 0;

	pattern_learn(&pattern, audio);
	first = pattern.confidence;
	is(pattern.role, ROLE_AUDIO, "first judgement gives the role");
	is(first, 60, "first judgement gives its confidence");
	for (int i = 0; i < 20; i++)
		pattern_learn(&pattern, audio);
	ok(pattern.confidence > first, "agreement makes a pattern surer: %u", pattern.confidence);
	ok(pattern.confidence <= 75, "agreement makes a pattern no surer than it can know: %u", pattern.confidence);
	first = pattern.confidence;
	pattern_learn(&pattern, hog);
	is(pattern.role, ROLE_AUDIO, "contradiction does not change the role at once");
	ok(pattern.confidence < first, "contradiction makes a pattern less sure: %u", pattern.confidence);
	while (pattern.role == ROLE_AUDIO && calls++ < 10)
		pattern_learn(&pattern, hog);
	is(pattern.role, ROLE_CPU_BOUND, "contradictions change the role in time");
	ok(calls >= 1, "role changes after one more contradiction at least: %u", calls);
	ok(calls <= 3, "role changes after three more contradictions at most: %u", calls);
	for (int i = 0; i < 20; i++)
		pattern_learn(&pattern, none);
	is(pattern.role, ROLE_UNKNOWN, "a thread that shows nothing for long is unknown again");
	/* A thread that does now this and now that keeps one role and is not sure of it. */
	pattern = (struct pattern){ 0 };
	for (int i = 0; i < 40; i++)
		pattern_learn(&pattern, i % 4 ? audio : hog);
	is(pattern.role, ROLE_AUDIO, "pattern of three to one has the role that is more often");
}

/* One answer, from the weakest evidence up: each next one outweighs those before. */
static void test_precedence(void)
{
	struct role_facts facts = { .name_role = ROLE_NETWORK };
	struct pattern pattern = { 0 };
	struct role_answer answer = role_decide(&facts, &pattern);

	is(answer.role, ROLE_NETWORK, "name gives the role if there is nothing else");
	is(answer.evidence, EVIDENCE_NAME, "role by name has the name as evidence");
	facts.learned_role = ROLE_INPUT;
	facts.learned_confidence = 80;
	answer = role_decide(&facts, &pattern);
	is(answer.role, ROLE_INPUT, "learned role outweighs the name");
	is(answer.evidence, EVIDENCE_LEARNED, "learned role has what was learned as evidence");
	pattern = (struct pattern){ .role = ROLE_BACKGROUND, .confidence = 60 };
	answer = role_decide(&facts, &pattern);
	is(answer.role, ROLE_BACKGROUND, "behaviour outweighs a learned role");
	is(answer.evidence, EVIDENCE_RUNTIME, "role by behaviour has that as evidence");
	pattern = (struct pattern){ .timely = 100 };
	facts.learned_role = ROLE_CPU_BOUND;
	answer = role_decide(&facts, &pattern);
	is(answer.role, ROLE_CPU_BOUND, "thread that works by a clock keeps the role of its kind");
	is(answer.tier, TIER_LATENCY_CRITICAL, "thread that works by a clock is urgent, though its kind burns");
	facts.input_reads = 100;
	answer = role_decide(&facts, &pattern);
	is(answer.role, ROLE_INPUT, "device that is read outweighs behaviour");
	is(answer.evidence, EVIDENCE_IO, "role by a device has that as evidence");
	facts.gpu_submits = 1;
	answer = role_decide(&facts, &pattern);
	is(answer.role, ROLE_RENDER, "submit to a GPU outweighs a device that is read");
	is(answer.evidence, EVIDENCE_GPU, "role by a submit has the GPU as evidence");
	ok(answer.confidence >= 95, "submit to a GPU is as good as sure: %u", answer.confidence);
	facts.has = HAS_WINE_PRIORITY;
	facts.wine_priority = -2;
	answer = role_decide(&facts, &pattern);
	is(answer.role, ROLE_BACKGROUND, "Windows code's word outweighs a submit");
	is(answer.evidence, EVIDENCE_WINE, "role by Windows code's word has that as evidence");
	facts.user_role = ROLE_COMPOSITOR;
	answer = role_decide(&facts, &pattern);
	is(answer.role, ROLE_COMPOSITOR, "user's word outweighs everything");
	is(answer.evidence, EVIDENCE_USER, "role by the user's word has that as evidence");
	is(answer.confidence, 100, "role by the user's word is sure");
}

static void test_compiles(void)
{
	struct role_facts facts = { .has = HAS_COMPILES, .name_role = ROLE_BACKGROUND, .process = PROCESS_LOADING };
	struct pattern none = { 0 }, timely = { .timely = 100 }, hog = { .role = ROLE_CPU_BOUND, .confidence = 95 };
	struct role_answer answer = role_decide(&facts, &none);

	is(answer.role, ROLE_BACKGROUND, "compiler of shaders is in the background before the game's first frame");
	is(answer.tier, TIER_BATCH, "compiler of shaders is batch before the game's first frame");
	is(role_decide(&facts, &timely).tier, TIER_BATCH,
	   "compiler of shaders that wakes by a timer is batch before the game's first frame");
	facts.has |= HAS_AWAITED;
	is(role_decide(&facts, &none).tier, TIER_BATCH,
	   "compiler of shaders that somebody waits for is batch before the game's first frame");
	facts.gpu_submits = 20;
	is(role_decide(&facts, &none).tier, TIER_BATCH,
	   "compiler of shaders that submits to a GPU is batch before the game's first frame");
	facts.gpu_submits = 0;
	facts.user_role = ROLE_RENDER;
	is(role_decide(&facts, &none).tier, TIER_LATENCY_CRITICAL,
	   "user's word outweighs that a thread compiles shaders");
	facts.user_role = ROLE_UNKNOWN;
	facts.process = PROCESS_GAME;
	is(role_decide(&facts, &none).tier, TIER_LATENCY_CRITICAL,
	   "compiler of shaders that urgent threads wait for is urgent after the first frame");
	facts.has &= (u8)~HAS_AWAITED;
	is(role_decide(&facts, &none).role, ROLE_UNKNOWN,
	   "compiler of shaders is nothing by its name after the first frame");
	is(role_decide(&facts, &hog).role, ROLE_CPU_BOUND, "compiler of shaders is what it does after the first frame");
	facts.has = 0;
	facts.process = PROCESS_LOADING;
	is(role_decide(&facts, &timely).tier, TIER_LATENCY_CRITICAL,
	   "thread of a loading game that compiles nothing is what it does");
}

static void test_facts(void)
{
	struct role_facts facts = { .presents = 1, .has = HAS_WINE_PRIORITY, .wine_priority = 15 };
	struct pattern hog = { .role = ROLE_CPU_BOUND, .confidence = 95 },
		       sound = { .role = ROLE_AUDIO, .confidence = 60 };
	struct role_answer answer = role_decide(&facts, &hog);

	is(answer.role, ROLE_RENDER, "thread that presents renders, however urgent");
	is(answer.confidence, 100, "thread that presents and has Windows' word is sure to render");
	facts = (struct role_facts){ .presents = 5 };
	answer = role_decide(&facts, &hog);
	is(answer.role, ROLE_RENDER, "thread that presents renders, however much it burns");
	ok(answer.confidence >= 95, "thread that presents is as good as sure to render: %u", answer.confidence);
	is(answer.tier, TIER_LATENCY_CRITICAL, "thread that presents is urgent");
	facts.process = PROCESS_PRESENTED_TO;
	is(role_decide(&facts, &hog).role, ROLE_COMPOSITOR,
	   "thread that presents in a process that others present to composes");
	facts = (struct role_facts){ .process = PROCESS_COMPOSITOR };
	is(role_decide(&facts, &hog).role, ROLE_CPU_BOUND,
	   "threads of a compositor that do not present are what they do");
	facts = (struct role_facts){ .process = PROCESS_COMPOSITOR, .has = HAS_FIRST_THREAD };
	answer = role_decide(&facts, &(struct pattern){ 0 });
	is(answer.role, ROLE_COMPOSITOR, "first thread of a process called a compositor composes");
	ok(answer.confidence < 95, "thread only called a compositor is less surely one: %u", answer.confidence);
	facts = (struct role_facts){ .process = PROCESS_SOUND_CLIENT };
	answer = role_decide(&facts, &sound);
	is(answer.role, ROLE_AUDIO, "sound-like thread of a program that plays sound is for sound");
	is(answer.evidence, EVIDENCE_IO, "sound-like thread of a program that plays sound has that as evidence");
	ok(answer.confidence >= 90, "sound-like thread of a program that plays sound is surely for sound: %u",
	   answer.confidence);
	is(role_decide(&facts, &hog).role, ROLE_CPU_BOUND,
	   "CPU-bound thread of a program that plays sound is not for sound");
	facts = (struct role_facts){ .has = HAS_KERNEL_THREAD };
	answer = role_decide(&facts, &hog);
	is(answer.role, ROLE_BACKGROUND, "kernel thread is in the background");
	is(answer.tier, TIER_INTERACTIVE, "kernel thread is nobody's batch");
	facts = (struct role_facts){ 0 };
	hog.confidence = 40;
	answer = role_decide(&facts, &hog);
	is(answer.role, ROLE_CPU_BOUND, "role that is hardly believed is told");
	is(answer.tier, TIER_INTERACTIVE, "role that is hardly believed has no effect");
	memset(&facts, 0xff, sizeof(facts));
	ok(role_decide(&facts, &hog).role < ROLES, "facts of the largest numbers have a role");
}

static void test_judging(void)
{
	struct role_state role = { 0 };
	struct thread_account account = { 0 };
	u64 now_ns = NSEC_PER_SEC, started_ns;

	role_window_begins(&role, &account, now_ns);
	started_ns = now_ns;
	for (int i = 0; i < 150 && role.pattern.role == ROLE_UNKNOWN; i++) {
		now_ns += 5333333;
		thread_woken(&account, now_ns, 1, 121);
		thread_run_begins(&account, now_ns + 20000, 0, 121);
		thread_run_ends(&account, now_ns + 220000, 1, 0, 121);
		if (role_is_due(&role, &account, now_ns, ROLE_WAKEUPS_DEFAULT))
			role_judge(&role, &account, now_ns);
	}
	is(role.pattern.role, ROLE_AUDIO, "a thread that wakes every 5.3 ms is found out");
	ok(now_ns - started_ns < 2ull * NSEC_PER_SEC, "role is known within two seconds: in %.2f s",
	   (double)(now_ns - started_ns) / 1e9);
	memset(&account, 0, sizeof(account));
	memset(&role, 0, sizeof(role));
	role_window_begins(&role, &account, now_ns);
	thread_run_begins(&account, now_ns, 0, 121);
	now_ns += NSEC_PER_SEC;
	ok(role_is_due(&role, &account, now_ns, ROLE_WAKEUPS_DEFAULT), "thread that never wakes is judged by time");
	role_judge(&role, &account, now_ns);
	is(role.pattern.role, ROLE_CPU_BOUND, "thread that never wakes is judged while it runs");
	role_judge(&role, &account, now_ns + NSEC_PER_SEC);
	is(role.pattern.role, ROLE_CPU_BOUND, "time of a running thread counts once");
	ok(!role_is_due(&role, &account, now_ns + 9ull * NSEC_PER_SEC, ROLE_WAKEUPS_NEVER),
	   "behaviour that is never to be judged is never due");
}

/* A hundred wake-ups may take less time than can be judged: what happened then counts all the same. */
static void test_judging_many_wakeups(void)
{
	struct role_state role = { 0 };
	struct thread_account account = { 0 };
	u64 now_ns = NSEC_PER_SEC;

	role_window_begins(&role, &account, now_ns);
	for (int i = 0; i < 3000; i++) {
		now_ns += 60000;
		thread_woken(&account, now_ns, 1, 121);
		thread_run_begins(&account, now_ns + 2000, 0, 121);
		role.facts.net_wakes++;
		thread_run_ends(&account, now_ns + 22000, 1, 0, 121);
		if (role_is_due(&role, &account, now_ns, ROLE_WAKEUPS_DEFAULT))
			role_judge(&role, &account, now_ns);
	}
	ok(role.pattern.net >= 90, "thread that serves a socket 16,000 times a second is known for it (%u)",
	   role.pattern.net);
}

static void test_handing_on(void)
{
	struct role_state maker = { .answer = { .role = ROLE_RENDER, .evidence = EVIDENCE_GPU } };
	struct role_state helper = { .for_frames = 1 }, guess = { .answer = maker.answer }, other = { 0 };

	guess.answer.evidence = EVIDENCE_RUNTIME;
	ok(role_is_for_frames(&maker), "thread that presents works for frames");
	ok(role_is_for_frames(&helper), "thread woken for a frame works for frames");
	ok(!role_is_for_frames(&guess), "thread that only runs as renderers do hands nothing on");
	ok(!role_is_for_frames(&other), "thread of another kind does not work for frames");
}

static void test_words(void)
{
	struct event_role event = { .role = ROLE_RENDER,
				    .evidence = EVIDENCE_GPU,
				    .presents = 600,
				    .present_api = PRESENT_GLX,
				    .age_ns = 10ull * NSEC_PER_SEC };
	char words[ROLE_WORDS_SIZE];

	role_words(words, &event);
	ok(!strcmp(words, "presents 60 times a second by GLX, 600 in all"), "words for a thread that presents: %s",
	   words);
	event = (struct event_role){ .evidence = EVIDENCE_WINE, .wine_priority = -15, .prio = 121 };
	role_words(words, &event);
	ok(!strcmp(words, "Windows priority -15, Linux nice 0"), "words for a Windows priority: %s", words);
	for (u32 role = 0; role < ROLES; role++)
		ok(role_parse(role_name(role)) == role, "%s is read as a role", role_name(role));
	is(role_parse("rendr"), ROLES, "rendr is read as no role");
	for (u32 evidence = 0; evidence < 256; evidence++) {
		memset(&event, 0xff, sizeof(event));
		event.evidence = (u8)evidence;
		role_words(words, &event);
		process_words(words, event.process);
	}
	ok(memchr(words, '\0', sizeof(words)) != NULL, "hostile numbers give words that end");
	is_text(role_name(200), "?", "role of a hostile number has a mark for a name");
	is_text(tier_name(9), "?", "tier of a hostile number has a mark for a name");
	is_text(evidence_name(99), "?", "evidence of a hostile number has a mark for a name");
}

/* Judges stretches of half a second, in each of which it presented so often, and spun for the rest. */
static void goes_on(struct role_state *role, struct thread_account *account, u64 *now_ns, int stretches, u32 presents)
{
	for (int i = 0; i < stretches; i++) {
		*now_ns += ROLE_WINDOW_NS;
		account->cpu_ns += ROLE_WINDOW_NS / 10;
		account->wakeups += 3;
		role->facts.presents += presents;
		role_judge(role, account, *now_ns);
		role_answers(role);
	}
}

static void test_fading(void)
{
	struct role_state role = { 0 };
	struct thread_account account = { 0 };
	u64 now_ns = NSEC_PER_SEC;

	role_window_begins(&role, &account, now_ns);
	goes_on(&role, &account, &now_ns, 20, 30);
	is(role.answer.role, ROLE_RENDER, "thread that presents for ten seconds renders");
	goes_on(&role, &account, &now_ns, 2, 0);
	is(role.answer.role, ROLE_RENDER, "thread that has not presented for a second still renders");
	goes_on(&role, &account, &now_ns, 5, 0);
	ok(role.answer.role != ROLE_RENDER, "thread that has not presented for seconds renders no more");
	ok(role.answer.tier != TIER_LATENCY_CRITICAL, "thread that presents no more is not urgent any more");
	goes_on(&role, &account, &now_ns, 1, 1);
	is(role.answer.role, ROLE_RENDER, "thread that presents again renders again");
	now_ns += 60ull * NSEC_PER_SEC;
	role_judge(&role, &account, now_ns);
	role_answers(&role);
	is(role.answer.role, ROLE_RENDER, "thread that slept for a minute is what it was");
	role.facts = (struct role_facts){ .gpu_submits = ~0u };
	role_window_begins(&role, &account, now_ns);
	goes_on(&role, &account, &now_ns, 20, 0);
	is(role.answer.role, ROLE_RENDER, "thread whose submits can't be counted any more renders");
}

static void test_fading_input_and_sound(void)
{
	struct role_state role = { .facts = { .input_reads = LEAST_WAKES } };
	struct thread_account account = { 0 };
	u64 now_ns = NSEC_PER_SEC;

	role_window_begins(&role, &account, now_ns);
	goes_on(&role, &account, &now_ns, 60, 0);
	is(role.answer.role, ROLE_INPUT, "thread that has read no input for half a minute is still for input");
	goes_on(&role, &account, &now_ns, 80, 0);
	ok(role.answer.role != ROLE_INPUT, "thread that has read no input for more than a minute is for input no more");
	role.facts.input_reads++;
	goes_on(&role, &account, &now_ns, 1, 0);
	is(role.answer.role, ROLE_INPUT, "thread that reads input again is for input again");
	role = (struct role_state){ .facts = { .audio_writes = SOUND_WRITES_ENOUGH } };
	role_window_begins(&role, &account, now_ns);
	goes_on(&role, &account, &now_ns, 10, 0);
	is(role.answer.role, ROLE_AUDIO, "thread that has played nothing for seconds is still for sound");
	goes_on(&role, &account, &now_ns, 20, 0);
	ok(role.answer.role != ROLE_AUDIO,
	   "thread that has played nothing for a quarter of a minute is for sound no more");
	role.facts.has = HAS_WINE_PRIORITY;
	role.facts.wine_priority = WINE_HIGHEST;
	role_answers(&role);
	ok(role.answer.confidence < 100, "Windows priority does not bring back what a thread does no more");
}

int main(void)
{
	test_fading();
	test_fading_input_and_sound();
	test_behaviour();
	test_hysteresis();
	test_precedence();
	test_compiles();
	test_facts();
	test_judging();
	test_judging_many_wakeups();
	test_handing_on();
	test_words();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0
/* core/wine.h, and what core/role.h makes of Windows priorities: each value that Windows has, alone and beside what the
 * thread was seen doing. */
#include "../../core/role.h"
#include "../../core/wine.h"
#include "tap.h"

static struct role_facts asked_for(int priority)
{
	return (struct role_facts){ .wine_priority = (s16)priority, .has = HAS_WINE_PRIORITY };
}

static struct role_answer decide(const struct role_facts *facts)
{
	struct pattern none = { 0 };

	return role_decide(facts, &none);
}

static void test_values(void)
{
	static const struct {
		const char *name;
		int value;
		u32 role, tier;
	} known[] = {
		{ "realtime 31", 31, ROLE_AUDIO, TIER_LATENCY_CRITICAL },
		{ "TIME_CRITICAL as Windows passes it on", 16, ROLE_AUDIO, TIER_LATENCY_CRITICAL },
		{ "TIME_CRITICAL", 15, ROLE_AUDIO, TIER_LATENCY_CRITICAL },
		{ "HIGHEST", 2, ROLE_RENDER, TIER_LATENCY_CRITICAL },
		{ "ABOVE_NORMAL", 1, ROLE_UNKNOWN, TIER_INTERACTIVE },
		{ "NORMAL", 0, ROLE_UNKNOWN, TIER_INTERACTIVE },
		{ "BELOW_NORMAL", -1, ROLE_BACKGROUND, TIER_BATCH },
		{ "LOWEST", -2, ROLE_BACKGROUND, TIER_BATCH },
		{ "IDLE", -15, ROLE_BACKGROUND, TIER_BATCH },
		{ "IDLE as Windows passes it on", -16, ROLE_BACKGROUND, TIER_BATCH },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct role_facts facts = asked_for(known[i].value);
		struct role_answer answer = decide(&facts);

		is(answer.role, known[i].role, "%s has its role", known[i].name);
		is(answer.tier, known[i].tier, "%s has its tier", known[i].name);
		is(answer.evidence, known[i].role ? EVIDENCE_WINE : EVIDENCE_NONE, "%s has its evidence",
		   known[i].name);
		ok(wine_priority_is_valid(known[i].value), "%s is a priority", known[i].name);
	}
}

static void test_nothing_asked(void)
{
	struct role_facts facts = { .wine_priority = 15 };

	is(decide(&facts).role, ROLE_UNKNOWN, "a number that nobody asked for says nothing");
	facts = asked_for(0);
	facts.name_role = ROLE_NETWORK;
	is(decide(&facts).role, ROLE_NETWORK, "NORMAL leaves the word to weaker evidence");
}

static void test_beside_what_it_does(void)
{
	struct role_facts facts = asked_for(15);

	facts.presents = 1;
	is(decide(&facts).role, ROLE_RENDER, "TIME_CRITICAL that presents is for frames");
	is(decide(&facts).evidence, EVIDENCE_WINE, "TIME_CRITICAL that presents keeps Windows' word as evidence");
	facts = asked_for(15);
	facts.input_reads = LEAST_WAKES;
	is(decide(&facts).role, ROLE_INPUT, "TIME_CRITICAL that reads a mouse is for input");
	facts.audio_writes = LEAST_WAKES;
	is(decide(&facts).role, ROLE_AUDIO, "TIME_CRITICAL that feeds a sound device is for sound");
	facts = asked_for(2);
	facts.audio_writes = LEAST_WAKES;
	is(decide(&facts).role, ROLE_AUDIO, "HIGHEST that feeds a sound device is for sound");
	facts.audio_writes = LEAST_WAKES - 1;
	is(decide(&facts).role, ROLE_RENDER, "HIGHEST is not for sound by a few writes");
	facts = asked_for(-2);
	facts.gpu_submits = 5;
	is(decide(&facts).role, ROLE_BACKGROUND, "LOWEST that submits to a GPU is no thread of frames");
	facts.presents = 1;
	is(decide(&facts).role, ROLE_RENDER, "LOWEST that presents is for frames, whatever it asked for");
	is(decide(&facts).evidence, EVIDENCE_GPU, "LOWEST that presents is so by what it does");
	facts = asked_for(15);
	facts.user_role = ROLE_BACKGROUND;
	is(decide(&facts).role, ROLE_BACKGROUND, "user's word is stronger than Windows'");
}

static void test_boost(void)
{
	struct role_facts facts = asked_for(2), plain = { .presents = 20 };

	facts.presents = 20;
	is(decide(&facts).boost, decide(&plain).boost + 1, "asked for by Windows code: one step more");
	facts = asked_for(-2);
	is(decide(&facts).boost, 0, "background work gets no boost");
}

static void test_invalid(void)
{
	static const s32 invalid[] = { -17, 32, 100, -100, 0x7fffffff, -0x7fffffff - 1, 0x1000f };

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		ok(!wine_priority_is_valid(invalid[i]), "%d is no Windows priority", invalid[i]);
}

static void test_names(void)
{
	static const u16 wide[] = { 'R', 'e', 'n', 'd', 'e', 'r', 0x20ac, 'T', 'h', 'r', 'e', 'a', 'd', ' ', '1', '2' };
	struct comm name;

	memset(&name, 'x', sizeof(name));
	wine_name_narrow(&name, wide, 6);
	ok(!strcmp(name.text, "Render"), "a name ends where its length says");
	for (u32 i = 6; i < COMM_LEN; i++)
		ok(name.text[i] == 0, "name has nothing behind its end at %u", i);
	wine_name_narrow(&name, wide, 16);
	ok(!strcmp(name.text, "Render?Thread 1"), "a long one is cut, letters beyond ASCII are replaced: %s",
	   name.text);
	wine_name_narrow(&name, wide, 0);
	ok(!name.text[0], "empty name reads as empty");
}

int main(void)
{
	test_values();
	test_nothing_asked();
	test_beside_what_it_does();
	test_boost();
	test_invalid();
	test_names();
	return tap_end();
}

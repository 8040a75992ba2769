// SPDX-License-Identifier: GPL-2.0
/* core/wine.h, and what core/role.h makes of Windows priorities: each value that Windows has, alone and beside what the
 * thread was seen doing. */
#include "../../core/role.h"
#include "../../core/wine.h"
#include "../../src/model/wine_code.h"
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

static void test_classes(void)
{
	struct role_facts facts = { .wine_class = WINE_IDLE_CLASS };

	is(decide(&facts).role, ROLE_BACKGROUND, "thread of the IDLE class is background");
	is(decide(&facts).evidence, EVIDENCE_WINE, "thread of the IDLE class is so by Windows' word");
	facts.presents = 20;
	is(decide(&facts).role, ROLE_RENDER, "thread of the IDLE class that presents is for frames");
	facts = asked_for(15);
	facts.wine_class = WINE_IDLE_CLASS;
	is(decide(&facts).role, ROLE_AUDIO, "TIME_CRITICAL of the IDLE class is for sound");
	facts.wine_class = WINE_REALTIME_CLASS;
	is(decide(&facts).confidence, 99, "TIME_CRITICAL of the REALTIME class is surer");
	facts = (struct role_facts){ .wine_class = WINE_BELOW_NORMAL_CLASS };
	is(decide(&facts).role, ROLE_BACKGROUND, "thread of the BELOW_NORMAL class is background");
	for (u32 class = WINE_PRIORITY_CLASS_NONE; class < WINE_PRIORITY_CLASSES; class ++) {
		int is_more = class == WINE_HIGH_CLASS || class == WINE_REALTIME_CLASS;

		facts = (struct role_facts){ .wine_class = (u8) class, .presents = 20 };
		is(decide(&facts).boost, is_more ? 3 : 2, "class %u: boost of a thread that presents", class);
		facts.has = HAS_WINE_PRIORITY;
		facts.wine_priority = -1;
		is(decide(&facts).boost, 2, "class %u: own priority below normal takes its boost back", class);
	}
	facts = (struct role_facts){ .wine_class = WINE_HIGH_CLASS };
	is(decide(&facts).role, ROLE_UNKNOWN, "thread of the HIGH class is for nothing in particular");
	is(decide(&facts).tier, TIER_INTERACTIVE, "thread of the HIGH class is not urgent by that alone");
	ok(!wine_priority_class_is_valid(0), "class 0 is not valid");
	ok(wine_priority_class_is_valid(1), "class 1 is valid");
	ok(wine_priority_class_is_valid(6), "class 6 is valid");
	ok(!wine_priority_class_is_valid(7), "class 7 is not valid");
}

static u32 convention(const struct wine_arguments *microsoft, const struct wine_arguments *system_v)
{
	static const struct wine_library unknown;

	return wine_convention_of(&unknown, wine_fits_set(microsoft), wine_fits_set(system_v));
}

/* The registers of one call, as either convention reads them. */
static void test_conventions(void)
{
	const u64 at = 0x7fff12345678, garbage = 0x6ffff0003c80;
	/* rdi, rsi, rdx, rcx, r8, r9 as Wine's dispatcher leaves them. */
	const struct wine_arguments ms_of_ms = { WINE_THIS_THREAD, 3, at, 4 },
				    sysv_of_ms = { garbage, garbage, 3, WINE_THIS_THREAD },
				    sysv_of_sysv = { 0x44, 3, at, 4 }, ms_of_sysv = { 4, at, garbage, garbage },
				    none = { garbage, 0x7654321, ~0ull >> 3, 0x7654321 };
	struct wine_library library = { .by_code = WINE_SYSTEM_V };

	is(convention(&ms_of_ms, &sysv_of_ms), WINE_MICROSOFT, "call of Wine 8 is in Microsoft's convention");
	is(convention(&ms_of_sysv, &sysv_of_sysv), WINE_SYSTEM_V, "call of newer Wine is in System V's convention");
	is(convention(&none, &none), WINE_FITS_NEITHER, "call whose registers are no arguments fits neither");
	is(convention(&ms_of_ms, &sysv_of_sysv), WINE_MICROSOFT,
	   "call that fits both is Microsoft's as long as "
	   "nothing else is known");
	is(wine_convention_of(&library, 1, 1), WINE_SYSTEM_V, "call that fits both is what the library's code says");
	is(wine_convention_of(&library, 1, 0), WINE_MICROSOFT, "what the registers say counts before the code");
	library = (struct wine_library){ .calls = { [WINE_MICROSOFT] = 1, [WINE_SYSTEM_V] = 2 } };
	is(wine_convention_of(&library, 1, 1), WINE_SYSTEM_V, "call that fits both is as most of the library's are");
	ok(wine_is_handle(WINE_THIS_PROCESS), "handle may stand for its user");
	ok(wine_is_handle(0x1c4), "handle may be a small number");
	ok(!wine_is_handle(0), "handle is not 0");
	ok(!wine_is_handle(at), "handle is no address");
}

static void test_code(void)
{
	/* movaps %xmm6,0x100(%rsp); %xmm7; %xmm8; %xmm9 as gcc puts them into Wine 8's functions */
	static const u8 kept[] = { 0x0f, 0x29, 0xb4, 0x24, 0,	 1,    0,    0,	   0x0f, 0x29, 0xbc, 0x24,
				   0x10, 1,    0,    0,	   0x44, 0x0f, 0x29, 0x84, 0x24, 0x20, 1,    0,
				   0,	 0x44, 0x0f, 0x29, 0x8c, 0x24, 0x30, 1,	   0,	 0 };
	/* vmovaps of the same four */
	static const u8 kept_avx[] = { 0xc5, 0xf8, 0x29, 0x74, 0x24, 0x20, 0xc5, 0xf8, 0x29, 0x7c, 0x24, 0x30,
				       0xc5, 0x78, 0x29, 0x44, 0x24, 0x40, 0xc5, 0x78, 0x29, 0x4c, 0x24, 0x50 };
	u8 code[WINE_CODE_BYTES];

	memset(code, 0x90, sizeof(code));
	is(wine_convention_of_code(code, sizeof(code)), WINE_SYSTEM_V, "code that keeps no xmm register is System V's");
	memcpy(code + 40, kept, sizeof(kept));
	is(wine_convention_of_code(code, sizeof(code)), WINE_MICROSOFT, "code that keeps xmm6 to xmm9 is Microsoft's");
	is(wine_convention_of_code(code, 40 + 16), WINE_FITS_NEITHER, "code that is cut off tells nothing");
	memset(code, 0x90, sizeof(code));
	memcpy(code + WINE_CODE_BYTES - sizeof(kept_avx), kept_avx, sizeof(kept_avx));
	is(wine_convention_of_code(code, sizeof(code)), WINE_MICROSOFT,
	   "code that keeps them by AVX at its very end is Microsoft's");
	memset(code, 0, sizeof(code));
	is(wine_convention_of_code(code, sizeof(code)), WINE_FITS_NEITHER, "zeroes are no code");
	is(wine_convention_of_code(code, 0), WINE_FITS_NEITHER, "nothing is no code");
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
	test_classes();
	test_conventions();
	test_code();
	test_names();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0
/* What was meant by a misspelt word, how durations are read, and what is shown of something that takes long. */
#include "../../src/base/suggest.h"

#include <errno.h>

#include "../../src/base/options.h"
#include "../../src/base/progress.h"
#include "tap.h"

static const char *meant(const char *word)
{
	static const char *const names[] = { "tasks", "latency", "cpus", "cuda", "run", "roles", "record" };
	struct suggestion suggestion = { .word = word, .len = strlen(word) };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		suggest(&suggestion, names[i]);
	return suggestion.nearest ? suggestion.nearest : "";
}

static void test_suggestions(void)
{
	is_text(meant("taks"), "tasks", "a letter that is missing is found");
	is_text(meant("tsaks"), "tasks", "two letters that changed places are found");
	is_text(meant("latencies"), "latency", "a word with another ending is found");
	is_text(meant("lat"), "latency", "a beginning is enough");
	is_text(meant("frobnicate"), "", "a word that is near to none has no suggestion");
	is_text(meant("x"), "", "a letter has no suggestion");
	is(word_distance("ab", 2, "ba", 2), 1, "two letters that changed places are one slip");
	is(word_distance("", 0, "abc", 3), 3, "an empty word is as far as the other is long");
}

static void test_durations(void)
{
	static const struct {
		const char *text;
		int error;
		u64 ns;
	} cases[] = {
		{ "2", 0, 2000000000 },
		{ ".5", 0, 500000000 },
		{ "250ms", 0, 250000000 },
		{ "1m30s", 0, 90000000000 },
		{ "1h1m1s1ms1us", 0, 3661001001000 },
		{ "1m30", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "1x", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "1.2.3", -EINVAL, 0 },
		{ "-1", -ERANGE, 0 },
		{ "0", -ERANGE, 0 },
		{ "inf", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ "1s ", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u64 ns = 0;

		is(parse_duration(cases[i].text, &ns), cases[i].error, "duration '%s' is %s", cases[i].text,
		   cases[i].error ? "refused" : "taken");
		is(ns, cases[i].ns, "duration '%s' is as long as it says", cases[i].text);
	}
}

static void test_progress(void)
{
	struct progress progress = { .what = "reading", .unit = "events", .began_ns = NSEC_PER_SEC };
	char words[128];

	ok(!progress_words(words, sizeof(words), &progress, 2900000000, 10, 1, 2),
	   "nothing is shown before two seconds");
	ok(progress_words(words, sizeof(words), &progress, 5ULL * NSEC_PER_SEC, 8000000, 1, 4),
	   "after two seconds something is shown");
	is_text(words, "reading: 25 %, 8.0 M events, 2.0 M/s", "progress has a share, a count and a rate");
	progress_words(words, sizeof(words), &progress, 5ULL * NSEC_PER_SEC, 400, 0, 0);
	is_text(words, "reading: 400 events, 100/s", "progress of what has no known end has no share");
}

int main(void)
{
	test_suggestions();
	test_durations();
	test_progress();
	return tap_end();
}

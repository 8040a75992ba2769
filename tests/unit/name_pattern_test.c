// SPDX-License-Identifier: GPL-2.0
/* Shell patterns for threads' names, against fnmatch over every short name of a small alphabet. */
#include "../../core/name_pattern.h"

#include <fnmatch.h>

#include "tap.h"

static const char *const patterns[] = {
	"",   "a",   "ab",   "*",    "**",    "a*",    "*a",	 "*a*",	   "a*b",   "*a*b*", "?",    "??",
	"?*", "*?",  "a?b",  "[ab]", "[!ab]", "[^ab]", "[a-c]*", "*[!a]",  "\\*",   "a\\?",  "[]a]", "[]",
	"[a", "[a-", "*b*a", "a**b", "[a-]",  "*-",    "[b-a]",	 "a*a*a*", "[!-]*", "\\",    "*\\",
};

static const char letters[] = "ab-]*\xc3";

/* Every name of up to four bytes. */
static unsigned int differences(const char *text)
{
	struct name_pattern pattern;
	unsigned int wrong = 0, all = 1;
	char name[COMM_LEN];

	if (!name_pattern_make(&pattern, text))
		return 1;
	for (unsigned int len = 0; len <= 4; len++, all *= sizeof(letters) - 1)
		for (unsigned int number = 0; number < all; number++) {
			unsigned int rest = number;

			for (unsigned int i = 0; i < len; i++, rest /= sizeof(letters) - 1)
				name[i] = letters[rest % (sizeof(letters) - 1)];
			name[len] = '\0';
			wrong += name_pattern_fits(&pattern, name) != !fnmatch(text, name, 0);
		}
	return wrong;
}

int main(void)
{
	struct name_pattern pattern;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		is(differences(patterns[i]), 0, "pattern '%s' fits the names that fnmatch says it fits", patterns[i]);
	ok(name_pattern_make(&pattern, "fifteen-letters"), "pattern as long as a name can be is taken");
	ok(name_pattern_fits(&pattern, "fifteen-letters"), "pattern as long as a name can be fits that name");
	ok(!name_pattern_make(&pattern, "sixteen-letters!"),
	   "pattern with more parts than a name has bytes is refused");
	ok(name_pattern_make(&pattern, "*fifteen-letters*"), "stars do not count as parts of a pattern");
	ok(name_pattern_fits(&pattern, "fifteen-letters"), "pattern of a name between stars fits that name");
	ok(!name_pattern_make(&pattern, "****************************************************************************"),
	   "pattern that is too long is refused");
	return tap_end();
}

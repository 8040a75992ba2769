// SPDX-License-Identifier: GPL-2.0
#include "colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_is_wanted(FILE *out, enum colour_when when)
{
	const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (when != COLOUR_AUTO)
		return when == COLOUR_ALWAYS;
	return fileno(out) >= 0 && isatty(fileno(out)) && !(refused && *refused) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

void colour_begin(FILE *out, enum colour colour)
{
	static const char *const codes[] = { [COLOUR_NONE] = "", [COLOUR_HEAD] = "\033[1m", [COLOUR_BAD] = "\033[31m" };

	fputs(codes[colour], out);
}

void colour_end(FILE *out, bool was_begun)
{
	if (was_begun)
		fputs("\033[0m", out);
}

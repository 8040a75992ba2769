// SPDX-License-Identifier: GPL-2.0
/* tactus undo: takes back the hints of a tactus that was killed.
 * One that ends in any other way does that itself. */
#include <stdio.h>
#include <stdlib.h>

#include "../base/say.h"
#include "../sched/hints.h"
#include "view.h"

static const struct command_usage usage = {
	.name = "undo",
	.text = "Takes back the hints that a killed 'tactus run' left on threads. A thread that its owner or another "
		"tool "
		"changed meanwhile is left alone.\v"
		"The next 'tactus run' does the same before it starts.\n"
		"\n"
		"Examples:\n"
		"  tactus undo",
	.takes = 0,
};

int view_undo(int argc, char **argv)
{
	struct options options;
	struct reason why = { "" };
	int undone;

	options_parse(&options, &usage, argc, argv);
	undone = hints_undo(&why);
	if (undone < 0)
		return fail("undo", "%s", why.text);
	if (undone)
		printf("%d thread%s put back\n", undone, undone == 1 ? " was" : "s were");
	else
		puts("nothing to undo");
	return EXIT_SUCCESS;
}

// SPDX-License-Identifier: GPL-2.0
/* tactus undo: takes back the hints of a tactus that was killed.
 * One that ends in any other way does that itself. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/say.h"
#include "../sched/undo.h"
#include "view.h"

const struct command_usage undo_usage = {
	.name = "undo",
	.text = "Takes back the hints and policies that a killed 'tactus run' left on threads. Leaves a thread "
		"alone that its owner or another tool has changed since.\v"
		"The helper process of a run does the same when the run is killed, and so does the next 'tactus "
		"run' before it starts.\n"
		"\n"
		"Examples:\n"
		"  tactus undo\n"
		"  tactus undo && echo clean",
	.takes = TAKES_NO_CONFIG,
};

int view_undo(int argc, char **argv)
{
	struct options options;
	struct undone undone;
	struct reason why = { "" };

	options_parse(&options, &undo_usage, NULL, argc, argv);
	if (undo_all(&undone, &why))
		return fail("undo", "%s", why.text);
	if (undone.put_back)
		printf("%zu thread%s put back\n", undone.put_back, undone.put_back == 1 ? " was" : "s were");
	else if (!undone.stuck && geteuid())
		return fail("undo", "you left nothing behind; what root's runs left only root can take back: try 'sudo "
				    "tactus undo'");
	else if (!undone.stuck)
		puts("nothing to undo");
	if (undone.stuck)
		return fail("undo", "%zu thread%s could not be put back: the journal keeps %s", undone.stuck,
			    undone.stuck == 1 ? "" : "s", undone.stuck == 1 ? "it" : "them");
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* How far something is that takes more than two seconds: one line on a terminal's standard error, which is written over
 * and taken away at the end. */
#ifndef TACTUS_BASE_PROGRESS_H
#define TACTUS_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"

struct progress {
	const char *what; /* "reading FILE" */
	const char *unit; /* "events" */
	u64 began_ns, shown_ns;
	bool is_seen, was_shown;
};

void progress_begin(struct progress *progress, const char *what, const char *unit);

/* So much is done, and `part` of `whole` (0: that is not known). Costs nothing to speak of. */
void progress_at(struct progress *progress, u64 done, u64 part, u64 whole);
void progress_end(struct progress *progress);

/* What there is to be shown at now_ns; false: nothing yet. */
bool progress_words(char *into, size_t size, const struct progress *progress, u64 now_ns, u64 done, u64 part,
		    u64 whole);

#endif

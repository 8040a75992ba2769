/* SPDX-License-Identifier: GPL-2.0 */
/* What somebody may have meant by a word that is none.
 */
#ifndef TACTUS_BASE_SUGGEST_H
#define TACTUS_BASE_SUGGEST_H

#include <stddef.h>

/* Begin with { .word = ..., .len = ... }; the nearest of the names that were offered is in `nearest`, or NULL if none
 * is near enough to be a slip of the finger. */
struct suggestion {
	const char *word;
	size_t len;
	const char *nearest;
	size_t distance;
};

void suggest(struct suggestion *suggestion, const char *name);

/* How many letters differ: left out, put in, changed, or two that changed places. Long words differ much. */
size_t word_distance(const char *one, size_t one_len, const char *other, size_t other_len);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Which part of a recording is asked for: --from, --to, --around, --margin. Moments are spans since the recording's
 * start, as the views print them. */
#ifndef TACTUS_BASE_EXCERPT_H
#define TACTUS_BASE_EXCERPT_H

#include <stdbool.h>

#include "../../core/types.h"
#include "say.h"

enum excerpt_key { EXCERPT_FROM = 0x180, EXCERPT_TO, EXCERPT_AROUND, EXCERPT_MARGIN, EXCERPT_END };

struct excerpt {
	bool has_from, has_to, has_margin;
	u64 from_ns, to_ns;
	u64 around; /* the number of a frame; 0: none */
	u64 margin_ns;
};

/* Takes one option's value. Returns NULL, or what is wrong with it, in words that follow "the value 'x' ". */
const char *excerpt_take(struct excerpt *excerpt, int key, const char *value);

/* False, with the reason: what was given does not go together. Fills in the default margin. */
bool excerpt_check(struct excerpt *excerpt, struct reason *why);

bool excerpt_is_empty(const struct excerpt *excerpt);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Colours by what they mean, for terminals.
 */
#ifndef TACTUS_SINK_COLOUR_H
#define TACTUS_SINK_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

#include "../base/options.h"

enum colour { COLOUR_NONE, COLOUR_HEAD, COLOUR_BAD };

/* As --color says; `auto`: on a terminal, unless the environment has NO_COLOR or TERM=dumb. */
bool colour_is_wanted(FILE *out, enum colour_when when);

void colour_begin(FILE *out, enum colour colour);
void colour_end(FILE *out, bool was_begun);

#endif

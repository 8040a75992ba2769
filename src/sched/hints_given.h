/* SPDX-License-Identifier: GPL-2.0 */
/* The hints that a 'tactus run' has given, for whoever shows them: as its journal lists them, which only its own user
 * may read. */
#ifndef TACTUS_SCHED_HINTS_GIVEN_H
#define TACTUS_SCHED_HINTS_GIVEN_H

#include <stddef.h>

#include "../../core/hints.h"

struct hint_given {
	u32 tid;
	struct hint hint;
};

/* Those that are in force. The caller frees it. NULL: there are none, or they may not be read. */
struct hint_given *hints_given(size_t *len);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Roles for people: their names, and rows in the order of their urgency.
 * What a thread's role is, the kernel half has decided by core/role.h; here it is only kept. */
#ifndef TACTUS_MODEL_ROLES_H
#define TACTUS_MODEL_ROLES_H

#include "../../core/role.h"
#include "threads.h"

/* "?" for a number that is none, as a recording may have. */
const char *role_name(u32 role);
const char *tier_name(u32 tier);
const char *evidence_name(u32 evidence);

/* ROLES if the word names no role. */
u32 role_parse(const char *word);

struct role_rows {
	const struct thread **all;
	size_t len;
};

/* Every thread that has a role event, the most urgent first. Returns 0 or -ENOMEM. */
int role_rows_from(struct role_rows *rows, const struct threads *threads);
void role_rows_free(struct role_rows *rows);

#endif

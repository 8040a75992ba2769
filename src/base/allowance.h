/* SPDX-License-Identifier: GPL-2.0 */
/* How much of this program's work and descriptors each user may take up: so much at once, so much a second, and so many
 * things held. Root has all that is there. Pure accounting of fixed size. */
#ifndef TACTUS_BASE_ALLOWANCE_H
#define TACTUS_BASE_ALLOWANCE_H

#include <stdbool.h>

#include "../../core/types.h"

enum { ALLOWANCE_USERS = 128 };
/* What took long may be a busy machine's doing: nobody is kept out for longer. */
#define ALLOWANCE_KEPT_OUT_MOST_NS (5ULL * NSEC_PER_SEC)

struct allowance_user {
	u32 uid;
	u32 held;
	u64 owes_until_ns; /* when all of his work is paid for */
};

struct allowance {
	/* Limits: things that a user may hold, that all users but root may, and that all may. */
	u32 held_each, held_users, held_all;
	u64 burst_ns;	/* of work that he may owe */
	u32 pays_parts; /* owed work is paid for by this many times as much time */
	u32 users_held, all_held;
	u32 users_len;
	struct allowance_user users[ALLOWANCE_USERS];
};

/* Whether work for a user may be begun now: he does not owe more than he may. */
bool allowance_may_work(struct allowance *allowance, u32 uid, u64 now_ns);
/* So long it took. */
void allowance_worked(struct allowance *allowance, u32 uid, u64 now_ns, u64 took_ns);

/* One thing more for a user to hold. False: he, or all together, hold as many as they may. */
bool allowance_hold(struct allowance *allowance, u32 uid);
void allowance_release(struct allowance *allowance, u32 uid);

#endif

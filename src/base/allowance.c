// SPDX-License-Identifier: GPL-2.0
/* A user who holds nothing and owes nothing may be forgotten, so that the table is enough for all who do. */
#include "allowance.h"

#include <stddef.h>

/* The user's row; NULL: there are as many as there is room for, and all of them hold something. */
static struct allowance_user *user_of(struct allowance *allowance, u32 uid)
{
	struct allowance_user *oldest = NULL;

	for (u32 i = 0; i < allowance->users_len; i++) {
		struct allowance_user *user = &allowance->users[i];

		if (user->uid == uid)
			return user;
		if (!user->held && (!oldest || user->owes_until_ns < oldest->owes_until_ns))
			oldest = user;
	}
	if (allowance->users_len < ALLOWANCE_USERS)
		oldest = &allowance->users[allowance->users_len++];
	if (oldest)
		*oldest = (struct allowance_user){ .uid = uid };
	return oldest;
}

/* From when on a debt keeps its user out. */
static u64 debt_ends_work_ns(const struct allowance *allowance, u64 now_ns)
{
	return now_ns + allowance->burst_ns * allowance->pays_parts;
}

bool allowance_may_work(struct allowance *allowance, u32 uid, u64 now_ns)
{
	const struct allowance_user *user = uid ? user_of(allowance, uid) : NULL;

	if (!uid)
		return true;
	return user && user->owes_until_ns < debt_ends_work_ns(allowance, now_ns);
}

void allowance_worked(struct allowance *allowance, u32 uid, u64 now_ns, u64 took_ns)
{
	struct allowance_user *user = uid ? user_of(allowance, uid) : NULL;
	u64 most_ns = debt_ends_work_ns(allowance, now_ns) + ALLOWANCE_KEPT_OUT_MOST_NS;

	if (!user)
		return;
	if (user->owes_until_ns < now_ns)
		user->owes_until_ns = now_ns;
	user->owes_until_ns += took_ns * allowance->pays_parts;
	if (user->owes_until_ns > most_ns)
		user->owes_until_ns = most_ns;
}

bool allowance_hold(struct allowance *allowance, u32 uid)
{
	struct allowance_user *user = uid ? user_of(allowance, uid) : NULL;

	if (allowance->all_held >= allowance->held_all)
		return false;
	if (uid && (!user || user->held >= allowance->held_each || allowance->users_held >= allowance->held_users))
		return false;
	if (user) {
		user->held++;
		allowance->users_held++;
	}
	allowance->all_held++;
	return true;
}

void allowance_release(struct allowance *allowance, u32 uid)
{
	struct allowance_user *user = uid ? user_of(allowance, uid) : NULL;

	if (allowance->all_held)
		allowance->all_held--;
	if (!user || !user->held)
		return;
	user->held--;
	allowance->users_held--;
}

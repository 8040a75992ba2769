/* SPDX-License-Identifier: GPL-2.0 */
/* What other machines learned, added to the database once: beside it a copy of each is kept as it was added last, so
 * that of the same one only what is new counts. */
#ifndef TACTUS_STORE_PROCDB_MERGE_H
#define TACTUS_STORE_PROCDB_MERGE_H

#include "procdb_store.h"

struct procdb_merged {
	long kinds; /* that got votes */
	u64 votes;
	bool is_same;	 /* it is a copy of the database itself: nothing was added */
	bool has_origin; /* else it counts as another one when its content changes */
};

/* Adds `other` to the database in use. Where that cannot be saved, neither is it remembered that it was added. Returns
 * 0 or -errno with a reason. */
int store_merge(const struct procdb_settings *settings, const struct procdb *other, u64 now_s,
		struct procdb_merged *merged, struct reason *why);

/* Forgets what was added from others, so that it can be added again. */
void store_forget_merged(const struct procdb_settings *settings);

#endif

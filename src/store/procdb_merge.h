/* SPDX-License-Identifier: GPL-2.0 */
/* What other machines learned, added to the database once: beside it stands what was added of each, so that of the same
 * one only what is new counts, by whatever way it comes. */
#ifndef TACTUS_STORE_PROCDB_MERGE_H
#define TACTUS_STORE_PROCDB_MERGE_H

#include "procdb_store.h"

struct procdb_merged {
	u64 kinds; /* that got votes, counted for each origin */
	u64 votes;
	bool is_same;	 /* it is a copy of the database itself: nothing was added */
	bool has_origin; /* else it counts as another one when its content changes */
};

/* Adds `other` to the database in use: what it learned itself, which is all that is left in it then, and its parts.
 * What the database in use learned itself and gets back is left out. Where that cannot be saved, neither is it
 * remembered that it was added. Returns 0 or -errno with a reason. */
int store_merge(const struct procdb_settings *settings, struct procdb *other, u64 now_s, struct procdb_merged *merged,
		struct reason *why);

/* Gives a database what was added to it of others, as its parts, from beside the file that it was read from. Where that
 * is not a folder for databases there is nothing. Returns 0 or -errno with a reason. */
int store_read_parts(const char *path, struct procdb *db, u64 now_s, struct reason *why);

/* Forgets what was added from others, so that it can be added again. */
void store_forget_merged(const struct procdb_settings *settings);

#endif

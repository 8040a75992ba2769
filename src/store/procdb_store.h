/* SPDX-License-Identifier: GPL-2.0 */
/* The database while it is in use: in memory, and now and then in its file, which others may change meanwhile.
 * What was learned since the last saving is also kept by itself, and added to whatever the file holds by then: two that
 * learn at once lose nothing, and what another took out stays out. */
#ifndef TACTUS_STORE_PROCDB_STORE_H
#define TACTUS_STORE_PROCDB_STORE_H

#include "procdb_file.h"

struct procdb_settings {
	const char *path; /* NULL: the default */
	size_t limit;	  /* of profiles in the file; 0: the default */
	u64 days;	  /* after which what was not seen goes; 0: the default */
	bool learns;	  /* else it is only read */
};

struct procdb_store {
	struct procdb db;
	struct procdb_file file;
	bool has_file; /* there is a folder to look into */
	bool learns;
	u64 days;
	struct noted *log; /* what was learned since the last saving */
	size_t log_len, log_room;
	u64 saved_at_s;
};

/* Loads what there is. A damaged file is reported and, by one that learns, set aside. Returns 0 or -errno with a
 * reason: no memory, or a file that must not be read. */
int store_open(struct procdb_store *store, const struct procdb_settings *settings, u64 now_s, struct reason *why);

/* Returns the profile, or NULL for want of memory. */
struct profile *store_learn(struct procdb_store *store, const struct kind_key *key, const struct kind_seen *seen,
			    u64 now_s);

/* Call about once a second. Saves every minute if something was learned, and takes over what others saved. Returns 1 if
 * profiles may have come or gone, 0 if not, or -errno with a reason if it could not save; it is tried again. */
int store_work(struct procdb_store *store, u64 now_s, struct reason *why);

/* Saves what is not saved, and frees. */
int store_close(struct procdb_store *store, u64 now_s, struct reason *why);

/* Changes the file in one go: loads it, lets `edit` change it and say how many profiles that concerned, and saves it if
 * any. Returns that number, or -errno with a reason. */
long store_edit(const struct procdb_settings *settings, long (*edit)(struct procdb *db, void *data), void *data,
		u64 now_s, struct reason *why);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The database of kinds of threads, in memory: profiles by key, what is learned, added, forgotten.
 * What a profile means is core/procdb.h's; how it lies in a file, procdb_format.h's. */
#ifndef TACTUS_MODEL_PROCDB_H
#define TACTUS_MODEL_PROCDB_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/procdb.h"
#include "../base/map.h"

enum { PROCDB_LIMIT_DEFAULT = 100000, PROCDB_LIMIT_MOST = 1000000, PROCDB_AGE_DAYS_DEFAULT = 90 };

struct procdb {
	struct profile *all;
	size_t len, room;
	struct map index;     /* places of profiles plus one */
	size_t limit;	      /* procdb_evict leaves so many */
	u32 use_days;	      /* on how many days it was in use: what ageing goes by, since clocks are wrong at times */
	u64 origin;	      /* which database it is, wherever copies of it lie; 0: an older one that does not say */
	u64 saved_s;	      /* when a day was last counted, by a clock that could be right; 0: never */
	struct procdb *parts; /* of a file from elsewhere: what it has of others, by their origins; part of `all` */
	size_t parts_len, parts_room;
};

void procdb_init(struct procdb *db, size_t limit);
void procdb_free(struct procdb *db);

/* A name and a program's path as a key: cut to what fits, the path to its end. */
struct kind_key kind_key_of(const char *comm, const char *exe);

/* Texts with an end: a file's may have none. */
void kind_comm(const struct kind_key *key, char into[COMM_LEN + 1]);
void kind_exe(const struct kind_key *key, char into[TAIL_LEN + 1]);

/* Makes room for so many more at once, so that no room is wasted. Returns 0 or -ENOMEM. */
int procdb_reserve(struct procdb *db, size_t more);

struct profile *procdb_find(const struct procdb *db, const struct kind_key *key);

/* The profile of this key, an empty one if it is new. NULL for want of memory. Valid until the next call. */
struct profile *procdb_meet(struct procdb *db, const struct kind_key *key);

/* Learns what was seen of a kind. Returns its profile, or NULL for want of memory. */
struct profile *procdb_learn(struct procdb *db, const struct kind_key *key, const struct kind_seen *seen, u64 now_s);

/* Adds a profile from elsewhere, as seen today; one that is there already gets its votes. Returns 0 or -ENOMEM. */
int procdb_add(struct procdb *db, const struct profile *profile);

/* Another part, empty. Valid until the next call; NULL for want of memory. */
struct procdb *procdb_part(struct procdb *db);

/* Takes out what it has of others: what is left it learned itself, or less where votes have faded since. */
void procdb_keep_own(struct procdb *db);

/* Adds what another database has beyond what was added of it before, in `added`, and adds that there too: the most
 * votes that it ever had count, once. Returns how many kinds that concerned, with *votes added, or -ENOMEM. */
long procdb_merge(struct procdb *db, const struct procdb *other, struct procdb *added, u64 *votes);

/* What stands for the origin of one that does not say: the same for the same content. */
u64 procdb_content(const struct procdb *db);

/* Takes out every profile that `which` is true of. Returns how many. */
size_t procdb_remove(struct procdb *db, bool (*which)(const void *data, const struct profile *profile),
		     const void *data);

/* Whether a clock that says so can be right: machines without one of their own begin in 1970 or so. */
bool clock_is_plausible(u64 now_s);

/* It is in use now: counts the day, once. A clock that leaps counts as one day, however far. */
void procdb_use(struct procdb *db, u64 now_s);

/* Takes out what was not seen for so many days of use. */
size_t procdb_age(struct procdb *db, u64 days);

/* Takes out what was not seen for so many days by the clock, on the user's word. */
size_t procdb_forget_older(struct procdb *db, u64 now_s, u64 days);

/* Takes out what is above the limit: the longest unseen first, then the least observed, then by key. */
size_t procdb_evict(struct procdb *db);

/* The confident profiles that are worth the most, at most `most` of them: those that eviction would take last. Returns
 * how many, or -ENOMEM. */
long procdb_best(const struct procdb *db, struct profile **best, size_t most);

/* What there is, in short. */
struct procdb_summary {
	u64 profiles;
	u64 confident; /* of them: they predict */
	u64 by_tier[TIERS];
	u64 observations;
};
struct procdb_summary procdb_summary(const struct procdb *db);

/* The order of eviction, for qsort over pointers to profiles. */
int procdb_by_certainty(const void *a, const void *b);

#endif

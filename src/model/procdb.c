// SPDX-License-Identifier: GPL-2.0
/* Profiles in one array, found by a hash of their keys. Taking out is rare: it packs the array and indexes anew.
 */
#include "procdb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hash.h"
#include "../base/sort.h"
#include "../base/vec.h"

enum { LEAST_ROOM = 64 };

void procdb_init(struct procdb *db, size_t limit)
{
	*db = (struct procdb){ .limit = limit ? limit : PROCDB_LIMIT_DEFAULT };
}

void procdb_free(struct procdb *db)
{
	for (size_t i = 0; i < db->parts_len; i++)
		procdb_free(&db->parts[i]);
	free(db->parts);
	free(db->all);
	map_free(&db->index);
	*db = (struct procdb){ .limit = db->limit };
}

struct kind_key kind_key_of(const char *comm, const char *exe)
{
	struct kind_key key = { 0 };
	size_t len = strlen(exe);
	const char *end = len < TAIL_LEN ? exe : exe + len - (TAIL_LEN - 1);

	memcpy(key.comm.text, comm, strnlen(comm, COMM_LEN - 1));
	memcpy(key.exe.text, end, strlen(end));
	return key;
}

void kind_comm(const struct kind_key *key, char into[COMM_LEN + 1])
{
	memcpy(into, key->comm.text, COMM_LEN);
	into[COMM_LEN] = '\0';
}

void kind_exe(const struct kind_key *key, char into[TAIL_LEN + 1])
{
	memcpy(into, key->exe.text, TAIL_LEN);
	into[TAIL_LEN] = '\0';
}

/* Under which number a kind is in the index, or would be. Of two with the same hash the later one has the next. */
static u64 number_of(const struct procdb *db, const struct kind_key *key)
{
	u64 number = hash_keyed(key, sizeof(*key));
	u32 place;

	while ((place = map_get(&db->index, number)) && memcmp(&db->all[place - 1].key, key, sizeof(*key)) != 0)
		number++;
	return number;
}

/* The same in every process. */
static u64 content_of(const struct kind_key *key)
{
	u64 words[sizeof(*key) / sizeof(u64)], number = 0x9e3779b97f4a7c15ULL;

	_Static_assert(sizeof(words) == sizeof(*key), "whole words");
	memcpy(words, key, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		number = (number ^ words[i]) * 0xff51afd7ed558ccdULL;
		number ^= number >> 32;
	}
	return number;
}

/* There is room: it is made with the profiles'. */
static void index_anew(struct procdb *db)
{
	map_clear(&db->index);
	for (size_t i = 0; i < db->len; i++)
		map_set(&db->index, number_of(db, &db->all[i].key), (u32)i + 1);
}

int procdb_reserve(struct procdb *db, size_t more)
{
	size_t room = db->len + more;
	struct profile *all;

	if (room < LEAST_ROOM)
		room = LEAST_ROOM;
	if (room > db->room) {
		all = reallocarray(db->all, room, sizeof(*all));
		if (!all)
			return -ENOMEM;
		db->all = all;
		db->room = room;
	}
	return map_reserve(&db->index, db->room) ? 0 : -ENOMEM;
}

struct profile *procdb_find(const struct procdb *db, const struct kind_key *key)
{
	u32 place = map_get(&db->index, number_of(db, key));

	return place ? &db->all[place - 1] : NULL;
}

struct profile *procdb_meet(struct procdb *db, const struct kind_key *key)
{
	struct profile *profile = procdb_find(db, key);

	if (profile)
		return profile;
	if (db->len == db->room && procdb_reserve(db, db->len / 2 + LEAST_ROOM))
		return NULL;
	profile = &db->all[db->len];
	*profile = (struct profile){ .key = *key };
	map_set(&db->index, number_of(db, key), (u32)++db->len);
	return profile;
}

struct profile *procdb_learn(struct procdb *db, const struct kind_key *key, const struct kind_seen *seen, u64 now_s)
{
	struct profile *profile = procdb_meet(db, key);

	if (!profile)
		return NULL;
	if (profile->use_day < db->use_days)
		profile_fade(profile, seen);
	profile_learn(profile, seen, now_s);
	profile->use_day = db->use_days;
	return profile;
}

int procdb_add(struct procdb *db, const struct profile *profile)
{
	size_t before = db->len;
	struct profile *mine = procdb_meet(db, &profile->key);

	if (!mine)
		return -ENOMEM;
	if (db->len > before)
		*mine = *profile;
	else
		profile_add(mine, profile);
	mine->use_day = db->use_days;
	return 0;
}

struct procdb *procdb_part(struct procdb *db)
{
	if (!vec_reserve(db->parts, db->parts_room, db->parts_len + 1, 8))
		return NULL;
	procdb_init(&db->parts[db->parts_len], 0);
	return &db->parts[db->parts_len++];
}

static u64 votes_of(const struct profile *profile)
{
	return votes_sum(profile->tier_votes, TIERS) + votes_sum(profile->role_votes, ROLES);
}

/* Takes votes out. False: nothing is left. */
static bool profile_take_out(struct profile *profile, const struct profile *out)
{
	for (int i = 0; i < TIERS; i++)
		profile->tier_votes[i] = votes_add(profile->tier_votes[i], -(s64)out->tier_votes[i]);
	for (int i = 0; i < ROLES; i++)
		profile->role_votes[i] = votes_add(profile->role_votes[i], -(s64)out->role_votes[i]);
	profile->observations = votes_add(profile->observations, -(s64)out->observations);
	return votes_of(profile) || profile->observations;
}

void procdb_keep_own(struct procdb *db)
{
	for (size_t i = 0; i < db->parts_len; i++) {
		const struct procdb *part = &db->parts[i];

		for (size_t k = 0; k < part->len; k++) {
			struct profile *mine = procdb_find(db, &part->all[k].key);

			if (mine)
				profile_take_out(mine, &part->all[k]);
		}
	}
}

long procdb_merge(struct procdb *db, const struct procdb *other, struct procdb *added, u64 *votes)
{
	long kinds = 0;

	*votes = 0;
	for (size_t i = 0; i < other->len; i++) {
		struct profile news = other->all[i];
		const struct profile *before = procdb_find(added, &news.key);

		if (!profile_take_out(&news, before ? before : &(struct profile){ 0 }))
			continue;
		if (procdb_add(db, &news) || procdb_add(added, &news))
			return -ENOMEM;
		*votes += votes_sum(news.tier_votes, TIERS);
		kinds++;
	}
	return kinds;
}

u64 procdb_content(const struct procdb *db)
{
	u64 sum = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < db->len; i++) {
		const struct profile *profile = &db->all[i];
		u64 entry = content_of(&profile->key) * 31 + profile->observations;

		for (int k = 0; k < TIERS; k++)
			entry = (entry ^ profile->tier_votes[k]) * 0x100000001b3ULL;
		/* Whatever order they are in. */
		sum += entry * 0xff51afd7ed558ccdULL;
	}
	return sum ? sum : 1;
}

size_t procdb_remove(struct procdb *db, bool (*which)(const void *data, const struct profile *profile),
		     const void *data)
{
	size_t kept = 0, removed;

	for (size_t i = 0; i < db->len; i++)
		if (!which(data, &db->all[i]))
			db->all[kept++] = db->all[i];
	removed = db->len - kept;
	db->len = kept;
	if (removed)
		index_anew(db);
	return removed;
}

bool clock_is_plausible(u64 now_s)
{
	/* The first day of 2023, before there was a database. */
	return now_s >= 1672531200;
}

void procdb_use(struct procdb *db, u64 now_s)
{
	if (!clock_is_plausible(now_s))
		return;
	if (now_s / DAY_S != db->saved_s / DAY_S && db->use_days < 0xffffffffu)
		db->use_days++;
	db->saved_s = now_s;
}

static bool was_used_before(const void *data, const struct profile *profile)
{
	return profile->use_day < *(const u32 *)data;
}

size_t procdb_age(struct procdb *db, u64 days)
{
	u32 earliest = days < db->use_days ? db->use_days - (u32)days : 0;

	return procdb_remove(db, was_used_before, &earliest);
}

static bool was_before(const void *data, const struct profile *profile)
{
	return profile->last_seen_s < *(const u64 *)data;
}

size_t procdb_forget_older(struct procdb *db, u64 now_s, u64 days)
{
	u64 earliest_s = days < now_s / DAY_S ? now_s - days * DAY_S : 0;

	return procdb_remove(db, was_before, &earliest_s);
}

struct procdb_summary procdb_summary(const struct procdb *db)
{
	struct procdb_summary summary = { .profiles = db->len };

	for (size_t i = 0; i < db->len; i++) {
		summary.confident += (u64)profile_is_confident(&db->all[i]);
		summary.by_tier[profile_tier(&db->all[i])]++;
		summary.observations += db->all[i].observations;
	}
	return summary;
}

int procdb_by_certainty(const void *a, const void *b)
{
	const struct profile *x = *(const struct profile *const *)a, *y = *(const struct profile *const *)b;

	if (x->use_day != y->use_day)
		return x->use_day < y->use_day ? -1 : 1;
	if (x->last_seen_s != y->last_seen_s)
		return x->last_seen_s < y->last_seen_s ? -1 : 1;
	if (x->observations != y->observations)
		return x->observations < y->observations ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static bool is_marked(const void *data, const struct profile *profile)
{
	(void)data;
	return profile->marked;
}

/* Whoever starts threads of new names without end fills the database: kinds that are a day old at most give way to
 * one another first, but for a part, so that no day puts out what was learned in months. */
enum { YOUNG_PART = 20 };

static u64 young_since_s(const struct procdb *db)
{
	u64 newest_s = 0;

	for (size_t i = 0; i < db->len; i++)
		if (db->all[i].last_seen_s > newest_s)
			newest_s = db->all[i].last_seen_s;
	return newest_s > DAY_S ? newest_s - DAY_S : 0;
}

/* The first `count` in their order, of those that began then or later. Returns how many there were. */
static size_t mark(struct profile **order, size_t len, size_t count, u64 since_s)
{
	size_t marked = 0;

	for (size_t i = 0; i < len && marked < count; i++) {
		if (order[i]->marked || order[i]->first_seen_s < since_s)
			continue;
		order[i]->marked = 1;
		marked++;
	}
	return marked;
}

size_t procdb_evict(struct procdb *db)
{
	size_t most = db->limit, over = db->len > most ? db->len - most : 0, young = 0;
	u64 since_s = young_since_s(db);
	struct profile **order;

	if (!over)
		return 0;
	order = malloc(db->len * sizeof(struct profile *));
	if (!order)
		return 0;
	for (size_t i = 0; i < db->len; i++) {
		order[i] = &db->all[i];
		young += db->all[i].first_seen_s >= since_s;
	}
	sort_rows(order, db->len, sizeof(*order), procdb_by_certainty);
	young = young > most / YOUNG_PART ? young - most / YOUNG_PART : 0;
	over -= mark(order, db->len, young < over ? young : over, since_s);
	mark(order, db->len, over, 0);
	free(order);
	return procdb_remove(db, is_marked, NULL);
}

long procdb_best(const struct procdb *db, struct profile **best, size_t most)
{
	struct profile **order = malloc((db->len ? db->len : 1) * sizeof(struct profile *));
	size_t len = 0, taken;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < db->len; i++)
		if (profile_is_confident(&db->all[i]))
			order[len++] = &db->all[i];
	if (len > most)
		sort_rows(order, len, sizeof(*order), procdb_by_certainty);
	taken = len < most ? len : most;
	for (size_t i = 0; i < taken; i++)
		best[i] = order[len - 1 - i];
	free(order);
	return (long)taken;
}

// SPDX-License-Identifier: GPL-2.0
/* What other machines learned is added once: by origin, however often it is merged, whatever was learned there since.
 * Needs no kernel and no root. */
#include "../../src/store/procdb_merge.h"

#include <stdlib.h>
#include <unistd.h>

#include "scratch.h"
#include "tap.h"

enum { NOW_S = 1700000000 };

static char folder[256], path[300];
static struct reason why;

static struct procdb machine(u64 origin, const char *comm, u32 batch, u32 urgent)
{
	struct profile profile = { .key = kind_key_of(comm, "/usr/bin/program"),
				   .tier_votes = { batch, 0, urgent },
				   .role_votes = { batch, urgent },
				   .observations = batch + urgent };
	struct procdb db;

	procdb_init(&db, 0);
	db.origin = origin;
	procdb_add(&db, &profile);
	return db;
}

/* Merges and says how many votes of a kind there are then. */
static u32 votes_after(const struct procdb *other, const char *comm, u32 tier, struct procdb_merged *merged)
{
	struct procdb_settings settings = { .path = path };
	struct kind_key key = kind_key_of(comm, "/usr/bin/program");
	struct procdb_store store;
	const struct profile *found;
	u32 votes;

	is(store_merge(&settings, other, NOW_S, merged, &why), 0, "database is merged: %s", why.text);
	is(store_open(&store, &settings, NOW_S, &why), 0, "database that another was merged into is opened");
	found = procdb_find(&store.db, &key);
	votes = found ? found->tier_votes[tier] : 0;
	store_close(&store, NOW_S, &why);
	return votes;
}

static void test_origins(void)
{
	struct procdb a = machine(11, "cc1", 10, 0), b = machine(22, "cc1", 5, 1), grown = machine(11, "cc1", 14, 3),
		      faded = machine(11, "cc1", 6, 5), nameless = machine(0, "cc1", 100, 0);
	struct procdb_merged merged;

	is(votes_after(&a, "cc1", 0, &merged), 10, "votes of another machine are added");
	is(merged.votes, 10, "merging says how many votes it added");
	is(votes_after(&b, "cc1", 0, &merged), 15, "votes of a third machine are added to them");
	is(votes_after(&a, "cc1", 0, &merged), 15, "merging the same database twice changes nothing");
	is(merged.kinds, 0, "merging the same database twice says that nothing was added");
	is(votes_after(&grown, "cc1", 0, &merged), 19,
	   "of a database that has learned since, only what is new is added");
	is(merged.votes, 7, "merging again counts the new votes alone");
	is(votes_after(&faded, "cc1", 2, &merged), 6,
	   "where votes faded on the other machine, those that came meanwhile are added");
	is(votes_after(&faded, "cc1", 0, &merged), 19,
	   "where votes faded on the other machine, none are taken away here");
	is(votes_after(&nameless, "cc1", 0, &merged), 119, "a database without an origin is added");
	ok(!merged.has_origin, "merging a database without an origin says so");
	is(votes_after(&nameless, "cc1", 0, &merged), 119, "a database without an origin is added once too");
	procdb_free(&a);
	procdb_free(&b);
	procdb_free(&grown);
	procdb_free(&faded);
	procdb_free(&nameless);
}

static void test_itself(void)
{
	struct procdb_settings settings = { .path = path };
	struct procdb_merged merged;
	struct procdb_store store;

	is(store_open(&store, &settings, NOW_S, &why), 0, "database is opened to look at");
	ok(store.db.origin != 0, "database that was written says which it is");
	is(store_merge(&settings, &store.db, NOW_S, &merged, &why), 0, "database is merged into itself");
	ok(merged.is_same, "database merged into itself is known to be the same");
	is(merged.votes, 0, "database merged into itself adds nothing");
	store_close(&store, NOW_S, &why);
}

static void test_forgetting(void)
{
	struct procdb_settings settings = { .path = path };
	struct procdb a = machine(11, "as", 4, 0);
	struct procdb_merged merged;

	is(votes_after(&a, "as", 0, &merged), 4, "another kind of a known origin is added");
	store_forget_merged(&settings);
	is(votes_after(&a, "as", 0, &merged), 8, "after the origins were forgotten, a database is added again");
	procdb_free(&a);
}

static void test_damage(void)
{
	struct procdb_settings settings = { .path = path };
	struct procdb a = machine(33, "ld", 4, 0), more = machine(33, "ld", 9, 0);
	struct procdb_merged merged;
	char copy[400];
	FILE *file;

	is(votes_after(&a, "ld", 0, &merged), 4, "votes of a fourth machine are added");
	snprintf(copy, sizeof(copy), "%s.merged-%016x", path, 33);
	ok(access(copy, R_OK) == 0, "what was added of a machine is kept beside the database");
	file = fopen(copy, "r+");
	fseek(file, 40, SEEK_SET);
	fputc('x', file);
	fclose(file);
	ok(store_merge(&settings, &more, NOW_S, &merged, &why) < 0, "a damaged copy of what was added ends the merge");
	ok(strstr(why.text, "remove it"), "merge that a damaged copy ended says what to do: %s", why.text);
	unlink(copy);
	is(votes_after(&more, "ld", 0, &merged), 13, "file is added whole where the copy of it is gone");
	procdb_free(&a);
	procdb_free(&more);
}

static void test_extremes(void)
{
	struct procdb a = machine(44, "large", 0xffffffff, 0xffffffff), db = machine(1, "large", 0xfffffffe, 0);
	u64 votes;

	is(procdb_merge(&db, &a, NULL, &votes), 1, "largest counts of votes are merged");
	is(db.all[0].tier_votes[0], 0xffffffff, "merged votes never exceed what fits");
	is(procdb_merge(&db, &a, &a, &votes), 0, "largest counts of votes are merged once");
	ok(procdb_content(&a) != procdb_content(&db), "different contents have different numbers");
	procdb_free(&a);
	procdb_free(&db);
}

static void test_summary(void)
{
	struct procdb db = machine(1, "cc1", 5, 0);
	struct kind_seen seen = { .tier_votes = { 3, 1, 0 }, .threads = 4 };
	s64 hits = 0, misses = 0;
	struct profile unsure = { .key = kind_key_of("sh", ""), .tier_votes = { 1, 1, 1 }, .observations = 3 };

	procdb_add(&db, &unsure);
	is(procdb_summary(&db).profiles, 2, "summary counts all kinds");
	is(procdb_summary(&db).observations, 8, "summary counts all observations");
	db.all[0].figures.avg_runtime_ns = 1000;
	is(procdb_summary(&db).confident, 1, "summary counts the kinds that predict");
	prediction_score(&seen, TIER_BATCH, &hits, &misses);
	is(hits, 3, "threads that turned out as predicted are hits");
	is(misses, 1, "threads that turned out otherwise are misses");
	seen = (struct kind_seen){ .tier_votes = { -1, 0, 1 } };
	prediction_score(&seen, TIER_BATCH, &hits, &misses);
	is(hits, 2, "thread that turns out otherwise later is no hit any more");
	is(misses, 2, "thread that turns out otherwise later is a miss");
	procdb_free(&db);
}

int main(void)
{
	char command[400];
	int status;

	make_scratch(folder, sizeof(folder), "merge");
	snprintf(path, sizeof(path), "%s/procdb.bin", folder);
	test_origins();
	test_itself();
	test_forgetting();
	test_damage();
	test_extremes();
	test_summary();
	status = tap_end();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? 1 : status;
}

// SPDX-License-Identifier: GPL-2.0
/* What other machines learned is added once: by origin, however often it is merged, whatever was learned there since.
 * Needs no kernel and no root. */
#include "../../src/store/procdb_merge.h"

#include <stdlib.h>
#include <string.h>
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
static u32 votes_after(struct procdb *other, const char *comm, u32 tier, struct procdb_merged *merged)
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

/* What a machine at that path would give to others, as it lies there. */
static struct procdb given_by(const char *at)
{
	struct procdb_report report = { 0 };
	struct procdb db;

	procdb_init(&db, 0);
	is(procdb_read_any(procdb_open_any(at, &why), at, &db, &report, NOW_S, &why), 0,
	   "a machine's database is read: %s", why.text);
	is(report.faults, 0, "a machine's database is whole");
	is(store_read_parts(at, &db, NOW_S, &why), 0, "what it has of others is read: %s", why.text);
	return db;
}

static u32 votes_at(const char *at, const char *comm)
{
	struct kind_key key = kind_key_of(comm, "/usr/bin/program");
	struct procdb db = given_by(at);
	const struct profile *found = procdb_find(&db, &key);
	u32 votes = found ? found->tier_votes[0] : 0;

	procdb_free(&db);
	return votes;
}

/* `from` gives to `to`, by a file as of 'tactus db export'. Returns the votes that were added. */
static u64 give(const char *from, const char *to)
{
	struct procdb_settings settings = { .path = to };
	struct procdb_report report = { 0 };
	struct procdb_merged merged;
	struct procdb db = given_by(from);
	char file[320];

	snprintf(file, sizeof(file), "%s/given", folder);
	ok(procdb_write_any(file, &db, PDDB_OWN, NOW_S, &why) >= 0, "a machine's database is exported: %s", why.text);
	procdb_free(&db);
	procdb_init(&db, 0);
	is(procdb_read_any(procdb_open_any(file, &why), file, &db, &report, NOW_S, &why), 0, "an export is read: %s",
	   why.text);
	is(report.faults, 0, "an export with what it has of others is whole");
	is(store_merge(&settings, &db, NOW_S, &merged, &why), 0, "an export is merged: %s", why.text);
	procdb_free(&db);
	return merged.votes;
}

static void learn_at(const char *at, u64 origin, const char *comm, u32 votes)
{
	struct procdb db = machine(origin, comm, votes, 0);

	ok(procdb_write_any(at, &db, PDDB_OWN, NOW_S, &why) >= 0, "a machine has learned: %s", why.text);
	procdb_free(&db);
}

static void test_circle(void)
{
	char a[300], b[300], c[300];

	snprintf(a, sizeof(a), "%s/a", folder);
	snprintf(b, sizeof(b), "%s/b", folder);
	snprintf(c, sizeof(c), "%s/c", folder);
	learn_at(a, 101, "cc1", 10);
	learn_at(b, 102, "cc1", 5);
	learn_at(c, 103, "cc1", 1);
	is(give(a, b), 10, "A gives B its votes");
	is(give(b, a), 5, "B gives A its own votes, not those that it has of A");
	is(votes_at(a, "cc1"), 15, "after A gave to B and B to A, A has the votes of both, once");
	is(give(a, b), 0, "A gives B nothing that B gave to A");
	is(give(b, c), 15, "B gives C its own votes and those of A");
	is(give(c, a), 1, "C closes the circle: A gets the votes of C alone");
	is(give(a, c), 0, "what C has by way of B is nothing new by way of A");
	is(give(a, b), 1, "B gets the votes of C by way of A");
	is(give(c, b), 0, "what B has by way of A is nothing new from C itself");
	for (int round = 0; round < 3; round++)
		is(give(a, b) + give(b, c) + give(c, a), 0, "round %d of a circle adds nothing", round);
	is(votes_at(a, "cc1") + votes_at(b, "cc1") + votes_at(c, "cc1"), 3 * 16,
	   "after a circle each has the votes of all three, once");
}

/* An export is cut, or has a wrong bit, anywhere in what it has of others. */
static void test_damaged_parts(void)
{
	struct procdb whole = given_by(path), db;
	struct procdb_report report = { 0 };
	char file[320];
	long size, noticed = 0;

	snprintf(file, sizeof(file), "%s/export", folder);
	is(whole.parts_len, 2, "database has a part of each of two others");
	ok(procdb_write_any(file, &whole, PDDB_OWN, NOW_S, &why) >= 0, "database with parts is written: %s", why.text);
	size = (long)(32 + whole.len * PDDB_OWN_ENTRY_BYTES + PDDB_ORIGIN_BYTES);
	for (int byte = 0; byte < 300; byte += 7) {
		FILE *out = fopen(file, "r+");
		int is_at;

		fseek(out, size + byte, SEEK_SET);
		is_at = fgetc(out);
		fseek(out, size + byte, SEEK_SET);
		fputc(is_at ^ 4, out);
		fclose(out);
		procdb_init(&db, 0);
		procdb_read_any(procdb_open_any(file, &why), file, &db, &report, NOW_S, &why);
		noticed += report.faults && db.len == whole.len;
		procdb_free(&db);
		out = fopen(file, "r+");
		fseek(out, size + byte, SEEK_SET);
		fputc(is_at, out);
		fclose(out);
	}
	is(noticed, 43, "every wrong bit of a part is noticed, and the rest is read");
	is(truncate(file, size + 100), 0, "export is cut within a part");
	procdb_init(&db, 0);
	is(procdb_read_any(procdb_open_any(file, &why), file, &db, &report, NOW_S, &why), 0,
	   "export that was cut within a part is read");
	ok(strstr(report.first.text, "truncated"), "export that was cut within a part is said to be: %s",
	   report.first.text);
	procdb_free(&db);
	procdb_free(&whole);
}

static void test_extremes(void)
{
	struct procdb a = machine(44, "large", 0xffffffff, 0xffffffff), db = machine(1, "large", 0xfffffffe, 0), added;
	u64 votes;

	procdb_init(&added, 0);
	is(procdb_merge(&db, &a, &added, &votes), 1, "largest counts of votes are merged");
	is(db.all[0].tier_votes[0], 0xffffffff, "merged votes never exceed what fits");
	is(procdb_merge(&db, &a, &added, &votes), 0, "largest counts of votes are merged once");
	ok(procdb_content(&a) != procdb_content(&db), "different contents have different numbers");
	procdb_free(&a);
	procdb_free(&added);
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
	test_damaged_parts();
	test_circle();
	test_extremes();
	test_summary();
	status = tap_end();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? 1 : status;
}

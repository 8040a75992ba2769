// SPDX-License-Identifier: GPL-2.0
/* The database's file: kills while it is saved, two that learn at once, what is refused, what is set aside.
 * Needs no kernel and no root. */
#include "../../src/store/procdb_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scratch.h"
#include "tap.h"

enum { KILLS = 200, KINDS = 400, WRITERS = 4, ROUNDS = 50, NOW_S = 1700000000 };

static char folder[256], path[300], other[300];
static struct reason why;

static struct kind_seen one_vote(u32 tier)
{
	struct kind_seen seen = { .threads = 1, .notes = 1, .figures = { .avg_runtime_ns = 1000 } };

	seen.tier_votes[tier] = 1;
	return seen;
}

static void fill(struct procdb *db, u32 len, u32 votes)
{
	struct profile profile = { .observations = votes, .last_seen_s = NOW_S };
	char comm[COMM_LEN];

	for (u32 i = 0; i < len; i++) {
		snprintf(comm, sizeof(comm), "kind-%u", i);
		profile.key = kind_key_of(comm, "/usr/bin/program");
		profile.tier_votes[0] = votes;
		procdb_add(db, &profile);
	}
}

/* Saves one of two databases after the other, for ever. */
static void save_for_ever(void)
{
	struct procdb small, large;
	struct procdb_file file;

	procdb_init(&small, 0);
	procdb_init(&large, 0);
	fill(&small, KINDS, 1);
	fill(&large, KINDS * 2, 2);
	if (procdb_file_open(&file, path, true, &why))
		_exit(1);
	for (;;) {
		if (procdb_file_lock(&file, &why) || procdb_file_save(&file, &small, NOW_S, &why) ||
		    procdb_file_save(&file, &large, NOW_S, &why))
			_exit(1);
		procdb_file_unlock(&file);
	}
}

/* 1: the small one, 2: the large one, 0: neither. */
static int which_is_there(void)
{
	struct procdb_report report = { 0 };
	struct procdb_file file;
	struct procdb db;
	int which = 0;

	procdb_init(&db, 0);
	if (!procdb_file_open(&file, path, false, &why) && !procdb_file_load(&file, &db, &report, NOW_S, &why) &&
	    !report.faults && db.len)
		which = db.len == KINDS && db.all[KINDS - 1].tier_votes[0] == 1		  ? 1
			: db.len == KINDS * 2 && db.all[KINDS * 2 - 1].tier_votes[0] == 2 ? 2
											  : 0;
	procdb_file_close(&file);
	procdb_free(&db);
	return which;
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static void test_kills(void)
{
	u32 found[3] = { 0 }, half_made = 0, gone = 0, seed = 12345;
	u64 begun_ns = now_ns(), both_ns = 0;
	char temporary[400];
	int status;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	for (int i = 0; i < KILLS; i++) {
		pid_t saver = fork();
		struct timespec pause;
		u64 pause_ns;

		if (saver == 0)
			save_for_ever();
		/* Until it has saved both, the first time; then anything from half to one and a half of that. */
		while (!i && which_is_there() != 2)
			nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC / 10 }, NULL);
		if (!i)
			both_ns = now_ns() - begun_ns;
		seed = seed * 1103515245 + 12345;
		pause_ns = both_ns / 2 + both_ns / 1000 * (seed / 65536 % 1000);
		pause = (struct timespec){ (time_t)(pause_ns / NSEC_PER_SEC), (long)(pause_ns % NSEC_PER_SEC) };
		nanosleep(&pause, NULL);
		kill(saver, SIGKILL);
		waitpid(saver, &status, 0);
		gone += WIFEXITED(status);
		half_made += access(temporary, F_OK) == 0;
		found[which_is_there()]++;
	}
	printf("# measured: of %d kills %u came while a file was half made; after them %u times the old one or %u "
	       "times the new "
	       "one was there\n",
	       KILLS, half_made, found[1], found[2]);
	is(found[0], 0, "database is whole, old or new, after each of %d kills while saving", KILLS);
	is(gone, 0, "saver never ends by itself");
	ok(half_made > KILLS / 10, "many a kill came in the middle of a saving");
	ok(found[1], "some kills while saving leave the old file");
	ok(found[2], "some kills while saving leave the new file");
}

/* Each learns by itself, and saves every round. */
static void learn_beside_others(int number)
{
	struct procdb_settings settings = { .path = path, .learns = true };
	struct kind_seen seen = one_vote(TIER_BATCH);
	struct kind_key shared = kind_key_of("shared", ""), own;
	struct procdb_store store;
	char comm[COMM_LEN];
	int error = store_open(&store, &settings, NOW_S, &why);

	snprintf(comm, sizeof(comm), "own-%d", number);
	own = kind_key_of(comm, "");
	for (u64 i = 1; !error && i <= ROUNDS; i++) {
		if (!store_learn(&store, &shared, &seen, NOW_S) || !store_learn(&store, &own, &seen, NOW_S))
			error = -ENOMEM;
		/* A minute has passed. */
		if (store_work(&store, NOW_S + i * 60, &why) < 0)
			error = -EIO;
	}
	_exit(error || store_close(&store, NOW_S, &why) ? 1 : 0);
}

static void test_writers(void)
{
	struct procdb_report report = { 0 };
	struct kind_key key = kind_key_of("shared", "");
	int status, failed = 0;
	struct procdb db;

	unlink(path);
	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0)
			learn_beside_others(i);
	for (int i = 0; i < WRITERS; i++) {
		wait(&status);
		failed += status != 0;
	}
	is(failed, 0, "%d writers at once all save", WRITERS);
	procdb_init(&db, 0);
	is(procdb_read_any(procdb_open_any(path, &why), path, &db, &report, NOW_S, &why), 0,
	   "file that several writers wrote is read");
	is(report.faults, 0, "file that several writers wrote is whole");
	is(db.len, WRITERS + 1, "file that several writers wrote has what each learned");
	is(procdb_find(&db, &key)->observations, WRITERS * ROUNDS,
	   "file that several writers wrote has every vote of all");
	procdb_free(&db);
}

static long forget_all(struct procdb *db, void *data)
{
	long len = (long)db->len;

	(void)data;
	db->len = 0;
	procdb_free(db);
	return len;
}

static void test_change_beside(void)
{
	struct procdb_settings settings = { .path = path, .learns = true };
	struct kind_seen seen = one_vote(TIER_BATCH);
	struct kind_key before = kind_key_of("before", ""), after = kind_key_of("after", "");
	struct procdb_store store;

	unlink(path);
	is(store_open(&store, &settings, NOW_S, &why), 0, "a database that is not there yet is opened");
	store_learn(&store, &before, &seen, NOW_S);
	is(store_work(&store, NOW_S + 59, &why), 0, "database is not saved before a minute is over");
	ok(access(path, F_OK) < 0, "database not yet saved has no file");
	is(store_work(&store, NOW_S + 60, &why), 1, "database is saved after a minute");
	ok(access(path, F_OK) == 0, "database that was saved has a file");
	is(store_work(&store, NOW_S + 999, &why), 0, "database with nothing new is not saved again");
	store_learn(&store, &after, &seen, NOW_S);
	is(store_edit(&settings, forget_all, NULL, NOW_S, &why), 1, "another forgets everything");
	is(store_work(&store, NOW_S + 1000, &why), 1, "change by another is noticed at once");
	ok(!procdb_find(&store.db, &before), "entry that another forgot is gone here");
	ok(procdb_find(&store.db, &after), "entry learned since is kept");
	is(store_close(&store, NOW_S, &why), 0, "database is saved at the end");
	settings.learns = false;
	is(store_open(&store, &settings, NOW_S, &why), 0, "saved database is opened by another");
	is(store.db.len, 1, "saved database has its entry for another");
	store_close(&store, NOW_S, &why);
	is(store_open(&store, &settings, NOW_S + 91ULL * DAY_S, &why), 0, "database is opened after 91 days");
	is(store.db.len, 1, "entry is kept over 91 days without use");
	store_close(&store, NOW_S, &why);
	settings.learns = true;
	for (u64 day = 1; day <= 91; day++) {
		store_open(&store, &settings, NOW_S + day * DAY_S, &why);
		store_learn(&store, &before, &seen, NOW_S + day * DAY_S);
		store_close(&store, NOW_S + day * DAY_S, &why);
	}
	settings.learns = false;
	store_open(&store, &settings, NOW_S + 91ULL * DAY_S, &why);
	ok(!procdb_find(&store.db, &after), "entry unseen on 91 days of use is forgotten");
	ok(procdb_find(&store.db, &before), "entry seen on each of 91 days of use is kept");
	store_close(&store, NOW_S, &why);
}

static void refused(const char *what, const char *words)
{
	struct procdb_settings settings = { .path = path, .learns = true };
	struct procdb_store store;
	int error;

	why.text[0] = '\0';
	error = store_open(&store, &settings, NOW_S, &why);
	ok(error < 0, "file %s is refused", what);
	ok(strstr(why.text, words), "file %s is refused with its reason: %s", what, why.text);
	if (!error)
		store_close(&store, NOW_S, &why);
}

static void save_some(const char *at)
{
	struct procdb db;

	procdb_init(&db, 0);
	fill(&db, 3, 5);
	unlink(at);
	procdb_write_any(at, &db, PDDB_OWN, NOW_S, &why);
	chmod(at, 0600);
	procdb_free(&db);
}

static void test_refusals(void)
{
	char target[400];

	save_some(other);
	unlink(path);
	ok(symlink(other, path) == 0, "link is made in the place of the database");
	refused("a link", "a link: refused");
	unlink(path);
	save_some(path);
	chmod(path, 0660);
	refused("a file that the group may write", "others may write it: refused");
	chmod(path, 0602);
	refused("a file that anybody may write", "others may write it: refused");
	if (geteuid() == 0 && chown(path, 12345, 12345) == 0) {
		chmod(path, 0600);
		refused("somebody else's file", "belongs to somebody else");
	}
	unlink(path);
	mkfifo(path, 0600);
	refused("a pipe", "not a file: refused");
	unlink(path);
	chmod(folder, 0770);
	refused("a folder that others may write", "others may write it: refused");
	chmod(folder, 0700);
	snprintf(target, sizeof(target), "%s.lock", path);
	unlink(target);
	ok(symlink(other, target) == 0, "a link in the place of the lock");
	refused("such a lock", "Too many levels of symbolic links");
	unlink(target);
	unlink(other);
}

static int count_files(const char *prefix)
{
	DIR *all = opendir(folder);
	const struct dirent *entry;
	int count = 0;

	while (all && (entry = readdir(all)))
		count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(all);
	return count;
}

static void test_setting_aside(void)
{
	struct procdb_settings settings = { .path = path, .learns = true };
	struct procdb_store store;
	u8 wrong = 0xff;
	int fd;

	for (int i = 1; i <= 3; i++) {
		save_some(path);
		fd = open(path, O_WRONLY);
		ok(pwrite(fd, &wrong, 1, 32 + 200 + 5) == 1, "byte of the second of three entries is made wrong");
		close(fd);
		is(store_open(&store, &settings, NOW_S, &why), 0, "database with a damaged entry is opened");
		is(store.db.len, 2, "database with a damaged entry keeps the other two");
		ok(access(path, F_OK) < 0, "damaged database file gets another name");
		is(count_files("procdb.bin.damaged-"), i, "damaged database files are never overwritten");
		store_close(&store, NOW_S, &why);
	}
	save_some(path);
	ok(truncate(path, 20) == 0, "a file cut in its header");
	settings.learns = false;
	is(store_open(&store, &settings, NOW_S, &why), 0, "damaged database is opened by who only looks");
	is(store.db.len, 0, "damaged database is empty for who only looks");
	ok(access(path, F_OK) == 0, "damaged database stays in place for who only looks");
	store_close(&store, NOW_S, &why);
}

int main(void)
{
	char command[400];
	int status;

	make_scratch(folder, sizeof(folder), "procdb");
	snprintf(path, sizeof(path), "%s/procdb.bin", folder);
	snprintf(other, sizeof(other), "%s/elsewhere", folder);
	test_kills();
	test_writers();
	test_change_beside();
	test_refusals();
	test_setting_aside();
	status = tap_end();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? 1 : status;
}

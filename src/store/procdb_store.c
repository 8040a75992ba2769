// SPDX-License-Identifier: GPL-2.0
/* Memory and file, kept in step.
 */
#include "procdb_store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "../base/vec.h"

/* LOG_KEPT: where saving fails for long, what is learned is kept in the profiles alone. */
enum { SAVE_EVERY_S = 60, LOG_MOST = 16384, LOG_KEPT = 4 * LOG_MOST };

struct noted {
	struct kind_key key;
	struct kind_seen seen;
	u64 at_s;
};

/* Reads the file into an empty database. What is damaged is reported, and set aside by who has the lock. */
static int load(struct procdb_store *store, struct procdb *db, u64 now_s, struct reason *why)
{
	struct procdb_report report = { 0 };
	struct reason aside;
	int error = procdb_file_load(&store->file, db, &report, now_s, why);

	if (error || !report.faults)
		return error;
	if (!store->learns) {
		note("%s: damaged %s; %zu profiles could be read", store->file.path, report.first.text, db->len);
		return 0;
	}
	error = procdb_file_set_aside(&store->file, now_s, &aside);
	if (error) {
		reason_set(why, "damaged, and could not be set aside: %.200s", aside.text);
		return error;
	}
	note("%s: damaged %s; set aside as %s, %zu profiles could be read", store->file.path, report.first.text,
	     aside.text, db->len);
	return 0;
}

int store_open(struct procdb_store *store, const struct procdb_settings *settings, u64 now_s, struct reason *why)
{
	char path[PROCDB_PATH_SIZE];
	int error = 0;

	*store = (struct procdb_store){ .learns = settings->learns,
					.days = settings->days ? settings->days : PROCDB_AGE_DAYS_DEFAULT,
					.saved_at_s = now_s };
	procdb_init(&store->db, settings->limit);
	store->file.folder_fd = store->file.lock_fd = -1;
	if (!settings->path)
		error = procdb_default_path(path, why);
	if (!error)
		error = procdb_file_open(&store->file, settings->path ? settings->path : path, settings->learns, why);
	/* Nothing was learned yet, and nothing will be. */
	if (error == -ENOENT && !settings->learns)
		return 0;
	if (error)
		return error;
	store->has_file = true;
	if (store->learns)
		error = procdb_file_lock(&store->file, why);
	if (!error)
		error = load(store, &store->db, now_s, why);
	procdb_file_unlock(&store->file);
	if (error) {
		procdb_file_close(&store->file);
		procdb_free(&store->db);
		return error;
	}
	/* One that is written from now on says which it is. */
	if (store->learns && !store->db.origin && getrandom(&store->db.origin, sizeof(u64), 0) != sizeof(u64))
		store->db.origin = now_s;
	procdb_use(&store->db, now_s);
	procdb_age(&store->db, store->days);
	procdb_evict(&store->db);
	return 0;
}

struct profile *store_learn(struct procdb_store *store, const struct kind_key *key, const struct kind_seen *seen,
			    u64 now_s)
{
	struct profile *profile = procdb_learn(&store->db, key, seen, now_s);

	if (!profile || !store->learns || store->log_len >= LOG_KEPT)
		return profile;
	if (!vec_reserve(store->log, store->log_room, store->log_len + 1, 64))
		return NULL;
	store->log[store->log_len++] = (struct noted){ *key, *seen, now_s };
	return profile;
}

/* Takes over what others saved, and adds what was learned here since. */
static int reload(struct procdb_store *store, u64 now_s, struct reason *why)
{
	struct procdb fresh;
	int error;

	procdb_init(&fresh, store->db.limit);
	error = load(store, &fresh, now_s, why);
	procdb_use(&fresh, now_s);
	for (size_t i = 0; !error && i < store->log_len; i++)
		if (!procdb_learn(&fresh, &store->log[i].key, &store->log[i].seen, store->log[i].at_s))
			error = -ENOMEM;
	if (error) {
		procdb_free(&fresh);
		return error;
	}
	if (!fresh.origin)
		fresh.origin = store->db.origin;
	procdb_free(&store->db);
	store->db = fresh;
	return 0;
}

/* With the lock held, if it learns. */
static int sync(struct procdb_store *store, u64 now_s, struct reason *why)
{
	int error = procdb_file_changed(&store->file) ? reload(store, now_s, why) : 0;

	if (error)
		return error;
	procdb_use(&store->db, now_s);
	procdb_age(&store->db, store->days);
	procdb_evict(&store->db);
	if (!store->log_len)
		return 0;
	error = procdb_file_save(&store->file, &store->db, now_s, why);
	if (!error)
		store->log_len = 0;
	return error;
}

int store_work(struct procdb_store *store, u64 now_s, struct reason *why)
{
	bool due = store->log_len && (now_s - store->saved_at_s >= SAVE_EVERY_S || store->log_len >= LOG_MOST);
	int error;

	if (!store->has_file || (!due && !procdb_file_changed(&store->file)))
		return 0;
	/* Also after a failure: what does not work now need not be tried every second. */
	store->saved_at_s = now_s;
	error = store->learns ? procdb_file_lock(&store->file, why) : 0;
	if (!error)
		error = sync(store, now_s, why);
	procdb_file_unlock(&store->file);
	return error ? error : 1;
}

int store_close(struct procdb_store *store, u64 now_s, struct reason *why)
{
	int error = 0;

	if (store->has_file && store->log_len) {
		error = procdb_file_lock(&store->file, why);
		if (!error)
			error = sync(store, now_s, why);
	}
	if (store->has_file)
		procdb_file_close(&store->file);
	procdb_free(&store->db);
	free(store->log);
	*store = (struct procdb_store){ 0 };
	return error;
}

long store_edit(const struct procdb_settings *settings, long (*edit)(struct procdb *db, void *data), void *data,
		u64 now_s, struct reason *why)
{
	struct procdb_settings mine = *settings;
	struct procdb_store store;
	long count;
	int error;

	mine.learns = true;
	error = store_open(&store, &mine, now_s, why);
	if (error)
		return error;
	error = procdb_file_lock(&store.file, why);
	if (!error && procdb_file_changed(&store.file))
		error = reload(&store, now_s, why);
	count = error ? error : edit(&store.db, data);
	if (count > 0) {
		procdb_evict(&store.db);
		error = procdb_file_save(&store.file, &store.db, now_s, why);
	}
	store_close(&store, now_s, why);
	return error ? error : count;
}

// SPDX-License-Identifier: GPL-2.0
/* The copies are written before the database is: who is killed between the two has added too little, never twice.
 */
#include "procdb_merge.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MERGED ".merged-"

struct merging {
	const struct procdb_settings *settings;
	const struct procdb *other;
	struct procdb_merged *merged;
	u64 now_s;
	u64 origin;
	struct procdb before; /* what was added of it already */
	bool wrote_copy;
	struct procdb_file file; /* its copy */
	struct reason *why;
};

static int path_of(const struct procdb_settings *settings, char path[PROCDB_PATH_SIZE], struct reason *why)
{
	if (!settings->path)
		return procdb_default_path(path, why);
	if (strlen(settings->path) >= PROCDB_PATH_SIZE) {
		reason_set(why, "the database's path is too long");
		return -ENAMETOOLONG;
	}
	strcpy(path, settings->path);
	return 0;
}

/* With the database's lock held, which is that of its copies too. */
static int load_copy(struct merging *merging)
{
	char base[PROCDB_PATH_SIZE], path[PROCDB_PATH_SIZE + 32];
	struct procdb_report report = { 0 };
	int error = path_of(merging->settings, base, merging->why);

	if (error)
		return error;
	snprintf(path, sizeof(path), "%s" MERGED "%016" PRIx64, base, merging->origin);
	error = procdb_file_open(&merging->file, path, false, merging->why);
	if (error)
		return error;
	error = procdb_file_load(&merging->file, &merging->before, &report, merging->now_s, merging->why);
	if (!error && report.faults) {
		reason_set(merging->why, "%.200s: damaged %.200s: remove it to add all of that file again", path,
			   report.first.text);
		error = -EINVAL;
	}
	return error;
}

static long add_news(struct procdb *db, void *data)
{
	struct merging *merging = data;
	int error;

	merging->file.folder_fd = merging->file.lock_fd = -1;
	merging->merged->is_same = merging->other->origin && merging->other->origin == db->origin;
	if (merging->merged->is_same)
		return 0;
	error = load_copy(merging);
	if (error)
		return error;
	merging->merged->kinds = procdb_merge(db, merging->other, &merging->before, &merging->merged->votes);
	if (merging->merged->kinds <= 0)
		return merging->merged->kinds;
	error = procdb_file_save(&merging->file, merging->other, merging->now_s, merging->why);
	merging->wrote_copy = !error;
	return error ? error : merging->merged->kinds;
}

/* The database could not be saved: it is as it was, and so is the copy. */
static void take_back(struct merging *merging)
{
	struct reason why;

	if (merging->before.len)
		procdb_file_save(&merging->file, &merging->before, merging->now_s, &why);
	else
		unlinkat(merging->file.folder_fd, merging->file.name, 0);
}

int store_merge(const struct procdb_settings *settings, const struct procdb *other, u64 now_s,
		struct procdb_merged *merged, struct reason *why)
{
	struct merging merging = { .settings = settings,
				   .other = other,
				   .merged = merged,
				   .now_s = now_s,
				   .origin = other->origin ? other->origin : procdb_content(other),
				   .why = why };
	long count;

	*merged = (struct procdb_merged){ .has_origin = other->origin };
	procdb_init(&merging.before, 0);
	merging.file.folder_fd = merging.file.lock_fd = -1;
	count = store_edit(settings, add_news, &merging, now_s, why);
	if (count < 0 && merging.wrote_copy)
		take_back(&merging);
	procdb_file_close(&merging.file);
	procdb_free(&merging.before);
	if (count < 0 && !why->text[0])
		reason_set(why, "%s", strerror((int)-count));
	return count < 0 ? (int)count : 0;
}

void store_forget_merged(const struct procdb_settings *settings)
{
	char path[PROCDB_PATH_SIZE], start[PROCDB_NAME_SIZE + sizeof(MERGED)];
	struct procdb_file file;
	struct dirent *entry;
	struct reason why;
	DIR *folder;

	if (path_of(settings, path, &why) || procdb_file_open(&file, path, false, &why))
		return;
	snprintf(start, sizeof(start), "%s" MERGED, file.name);
	/* The descriptor goes with the folder. */
	folder = fdopendir(file.folder_fd);
	while (folder && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, start, strlen(start)))
			unlinkat(file.folder_fd, entry->d_name, 0);
	if (folder) {
		closedir(folder);
		file.folder_fd = -1;
	}
	procdb_file_close(&file);
}

// SPDX-License-Identifier: GPL-2.0
/* What was added of each is written before the database is: who is killed between the two has added too little, never
 * twice. */
#include "procdb_merge.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MERGED ".merged-"

/* What came of one machine. */
struct merging_part {
	const struct procdb *other;
	u64 origin;
	struct procdb before, added; /* what was added of it before, and with what is new */
	bool wrote;
};

struct merging {
	const struct procdb_settings *settings;
	struct procdb *other;
	struct procdb_merged *merged;
	u64 now_s;
	struct merging_part *parts;
	size_t len;
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

static int load_whole(struct procdb_file *file, struct procdb *db, u64 now_s, struct reason *why)
{
	struct procdb_report report = { 0 };
	int error = procdb_file_load(file, db, &report, now_s, why);

	if (!error && report.faults) {
		reason_set(why, "%.200s: damaged %.200s: remove it to add all of that machine again", file->path,
			   report.first.text);
		error = -EINVAL;
	}
	return error;
}

/* The file beside the database that says what was added of a machine. */
static int open_added(const struct merging *merging, u64 origin, struct procdb_file *file)
{
	char base[PROCDB_PATH_SIZE], path[PROCDB_PATH_SIZE + 32];
	int error = path_of(merging->settings, base, merging->why);

	if (error)
		return error;
	snprintf(path, sizeof(path), "%s" MERGED "%016" PRIx64, base, origin);
	return procdb_file_open(file, path, false, merging->why);
}

/* With the database's lock held, which is that of these files too. What was added is read twice: one to keep, one to
 * add to. Returns how many kinds got votes, or -errno. */
static long add_part(struct merging *merging, struct merging_part *part, struct procdb *db)
{
	struct procdb_file file;
	u64 votes = 0;
	long kinds = 0;
	int error = open_added(merging, part->origin, &file);

	if (error)
		return error;
	error = load_whole(&file, &part->before, merging->now_s, merging->why);
	if (!error)
		error = load_whole(&file, &part->added, merging->now_s, merging->why);
	part->added.origin = part->origin;
	if (!error)
		kinds = procdb_merge(db, part->other, &part->added, &votes);
	if (!error && kinds > 0) {
		error = procdb_file_save(&file, &part->added, merging->now_s, merging->why);
		part->wrote = !error;
		merging->merged->votes += votes;
		merging->merged->kinds += (u64)kinds;
	}
	procdb_file_close(&file);
	return error ? error : kinds;
}

static long add_news(struct procdb *db, void *data)
{
	struct merging *merging = data;
	long kinds = 0;

	merging->merged->is_same = merging->other->origin && merging->other->origin == db->origin;
	for (size_t i = 0; !merging->merged->is_same && kinds >= 0 && i < merging->len; i++) {
		long more = merging->parts[i].origin == db->origin ? 0 : add_part(merging, &merging->parts[i], db);

		kinds = more < 0 ? more : kinds + more;
	}
	return kinds;
}

/* The database could not be saved: it is as it was, and so are these. */
static void take_back(const struct merging *merging, struct merging_part *part)
{
	struct procdb_file file;
	struct reason why;

	if (open_added(merging, part->origin, &file))
		return;
	if (part->before.len)
		procdb_file_save(&file, &part->before, merging->now_s, &why);
	else
		unlinkat(file.folder_fd, file.name, 0);
	procdb_file_close(&file);
}

static void begin_part(struct merging *merging, const struct procdb *other, u64 origin)
{
	struct merging_part *part = &merging->parts[merging->len++];

	*part = (struct merging_part){ .other = other, .origin = origin };
	procdb_init(&part->before, 0);
	procdb_init(&part->added, 0);
}

int store_merge(const struct procdb_settings *settings, struct procdb *other, u64 now_s, struct procdb_merged *merged,
		struct reason *why)
{
	struct merging merging = { .settings = settings, .other = other, .merged = merged, .now_s = now_s, .why = why };
	long count;

	*merged = (struct procdb_merged){ .has_origin = other->origin };
	merging.parts = calloc(1 + other->parts_len, sizeof(*merging.parts));
	if (!merging.parts) {
		reason_set(why, "out of memory");
		return -ENOMEM;
	}
	begin_part(&merging, other, other->origin ? other->origin : procdb_content(other));
	procdb_keep_own(other);
	for (size_t i = 0; i < other->parts_len; i++)
		begin_part(&merging, &other->parts[i], other->parts[i].origin);
	count = store_edit(settings, add_news, &merging, now_s, why);
	for (size_t i = 0; i < merging.len; i++) {
		if (count < 0 && merging.parts[i].wrote)
			take_back(&merging, &merging.parts[i]);
		procdb_free(&merging.parts[i].before);
		procdb_free(&merging.parts[i].added);
	}
	free(merging.parts);
	if (count < 0 && !why->text[0])
		reason_set(why, "%s", strerror((int)-count));
	return count < 0 ? (int)count : 0;
}

/* The number that the name of a file beside the database ends with; 0: it is none of these. */
static u64 origin_of(const char *name, const char *start)
{
	size_t len = strlen(start);
	u64 origin = 0;
	int end = 0;

	if (strncmp(name, start, len) != 0 || strlen(name) != len + 16 ||
	    sscanf(name + len, "%16" SCNx64 "%n", &origin, &end) != 1 || end != 16)
		return 0;
	return origin;
}

static int read_part(const char *path, u64 origin, struct procdb *db, u64 now_s, struct reason *why)
{
	char beside[PROCDB_PATH_SIZE + 32];
	struct procdb_file file;
	struct procdb *part;
	int error;

	snprintf(beside, sizeof(beside), "%s" MERGED "%016" PRIx64, path, origin);
	error = procdb_file_open(&file, beside, false, why);
	if (error)
		return error;
	part = db->parts_len < PDDB_PARTS_MOST ? procdb_part(db) : NULL;
	if (!part) {
		reason_set(why, "%.200s: no room for what was added of so many", path);
		error = -ENOMEM;
	} else {
		error = load_whole(&file, part, now_s, why);
		part->origin = origin;
	}
	procdb_file_close(&file);
	return error;
}

int store_read_parts(const char *path, struct procdb *db, u64 now_s, struct reason *why)
{
	char start[PROCDB_NAME_SIZE + sizeof(MERGED)];
	struct procdb_file file;
	struct reason unused;
	struct dirent *entry;
	int error = 0;
	DIR *folder;
	u64 origin;

	if (procdb_file_open(&file, path, false, &unused))
		return 0;
	snprintf(start, sizeof(start), "%s" MERGED, file.name);
	/* The descriptor goes with the folder. */
	folder = fdopendir(file.folder_fd);
	while (folder && !error && (entry = readdir(folder)))
		if ((origin = origin_of(entry->d_name, start)))
			error = read_part(path, origin, db, now_s, why);
	if (folder) {
		closedir(folder);
		file.folder_fd = -1;
	}
	procdb_file_close(&file);
	return error;
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

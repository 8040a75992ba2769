/* SPDX-License-Identifier: GPL-2.0 */
/* The database's file: where it is, who may touch it, the lock, loading, saving, setting aside.
 * Saving is atomic: whoever comes at any moment finds the old file or the new one, whole. */
#ifndef TACTUS_STORE_PROCDB_FILE_H
#define TACTUS_STORE_PROCDB_FILE_H

#include "../model/procdb_format.h"

enum { PROCDB_PATH_SIZE = 4096, PROCDB_NAME_SIZE = 200 };

/* Which file it was: every saving makes a new one. */
struct procdb_stamp {
	u64 inode, size, changed_ns;
};

struct procdb_file {
	char path[PROCDB_PATH_SIZE];
	char name[PROCDB_NAME_SIZE]; /* in its folder */
	int folder_fd;
	int lock_fd; /* -1: not locked */
	struct procdb_stamp stamp;
};

/* $TACTUS_DB, or /var/lib/tactus/procdb.bin, or for users procdb.bin in their state folder. Returns 0, or -ENOENT with
 * a reason if a user has no such folder. */
int procdb_default_path(char into[PROCDB_PATH_SIZE], struct reason *why);

/* Opens the folder; with `create` it is made if need be. Returns 0, -ENOENT if there is none, or another -errno; each
 * with a reason. Refused are links and folders that others may write. */
int procdb_file_open(struct procdb_file *file, const char *path, bool create, struct reason *why);
void procdb_file_close(struct procdb_file *file);

/* One at a time, among all processes. Waits for a few seconds at most. Returns 0 or -errno with a reason. */
int procdb_file_lock(struct procdb_file *file, struct reason *why);
void procdb_file_unlock(struct procdb_file *file);

/* Fills an empty database. No file is no error: the database stays empty. Refused are links, files that others may
 * write or own, and what is no file. Returns 0 or -errno with a reason; faults are in the report. */
int procdb_file_load(struct procdb_file *file, struct procdb *db, struct procdb_report *report, u64 now_s,
		     struct reason *why);

/* With the lock held. Returns 0 or -errno with a reason; then the old file is as it was. */
int procdb_file_save(struct procdb_file *file, const struct procdb *db, u64 now_s, struct reason *why);

/* Gives the file another name, which is in *why then. Never overwrites another. Returns 0 or -errno with a reason. */
int procdb_file_set_aside(struct procdb_file *file, u64 now_s, struct reason *why);

/* Whether somebody has changed the file since it was loaded or saved here. */
bool procdb_file_changed(const struct procdb_file *file);

/* Opens any file that the user names, links included: for import, merge and check. Returns a descriptor or -errno with
 * a reason. */
int procdb_open_any(const char *path, struct reason *why);
/* Reads it, and closes it in any case. Returns 0 or -errno with a reason. */
int procdb_read_any(int fd, const char *path, struct procdb *db, struct procdb_report *report, u64 now_s,
		    struct reason *why);

/* Writes to a file that the user names; replaces it atomically. Returns the number of profiles or -errno with a reason.
 */
long procdb_write_any(const char *path, const struct procdb *db, u32 version, u64 now_s, struct reason *why);

#endif

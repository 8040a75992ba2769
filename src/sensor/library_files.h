/* SPDX-License-Identifier: GPL-2.0 */
/* The mapped files that were reported: which they are, who mapped them and is charged for them, and who maps them
 * still. libraries.c decides what to do with them. */
#ifndef TACTUS_SENSOR_LIBRARY_FILES_H
#define TACTUS_SENSOR_LIBRARY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "../base/maps.h"
#include "../base/allowance.h"

enum { HOLDERS_MAX = 8, REFUSED_MAX = 256 };

/* A file as it is now. One that was written to in place is reported again: its symbols may lie elsewhere. */
struct identity {
	u64 device, inode, bytes, changed_ns;
};

/* A file as mappings name it. Some file systems have another device there. */
struct mapped_file {
	u64 inode;
	u32 major, minor;
};

struct library_file {
	struct mapped_file mapped;
	struct identity identity;
	u32 charged_to;
	char *path;    /* as who mapped it first calls it; NULL: memory was out */
	bool is_roots; /* nobody but root can write to it */
	u64 reported;  /* to whom: a bit for each that wants files */
	u32 holders[HOLDERS_MAX];
	u32 holders_next;
	u64 free_since_ns; /* nobody maps it since; 0: somebody does, or that is not known */
	u64 looked_ns;
	bool look_again; /* it was mapped again since */
	bool is_held;	 /* while it is found out who maps what, or if that can't be */
};

struct refused_file {
	struct mapped_file mapped;
	u32 pid;
	u64 until_ns;
};

struct library_files {
	struct library_file *all;
	size_t len, room;
	struct refused_file refused[REFUSED_MAX];
	u32 refused_next;
	struct allowance allowance;
	struct allowance reading; /* of processes' mappings */
	u64 unread;		  /* processes whose mappings were not read, or not to their end */
};

/* So many files as the limit of descriptors allows. */
void library_files_open(struct library_files *files);
void library_files_close(struct library_files *files);

struct library_file *library_file_find(struct library_files *files, const struct mapping *mapping);
/* A new one, held by the process and charged to a user. NULL: he has as many as he may have, or memory is out. */
struct library_file *library_file_add(struct library_files *files, const struct mapping *mapping, u32 uid);
void library_file_held_by(struct library_file *file, u32 pid);
/* Notes what the file is now. True if that is other than it was. */
bool library_file_is_new(struct library_file *file, const struct stat *seen);

/* For a while the file is not to be looked at again for this process. */
void library_file_refuse(struct library_files *files, u32 pid, const struct mapping *mapping, u64 until_ns);
bool library_file_is_refused(const struct library_files *files, u32 pid, const struct mapping *mapping, u64 now_ns);

/* maps_read, at the cost of the process's user: -EDQUOT if he has had as much read as he may have for now. That, and
 * -E2BIG, are counted. */
int library_files_read(struct library_files *files, u32 pid, int (*take)(void *data, const struct mapping *mapping),
		       void *data);

/* Finds out which files nobody maps any more, calls `gone` for each and forgets it. Files of root's stay while they lie
 * where they were mapped from: those of a container that has ended or of a package that was upgraded do not, and a
 * probe would hold their file system; those keep theirs for ten minutes more. Those of a user whose processes could not
 * all be read stay for now. */
void library_files_review(struct library_files *files, u64 now_ns,
			  void (*gone)(void *data, const struct library_file *file), void *data);

#endif

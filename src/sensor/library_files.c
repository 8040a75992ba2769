// SPDX-License-Identifier: GPL-2.0
/* Who maps a file is first asked of those who are known to, and of all processes only where none of them does any
 * more: a child that was forked has it too. */
#include "library_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../base/descriptors.h"
#include "../base/loop.h"
#include "../base/owner.h"
#include "../base/proc_apart.h"
#include "../base/process.h"
#include "../base/regular.h"
#include "../base/vec.h"

/* Files that one user's processes may have looked at at once, and all users' but root's. A session with several
 * runtimes beside each other has about 60. Each takes up to 14 descriptors; where there are few, so are the files. */
enum { FILES_EACH_USER = 96, FILES_ALL_USERS = 384, FILES_ALL = 1024, DESCRIPTORS_EACH = 16 };
/* Looking at a file takes a millisecond or a few. At most a twentieth of a CPU's time goes to one user for long. */
enum { BURST_MS = 300, PAYS_PARTS = 20 };
/* Reading what a process maps takes a tenth of a millisecond, of the largest programs a few. */
enum { READING_BURST_MS = 400 };
/* So long a file of root's that is installed nowhere keeps its probes after the last who mapped it: a program that is
 * started over and over in a container finds them in place, and its first calls are seen. */
#define RESTS_NS (600ULL * NSEC_PER_SEC)

static u32 at_most(u64 limit, u64 most)
{
	return (u32)(limit < most ? limit : most);
}

void library_files_open(struct library_files *files)
{
	u64 each = descriptors_allow() / DESCRIPTORS_EACH;

	files->allowance = (struct allowance){
		.held_each = at_most(each / 4, FILES_EACH_USER),
		.held_users = at_most(each / 2, FILES_ALL_USERS),
		.held_all = at_most(each, FILES_ALL),
		.burst_ns = BURST_MS * (u64)NSEC_PER_MSEC,
		.pays_parts = PAYS_PARTS,
	};
	files->reading = (struct allowance){
		.burst_ns = READING_BURST_MS * (u64)NSEC_PER_MSEC,
		.pays_parts = PAYS_PARTS,
	};
}

void library_files_close(struct library_files *files)
{
	for (size_t i = 0; i < files->len; i++)
		free(files->all[i].path);
	free(files->all);
}

static bool is_mapped(const struct mapped_file *file, const struct mapping *mapping)
{
	return file->inode == mapping->inode && file->major == mapping->major && file->minor == mapping->minor;
}

struct library_file *library_file_find(struct library_files *files, const struct mapping *mapping)
{
	for (size_t i = 0; i < files->len; i++)
		if (is_mapped(&files->all[i].mapped, mapping))
			return &files->all[i];
	return NULL;
}

struct library_file *library_file_add(struct library_files *files, const struct mapping *mapping, u32 uid)
{
	if (!vec_reserve(files->all, files->room, files->len + 1, 32) || !allowance_hold(&files->allowance, uid))
		return NULL;
	files->all[files->len] = (struct library_file){
		.mapped = { mapping->inode, mapping->major, mapping->minor },
		.charged_to = uid,
		.path = strdup(mapping->path),
	};
	return &files->all[files->len++];
}

void library_file_held_by(struct library_file *file, u32 pid)
{
	file->free_since_ns = 0;
	for (u32 i = 0; i < HOLDERS_MAX; i++)
		if (file->holders[i] == pid)
			return;
	file->holders[file->holders_next++ % HOLDERS_MAX] = pid;
}

bool library_file_is_new(struct library_file *file, const struct stat *seen)
{
	struct identity now = { 0 };
	bool is_new;

	now.device = seen->st_dev;
	now.inode = seen->st_ino;
	now.bytes = (u64)seen->st_size;
	now.changed_ns = (u64)seen->st_mtim.tv_sec * NSEC_PER_SEC + (u64)seen->st_mtim.tv_nsec;
	is_new = memcmp(&file->identity, &now, sizeof(now)) != 0;
	file->identity = now;
	file->is_roots = !seen->st_uid && !(seen->st_mode & (S_IWGRP | S_IWOTH));
	return is_new;
}

void library_file_refuse(struct library_files *files, u32 pid, const struct mapping *mapping, u64 until_ns)
{
	files->refused[files->refused_next++ % REFUSED_MAX] =
		(struct refused_file){ { mapping->inode, mapping->major, mapping->minor }, pid, until_ns };
}

bool library_file_is_refused(const struct library_files *files, u32 pid, const struct mapping *mapping, u64 now_ns)
{
	for (u32 i = 0; i < REFUSED_MAX; i++)
		if (files->refused[i].pid == pid && now_ns < files->refused[i].until_ns &&
		    is_mapped(&files->refused[i].mapped, mapping))
			return true;
	return false;
}

/* Of this thread and of who reads for it: a busy machine is nobody's debt. */
static u64 cpu_time_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec + proc_apart_cpu_ns();
}

static int read_charged(struct library_files *files, u32 pid, u32 uid,
			int (*take)(void *data, const struct mapping *mapping), void *data)
{
	u64 began_ns = cpu_time_ns();
	int result = -EDQUOT;

	if (allowance_may_work(&files->reading, uid, clock_now_ns())) {
		result = maps_read(pid, take, data);
		allowance_worked(&files->reading, uid, clock_now_ns(), cpu_time_ns() - began_ns);
	}
	files->unread += result == -EDQUOT || result == -E2BIG;
	return result;
}

int library_files_read(struct library_files *files, u32 pid, int (*take)(void *data, const struct mapping *mapping),
		       void *data)
{
	u32 uid;
	int error = process_charged_to(pid, &uid);

	return error ? error : read_charged(files, pid, uid, take, data);
}

enum { ASKED_MAX = 64 };

struct review {
	struct library_files *files;
	u64 now_ns;
	u32 pid;
	u32 asked[ASKED_MAX];
	u32 asked_len;
};

static int mark_held(void *data, const struct mapping *mapping)
{
	const struct review *review = data;
	struct library_file *file = mapping->inode ? library_file_find(review->files, mapping) : NULL;

	if (file) {
		file->is_held = true;
		library_file_held_by(file, review->pid);
	}
	return 0;
}

/* What was not seen may be mapped all the same. */
static void mark_of_user(struct library_files *files, u32 uid)
{
	for (size_t i = 0; i < files->len; i++)
		files->all[i].is_held |= files->all[i].charged_to == uid;
}

static void mark_of_process(void *data, u32 pid)
{
	struct review *review = data;
	int result;
	u32 uid;

	review->pid = pid;
	if (process_charged_to(pid, &uid))
		return;
	result = read_charged(review->files, pid, uid, mark_held, review);
	if (result == -EDQUOT || result == -E2BIG)
		mark_of_user(review->files, uid);
}

/* Where there are too many to remember whom it asked, it asks no more. */
static bool was_asked(struct review *review, u32 pid)
{
	for (u32 i = 0; i < review->asked_len; i++)
		if (review->asked[i] == pid)
			return true;
	if (review->asked_len == ASKED_MAX)
		return true;
	review->asked[review->asked_len++] = pid;
	return false;
}

/* Whether the file lies in our own root where it was mapped from: then the next program may map it at any time. The
 * kernel answers from memory, as it has all of a path that a probe is in. */
static bool is_installed(const struct library_file *file)
{
	int root = file->path ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int found = root < 0 ? -1 : regular_find_below(root, file->path);
	struct statx seen;
	bool is_same = found >= 0 && !statx(found, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &seen) &&
		       seen.stx_ino == file->identity.inode &&
		       makedev(seen.stx_dev_major, seen.stx_dev_minor) == file->identity.device;

	if (found >= 0)
		close(found);
	if (root >= 0)
		close(root);
	return is_same;
}

/* Nobody is asked about it until its time is over. Who maps it again is reported by the kernel. */
static bool is_resting(const struct library_file *file, u64 now_ns)
{
	return file->is_roots && file->free_since_ns && now_ns - file->free_since_ns < RESTS_NS;
}

/* Of a file that nobody maps. */
static bool begins_to_rest(struct library_file *file, u64 now_ns)
{
	if (!file->is_roots || file->free_since_ns)
		return false;
	file->free_since_ns = now_ns;
	return true;
}

/* Asks each known holder once for all the files that it holds. Returns whether some file is held by none. */
static bool ask_holders(struct review *review)
{
	struct library_files *files = review->files;
	bool some_free = false;

	for (size_t i = 0; i < files->len; i++)
		files->all[i].is_held = is_resting(&files->all[i], review->now_ns) ||
					(files->all[i].is_roots && is_installed(&files->all[i]));
	for (size_t i = 0; i < files->len; i++) {
		struct library_file *file = &files->all[i];

		for (u32 j = 0; j < HOLDERS_MAX && !file->is_held; j++)
			if (file->holders[j] && !was_asked(review, file->holders[j]))
				mark_of_process(review, file->holders[j]);
		some_free |= !file->is_held;
	}
	return some_free;
}

void library_files_review(struct library_files *files, u64 now_ns,
			  void (*gone)(void *data, const struct library_file *file), void *data)
{
	struct review review = { .files = files, .now_ns = now_ns };
	size_t kept = 0;

	if (!ask_holders(&review))
		return;
	processes_each(mark_of_process, &review);
	for (size_t i = 0; i < files->len; i++) {
		if (files->all[i].is_held || begins_to_rest(&files->all[i], now_ns)) {
			files->all[kept++] = files->all[i];
			continue;
		}
		allowance_release(&files->allowance, files->all[i].charged_to);
		gone(data, &files->all[i]);
		free(files->all[i].path);
	}
	files->len = kept;
}

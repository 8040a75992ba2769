// SPDX-License-Identifier: GPL-2.0
/* Who wants to know of which files, which files each has been told of, and where files that are mapped are found: in
 * the kernel's records of mappings, and in /proc for what was there before, or where there are no such records. */
#include "libraries.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/maps.h"
#include "../base/mounts.h"
#include "../base/owner.h"
#include "../base/regular.h"
#include "library_files.h"
#include "mappings.h"
#include "sensor.h"

enum { WANTS_MAX = 64 };
/* Of processes that have ended: all of them together are one. */
#define UNKNOWN_USER 0xfffffffeu
/* A file that is mapped over and over is looked at so often; one that was refused, after so long. Whatever has to look
 * at all processes is not done again before a multiple of the time that it took. */
enum { LOOK_NS = 100000000, SCAN_PARTS = 20, REVIEW_S = 5, QUIET_AFTER = 16 };

struct want {
	char *pattern;
	size_t plain; /* so many of its characters stand for themselves */
	bool is_name; /* all of them do */
	library_found found;
	library_gone gone; /* NULL: it does not matter */
	void *data;
};

/* A process as the last look found it, where only /proc tells. */
struct looked_at {
	u32 pid;
	u64 pages;
};

struct libraries {
	struct want *wants;
	size_t wants_len;
	struct mappings *mappings;
	u64 lost;
	u64 refused;
	u32 told_users; /* files that are not root's */
	bool must_scan, must_review, said_refused;
	u64 worked_at_ns, scan_from_ns, review_from_ns;
	struct library_files files;
	struct looked_at *looked;
	size_t looked_len;
};

int libraries_open(struct libraries **out, struct reason *why)
{
	struct libraries *libraries = calloc(1, sizeof(*libraries));

	*out = libraries;
	if (!libraries)
		return -ENOMEM;
	library_files_open(&libraries->files);
	if (!sensor_hook_is_skipped("libraries", "perf"))
		return mappings_open(&libraries->mappings, why);
	reason_set(why, "perf's word on mappings is switched off (TACTUS_SKIP_HOOKS)");
	return -ENOTSUP;
}

bool libraries_can_be_told(struct reason *why)
{
	struct libraries *trial;
	int error = libraries_open(&trial, why);

	libraries_close(trial);
	return !error;
}

void libraries_close(struct libraries *libraries)
{
	if (!libraries)
		return;
	if (libraries->refused)
		note("libraries: %" PRIu64 " times a mapped file was not looked at: its user had more than one may "
		     "have, or reading it may take for ever",
		     (uint64_t)libraries->refused);
	for (size_t i = 0; i < libraries->wants_len; i++)
		free(libraries->wants[i].pattern);
	library_files_close(&libraries->files);
	mappings_close(libraries->mappings);
	free(libraries->wants);
	free(libraries->looked);
	free(libraries);
}

int libraries_want(struct libraries *libraries, const char *pattern, library_found found, library_gone gone, void *data)
{
	struct want *wants = libraries->wants_len == WANTS_MAX
				     ? NULL
				     : realloc(libraries->wants, (libraries->wants_len + 1) * sizeof(*wants));
	struct want want = { .pattern = strdup(pattern), .plain = strcspn(pattern, "*?[\\") };

	if (wants)
		libraries->wants = wants;
	if (!wants || !want.pattern) {
		free(want.pattern);
		return -ENOMEM;
	}
	want.is_name = !pattern[want.plain];
	want.found = found;
	want.gone = gone;
	want.data = data;
	wants[libraries->wants_len++] = want;
	return 0;
}

static bool is_wanted(const struct want *want, const char *name)
{
	if (strncmp(name, want->pattern, want->plain) != 0)
		return false;
	return want->is_name ? !name[want->plain] : !fnmatch(want->pattern, name, 0);
}

static bool is_wanted_by_any(const struct libraries *libraries, const char *name)
{
	for (size_t i = 0; i < libraries->wants_len; i++)
		if (is_wanted(&libraries->wants[i], name))
			return true;
	return false;
}

/* Where another process calls it that. The path is the kernel's, so that no link is on it, unless one was put there
 * since. */
static int open_as_called(u32 pid, const struct mapping *mapping, struct stat *seen)
{
	char root[32];
	int folder_fd, fd;

	if (mapping->deleted || mapping->path[0] != '/')
		return -ENOENT;
	snprintf(root, sizeof(root), pid ? "/proc/%u/root" : "/", pid);
	folder_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder_fd < 0)
		return -errno;
	fd = regular_open_below(folder_fd, mapping->path, seen);
	close(folder_fd);
	return fd;
}

static bool is_mapped_there(const struct mapping *mapping, const struct stat *seen, bool check_device)
{
	return seen->st_ino == mapping->inode &&
	       (!check_device || seen->st_dev == makedev(mapping->major, mapping->minor));
}

/* The file's names are only tried where the mapping itself can't be opened, and only believed if the inode is the one
 * that is mapped. */
int library_open(u32 pid, const struct mapping *mapping, struct stat *seen)
{
	char path[80];
	int fd;

	if (!mount_is_answered(pid, mapping->major, mapping->minor))
		return -EREMOTEIO;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	fd = regular_open(path, seen);
	if (fd >= 0 && is_mapped_there(mapping, seen, false))
		return fd;
	for (int i = 0; i < 2; i++) {
		if (fd >= 0)
			close(fd);
		/* The process may have ended, but others will map the same file. */
		fd = open_as_called(i ? 0 : pid, mapping, seen);
		if (fd >= 0 && is_mapped_there(mapping, seen, i))
			return fd;
	}
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : -ESTALE;
}

static void refuse(struct libraries *libraries, u32 pid, const struct mapping *mapping, u64 now_ns, u32 uid,
		   bool is_hasty)
{
	libraries->refused++;
	library_file_refuse(&libraries->files, pid, mapping, now_ns + (is_hasty ? 1 : REVIEW_S) * (u64)NSEC_PER_SEC);
	/* Some of what he has may be free by then. */
	libraries->must_scan = libraries->must_review = true;
	if (!libraries->said_refused && !is_hasty)
		note("libraries: user %u maps more libraries that are watched than one user may have: the rest is not "
		     "watched",
		     uid);
	libraries->said_refused |= !is_hasty;
}

/* Tells those who want it and were not told yet. */
static void tell(struct libraries *libraries, struct library_file *file, const struct library *library)
{
	for (size_t i = 0; i < libraries->wants_len; i++) {
		struct want *want = &libraries->wants[i];

		if (!is_wanted(want, library->name) || (file->told & 1ULL << i))
			continue;
		file->told |= 1ULL << i;
		want->found(want->data, library);
	}
}

/* Looks at a file that is not known yet, or may have changed. */
static void look(struct libraries *libraries, struct library_file *file, u32 pid, const struct mapping *mapping,
		 u64 now_ns)
{
	struct library library = { .pid = pid, .name = path_base(mapping->path), .path = mapping->path };
	struct allowance *allowance = &libraries->files.allowance;
	char open_path[64];
	struct stat seen;
	u32 uid = file ? file->charged_to : UNKNOWN_USER;
	int fd = -EDQUOT;

	if (!file && process_charged_to(pid, &uid))
		uid = UNKNOWN_USER;
	if (file || allowance_may_work(allowance, uid, now_ns))
		fd = library_open(pid, mapping, &seen);
	if (fd == -EDQUOT || fd == -EREMOTEIO)
		refuse(libraries, pid, mapping, now_ns, uid, true);
	if (fd < 0)
		return;
	if (!file)
		file = library_file_add(&libraries->files, mapping, uid);
	if (!file) {
		refuse(libraries, pid, mapping, now_ns, uid, false);
		close(fd);
		return;
	}
	file->looked_ns = now_ns;
	file->look_again = false;
	library_file_held_by(file, pid);
	if (library_file_is_new(file, &seen)) {
		file->told = 0;
		libraries->told_users += !file->is_roots;
	}
	snprintf(open_path, sizeof(open_path), "/proc/self/fd/%d", fd);
	library.open = open_path;
	library.device = file->identity.device;
	library.inode = file->identity.inode;
	library.is_roots = file->is_roots;
	library.is_quiet = !file->is_roots && libraries->told_users > QUIET_AFTER;
	tell(libraries, file, &library);
	close(fd);
	allowance_worked(allowance, uid, now_ns, clock_now_ns() - now_ns);
}

static void take(struct libraries *libraries, u32 pid, const struct mapping *mapping, bool is_news)
{
	struct library_file *file;
	u64 now_ns;

	if (!mapping->executable || !mapping->inode || !is_wanted_by_any(libraries, path_base(mapping->path)))
		return;
	now_ns = clock_now_ns();
	file = library_file_find(&libraries->files, mapping);
	if (file && now_ns - file->looked_ns < LOOK_NS) {
		library_file_held_by(file, pid);
		file->look_again |= is_news;
	} else if (file || !library_file_is_refused(&libraries->files, pid, mapping, now_ns)) {
		look(libraries, file, pid, mapping, now_ns);
	}
}

static void take_mapping(void *data, u32 pid, const struct mapping *mapping)
{
	take(data, pid, mapping, true);
}

struct scan {
	struct libraries *libraries;
	u32 pid;
};

static int scan_mapping(void *data, const struct mapping *mapping)
{
	struct scan *scan = data;

	take(scan->libraries, scan->pid, mapping, false);
	return 0;
}

void libraries_scan_process(struct libraries *libraries, u32 pid)
{
	struct scan scan = { libraries, pid };

	maps_read(pid, scan_mapping, &scan);
}

/* How much address space a process has: it changes when a library is mapped. 0: the kernel's thread, or gone. */
static u64 pages_of(u32 pid)
{
	char path[32], text[64] = "";
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	return got > 0 ? strtoull(text, NULL, 10) : 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct looked_at *one = a, *other = b;

	return one->pid < other->pid ? -1 : one->pid > other->pid;
}

static bool has_changed(const struct libraries *libraries, const struct looked_at *now)
{
	const struct looked_at *then = NULL;

	if (libraries->looked_len)
		then = bsearch(now, libraries->looked, libraries->looked_len, sizeof(*now), by_pid);
	return !then || then->pages != now->pages;
}

/* Looks at all processes, or only at those that are new or have grown or shrunk since the last look. */
static void scan_all(struct libraries *libraries, bool only_changed)
{
	struct looked_at *looked = NULL;
	size_t len = 0, room = 0;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		struct looked_at now = { .pid = (u32)strtoul(entry->d_name, NULL, 10) };

		if (!isdigit((unsigned char)entry->d_name[0]) || !(now.pages = pages_of(now.pid)))
			continue;
		if (!only_changed || has_changed(libraries, &now))
			libraries_scan_process(libraries, now.pid);
		if (len == room) {
			struct looked_at *more = realloc(looked, (room + 256) * sizeof(*more));

			if (!more)
				break;
			looked = more;
			room += 256;
		}
		looked[len++] = now;
	}
	if (proc)
		closedir(proc);
	if (len)
		qsort(looked, len, sizeof(*looked), by_pid);
	free(libraries->looked);
	libraries->looked = looked;
	libraries->looked_len = len;
}

void libraries_scan(struct libraries *libraries)
{
	/* What was told until now, or had no room, is found in /proc just as well. */
	if (libraries->mappings)
		mappings_take(libraries->mappings, take_mapping, libraries);
	if (libraries->wants_len)
		scan_all(libraries, false);
}

int libraries_fd(const struct libraries *libraries)
{
	return libraries->mappings ? mappings_fd(libraries->mappings) : -1;
}

/* Files that were mapped again just after they were looked at may have changed in between. */
static void look_again(struct libraries *libraries)
{
	for (size_t i = 0; i < libraries->files.len; i++) {
		struct library_file *file = &libraries->files.all[i];
		u32 pid = file->holders[(file->holders_next + HOLDERS_MAX - 1) % HOLDERS_MAX];

		if (!file->look_again)
			continue;
		file->look_again = false;
		libraries_scan_process(libraries, pid);
	}
}

static void take_gone(void *data, const struct library_file *file)
{
	struct libraries *libraries = data;

	for (size_t i = 0; i < libraries->wants_len; i++)
		if ((file->told & 1ULL << i) && libraries->wants[i].gone)
			libraries->wants[i].gone(libraries->wants[i].data, file->identity.device, file->identity.inode);
}

static void review(struct libraries *libraries, u64 now_ns)
{
	u64 took_ns;

	if (now_ns < libraries->review_from_ns)
		return;
	library_files_review(&libraries->files, take_gone, libraries);
	took_ns = clock_now_ns() - now_ns;
	libraries->review_from_ns = now_ns + took_ns * SCAN_PARTS;
	if (!libraries->must_review)
		libraries->review_from_ns += REVIEW_S * (u64)NSEC_PER_SEC;
	libraries->must_review = false;
}

/* What the kernel did not tell, or what had to wait. */
static void scan_missed(struct libraries *libraries, u64 now_ns)
{
	if (now_ns < libraries->scan_from_ns)
		return;
	libraries->must_scan = false;
	libraries_scan(libraries);
	libraries->scan_from_ns = now_ns + (clock_now_ns() - now_ns) * SCAN_PARTS;
}

void libraries_work(struct libraries *libraries)
{
	u64 now_ns = clock_now_ns();
	bool second_over = now_ns - libraries->worked_at_ns >= NSEC_PER_SEC;

	if (libraries->mappings) {
		u64 lost = mappings_take(libraries->mappings, take_mapping, libraries);

		libraries->lost += lost;
		libraries->must_scan |= lost > 0;
	}
	if (!second_over)
		return;
	libraries->worked_at_ns = now_ns;
	look_again(libraries);
	review(libraries, now_ns);
	if (!libraries->mappings)
		scan_all(libraries, !libraries->must_scan);
	libraries->must_scan |= libraries->mappings && mappings_follow_cpus(libraries->mappings);
	if (libraries->must_scan)
		scan_missed(libraries, now_ns);
}

u64 libraries_lost(const struct libraries *libraries)
{
	return libraries->lost;
}

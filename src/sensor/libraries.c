// SPDX-License-Identifier: GPL-2.0
/* Who wants to know of which files, which files were reported to each, and where files that are mapped are found: in
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

#include "../base/elf.h"
#include "../base/loop.h"
#include "../base/maps.h"
#include "../base/mounts.h"
#include "../base/owner.h"
#include "../base/proc_apart.h"
#include "../base/regular.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "../sink/text.h"
#include "library_files.h"
#include "link_closer.h"
#include "mappings.h"
#include "sensor.h"

enum { WANTS_MAX = 64, PATH_PLAIN = 256 };
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

/* A process as the last look found it. */
struct looked_at {
	u32 pid;
	u64 pages; /* 0: its turn is still to come */
};

struct libraries {
	struct want *wants;
	size_t wants_len;
	struct mappings *mappings;
	u64 lost;
	u64 refused;
	u32 reported_users; /* files that are not root's */
	bool must_scan, must_review, said_refused;
	bool has_waiting; /* processes that were not looked at yet, since their user had to wait */
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
	reason_set(why, "perf's mapping records are switched off (TACTUS_SKIP_HOOKS)");
	return -ENOTSUP;
}

bool libraries_can_be_reported(struct reason *why)
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
		note("libraries: %" PRIu64 " times a mapped file was not looked at: its user has used up the "
		     "allowance of one user, or reading it may take for ever",
		     (uint64_t)libraries->refused);
	if (libraries->files.unread)
		note("libraries: %" PRIu64 " times a process's mappings were not read, or not to their end: they were "
		     "too many, or its user has used up the allowance of one user",
		     (uint64_t)libraries->files.unread);
	if (elf_unanswered())
		note("libraries: %" PRIu64 " times the process that was to read a file did not come to its end",
		     (uint64_t)elf_unanswered());
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
	struct want want = { .pattern = strdup(pattern), .plain = strcspn(pattern, "*?[\\") };

	if (!want.pattern || libraries->wants_len == WANTS_MAX ||
	    !vec_one_more(libraries->wants, libraries->wants_len)) {
		free(want.pattern);
		return -ENOMEM;
	}
	want.is_name = !pattern[want.plain];
	want.found = found;
	want.gone = gone;
	want.data = data;
	libraries->wants[libraries->wants_len++] = want;
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
static int find_as_called(u32 pid, const struct mapping *mapping)
{
	char root[32];
	int folder_fd, found;

	if (mapping->deleted || mapping->path[0] != '/')
		return -ENOENT;
	snprintf(root, sizeof(root), pid ? "/proc/%u/root" : "/", pid);
	folder_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder_fd < 0)
		return -errno;
	found = regular_find_below(folder_fd, mapping->path);
	close(folder_fd);
	return found;
}

static bool is_mapped_there(const struct mapping *mapping, const struct stat *seen, bool check_device)
{
	return seen->st_ino == mapping->inode &&
	       (!check_device || seen->st_dev == makedev(mapping->major, mapping->minor));
}

/* Opens what was found, whose descriptor is taken over, if it is the file that is mapped. */
static int open_found(u32 pid, int found, const struct mapping *mapping, struct stat *seen, bool check_device)
{
	int fd;

	if (found < 0)
		return found;
	if (!found_is_answered(pid, found)) {
		close(found);
		return -EREMOTEIO;
	}
	fd = regular_take(found, seen);
	if (fd < 0 || is_mapped_there(mapping, seen, check_device))
		return fd;
	close(fd);
	return -ESTALE;
}

/* The file's names are only tried where the mapping itself can't be opened, and only believed if the inode is the one
 * that is mapped. */
int library_open(u32 pid, const struct mapping *mapping, struct stat *seen)
{
	char name[64];
	int fd;

	if (!mount_is_answered(pid, mapping->major, mapping->minor))
		return -EREMOTEIO;
	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	fd = open_found(pid, proc_apart_find(pid, name), mapping, seen, false);
	/* The process may have ended, but others will map the same file. */
	if (fd < 0)
		fd = open_found(pid, find_as_called(pid, mapping), mapping, seen, false);
	if (fd < 0)
		fd = open_found(pid, find_as_called(0, mapping), mapping, seen, true);
	return fd;
}

static void refuse(struct libraries *libraries, u32 pid, const struct mapping *mapping, u64 now_ns, u32 uid,
		   bool is_hasty)
{
	libraries->refused++;
	library_file_refuse(&libraries->files, pid, mapping, now_ns + (is_hasty ? 1 : REVIEW_S) * (u64)NSEC_PER_SEC);
	/* Some of what he has may be free by then. */
	libraries->must_scan = libraries->must_review = true;
	if (!libraries->said_refused && !is_hasty)
		note("libraries: user %u maps more watched libraries than one user may: the rest is not watched", uid);
	libraries->said_refused |= !is_hasty;
}

/* Reports it to those who want it and have not had it yet. */
static void announce(struct libraries *libraries, struct library_file *file, const struct library *library)
{
	for (size_t i = 0; i < libraries->wants_len; i++) {
		struct want *want = &libraries->wants[i];

		if (!is_wanted(want, library->name) || (file->reported & 1ULL << i))
			continue;
		file->reported |= 1ULL << i;
		want->found(want->data, library);
	}
}

static void take_gone(void *data, const struct library_file *file)
{
	struct libraries *libraries = data;

	for (size_t i = 0; i < libraries->wants_len; i++)
		if ((file->reported & 1ULL << i) && libraries->wants[i].gone)
			libraries->wants[i].gone(libraries->wants[i].data, file->identity.device, file->identity.inode);
}

/* A write is only told of once probes are there: they may be where other code is by now, of one that came between the
 * look into the file and that. They are gone before anybody else runs it for long, and it is looked at again. */
static void mind_write(struct libraries *libraries, struct library_file *file, const struct library *library, int fd)
{
	char path[PATH_PLAIN];
	struct stat seen;

	if (fstat(fd, &seen) || !library_file_is_new(file, &seen))
		return;
	take_gone(libraries, file);
	if (file->is_roots)
		links_wait_closed();
	file->reported = 0;
	file->look_again = true;
	format_plain(path, sizeof(path), library->path);
	if (sensor_is_verbose())
		note("libraries: %s was written to as it was looked at: it is looked at again", path);
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
		file->reported = 0;
		libraries->reported_users += !file->is_roots;
	}
	snprintf(open_path, sizeof(open_path), "/proc/self/fd/%d", fd);
	library.open = open_path;
	library.device = file->identity.device;
	library.inode = file->identity.inode;
	library.is_roots = file->is_roots;
	library.is_quiet = !file->is_roots && libraries->reported_users > QUIET_AFTER;
	announce(libraries, file, &library);
	mind_write(libraries, file, &library, fd);
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

/* False: its user has to wait. */
static bool scan_process(struct libraries *libraries, u32 pid)
{
	struct scan scan = { libraries, pid };

	return library_files_read(&libraries->files, pid, scan_mapping, &scan) != -EDQUOT;
}

void libraries_scan_process(struct libraries *libraries, u32 pid)
{
	scan_process(libraries, pid);
}

int libraries_read_maps(struct libraries *libraries, u32 pid, int (*take)(void *data, const struct mapping *mapping),
			void *data)
{
	return library_files_read(&libraries->files, pid, take, data);
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

/* Looks at all processes, or only at those that are new or have grown or shrunk since the last look, or had to wait. */
static void scan_all(struct libraries *libraries, bool only_changed)
{
	struct looked_at *looked = NULL;
	size_t len = 0, room = 0;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	libraries->has_waiting = false;
	while (proc && (entry = readdir(proc))) {
		struct looked_at now = { .pid = (u32)strtoul(entry->d_name, NULL, 10) };

		if (!isdigit((unsigned char)entry->d_name[0]) || !(now.pages = pages_of(now.pid)))
			continue;
		if ((!only_changed || has_changed(libraries, &now)) && !scan_process(libraries, now.pid)) {
			now.pages = 0;
			libraries->has_waiting = true;
		}
		if (!vec_reserve(looked, room, len + 1, 256))
			break;
		looked[len++] = now;
	}
	if (proc)
		closedir(proc);
	if (len)
		sort_rows(looked, len, sizeof(*looked), by_pid);
	free(libraries->looked);
	libraries->looked = looked;
	libraries->looked_len = len;
}

void libraries_scan(struct libraries *libraries)
{
	/* What was reported until now, or had no room, is found in /proc just as well. */
	if (libraries->mappings)
		mappings_take(libraries->mappings, take_mapping, libraries);
	if (libraries->wants_len)
		scan_all(libraries, false);
}

int libraries_fd(const struct libraries *libraries)
{
	return libraries->mappings ? mappings_fd(libraries->mappings) : -1;
}

/* Files that were mapped again just after they were looked at may have changed in between. One that was looked at a
 * moment ago would be passed over as too soon: it keeps its turn. */
static void look_again(struct libraries *libraries)
{
	u64 now_ns = clock_now_ns();

	for (size_t i = 0; i < libraries->files.len; i++) {
		struct library_file *file = &libraries->files.all[i];
		u32 pid = file->holders[(file->holders_next + HOLDERS_MAX - 1) % HOLDERS_MAX];

		if (!file->look_again || now_ns - file->looked_ns < LOOK_NS)
			continue;
		file->look_again = false;
		libraries_scan_process(libraries, pid);
	}
}

static void review(struct libraries *libraries, u64 now_ns)
{
	u64 took_ns;

	if (now_ns < libraries->review_from_ns)
		return;
	library_files_review(&libraries->files, now_ns, take_gone, libraries);
	took_ns = clock_now_ns() - now_ns;
	libraries->review_from_ns = now_ns + took_ns * SCAN_PARTS;
	if (!libraries->must_review)
		libraries->review_from_ns += REVIEW_S * (u64)NSEC_PER_SEC;
	libraries->must_review = false;
}

/* What the kernel did not report, or what had to wait. */
static void scan_lost_mappings(struct libraries *libraries, u64 now_ns)
{
	bool only_waiting = !libraries->must_scan;

	if (now_ns < libraries->scan_from_ns)
		return;
	libraries->must_scan = false;
	if (only_waiting)
		scan_all(libraries, true);
	else
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
	if (libraries->must_scan || libraries->has_waiting)
		scan_lost_mappings(libraries, now_ns);
}

u64 libraries_lost(const struct libraries *libraries)
{
	return libraries->lost;
}

u64 libraries_refused(const struct libraries *libraries)
{
	return libraries->refused + libraries->files.unread + elf_unanswered();
}

// SPDX-License-Identifier: GPL-2.0
/* Who wants to know of which files, which files each has been told of, and where files that are mapped are found: in
 * the kernel's records of mappings, and in /proc for what was there before, or where there are no such records. */
#include "libraries.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/maps.h"
#include "mappings.h"
#include "sensor.h"

/* A file as it is now. One that was written to in place is told of again: its symbols may lie elsewhere. */
struct identity {
	u64 device, inode, bytes, changed_ns;
};

struct want {
	char *pattern;
	size_t plain; /* so many of its characters stand for themselves */
	bool is_name; /* all of them do */
	library_found found;
	void *data;
	struct identity *told;
	size_t told_len, told_room;
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
	bool must_scan;
	u64 worked_at_ns;
	struct looked_at *looked;
	size_t looked_len;
};

int libraries_open(struct libraries **out, struct reason *why)
{
	struct libraries *libraries = calloc(1, sizeof(*libraries));

	*out = libraries;
	if (!libraries)
		return -ENOMEM;
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
	for (size_t i = 0; i < libraries->wants_len; i++) {
		free(libraries->wants[i].pattern);
		free(libraries->wants[i].told);
	}
	mappings_close(libraries->mappings);
	free(libraries->wants);
	free(libraries->looked);
	free(libraries);
}

int libraries_want(struct libraries *libraries, const char *pattern, library_found found, void *data)
{
	struct want *wants = realloc(libraries->wants, (libraries->wants_len + 1) * sizeof(*wants));
	struct want want = { .pattern = strdup(pattern), .plain = strcspn(pattern, "*?[\\") };

	if (wants)
		libraries->wants = wants;
	if (!wants || !want.pattern) {
		free(want.pattern);
		return -ENOMEM;
	}
	want.is_name = !pattern[want.plain];
	want.found = found;
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

static bool was_told(const struct want *want, const struct identity *file)
{
	for (size_t i = 0; i < want->told_len; i++)
		if (!memcmp(&want->told[i], file, sizeof(*file)))
			return true;
	return false;
}

/* Notes that the file has been told of. Without memory it may be told of twice. */
static void note_told(struct want *want, const struct identity *file)
{
	size_t room = want->told_room ? want->told_room * 2 : 8;
	struct identity *told = want->told;

	if (want->told_len == want->told_room) {
		told = realloc(told, room * sizeof(*told));
		if (!told)
			return;
		want->told = told;
		want->told_room = room;
	}
	told[want->told_len++] = *file;
}

static int open_if_same(const char *path, const struct mapping *mapping, bool check_device)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat seen;

	if (fd >= 0 && !fstat(fd, &seen) && seen.st_ino == mapping->inode &&
	    (!check_device || seen.st_dev == makedev(mapping->major, mapping->minor)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The file's names are only tried where the mapping itself can't be opened, and only believed if the inode is the one
 * that is mapped. */
int library_open(u32 pid, const struct mapping *mapping)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 || mapping->deleted || mapping->path[0] != '/')
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, mapping->path);
	fd = open_if_same(path, mapping, false);
	/* The process may have ended, but others will map the same file. */
	return fd >= 0 ? fd : open_if_same(mapping->path, mapping, true);
}

static void take_mapping(void *data, u32 pid, const struct mapping *mapping)
{
	struct libraries *libraries = data;
	const char *name = path_base(mapping->path);
	struct identity file = { 0 };
	char open_path[64];
	struct stat seen;
	int fd;

	if (!mapping->executable || !mapping->inode || !is_wanted_by_any(libraries, name))
		return;
	fd = library_open(pid, mapping);
	if (fd < 0)
		return;
	if (fstat(fd, &seen) || !S_ISREG(seen.st_mode)) {
		close(fd);
		return;
	}
	file.device = seen.st_dev;
	file.inode = seen.st_ino;
	file.bytes = (u64)seen.st_size;
	file.changed_ns = (u64)seen.st_mtim.tv_sec * NSEC_PER_SEC + (u64)seen.st_mtim.tv_nsec;
	snprintf(open_path, sizeof(open_path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < libraries->wants_len; i++) {
		struct library library = { .pid = pid, .name = name, .path = mapping->path, .open = open_path };
		struct want *want = &libraries->wants[i];

		library.device = file.device;
		library.inode = file.inode;
		if (!is_wanted(want, name) || was_told(want, &file))
			continue;
		note_told(want, &file);
		want->found(want->data, &library);
	}
	close(fd);
}

struct scan {
	struct libraries *libraries;
	u32 pid;
};

static int scan_mapping(void *data, const struct mapping *mapping)
{
	struct scan *scan = data;

	take_mapping(scan->libraries, scan->pid, mapping);
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
	if (!libraries->mappings)
		scan_all(libraries, true);
	else if (mappings_follow_cpus(libraries->mappings) || libraries->must_scan)
		libraries_scan(libraries);
	libraries->must_scan = false;
}

u64 libraries_lost(const struct libraries *libraries)
{
	return libraries->lost;
}

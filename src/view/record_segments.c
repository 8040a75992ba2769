// SPDX-License-Identifier: GPL-2.0
/* Segments are called HOST-YYYYMMDDTHHMMSSZ-NUMBER.tactus, so that their names are in order of time, and index.jsonl in
 * the same folder has a line for each that is there. What went before a segment is known from its lead-in. */
#include "record_segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/options.h"
#include "../base/privileges.h"
#include "../base/say.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "../base/way.h"
#include "../model/lead_in.h"
#include "../model/segment_index.h"
#include "../sink/json.h"

enum { FRAMES_KEPT = 4096, FILES_MOST = 1 << 17 };
#define SPAN_LEAST_NS (1ULL * NSEC_PER_SEC)
#define SPAN_MOST_NS (24ULL * 3600 * NSEC_PER_SEC)
#define INDEX_NAME "index.jsonl"
#define INDEX_PART ".index.jsonl.part"

struct segments {
	struct segment_wishes wishes;
	int folder;
	bool told_index; /* that it can't be written */
	char host[SEGMENT_HOST_SIZE];
	struct lead_in *lead_in;
	struct recording_writer *writer; /* NULL: none is open */
	struct recording_info info;	 /* of that one */
	char name[NAME_MAX + 1];
	char path[PATH_MAX];
	u64 from_ns, last_ns, flushed_ns;
	u64 lost; /* events that the stream says are missing from this one */
	u64 number;
	int error;
	struct segments_sums sums;
};

const char *segments_take_span(struct segment_wishes *wishes, const char *value)
{
	const char *wrong = parse_span(value, &wishes->span_ns);

	if (wrong)
		return wrong;
	return wishes->span_ns >= SPAN_LEAST_NS && wishes->span_ns <= SPAN_MOST_NS ? NULL
										   : "is not a span from 1s to 24h";
}

/* A machine's name as part of a file's: letters, digits, dots and dashes. */
static void find_host(char host[SEGMENT_HOST_SIZE])
{
	if (gethostname(host, SEGMENT_HOST_SIZE - 1))
		strcpy(host, "unknown");
	host[SEGMENT_HOST_SIZE - 1] = '\0';
	for (char *at = host; *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", *at))
			*at = '-';
	if (!host[0])
		strcpy(host, "unknown");
}

/* Links on the way are followed as to any output (base/way.h). A folder in which others can put and take files is no
 * place for what root writes, removes and reads again. Returns a descriptor, or -1 after a message. */
static int open_folder(const char *path)
{
	char bare[PATH_MAX], name[WAY_NAME_SIZE];
	size_t len = strlen(path);
	struct reason why = { "" };
	struct stat seen;
	int in, fd;

	while (len > 1 && path[len - 1] == '/')
		len--;
	snprintf(bare, sizeof(bare), "%.*s", (int)len, path);
	in = way_open(bare, name, &why);
	if (in < 0) {
		fail(path, "cannot be made: %s", why.text);
		return -1;
	}
	if (mkdirat(in, name, 0755) && errno != EEXIST) {
		fail(path, "cannot be made: %s", strerror(errno));
		close(in);
		return -1;
	}
	fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(in);
	if (fd < 0 || fstat(fd, &seen)) {
		fail(path, "is no folder");
	} else if (!is_trusted_user(seen.st_uid) || (seen.st_mode & S_IWOTH)) {
		fail(path, "others can put files there: name a folder that is your own");
		close(fd);
		fd = -1;
	}
	return fd;
}

struct segments *segments_open(const struct segment_wishes *wishes)
{
	int folder = open_folder(wishes->folder);
	struct segments *segments = folder < 0 ? NULL : calloc(1, sizeof(*segments));

	if (folder < 0)
		return NULL;
	if (segments) {
		segments->wishes = *wishes;
		segments->folder = folder;
		segments->lead_in = lead_in_open(FRAMES_KEPT);
		find_host(segments->host);
	} else {
		close(folder);
	}
	if (!segments || !segments->lead_in) {
		fail("record", "out of memory");
		segments_close(segments);
		return NULL;
	}
	return segments;
}

void segments_close(struct segments *segments)
{
	if (!segments)
		return;
	recording_close_writer(segments->writer);
	lead_in_close(segments->lead_in);
	close(segments->folder);
	free(segments);
}

static void write_event(void *data, const struct event_header *event)
{
	struct segments *segments = data;

	if (!segments->error && segments->writer)
		segments->error = recording_write(segments->writer, event);
}

static u64 wall_of(const struct segments *segments, u64 mono_ns)
{
	return segments->info.wall_start_ns + (mono_ns - segments->info.mono_start_ns);
}

/* The name says when it began by the machine's clock; the number tells apart those of one second. */
static void begin(struct segments *segments, const struct recording_info *info, u64 now_ns)
{
	struct reason why = { "" };
	time_t wall_s;
	struct tm utc;
	char stamp[32];

	segments->info = *info;
	segments->info.mono_start_ns = now_ns;
	segments->info.wall_start_ns = info->wall_start_ns + (now_ns - info->mono_start_ns);
	segments->info.replaces_any = false;
	segments->info.only_new = true;
	segments->info.only_whole = false;
	wall_s = (time_t)(segments->info.wall_start_ns / NSEC_PER_SEC);
	gmtime_r(&wall_s, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	snprintf(segments->name, sizeof(segments->name), "%s-%s-%04" PRIu64 SEGMENT_END, segments->host, stamp,
		 segments->number++);
	if (snprintf(segments->path, sizeof(segments->path), "%s/%s", segments->wishes.folder, segments->name) >=
	    (int)sizeof(segments->path))
		segments->error = -ENAMETOOLONG;
	else
		segments->error = recording_create(&segments->writer, segments->path, &segments->info, &why);
	if (segments->error) {
		segments->writer = NULL;
		/* It has a name of its own, and not even a head. */
		if (segments->error == -ENOSPC)
			unlinkat(segments->folder, segments->name, 0);
		fail(segments->path, "%s", why.text[0] ? why.text : strerror(-segments->error));
		return;
	}
	segments->from_ns = segments->last_ns = now_ns;
	lead_in_give(segments->lead_in, write_event, segments);
}

void segments_take(struct segments *segments, const struct recording_info *info, const struct event_header *event)
{
	if (segments->error)
		return;
	if (!segments->writer)
		begin(segments, info, event->time_ns);
	lead_in_take(segments->lead_in, event);
	if (lead_in_give_functions(segments->lead_in, event, write_event, segments))
		write_event(segments, event);
	if (event->kind == EVENT_LOST)
		segments->lost += ((const struct event_lost *)event)->count;
	if (event->time_ns > segments->last_ns)
		segments->last_ns = event->time_ns;
}

/* All segments of this machine that are in the folder, by name. The caller frees it. */
static struct segment *list(const struct segments *segments, size_t *len)
{
	int fd = openat(segments->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct segment *all = NULL;
	struct dirent *entry;
	struct stat file;
	size_t room = 0;

	*len = 0;
	while (folder && *len < FILES_MOST && (entry = readdir(folder)))
		if (segment_is_of(entry->d_name, segments->host) &&
		    !fstatat(dirfd(folder), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) && S_ISREG(file.st_mode) &&
		    vec_reserve(all, room, *len + 1, 64)) {
			snprintf(all[*len].name, sizeof(all[*len].name), "%s", entry->d_name);
			all[*len].place = 0;
			all[(*len)++].bytes = (u64)file.st_size;
		}
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
	if (*len)
		sort_rows(all, *len, sizeof(*all), segments_by_name);
	return all;
}

/* What somebody else put in its place, or what is no file, is none. */
static FILE *open_old_index(const struct segments *segments)
{
	int fd = openat(segments->folder, INDEX_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat seen;
	FILE *file = NULL;

	if (fd >= 0 && !fstat(fd, &seen) && S_ISREG(seen.st_mode) && is_trusted_user(seen.st_uid))
		file = fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static FILE *open_new_index(const struct segments *segments)
{
	FILE *file;
	int fd;

	unlinkat(segments->folder, INDEX_PART, 0);
	fd = openat(segments->folder, INDEX_PART, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* Lines of files that are there, and then the new one. False: the old index is what it was. */
static bool write_index(const struct segments *segments, const struct segment *all, size_t len, const char *new_line)
{
	FILE *out = open_new_index(segments), *old = out ? open_old_index(segments) : NULL;
	char line[SEGMENT_LINE_SIZE];
	bool is_written;

	while (old && fgets(line, sizeof(line), old)) {
		struct segment wanted = { .bytes = 0 };

		if (strchr(line, '\n') && segment_line_file(line, wanted.name) &&
		    (!segment_is_of(wanted.name, segments->host) ||
		     (all && bsearch(&wanted, all, len, sizeof(*all), segments_by_name))))
			fputs(line, out);
	}
	if (old)
		fclose(old);
	if (!out)
		return false;
	fputs(new_line, out);
	is_written = !ferror(out);
	is_written = !fclose(out) && is_written &&
		     !renameat(segments->folder, INDEX_PART, segments->folder, INDEX_NAME);
	if (!is_written)
		unlinkat(segments->folder, INDEX_PART, 0);
	return is_written;
}

/* The one that ends now has no line yet. */
static void find_places(const struct segments *segments, struct segment *all, size_t len)
{
	FILE *index = open_old_index(segments);
	char line[SEGMENT_LINE_SIZE];
	struct segment wanted = { .name = "" }, *found;
	u64 place = 0;

	while (index && fgets(line, sizeof(line), index)) {
		found = segment_line_file(line, wanted.name)
				? bsearch(&wanted, all, len, sizeof(*all), segments_by_name)
				: NULL;
		if (found)
			found->place = ++place;
	}
	if (index)
		fclose(index);
	snprintf(wanted.name, sizeof(wanted.name), "%s", segments->name);
	found = bsearch(&wanted, all, len, sizeof(*all), segments_by_name);
	if (found)
		found->place = SEGMENT_NEWEST;
}

static void remove_oldest(struct segments *segments, struct segment *all, size_t *len)
{
	u64 bytes = 0, most = segments->wishes.keep_mb * 1000000;
	size_t gone = 0;

	find_places(segments, all, *len);
	segments_put_in_order(all, *len);
	for (size_t i = 0; i < *len; i++)
		bytes += all[i].bytes;
	while (most && bytes > most && gone + 1 < *len) {
		if (unlinkat(segments->folder, all[gone].name, 0))
			break;
		bytes -= all[gone++].bytes;
		segments->sums.removed++;
	}
	memmove(all, all + gone, (*len - gone) * sizeof(*all));
	*len -= gone;
	sort_rows(all, *len, sizeof(*all), segments_by_name);
}

/* The line of the segment that ends now. */
static void describe(const struct segments *segments, u64 events, u64 bytes, char *into, size_t size)
{
	FILE *out = fmemopen(into, size, "w");
	struct json json = { .out = out };

	into[0] = '\0';
	if (!out)
		return;
	json_record(&json, "segment", false);
	json_string(&json, "file", segments->name);
	json_string(&json, "host", segments->host);
	json_u64(&json, "from_wall_ns", wall_of(segments, segments->from_ns));
	json_u64(&json, "to_wall_ns", wall_of(segments, segments->last_ns));
	json_u64(&json, "events", events);
	json_u64(&json, "bytes", bytes);
	json_u64(&json, "lost", segments->lost);
	json_object_end(&json);
	json_line_end(&json);
	fclose(out);
}

/* False after a message. */
static bool finish(struct segments *segments)
{
	char line[SEGMENT_LINE_SIZE];
	struct segment *all;
	size_t len;
	u64 events, bytes;
	int error;

	if (!segments->writer)
		return !segments->error;
	lead_in_give_closing(segments->lead_in, segments->last_ns, write_event, segments);
	recording_flush(segments->writer);
	events = recording_events(segments->writer);
	bytes = recording_bytes(segments->writer);
	error = recording_close_writer(segments->writer);
	if (!segments->error)
		segments->error = error;
	segments->writer = NULL;
	if (segments->error) {
		fail(segments->path, "%s: the recording ends early", strerror(-segments->error));
		return false;
	}
	segments->sums.segments++;
	segments->sums.events += events;
	segments->sums.bytes += bytes;
	describe(segments, events, bytes, line, sizeof(line));
	segments->lost = 0;
	all = list(segments, &len);
	if (all)
		remove_oldest(segments, all, &len);
	if (!write_index(segments, all, len, line) && !segments->told_index) {
		segments->told_index = true;
		note("%s/" INDEX_NAME " can't be written: %s; segments go on without it", segments->wishes.folder,
		     strerror(errno));
	}
	free(all);
	return true;
}

bool segments_tick(struct segments *segments)
{
	bool is_full;

	if (!segments->writer)
		return !segments->error;
	is_full = segments->wishes.segment_mb &&
		  recording_bytes(segments->writer) >= segments->wishes.segment_mb * 1000000;
	if (segments->error || is_full || segments->last_ns - segments->from_ns >= segments->wishes.span_ns)
		return finish(segments);
	/* What a killed recorder may lose is a second. */
	if (clock_now_ns() - segments->flushed_ns >= NSEC_PER_SEC) {
		recording_flush(segments->writer);
		segments->flushed_ns = clock_now_ns();
	}
	return true;
}

bool segments_end(struct segments *segments)
{
	return finish(segments);
}

struct segments_sums segments_sums(const struct segments *segments)
{
	struct segments_sums sums = segments->sums;

	sums.has_failed = segments->error;
	return sums;
}

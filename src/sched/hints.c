// SPDX-License-Identifier: GPL-2.0
/* Gives hints to single threads and takes them back. A thread is known by its tid and start time; one that no longer
 * has what it was given belongs to whoever changed it, and is left alone from then on. */
#include "hints.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/proc.h"
#include "attr.h"
#include "journal.h"

enum { SWEEP_LEAST = 1024 };

struct told {
	struct journal_entry entry; /* before: its owner's; after: what it was given last */
	u32 tier;
	int left_alone;
};

struct hints {
	int journal_fd;
	int dry_run;
	struct hint_means means;
	void *told; /* a tree of struct told, by tid */
	size_t told_len, sweep_at;
	struct hints_counts counts;
};

static int by_tid(const void *a, const void *b)
{
	u32 x = ((const struct told *)a)->entry.tid, y = ((const struct told *)b)->entry.tid;

	return x < y ? -1 : x > y;
}

const char *hints_journal_path(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	static char path[512];

	if (geteuid() == 0)
		return "/run/tactus/hints.journal";
	if (!runtime || runtime[0] != '/' || strlen(runtime) > sizeof(path) - 64)
		return NULL;
	snprintf(path, sizeof(path), "%s/tactus/hints.journal", runtime);
	return path;
}

/* The thread's present hint, with the kernel's default slice as 0. */
static int hint_now(const struct hints *hints, u32 tid, struct attr *attr)
{
	int error = attr_get(tid, attr);

	if (!hints->means.slices || attr->hint.slice_ns == hints->means.usual_slice_ns)
		attr->hint.slice_ns = 0;
	return error;
}

static int write_line(int fd, const struct journal_entry *entry)
{
	char line[JOURNAL_LINE_SIZE];
	size_t len = journal_format(line, entry);
	ssize_t wrote = write(fd, line, len);

	if (wrote == (ssize_t)len)
		return 0;
	return wrote < 0 ? -errno : -ENOSPC;
}

/* Puts a thread back to what it had, if it is still the same one, in all that is still as it was given. */
static void take_back(struct hints *hints, const struct journal_entry *entry)
{
	struct attr attr;
	struct hint back;

	if (proc_start_ticks(entry->tid) != entry->start_ticks || hint_now(hints, entry->tid, &attr))
		return;
	back = hint_returned(&attr.hint, &entry->before, &entry->after);
	if (!hint_same(&attr.hint, &entry->after))
		hints->counts.left_alone++;
	else
		hints->counts.taken_back++;
	if (hint_same(&back, &attr.hint))
		return;
	attr.hint = back;
	if (!hints->dry_run && attr_set(entry->tid, &attr, &hints->means, 0))
		hints->counts.refused++;
}

/* Reads a journal that was left behind. The first line of a thread says what it had, the last what it was given. */
static void undo_lines(struct hints *hints, FILE *journal)
{
	struct journal_entry entry;
	size_t room = 0;
	char *line = NULL;
	ssize_t len;

	while ((len = getline(&line, &room, journal)) > 0) {
		struct told *one, **found;

		if (journal_parse(line, (size_t)len, &entry) || !(one = calloc(1, sizeof(*one))))
			continue;
		one->entry = entry;
		found = tsearch(one, &hints->told, by_tid);
		if (!found || *found == one)
			continue;
		if ((*found)->entry.start_ticks == entry.start_ticks)
			(*found)->entry.after = entry.after;
		else
			(*found)->entry = entry;
		free(one);
	}
	free(line);
}

static void forget_all(struct hints *hints, int undo)
{
	while (hints->told) {
		struct told *one = *(struct told **)hints->told;

		tdelete(one, &hints->told, by_tid);
		if (undo && !one->left_alone && !hint_same(&one->entry.before, &one->entry.after))
			take_back(hints, &one->entry);
		free(one);
	}
}

/* Whether the path still leads to the file: who had the journal may have replaced it before it was locked. */
static int is_at(int fd, const char *path)
{
	struct stat opened, found;

	return !fstat(fd, &opened) && !stat(path, &found) && opened.st_ino == found.st_ino &&
	       opened.st_dev == found.st_dev;
}

/* Opens and locks the journal; it belongs to one process at a time. */
static int open_journal(const char *path, int create, struct reason *why)
{
	char folder[512];
	int fd, error;

	if (!path) {
		reason_set(why, "no place for the journal: XDG_RUNTIME_DIR is not set");
		return -ENOENT;
	}
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	if (create && mkdir(folder, 0700) < 0 && errno != EEXIST) {
		error = -errno;
		reason_set(why, "%.200s: %s", folder, strerror(-error));
		return error;
	}
	fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
	if (fd < 0) {
		error = -errno;
		reason_set(why, "%.200s: %s", path, strerror(-error));
		return error;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || !is_at(fd, path)) {
		error = -EBUSY;
		reason_set(why, "another tactus gives hints now, and takes them back when it ends");
		close(fd);
		return error;
	}
	return fd;
}

/* What a journal tells of an earlier run is undone, and the journal is empty after it. */
static int undo_journal(struct hints *hints, struct reason *why)
{
	int fd = dup(hints->journal_fd);
	FILE *journal = fd < 0 ? NULL : fdopen(fd, "r");

	if (!journal) {
		reason_set(why, "the journal cannot be read: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -EIO;
	}
	undo_lines(hints, journal);
	fclose(journal);
	forget_all(hints, 1);
	if (!hints->dry_run && ftruncate(hints->journal_fd, 0) < 0)
		return -errno;
	return 0;
}

/* Who gives hints has to be there when they are due, beside whatever load, but not in the way of those that it gives
 * them to: a thread that loses the CPU to a shorter slice gets it back late. It ends with this process, so it is in no
 * journal; children begin as usual. */
static void hurry_self(const struct hints *hints)
{
	struct attr attr;

	if (hints->dry_run || attr_get(0, &attr) || attr.policy != SCHED_OTHER)
		return;
	attr.hint.slice_ns = HINT_SLICE_SELF_NS;
	if (hints->means.presses && attr.hint.nice > HINT_NICE_URGENT)
		attr.hint.nice = HINT_NICE_URGENT;
	attr_set(0, &attr, &hints->means, 1);
}

int hints_open(struct hints **out, int dry_run, struct reason *why)
{
	struct hints *hints = calloc(1, sizeof(*hints));
	int error;

	*out = NULL;
	if (!hints)
		return -ENOMEM;
	hints->dry_run = dry_run;
	hints->sweep_at = SWEEP_LEAST;
	hints->means = attr_means();
	hints->journal_fd = open_journal(hints_journal_path(), 1, why);
	error = hints->journal_fd < 0 ? hints->journal_fd : undo_journal(hints, why);
	if (error) {
		if (hints->journal_fd >= 0)
			close(hints->journal_fd);
		free(hints);
		return error;
	}
	hints->counts = (struct hints_counts){ 0 };
	hurry_self(hints);
	*out = hints;
	return 0;
}

const char *hints_means_words(const struct hints *hints)
{
	if (hints->means.slices)
		return hints->means.clamps ? "slices and utilization clamps" : "slices";
	return hints->means.clamps ? "nice and utilization clamps; slices need Linux 6.12"
				   : "nice alone; slices need Linux 6.12";
}

static void count_tier(struct hints *hints, u32 tier, int by)
{
	if (tier == TIER_LATENCY_CRITICAL)
		hints->counts.urgent += (u64)by;
	else if (tier == TIER_BATCH)
		hints->counts.batch += (u64)by;
}

/* The record of a thread that can have a hint, or NULL: realtime threads and those that their owner has put in front
 * are left alone. */
static struct told *told_of(struct hints *hints, u32 tid, const struct attr *attr)
{
	struct told key = { .entry = { .tid = tid } }, **found = tfind(&key, &hints->told, by_tid), *one;
	u64 start_ticks = proc_start_ticks(tid);

	if (found && (*found)->entry.start_ticks == start_ticks)
		return *found;
	if (!start_ticks)
		return NULL;
	if (found) {
		one = *found; /* the tid has a new owner, who was told nothing */
		count_tier(hints, one->tier, -1);
		*one = (struct told){ 0 };
	} else {
		one = calloc(1, sizeof(*one));
		if (!one)
			return NULL;
	}
	one->entry = (struct journal_entry){
		.tid = tid, .start_ticks = start_ticks, .before = attr->hint, .after = attr->hint
	};
	one->tier = TIER_INTERACTIVE;
	one->left_alone = (attr->policy != SCHED_OTHER && attr->policy != SCHED_BATCH) || attr->hint.nice < 0 ||
			  attr->hint.slice_ns;
	hints->counts.left_alone += one->left_alone ? 1 : 0;
	if (!found && !tsearch(one, &hints->told, by_tid)) {
		free(one);
		return NULL;
	}
	hints->told_len += found ? 0 : 1;
	return one;
}

/* Threads that have ended, and the lines of those that have not. */
struct sweep {
	struct told **ended;
	size_t ended_len;
	FILE *lines;
};

static void sort_out(const void *node, VISIT order, void *data)
{
	struct told *one = *(struct told *const *)node;
	struct sweep *sweep = data;
	char line[JOURNAL_LINE_SIZE];
	size_t len;

	if (order != postorder && order != leaf)
		return;
	if (proc_start_ticks(one->entry.tid) != one->entry.start_ticks) {
		sweep->ended[sweep->ended_len++] = one;
	} else if (!hint_same(&one->entry.before, &one->entry.after)) {
		len = journal_format(line, &one->entry);
		fwrite(line, 1, len, sweep->lines);
	}
}

/* A journal with nothing but those lines takes the place of the old one. Until it does, the old one holds. */
static void replace_journal(struct hints *hints, const char *lines, size_t len)
{
	const char *path = hints_journal_path();
	char fresh[600];
	int fd;

	if (!path || hints->dry_run)
		return;
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	unlink(fresh);
	fd = open(fresh, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || write(fd, lines, len) != (ssize_t)len || rename(fresh, path) < 0) {
		unlink(fresh);
		close(fd);
		return;
	}
	close(hints->journal_fd);
	hints->journal_fd = fd;
}

/* Threads end without a word here; they are forgotten when they have become many, in memory and in the journal. */
static void sweep(struct hints *hints)
{
	struct sweep sweep = { .ended = calloc(hints->told_len, sizeof(struct told *)) };
	size_t lines_len = 0;
	char *lines = NULL;

	sweep.lines = open_memstream(&lines, &lines_len);
	if (sweep.ended && sweep.lines) {
		twalk_r(hints->told, sort_out, &sweep);
		for (size_t i = 0; i < sweep.ended_len; i++) {
			tdelete(sweep.ended[i], &hints->told, by_tid);
			count_tier(hints, sweep.ended[i]->tier, -1);
			free(sweep.ended[i]);
		}
		hints->told_len -= sweep.ended_len;
	}
	if (sweep.lines && !fclose(sweep.lines) && sweep.ended)
		replace_journal(hints, lines, lines_len);
	hints->sweep_at = hints->told_len * 2 > SWEEP_LEAST ? hints->told_len * 2 : SWEEP_LEAST;
	free(lines);
	free(sweep.ended);
}

void hints_tell(struct hints *hints, u32 tid, u32 tier, u64 burst_ns)
{
	struct told key = { .entry = { .tid = tid } }, *one;
	struct hint want;
	struct attr attr;

	if (tid == (u32)getpid() || (tier == TIER_INTERACTIVE && !tfind(&key, &hints->told, by_tid)))
		return;
	if (hint_now(hints, tid, &attr) || !(one = told_of(hints, tid, &attr)) || one->left_alone)
		return;
	if (!hints->dry_run && !hint_same(&attr.hint, &one->entry.after)) {
		one->left_alone = 1;
		count_tier(hints, one->tier, -1);
		take_back(hints, &one->entry);
		return;
	}
	want = hint_for(&one->entry.before, tier, burst_ns, &hints->means);
	count_tier(hints, one->tier, -1);
	count_tier(hints, tier, 1);
	one->tier = tier;
	if (hint_same(&want, &one->entry.after))
		return;
	attr.hint = one->entry.after = want;
	if (!hints->dry_run && (write_line(hints->journal_fd, &one->entry) || attr_set(tid, &attr, &hints->means, 1)))
		hints->counts.refused++;
	else if (hint_same(&want, &one->entry.before))
		hints->counts.taken_back++;
	else
		hints->counts.given++;
	if (hints->told_len >= hints->sweep_at)
		sweep(hints);
}

struct hints_counts hints_counts(const struct hints *hints)
{
	return hints->counts;
}

struct hints_counts hints_close(struct hints *hints)
{
	struct hints_counts counts = { 0 };
	const char *path = hints_journal_path();

	if (!hints)
		return counts;
	forget_all(hints, 1);
	if (!hints->dry_run && path)
		unlink(path);
	close(hints->journal_fd);
	counts = hints->counts;
	free(hints);
	return counts;
}

int hints_undo(struct reason *why)
{
	struct hints hints = { 0 };
	int error;

	hints.means = attr_means();
	hints.journal_fd = open_journal(hints_journal_path(), 0, why);
	if (hints.journal_fd == -ENOENT)
		return 0;
	if (hints.journal_fd < 0)
		return hints.journal_fd;
	error = undo_journal(&hints, why);
	if (!error)
		unlink(hints_journal_path());
	close(hints.journal_fd);
	return error ? error : (int)hints.counts.taken_back;
}

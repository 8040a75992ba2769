// SPDX-License-Identifier: GPL-2.0
/* Keeps the book and its journal, and puts threads back. A thread is known by its tid and start time. That a thread has
 * ended is believed only if the kernel says so: where it can't be asked, the record stays. */
#include "hints_book.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SWEEP_LEAST = 1024, COMPACT_LEAST = 256, LINES_MOST = 1 << 17, REPORTED_MOST = 1 << 15 };

static int by_tid(const void *a, const void *b)
{
	u32 x = ((const struct hinted *)a)->entry.tid, y = ((const struct hinted *)b)->entry.tid;

	return x < y ? -1 : x > y;
}

struct hinted *book_find(const struct book *book, u32 tid)
{
	struct hinted key = { .entry = { .tid = tid } }, **found = tfind(&key, &book->hinted, by_tid);

	return found ? *found : NULL;
}

int book_attr(const struct book *book, u32 tid, struct attr *attr)
{
	int error = thread_attr_get(tid, attr);

	if (!book->means.slices || attr->hint.slice_ns == book->means.usual_slice_ns)
		attr->hint.slice_ns = 0;
	return error;
}

int book_times(struct book *book, u32 tid, struct thread_times *times)
{
	int error = proc_times(tid, times);

	if ((error == -EMFILE || error == -ENFILE) && book->spare_fd >= 0) {
		close(book->spare_fd);
		error = proc_times(tid, times);
		book->spare_fd = fcntl(book->journal.fd, F_DUPFD_CLOEXEC, 0);
	}
	return error;
}

static int write_line(struct book *book, const struct journal_entry *entry)
{
	char line[JOURNAL_LINE_SIZE];
	size_t len = journal_format(line, entry);

	return journal_file_append(&book->journal, line, len);
}

/* Puts a thread back to what it had, if it is still the same one, in all that is still as it was given. */
static int take_back(struct book *book, const struct hinted *one)
{
	const struct journal_entry *entry = &one->entry;
	struct thread_times times;
	struct attr attr;
	struct hint back;
	s32 least_nice;
	int error = book_times(book, entry->tid, &times);

	if (!error && times.start_ticks != entry->start_ticks)
		return 0;
	if (!error)
		error = book_attr(book, entry->tid, &attr);
	if (error)
		return error == -ESRCH ? 0 : error;
	least_nice = proc_least_nice(entry->tid);
	back = hint_returned(&attr.hint, &entry->before, &entry->after, least_nice);
	back = hint_returned(&back, &entry->before, &one->earlier, least_nice);
	if (!hint_same(&back, &attr.hint) || attr_resets_on_fork(&attr)) {
		attr.hint = back;
		error = book->dry_run ? 0 : attr_put_back(entry->tid, &attr, &book->means);
		if (error == -ESRCH)
			return 0;
		if (error) {
			book->counts.refused++;
			return error;
		}
	}
	if (hint_same(&back, &entry->before))
		book->counts.taken_back++;
	else
		book->counts.left_alone++;
	return 0;
}

static int has_hint(const struct hinted *one)
{
	return !hint_same(&one->entry.before, &one->entry.after) || !hint_same(&one->entry.before, &one->earlier);
}

int book_let_go(struct book *book, struct hinted *one)
{
	int error = has_hint(one) ? take_back(book, one) : 0;

	one->left_alone = 1;
	if (error)
		return error;
	/* What its owner chooses from now on is not taken for a hint. */
	one->entry.after = one->earlier = one->entry.before;
	if (!book->dry_run)
		write_line(book, &one->entry);
	return 0;
}

int book_change(struct book *book, struct hinted *one, struct attr *attr, const struct hint *want)
{
	struct hint old = one->entry.after;
	int is_back = hint_same(want, &one->entry.before), error = 0;

	if (hint_same(want, &old))
		return 0;
	one->entry.after = *want;
	if (!book->dry_run) {
		/* To take something back is sound without a line. */
		error = is_back ? 0 : book->journal.lines >= LINES_MOST ? -ENOSPC : write_line(book, &one->entry);
		if (!error) {
			attr->hint = *want;
			error = thread_attr_set(one->entry.tid, attr, &book->means, !is_back);
			if (error)
				one->entry.after = old;
			if (error || is_back)
				write_line(book, &one->entry);
		} else {
			one->entry.after = old;
		}
	}
	if (error)
		book->counts.refused += error != -ESRCH;
	else if (is_back)
		book->counts.taken_back++;
	else
		book->counts.given++;
	if (!error)
		one->earlier = is_back ? one->entry.before : old;
	return error;
}

int book_add(struct book *book, struct hinted *one)
{
	/* Room is kept for urgent ones, of which a user cannot have that many. */
	if (book->reported_len >= (one->tier == TIER_LATENCY_CRITICAL ? REPORTED_MOST : REPORTED_MOST / 4 * 3))
		return -ENOSPC;
	if (!tsearch(one, &book->hinted, by_tid))
		return -ENOMEM;
	book->reported_len++;
	return 0;
}

void book_remove(struct book *book, struct hinted *one)
{
	if (book->on_forget)
		book->on_forget(book->data, one);
	tdelete(one, &book->hinted, by_tid);
	book->reported_len--;
	free(one);
}

/* The first line of a thread says what it had, the last what it was given. Returns 0 or -ENOMEM. */
static int take_line(struct book *book, const struct journal_entry *entry)
{
	struct hinted *one = book_find(book, entry->tid);

	if (one && one->entry.start_ticks == entry->start_ticks) {
		/* A line that something was taken back is written when that is done. */
		one->earlier = hint_same(&entry->after, &one->entry.before) ? entry->after : one->entry.after;
		one->entry.after = entry->after;
		return 0;
	}
	if (!one) {
		one = calloc(1, sizeof(*one));
		if (!one)
			return -ENOMEM;
		one->entry.tid = entry->tid;
		if (!tsearch(one, &book->hinted, by_tid)) {
			free(one);
			return -ENOMEM;
		}
		book->reported_len++;
	}
	one->entry = *entry;
	one->earlier = entry->before;
	one->tier = one->given_tier = TIER_INTERACTIVE;
	one->policy = SCHED_OTHER;
	return 0;
}

/* Reads a journal that was left behind. Returns 0, or -errno where not all of it could be read. */
static int read_lines(struct book *book, FILE *journal)
{
	struct journal_entry entry;
	int error = 0, missed;
	size_t room = 0;
	char *line = NULL;
	ssize_t len;

	errno = 0;
	while ((len = getline(&line, &room, journal)) > 0) {
		missed = journal_parse(line, (size_t)len, &entry) ? 0 : take_line(book, &entry);
		error = error ? error : missed;
		errno = 0;
	}
	if (!error && !feof(journal))
		error = errno ? -errno : -EIO;
	free(line);
	book->is_cut = error != 0;
	return error;
}

/* Puts all back. What can't be put back stays in the book. */
static size_t put_back_all(struct book *book)
{
	struct hinted *stuck = NULL, *one;
	size_t stuck_len = 0;

	while (book->hinted) {
		one = *(struct hinted **)book->hinted;
		if (has_hint(one) && take_back(book, one)) {
			tdelete(one, &book->hinted, by_tid);
			book->reported_len--;
			one->next = stuck;
			stuck = one;
			continue;
		}
		book_remove(book, one);
	}
	while ((one = stuck)) {
		stuck = one->next;
		stuck_len++;
		if (!tsearch(one, &book->hinted, by_tid)) {
			book->is_cut = true;
			free(one);
			continue;
		}
		book->reported_len++;
	}
	return stuck_len;
}

/* Threads that have ended, and the lines of those that have not. */
struct sweep {
	struct book *book;
	struct hinted **ended;
	size_t ended_len, lines_len;
	FILE *lines;
};

static void add_line(struct sweep *sweep, const struct journal_entry *entry)
{
	char line[JOURNAL_LINE_SIZE];
	size_t len = journal_format(line, entry);

	fwrite(line, 1, len, sweep->lines);
	sweep->lines_len++;
}

static void write_down(const struct hinted *one, struct sweep *sweep)
{
	struct journal_entry entry = one->entry;

	if (!has_hint(one))
		return;
	/* Both that it may have, in their order. */
	entry.after = one->earlier;
	if (!hint_same(&one->earlier, &one->entry.before) && !hint_same(&one->earlier, &one->entry.after))
		add_line(sweep, &entry);
	add_line(sweep, &one->entry);
}

static void sort_out(const void *node, VISIT order, void *data)
{
	struct hinted *one = *(struct hinted *const *)node;
	struct sweep *sweep = data;
	struct thread_times times;
	int error;

	if (order != postorder && order != leaf)
		return;
	error = book_times(sweep->book, one->entry.tid, &times);
	if (error == -ESRCH || (!error && times.start_ticks != one->entry.start_ticks))
		sweep->ended[sweep->ended_len++] = one;
	else
		write_down(one, sweep);
}

/* Forgets who has ended, and makes the journal list the others only. Returns 0 or -errno. */
static int sweep_out(struct book *book)
{
	struct sweep sweep = { .book = book, .ended = calloc(book->reported_len + 1, sizeof(struct hinted *)) };
	int error = -ENOMEM;
	size_t lines_len = 0;
	char *lines = NULL;
	bool is_whole;

	sweep.lines = open_memstream(&lines, &lines_len);
	if (sweep.ended && sweep.lines) {
		twalk_r(book->hinted, sort_out, &sweep);
		for (size_t i = 0; i < sweep.ended_len; i++)
			book_remove(book, sweep.ended[i]);
	}
	is_whole = sweep.lines && !ferror(sweep.lines);
	if (sweep.lines && !fclose(sweep.lines) && is_whole && sweep.ended && !book->is_cut)
		error = book->dry_run ? 0 : journal_file_replace(&book->journal, lines, lines_len, sweep.lines_len);
	free(lines);
	free(sweep.ended);
	return error;
}

void book_tidy(struct book *book)
{
	if (book->reported_len < book->sweep_at && book->journal.lines < book->compact_at)
		return;
	sweep_out(book);
	book->sweep_at = book->reported_len * 2 > SWEEP_LEAST ? book->reported_len * 2 : SWEEP_LEAST;
	if (book->sweep_at > REPORTED_MOST)
		book->sweep_at = REPORTED_MOST;
	/* Where the journal can't be replaced it is tried again when it has doubled. */
	book->compact_at = book->journal.lines * 2 > COMPACT_LEAST ? book->journal.lines * 2 : COMPACT_LEAST;
}

int book_open(struct book *book, int create, struct reason *why)
{
	int error = journal_file_open(&book->journal, HINTS_JOURNAL, create, why), fd;
	FILE *journal;

	book->sweep_at = SWEEP_LEAST;
	book->compact_at = COMPACT_LEAST;
	book->spare_fd = -1;
	if (error)
		return error;
	fd = fcntl(book->journal.fd, F_DUPFD_CLOEXEC, 0);
	journal = fd < 0 ? NULL : fdopen(fd, "r");
	if (!journal) {
		reason_set(why, "the journal cannot be read: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		journal_file_close(&book->journal, 0);
		return -EIO;
	}
	error = read_lines(book, journal);
	fclose(journal);
	book->spare_fd = fcntl(book->journal.fd, F_DUPFD_CLOEXEC, 0);
	put_back_all(book);
	if (error) {
		reason_set(why, "the journal cannot be read: %s: it stays as it is", strerror(-error));
		book_close(book);
		return error;
	}
	if (!book->dry_run)
		sweep_out(book);
	return 0;
}

size_t book_close(struct book *book)
{
	size_t left = put_back_all(book);

	if (left && !book->dry_run)
		sweep_out(book);
	left = book->reported_len > left ? book->reported_len : left;
	/* A dry run has put nothing back: what another has left stays written down. */
	journal_file_close(&book->journal, !left && !book->dry_run && !book->is_cut);
	if (book->spare_fd >= 0)
		close(book->spare_fd);
	book->on_forget = NULL;
	while (book->hinted)
		book_remove(book, *(struct hinted **)book->hinted);
	return left;
}

int book_peek(struct book *book)
{
	FILE *journal = journal_file_peek(HINTS_JOURNAL);

	if (!journal)
		return -ENOENT;
	book->journal.fd = book->spare_fd = -1;
	read_lines(book, journal);
	fclose(journal);
	put_back_all(book);
	while (book->hinted)
		book_remove(book, *(struct hinted **)book->hinted);
	return 0;
}

struct relieved {
	struct hinted **all;
	size_t len;
};

static void note_hinted(const void *node, VISIT order, void *data)
{
	struct hinted *one = *(struct hinted *const *)node;
	struct relieved *relieved = data;

	if ((order == postorder || order == leaf) && has_hint(one))
		relieved->all[relieved->len++] = one;
}

void book_was_relieved(struct book *book, void (*each)(void *data, struct hinted *one), void *data)
{
	struct relieved relieved = { .all = calloc(book->reported_len + 1, sizeof(struct hinted *)) };

	if (relieved.all)
		twalk_r(book->hinted, note_hinted, &relieved);
	for (size_t i = 0; i < relieved.len; i++) {
		struct hinted *one = relieved.all[i];

		one->entry.after = one->earlier = one->entry.before;
		each(data, one);
	}
	free(relieved.all);
}

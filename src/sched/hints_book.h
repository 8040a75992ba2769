/* SPDX-License-Identifier: GPL-2.0 */
/* The book of hints: which thread had what, and has what now, in memory and in the journal; and how it is put back.
 * src/sched/hints.c decides what goes into it. */
#ifndef TACTUS_SCHED_HINTS_BOOK_H
#define TACTUS_SCHED_HINTS_BOOK_H

#include "../base/proc.h"
#include "attr.h"
#include "hints.h"
#include "journal.h"
#include "journal_file.h"
#include "owners.h"

#define HINTS_JOURNAL "hints.journal"

struct hinted {
	struct journal_entry entry; /* before: its owner's; after: what it was given last */
	struct hint earlier;	    /* and before that: a kill may have come between the line and the change */
	u32 pid;		    /* of one that was urgent; 0: not known */
	u32 policy;		    /* its owner's */
	u32 tier;		    /* what it is in, by its role, unless its owner made it less */
	u32 given_tier;		    /* and what it has a hint for */
	u64 burst_ns;
	bool is_awaited; /* by urgent threads */
	int left_alone;
	int place; /* in the list of urgent ones, from 1; 0: not there */
	struct urgency_watch watch;
	struct owner *user, *group; /* of one that was urgent */
	u64 used_ns;		    /* on a CPU, since the last look */
	struct hinted *next;	    /* of those that could not be put back */
};

struct book {
	struct journal_file journal;
	int spare_fd; /* given up for a look into /proc when descriptors are short */
	int dry_run;
	bool is_cut; /* the journal has more than is in here: it stays as it is */
	struct hint_means means;
	void *hinted; /* a tree of struct hinted, by tid */
	size_t reported_len, sweep_at;
	size_t compact_at;
	struct hints_counts counts;
	/* Told before a thread's record is gone. */
	void (*on_forget)(void *data, struct hinted *one);
	void *data;
};

/* Opens the journal and puts back what it lists of an earlier run; what can't be put back stays in the book. Returns 0
 * or -errno with a reason. */
int book_open(struct book *book, int create, struct reason *why);

/* Puts everything back. Returns how many threads are left that could not be put back: the journal keeps those. */
size_t book_close(struct book *book);

/* Puts back what the journal of a living run lists, and leaves the journal as it is. Returns 0 or -errno. */
int book_peek(struct book *book);

/* Somebody has put back everything: nobody has a hint any more, and each that had one is handed out. */
void book_was_relieved(struct book *book, void (*each)(void *data, struct hinted *one), void *data);

struct hinted *book_find(const struct book *book, u32 tid);

/* Adds a record. Returns 0 or -errno: -ENOSPC if there are too many. */
int book_add(struct book *book, struct hinted *one);
void book_remove(struct book *book, struct hinted *one);

/* A thread's times, with the last descriptor if need be. */
int book_times(struct book *book, u32 tid, struct thread_times *times);

/* The thread's present attributes, with the kernel's default slice as 0. */
int book_attr(const struct book *book, u32 tid, struct attr *attr);

/* Changes a thread's hint, written down before it is made. Returns 0 or -errno. */
int book_change(struct book *book, struct hinted *one, struct attr *attr, const struct hint *want);

/* Puts one back for good, in all that is still as it was given. Returns 0, also if it has ended, or -errno. */
int book_let_go(struct book *book, struct hinted *one);

/* Keeps memory and journal small: call after changes. */
void book_tidy(struct book *book);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What a span of a thread's time went into, followed backwards from its end through whoever it waited for: while it
 * slept for another thread, what counts is what that one did. */
#ifndef TACTUS_MODEL_PATH_H
#define TACTUS_MODEL_PATH_H

#include "history.h"
#include "threads.h"

enum path_kind {
	PATH_RAN,    /* a thread ran */
	PATH_WAITED, /* it could run and had no CPU */
	PATH_SLEPT,  /* it was blocked, and who ended that, if anybody did, is not followed */
	PATH_UNKNOWN,
	PATH_KINDS,
};

enum { PATH_ITEMS = 32 };

/* Time of one kind, of one thread, for one cause, all of it in the span together. */
struct path_item {
	enum path_kind kind;
	u32 tid;
	u32 other_tid; /* waited: who had the CPU for most of it; slept: who was running where it was woken. 0: nobody
			*/
	u32 cpu;       /* waited: where it then ran, of the longest */
	u32 woken_by;  /* slept: EVENT_FLAG_BY_*, who ended the longest; 0: not known */
	u64 ns;
	u64 longest_ns;
};

/* Whose time it was: the thread's own, or that of one that it waited for. */
enum path_whose { PATH_OWN, PATH_OTHERS, PATH_WHOSE };

struct path {
	u64 kinds_ns[PATH_KINDS][PATH_WHOSE];
	struct path_item items[PATH_ITEMS];
	u32 len;
	u64 unlisted_ns; /* for which there was no item left */
};

/* The same time piece by piece, the last first. */
struct path_step {
	u64 from_ns, to_ns;
	enum path_kind kind;
	u32 tid, other_tid, cpu, woken_by; /* as of an item */
};

enum { PATH_STEPS = 1000 };

struct path_trail {
	struct path_step steps[PATH_STEPS];
	u32 len;
};

/* Takes an event that `threads` has taken. False for want of memory. */
bool path_handle(struct threads *threads, const struct event_header *event);

/* Follows the thread from to_ns back to from_ns. */
void path_walk(struct path *path, const struct threads *threads, const struct history *history, u32 tid, u64 from_ns,
	       u64 to_ns);

/* The same, but whom it waited for is followed only as long as it waited for it: what that one did while the thread
 * itself did something else is nobody's loss. */
void path_walk_own(struct path *path, const struct threads *threads, const struct history *history, u32 tid,
		   u64 from_ns, u64 to_ns);

/* When the thread began what it did until to_ns: after its longest sleep since from_ns that a thread of its own process
 * did not end, which is how a loop waits for its time; from_ns if it did not wait so; 0: not known. */
u64 path_began_ns(const struct threads *threads, u32 tid, u64 from_ns, u64 to_ns);

/* The same, and leaves each piece in *trail. */
void path_walk_trail(struct path *path, struct path_trail *trail, const struct threads *threads,
		     const struct history *history, u32 tid, u64 from_ns, u64 to_ns);

/* Forgets what threads did that have ended: for who keeps all threads of a long stream. */
void path_forget_ended(struct threads *threads);

#endif

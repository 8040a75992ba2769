// SPDX-License-Identifier: GPL-2.0
/* Gives hints to single threads and takes them back. One that no longer has what it was given belongs to whoever
 * changed it, and is left alone from then on. Urgent ones are looked at again and again: who burns, or whose owner's
 * urgent threads use too much together, is not urgent for a while. */
#include "hints.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../base/loop.h"
#include "../base/sort.h"
#include "../base/system.h"
#include "../base/vec.h"
#include "holds.h"
#include "hints_book.h"

enum { RAISES_PER_LOOK = 32, OWNER_THREADS_MOST = 2048 };

struct hints {
	struct book book;
	struct owners *owners;
	struct hinted **urgent; /* by what roles say, whether or not they have a hint now */
	size_t urgent_len, urgent_room;
	struct holds holds;
	bool is_held; /* nobody gets a hint for now */
	u64 looked_ns;
	u64 looked_ran_ns; /* the CPU time of tactus itself then */
	s32 own_nice;	   /* of tactus itself */
	bool self_presses;
	u64 self_presses_until_ns;
	u32 cpus;
	u64 ticks_per_sec;
};

/* Who gives hints has to be there when they are due, beside whatever load, but not in the way of those that it gives
 * them to: a thread that loses the CPU to a shorter slice gets it back late. It ends with this process, so it is in no
 * journal; children begin as usual. */
static void set_self(struct hints *hints, bool presses)
{
	const struct book *book = &hints->book;
	struct attr attr;

	if (book->dry_run || thread_attr_get(0, &attr) || attr.policy != SCHED_OTHER)
		return;
	hints->self_presses = presses && book->means.presses;
	attr.hint.slice_ns = hint_slice_self_ns(book->means.usual_slice_ns);
	attr.hint.nice = hint_nice_self(hints->own_nice, hints->self_presses);
	thread_attr_set(0, &attr, &book->means, 1);
}

static u64 own_ran_ns(void)
{
	struct timespec ran;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) ? 0 : (u64)ran.tv_sec * NSEC_PER_SEC + (u64)ran.tv_nsec;
}

static void look_at_self(struct hints *hints, u64 now_ns)
{
	u64 ran_ns = own_ran_ns();

	hints->self_presses_until_ns = hint_self_presses_until_ns(hints->self_presses_until_ns, hints->looked_ns,
								  now_ns, ran_ns - hints->looked_ran_ns);
	hints->looked_ran_ns = ran_ns;
	if ((now_ns < hints->self_presses_until_ns) != hints->self_presses)
		set_self(hints, !hints->self_presses);
}

static void leave_list(struct hints *hints, struct hinted *one)
{
	struct hinted *last;

	if (!one->place)
		return;
	last = hints->urgent[--hints->urgent_len];
	hints->urgent[one->place - 1] = last;
	last->place = one->place;
	one->place = 0;
}

static int join_list(struct hints *hints, struct hinted *one)
{
	if (one->place)
		return 0;
	if (!vec_reserve(hints->urgent, hints->urgent_room, hints->urgent_len + 1, 64))
		return -ENOMEM;
	hints->urgent[hints->urgent_len++] = one;
	one->place = (int)hints->urgent_len;
	return 0;
}

static void count_urgent(struct hints *hints, struct hinted *one, int by)
{
	hints->book.counts.urgent += (u64)by;
	if (one->user)
		one->user->urgent += (u32)by;
	if (one->group)
		one->group->urgent += (u32)by;
}

static void given_tier_is(struct hints *hints, struct hinted *one, u32 tier)
{
	if (one->given_tier == tier)
		return;
	if (one->given_tier == TIER_LATENCY_CRITICAL)
		count_urgent(hints, one, -1);
	if (tier == TIER_LATENCY_CRITICAL)
		count_urgent(hints, one, 1);
	one->given_tier = tier;
}

static void on_forget(void *data, struct hinted *one)
{
	struct hints *hints = data;

	given_tier_is(hints, one, TIER_INTERACTIVE);
	leave_list(hints, one);
	if (one->user)
		one->user->threads--;
	if (one->group)
		one->group->threads--;
}

int hints_open(struct hints **out, int dry_run, struct reason *why)
{
	struct hints *hints = calloc(1, sizeof(*hints));
	int error = -ENOMEM;

	*out = NULL;
	reason_set(why, "out of memory");
	if (hints)
		hints->owners = owners_new();
	if (hints && hints->owners) {
		hints->cpus = (u32)sysconf(_SC_NPROCESSORS_ONLN);
		hints->ticks_per_sec = (u64)sysconf(_SC_CLK_TCK);
		hints->book.dry_run = dry_run;
		hints->book.on_forget = on_forget;
		hints->book.data = hints;
		hints->book.means = attr_means();
		error = book_open(&hints->book, 1, why);
	}
	if (error) {
		if (hints)
			owners_free(hints->owners);
		free(hints);
		return error;
	}
	hints->book.counts = (struct hints_counts){ 0 };
	hints->own_nice = getpriority(PRIO_PROCESS, 0);
	set_self(hints, false);
	*out = hints;
	return 0;
}

const char *hints_means_words(const struct hints *hints)
{
	const struct hint_means *means = &hints->book.means;

	if (means->slices)
		return means->clamps ? "slices and utilization clamps" : "slices";
	return means->clamps ? "nice and utilization clamps; slices need Linux 6.12"
			     : "nice alone; slices need Linux 6.12";
}

/* The clock of threads' start times: it goes on while the machine sleeps. */
static u64 since_boot_ns(u64 time_ns)
{
	struct timespec boot, mono;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	return time_ns + (u64)(boot.tv_sec - mono.tv_sec) * NSEC_PER_SEC + (u64)(boot.tv_nsec - mono.tv_nsec);
}

/* The record of a thread that can have a hint, or NULL. Realtime threads and those that their owner has put in front
 * are left alone, and so is one that started after the event, since the tid is another one's now. */
static struct hinted *hinted_of(struct hints *hints, u32 tid, const struct attr *attr, const struct hint_wish *wish)
{
	struct hinted *one = book_find(&hints->book, tid);
	struct thread_times times;

	if (book_times(&hints->book, tid, &times))
		return NULL;
	if (wish->known_ns && !hint_is_of(times.start_ticks, hints->ticks_per_sec, since_boot_ns(wish->known_ns)))
		return NULL;
	if (one && one->entry.start_ticks == times.start_ticks)
		return one;
	if (one)
		book_remove(&hints->book, one);
	if (wish->tier != TIER_LATENCY_CRITICAL)
		return NULL;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	one->entry = (struct journal_entry){
		.tid = tid, .start_ticks = times.start_ticks, .before = attr->hint, .after = attr->hint
	};
	one->earlier = attr->hint;
	one->policy = attr->policy;
	one->tier = wish->tier;
	one->given_tier = TIER_INTERACTIVE;
	one->left_alone = (attr->policy != SCHED_OTHER && attr->policy != SCHED_BATCH) || attr->hint.nice < 0 ||
			  attr->hint.slice_ns || attr_resets_on_fork(attr);
	hints->book.counts.left_alone += one->left_alone ? 1 : 0;
	if (book_add(&hints->book, one)) {
		hints->book.counts.refused++;
		free(one);
		return NULL;
	}
	return one;
}

/* Somebody else changed it: it is his. */
static bool is_changed(const struct hinted *one, const struct attr *attr)
{
	return attr->policy != one->policy || !hint_same(&attr->hint, &one->entry.after);
}

static void leave_alone(struct hints *hints, struct hinted *one)
{
	given_tier_is(hints, one, TIER_INTERACTIVE);
	leave_list(hints, one);
	book_let_go(&hints->book, one);
}

/* Whether it can be urgent now, by what it and its owner have used, and by what that did to others. */
static bool may_be_urgent(const struct hints *hints, const struct hinted *one, u64 now_ns)
{
	if (hints->is_held || holds_has(&hints->holds, one->pid, now_ns))
		return false;
	/* Nobody would look at one that is not in the list. */
	if (!one->place || urgency_is_throttled(&one->watch, now_ns))
		return false;
	if (one->given_tier == TIER_LATENCY_CRITICAL)
		return true;
	return !urgency_is_spent(&one->user->account) && one->user->urgent < URGENCY_THREADS_MOST &&
	       (!one->group || !urgency_is_spent(&one->group->account));
}

/* Gives the thread what is due to it now. */
static void apply_hint(struct hints *hints, struct hinted *one, struct attr *attr, u64 now_ns)
{
	u32 tier = one->tier == TIER_LATENCY_CRITICAL && !may_be_urgent(hints, one, now_ns) ? TIER_INTERACTIVE
											    : one->tier;
	struct hint want = hint_for(&one->entry.before, tier, one->burst_ns, &hints->book.means);

	if (!book_change(&hints->book, one, attr, &want))
		given_tier_is(hints, one, hint_same(&want, &one->entry.before) ? TIER_INTERACTIVE : tier);
}

/* Where the kernel does not report how long a thread waits, what it ran has to do. */
static struct urgency_use look(struct hints *hints, struct hinted *one, const struct thread_times *times, u64 now_ns)
{
	u64 cpu_ns, wait_ns;

	if (proc_run_times(one->entry.tid, &cpu_ns, &wait_ns)) {
		cpu_ns = times->cpu_ticks * NSEC_PER_SEC / hints->ticks_per_sec;
		wait_ns = 0;
	}
	return urgency_looked(&one->watch, cpu_ns, wait_ns, now_ns);
}

/* From when a thread is urgent by its role it is looked at. */
static void begin_watch(struct hints *hints, struct hinted *one, u64 now_ns)
{
	struct thread_times times;

	if (!one->user && owners_find(hints->owners, one->entry.tid, &one->user, &one->group))
		return;
	if (!one->pid)
		one->pid = proc_pid(one->entry.tid);
	if (one->user->threads > OWNER_THREADS_MOST || one->place || join_list(hints, one))
		return;
	if (!book_times(&hints->book, one->entry.tid, &times))
		look(hints, one, &times, now_ns);
}

void hints_on_role(struct hints *hints, u32 tid, const struct hint_wish *wish)
{
	struct hinted *one;
	struct attr attr;
	u64 now_ns;

	if (tid == (u32)getpid() || (wish->tier != TIER_LATENCY_CRITICAL && !book_find(&hints->book, tid)))
		return;
	if (book_attr(&hints->book, tid, &attr) || !(one = hinted_of(hints, tid, &attr, wish)) || one->left_alone)
		return;
	if (!hints->book.dry_run && is_changed(one, &attr)) {
		leave_alone(hints, one);
		return;
	}
	now_ns = clock_now_ns();
	one->tier = wish->tier;
	if (!tier_may_raise(one->entry.before.nice, one->policy == SCHED_BATCH, wish->by_user) &&
	    one->tier == TIER_LATENCY_CRITICAL)
		one->tier = TIER_INTERACTIVE;
	one->burst_ns = wish->burst_ns;
	one->is_awaited = wish->is_awaited;
	if (one->tier == TIER_LATENCY_CRITICAL)
		begin_watch(hints, one, now_ns);
	else
		leave_list(hints, one);
	apply_hint(hints, one, &attr, now_ns);
	book_tidy(&hints->book);
}

static void charge(struct hints *hints, const struct hinted *one, u64 used_ns)
{
	urgency_charge(&one->user->account, hints->cpus, used_ns);
	if (one->group)
		urgency_charge(&one->group->account, hints->cpus, used_ns);
}

static bool owner_may_burn(const struct hints *hints, struct owner *owner, const struct urgency_use *use)
{
	owner->burnt_ns += use->cpu_ns;
	return urgency_may_burn(hints->cpus, use->span_ns, owner->burnt_ns);
}

static bool may_burn(const struct hints *hints, const struct hinted *one, const struct urgency_use *use)
{
	if (one->is_awaited && urgency_may_burn_awaited(hints->cpus))
		return true;
	return owner_may_burn(hints, one->user, use) && (!one->group || owner_may_burn(hints, one->group, use));
}

/* One that is urgent by its role. What can't be asked now is asked at the next look. */
static void look_at(struct hints *hints, struct hinted *one, u64 now_ns)
{
	bool is_raised = one->given_tier == TIER_LATENCY_CRITICAL;
	struct thread_times times;
	struct urgency_use use;
	struct attr attr;
	int error = book_times(&hints->book, one->entry.tid, &times);

	if (!error && times.start_ticks == one->entry.start_ticks)
		error = book_attr(&hints->book, one->entry.tid, &attr);
	else if (!error)
		error = -ESRCH;
	if (error == -ESRCH) {
		if (is_raised)
			charge(hints, one, urgency_unseen_ns(&one->watch, now_ns));
		book_remove(&hints->book, one);
		return;
	}
	if (error)
		return;
	if (!hints->book.dry_run && is_changed(one, &attr)) {
		leave_alone(hints, one);
		return;
	}
	use = look(hints, one, &times, now_ns);
	one->used_ns = use.cpu_ns;
	if (is_raised)
		charge(hints, one, use.cpu_ns);
	urgency_judge(&one->watch, urgency_burns(&one->watch, &use, is_raised) && !may_burn(hints, one, &use), now_ns);
	apply_hint(hints, one, &attr, now_ns);
}

static int by_use(const void *a, const void *b)
{
	const struct hinted *x = *(struct hinted *const *)a, *y = *(struct hinted *const *)b;

	return x->used_ns > y->used_ns ? -1 : x->used_ns < y->used_ns;
}

/* Of an owner that has used up what it may, those that use most are not urgent for a while, so that the others are. */
static void hold_back_most(struct hints *hints, const struct owner *owner, u64 span_ns, u64 now_ns)
{
	struct hinted **list = calloc(hints->urgent_len + 1, sizeof(struct hinted *));
	u64 *used_ns = calloc(hints->urgent_len + 1, sizeof(u64));
	u64 budget_ns = urgency_budget_ns(hints->cpus, span_ns) / 4 * 3;
	u32 len = 0, gone;
	struct attr attr;

	for (size_t i = 0; list && i < hints->urgent_len; i++)
		if (hints->urgent[i]->given_tier == TIER_LATENCY_CRITICAL &&
		    (hints->urgent[i]->user == owner || hints->urgent[i]->group == owner))
			list[len++] = hints->urgent[i];
	if (list && used_ns) {
		sort_rows(list, len, sizeof(*list), by_use);
		for (u32 i = 0; i < len; i++)
			used_ns[i] = list[i]->used_ns;
		gone = urgency_too_many(used_ns, len, budget_ns);
		for (u32 i = 0; i < gone; i++) {
			urgency_throttle(&list[i]->watch, now_ns);
			if (!book_attr(&hints->book, list[i]->entry.tid, &attr) &&
			    (hints->book.dry_run || !is_changed(list[i], &attr)))
				apply_hint(hints, list[i], &attr, now_ns);
		}
	}
	free(list);
	free(used_ns);
}

void hints_look(struct hints *hints)
{
	u64 now_ns = clock_now_ns(), span_ns = now_ns - hints->looked_ns;
	const struct owner *spent = NULL;
	u32 raises = RAISES_PER_LOOK;

	if (span_ns < URGENCY_LOOK_NS)
		return;
	look_at_self(hints, now_ns);
	hints->looked_ns = now_ns;
	owners_fill(hints->owners, hints->cpus, now_ns);
	for (size_t i = hints->urgent_len; i > 0; i--) {
		struct hinted *one = hints->urgent[i - 1];
		bool is_raised = one->given_tier == TIER_LATENCY_CRITICAL;

		if (is_raised || (raises && may_be_urgent(hints, one, now_ns) && raises--))
			look_at(hints, one, now_ns);
	}
	for (size_t i = hints->urgent_len; i > 0; i--) {
		const struct hinted *one = hints->urgent[i - 1];
		const struct owner *owner = urgency_is_spent(&one->user->account)		   ? one->user
					    : one->group && urgency_is_spent(&one->group->account) ? one->group
												   : NULL;

		if (one->given_tier != TIER_LATENCY_CRITICAL || !owner || owner == spent)
			continue;
		spent = owner;
		hold_back_most(hints, owner, span_ns, now_ns);
	}
	book_tidy(&hints->book);
}

/* Gives each what is due to it now, of one process or of all (0). */
static void apply_again(struct hints *hints, u32 pid)
{
	u64 now_ns = clock_now_ns();
	struct attr attr;

	for (size_t i = hints->urgent_len; i > 0; i--) {
		struct hinted *one = hints->urgent[i - 1];

		if ((!pid || one->pid == pid) && !book_attr(&hints->book, one->entry.tid, &attr) &&
		    (hints->book.dry_run || !is_changed(one, &attr)))
			apply_hint(hints, one, &attr, now_ns);
	}
	book_tidy(&hints->book);
}

void hints_hold(struct hints *hints, bool is_held)
{
	if (hints->is_held == is_held)
		return;
	hints->is_held = is_held;
	apply_again(hints, 0);
}

/* What the process's urgent threads used between two looks, and one more; 0: it has none, or is held back. */
static u64 use_of(const struct hints *hints, u32 pid)
{
	u64 used_ns = 0;

	if (holds_has(&hints->holds, pid, clock_now_ns()))
		return 0;
	for (size_t i = 0; i < hints->urgent_len; i++)
		if (hints->urgent[i]->pid == pid)
			used_ns += hints->urgent[i]->used_ns + 1;
	return used_ns;
}

u32 hints_cause(const struct hints *hints, u32 pid)
{
	u64 most_ns = 0;
	u32 cause = 0;

	if (use_of(hints, pid))
		return pid;
	for (size_t i = 0; i < hints->urgent_len; i++) {
		u64 used_ns = use_of(hints, hints->urgent[i]->pid);

		if (used_ns > most_ns && hints->urgent[i]->pid) {
			most_ns = used_ns;
			cause = hints->urgent[i]->pid;
		}
	}
	return cause;
}

u64 hints_hold_back(struct hints *hints, u32 pid)
{
	u64 span_ns = holds_add(&hints->holds, pid, proc_start_ticks(pid), clock_now_ns());

	apply_again(hints, pid);
	return span_ns;
}

u32 hints_held_back(const struct hints *hints)
{
	return holds_count(&hints->holds, clock_now_ns());
}

struct hint_standing hints_standing(const struct hints *hints, u32 tid)
{
	const struct hinted *one = book_find(&hints->book, tid);
	struct hint_standing standing = { 0 };

	if (!one)
		return standing;
	standing.is_left_alone = one->left_alone;
	standing.is_given = !one->left_alone && !hint_same(&one->entry.before, &one->entry.after);
	standing.is_held = !one->left_alone && one->tier == TIER_LATENCY_CRITICAL &&
			   one->given_tier != TIER_LATENCY_CRITICAL;
	standing.hint = one->entry.after;
	return standing;
}

struct hints_counts hints_counts(const struct hints *hints)
{
	return hints->book.counts;
}

struct hints_counts hints_close(struct hints *hints)
{
	struct hints_counts counts = { 0 };

	if (!hints)
		return counts;
	hints->book.counts.stuck = book_close(&hints->book);
	counts = hints->book.counts;
	owners_free(hints->owners);
	free(hints->urgent);
	free(hints);
	return counts;
}

int hints_undo(size_t *stuck, struct reason *why)
{
	struct book book = { .means = attr_means() };
	int error = book_open(&book, 0, why);

	*stuck = 0;
	if (error == -ENOENT)
		return 0;
	if (error)
		return error;
	*stuck = book_close(&book);
	return (int)book.counts.taken_back;
}

size_t hints_relieve(void)
{
	struct book book = { .means = attr_means() };

	return book_peek(&book) ? 0 : (size_t)book.counts.taken_back;
}

static void give_again(void *data, struct hinted *one)
{
	struct hints *hints = data;
	struct attr attr;

	given_tier_is(hints, one, TIER_INTERACTIVE);
	if (!one->left_alone && !book_attr(&hints->book, one->entry.tid, &attr) && !is_changed(one, &attr))
		apply_hint(hints, one, &attr, clock_now_ns());
}

void hints_relieved(struct hints *hints)
{
	if (!hints->book.dry_run)
		book_was_relieved(&hints->book, give_again, hints);
}

// SPDX-License-Identifier: GPL-2.0
/* core/hints.h, the journal's lines and /proc/TID/stat: what is told to whom, and that nothing but a whole line counts.
 * The effect on real threads is tested in tests/host. */
#include "../../core/hints.h"
#include "../../src/base/proc.h"
#include "../../src/sched/journal.h"
#include "tap.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void test_hints(void)
{
	struct hint_means slices = { .slices = 1 }, nice_only = { .presses = 1 }, clamps = { .slices = 1, .clamps = 1 };
	struct hint_means all = { .slices = 1, .presses = 1 };
	struct hint own = { .nice = 0 }, nicer = { .nice = 3 }, hint, changed;

	hint = hint_for(&own, TIER_LATENCY_CRITICAL, 0, &slices);
	is(hint.slice_ns, HINT_SLICE_LEAST_NS, "urgent thread gets the shortest slice");
	is(hint.nice, 0, "urgent thread keeps its nice value where it must");
	hint = hint_for(&own, TIER_LATENCY_CRITICAL, 1000 * NSEC_PER_USEC, &all);
	is(hint.slice_ns, 200 * NSEC_PER_USEC, "urgent thread gets a part of what it does at a time as slice");
	is(hint.nice, HINT_NICE_URGENT, "urgent thread gets weight");
	all.usual_slice_ns = 2800 * NSEC_PER_USEC;
	ok(hint_slice_ns(300 * NSEC_PER_USEC, all.usual_slice_ns) <
		   hint_slice_ns(2 * NSEC_PER_MSEC, all.usual_slice_ns),
	   "of two urgent threads the one that does less goes first");
	is(hint_slice_ns(NSEC_PER_SEC, all.usual_slice_ns), HINT_SLICE_URGENT_MOST_NS,
	   "slice of an urgent thread stays within its bounds");
	is(hint_slice_ns(NSEC_PER_SEC, 700 * NSEC_PER_USEC), 500 * NSEC_PER_USEC,
	   "slice of an urgent thread is shorter than the usual one where that is short");
	ok(hint_slice_self_ns(700 * NSEC_PER_USEC) > hint_slice_most_ns(700 * NSEC_PER_USEC),
	   "tactus itself goes after urgent threads where the usual slice is short");
	ok(hint_slice_self_ns(all.usual_slice_ns) > hint_slice_most_ns(all.usual_slice_ns),
	   "tactus itself goes after urgent threads");
	ok(hint_slice_self_ns(all.usual_slice_ns) < all.usual_slice_ns, "tactus itself goes before all others");
	hint = hint_for(&own, TIER_BATCH, 0, &all);
	ok(hint_same(&hint, &own), "batch thread keeps what its owner chose: a longer slice would be others' loss");
	hint = hint_for(&own, TIER_INTERACTIVE, 0, &slices);
	ok(hint_same(&hint, &own), "interactive thread keeps what its owner chose");
	hint = hint_for(&own, TIER_LATENCY_CRITICAL, 0, &nice_only);
	is(hint.slice_ns, 0, "urgent thread gets no slice where there are none");
	is(hint.nice, HINT_NICE_URGENT, "urgent thread gets a nice value where there are no slices");
	hint = hint_for(&own, TIER_LATENCY_CRITICAL, 0, &clamps);
	is(hint.clamp_min, HINT_CLAMP_URGENT, "an urgent thread's CPU does not crawl");
	hint = hint_for(&own, TIER_LATENCY_CRITICAL, 0, &all);
	changed = hint;
	changed.slice_ns = 3 * NSEC_PER_MSEC;
	changed = hint_returned(&changed, &own, &hint, 20);
	is(changed.slice_ns, 3 * NSEC_PER_MSEC, "slice that another tool chose stays");
	is(changed.nice, 0, "nice value goes back where another tool chose a slice");
	changed = hint_returned(&hint, &own, &hint, 20);
	ok(hint_same(&changed, &own), "hint that nobody has changed goes back whole");
	changed = hint;
	changed.nice = HINT_NICE_URGENT + 1;
	is(hint_returned(&changed, &own, &hint, 20).nice, 0,
	   "nice value that a raised thread could choose only since it was raised goes back");
	is(hint_returned(&changed, &own, &hint, HINT_NICE_URGENT).nice, HINT_NICE_URGENT + 1,
	   "nice value that a raised thread may choose by itself stays");
	changed.nice = 4;
	is(hint_returned(&changed, &own, &hint, 20).nice, 4, "nicer value that a raised thread chose stays");
	changed.nice = -3;
	is(hint_returned(&changed, &own, &own, 20).nice, -3,
	   "pressing nice value of a thread that was not raised stays");
	hint = hint_for(&nicer, TIER_LATENCY_CRITICAL, 0, &all);
	is(hint.nice, 3, "thread that its owner made nicer keeps its nice value even if it is urgent");
	ok(hint.slice_ns == HINT_SLICE_LEAST_NS, "thread that its owner made nicer gets a short slice if it is urgent");
	ok(HINT_NICE_URGENT > -10, "nice value of a hint is none that programs ask for by themselves");
}

static void test_self(void)
{
	u64 look = URGENCY_LOOK_NS, now = 100 * look;

	is(hint_self_presses_until_ns(0, 0, now, 0), 0, "tactus itself does not press at its first look");
	is(hint_self_presses_until_ns(0, now - 3 * look / 2, now, 0), 0,
	   "tactus itself does not press while it comes to its looks in time");
	ok(hint_self_presses_until_ns(0, now - HINT_SELF_LATE_LOOKS * look, now, 0) > now,
	   "tactus itself presses when others made it late for a look");
	is(hint_self_presses_until_ns(0, now - HINT_SELF_LATE_LOOKS * look, now, look), 0,
	   "tactus itself does not press when its own work made it late for a look");
	is(hint_self_presses_until_ns(now + look, now - look, now, 0), now + look,
	   "tactus itself presses no longer for a look in time after a late one");
	is(hint_nice_self(0, 0), 0, "tactus itself weighs as much as others as a rule");
	is(hint_nice_self(4, 0), 4, "tactus itself keeps the nice value that it was started with");
	is(hint_nice_self(4, 1), HINT_NICE_SELF_LATE, "tactus itself weighs more than who has hints while it presses");
	ok(HINT_NICE_SELF_LATE < HINT_NICE_URGENT, "nice value by which tactus presses is below that of a hint");
}

static void test_raising(void)
{
	struct hint usual = { 0 }, nicer = { .nice = 1 }, pressing = { .nice = -1 };

	ok(tier_may_raise(usual.nice, 0, 0), "thread that its owner left as it was may be raised");
	ok(!tier_may_raise(nicer.nice, 0, 0), "thread that its owner made nicer may not be raised");
	ok(!tier_may_raise(usual.nice, 1, 0), "thread of the policy batch may not be raised");
	ok(tier_may_raise(nicer.nice, 0, 1), "thread that was made nicer may be raised by the user's word");
	ok(tier_may_raise(usual.nice, 1, 1), "thread of the policy batch may be raised by the user's word");
	ok(tier_may_raise(pressing.nice, 0, 0), "thread with a pressing nice value may be raised");
	ok(hint_is_of(100, 100, NSEC_PER_SEC), "thread that started when it was seen is the one that was seen");
	ok(hint_is_of(99, 100, NSEC_PER_SEC), "thread that started before it was seen is the one that was seen");
	ok(!hint_is_of(101, 100, NSEC_PER_SEC), "thread that started after one was seen is another one");
	ok(hint_is_of(~0u * 100ull, 100, ~0u * (u64)NSEC_PER_SEC),
	   "start after 136 years of running overflows nothing");
}

static void test_journal(void)
{
	struct journal_entry entry = { 4194303, 123456789012ull, { 0, -20, 0 }, { 100000, 19, 1024 } }, again;
	char line[JOURNAL_LINE_SIZE], damaged[JOURNAL_LINE_SIZE];
	size_t len = journal_format(line, &entry);
	int refused = 0;

	is(journal_parse(line, len, &again), 0, "journal line is read back: %.*s", (int)len - 1, line);
	is(again.tid, entry.tid, "journal line reads back with its tid");
	is(again.start_ticks, entry.start_ticks, "journal line reads back with its start time");
	ok(hint_same(&again.before, &entry.before), "journal line reads back with the hint before");
	ok(hint_same(&again.after, &entry.after), "journal line reads back with the hint after");
	for (size_t cut = 0; cut + 1 < len; cut++)
		refused += journal_parse(line, cut, &again) != 0;
	is(refused, len - 1, "journal line cut anywhere is refused");
	refused = 0;
	for (size_t i = 0; i + 1 < len; i++) {
		memcpy(damaged, line, len);
		damaged[i] = '\0';
		refused += journal_parse(damaged, len, &again) != 0;
	}
	is(refused, len - 1, "journal line with a NUL is refused");
	ok(journal_parse("tid 1 start 2 had 0 0 0 given 99999999999 0 0 end", 49, &again) != 0,
	   "journal line with a slice too long is refused");
	ok(journal_parse("tid 0 start 2 had 0 0 0 given 0 0 0 end", 39, &again) != 0,
	   "journal line with tid 0 is refused");
	ok(journal_parse("tid 1 start 2 had 0 -21 0 given 0 0 0 end", 41, &again) != 0,
	   "journal line with a nice value of -21 is refused");
	ok(journal_parse("tid 1 start 2 had 0 0 0 given 0 0 0 end junk", 44, &again) != 0,
	   "journal line with more behind its end is refused");
	ok(journal_parse("tid +1 start 2 had 0 0 0 given 0 0 0 end", 40, &again) != 0,
	   "journal line in another spelling is refused");
	ok(journal_parse("tid 4294967297 start 2 had 0 0 0 given 0 0 0 end", 48, &again) != 0,
	   "journal line with a number that does not fit is refused");
}

static void test_stat(void)
{
	const char *plain = "7 (sh) S 1 7 7 0 -1 4194304 1 0 0 0 1 2 3 4 20 0 1 0 4711 2 3";
	struct thread_times times;
	struct rlimit files, none;
	const char *hostile = "7 (a) S 1 2 3 4) S 1 7 7 0 -1 4194304 1 0 0 0 1 2 3 4 20 0 1 0 4712 2 3";

	is(stat_start_ticks(plain), 4711, "start of a thread is read from its stat line");
	is(stat_start_ticks(hostile), 4712, "a name that looks like fields misleads nobody");
	is(stat_start_ticks(""), 0, "empty stat line has no start");
	is(stat_start_ticks("7 (sh"), 0, "stat line without an end of the name has no start");
	is(stat_start_ticks("7 (sh) S 1 7"), 0, "stat line with too few fields has no start");
	is(stat_start_ticks("7 (sh) S 1 7 7 0 -1 4194304 1 0 0 0 1 2 3 4 20 0 1 0 x"), 0,
	   "stat line with letters for a start has none");
	is(stat_cpu_ticks("7 (s) R) S 1 7 7 0 -1 4194304 1 0 0 0 11 22 3 4 20 0 1 0 4711 2 3"), 33,
	   "CPU time of a thread is its user time and its system time");
	is(proc_times(0x7fffffff, &times), -ESRCH, "thread that there is not is told as none");
	is(proc_times((u32)getpid(), &times), 0, "this thread's times are told");
	ok(times.start_ticks > 0, "this thread has a start");
	getrlimit(RLIMIT_NOFILE, &files);
	none = files;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	is(proc_times((u32)getpid(), &times), -EMFILE, "thread is not told as ended for want of a descriptor");
	setrlimit(RLIMIT_NOFILE, &files);
	ok(proc_start_ticks(1) <= proc_start_ticks((u32)getpid()), "the first process started before this one");
}

static void test_owners(void)
{
	u32 uid = 0;

	is(status_real_uid("Name:\tx\\nUid:\t0\nUmask:\t0022\nUid:\t1000\t0\t0\t0\nGid:\t5\n", &uid), 0,
	   "user of a thread is read from its status");
	is(uid, 1000, "real user counts, whatever a name says");
	is(limits_least_nice("Limit  Soft Limit\nMax nice priority         0                    0\n"), 20,
	   "thread without a limit of nice values may choose none that is more pressing");
	is(limits_least_nice("Limit\nMax nice priority         31                   40\n"), -11,
	   "limit of nice values counts from 20 downwards");
	is(limits_least_nice("Limit\nMax nice priority         unlimited            unlimited\n"), -20,
	   "thread with no limit of nice values may choose any");
	is(limits_least_nice("Limit\nMax nice priority         99999999999999999999 1\n"), -20,
	   "limit of nice values that is too large allows no more than there are");
	is(limits_least_nice("Max nice"), 20, "text without a limit of nice values allows none");
	is(status_real_uid("Name:\tx\n", &uid), -EINVAL, "status without a user is refused");
	is(status_real_uid("\nUid:\tx", &uid), -EINVAL, "status with letters for a user is refused");
	is(cgroup_top_len("/user.slice/user-1000.slice/user@1000.service/app.slice/a\n"), 27,
	   "group below a user's slice counts as that slice");
	is(cgroup_top_len("/docker\n"), 7, "group of one level counts as itself");
	is(cgroup_top_len("/a/b"), 4, "group of two levels counts as itself");
	is(cgroup_top_len("/\n"), 0, "root group has no budget of its own");
	is(cgroup_top_len(""), 0, "empty path is no group");
}

int main(void)
{
	test_hints();
	test_self();
	test_raising();
	test_owners();
	test_journal();
	test_stat();
	return tap_end();
}

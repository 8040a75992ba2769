// SPDX-License-Identifier: GPL-2.0
/* model/event_filter.c: whose events of a recording pass, and who is a bystander in them; base/excerpt.c: what parts
 * can be asked for. */
#include <stdlib.h>

#include "../../src/base/excerpt.h"
#include "../../src/model/event_filter.h"
#include "tap.h"

enum { WANTED = 10, OTHER = 20, RUNNER = 30 };

static struct event_filter *filter;
static union any_event changed;

static const struct event_header *pass(const void *event)
{
	return event_filter_pass(filter, event, &changed);
}

static const struct event_header *meet(u32 tid, u32 pid, const char *name)
{
	struct event_thread event = { .head = { 1, tid, 0, EVENT_THREAD, 0 }, .pid = pid };

	strncpy(event.comm.text, name, COMM_LEN - 1);
	return pass(&event);
}

static bool on_switch(u16 cpu, u32 from, u16 state, u32 to)
{
	struct event_switch event = { .head = { 1, from, cpu, EVENT_SWITCH, 0 }, .next_tid = to, .prev_state = state };

	return pass(&event) != NULL;
}

static bool wake(u32 tid, u16 cpu)
{
	struct event_wakeup event = { .head = { 1, tid, 0, EVENT_WAKEUP, 0 }, .target_cpu = cpu };

	return pass(&event) != NULL;
}

static bool move(u32 tid, u16 from, u16 to)
{
	struct event_migrate event = { .head = { 1, tid, to, EVENT_MIGRATE, 0 }, .from_cpu = from, .to_cpu = to };

	return pass(&event) != NULL;
}

static bool plain(u8 kind, u32 tid, u16 cpu)
{
	union any_event event = { .head = { 1, tid, cpu, kind, 0 } };

	return pass(&event) != NULL;
}

static void begin(const struct filter *wanted, bool every_switch)
{
	event_filter_close(filter);
	filter = event_filter_open(wanted, every_switch);
	meet(WANTED, 1, "wanted");
	meet(OTHER, 2, "other");
	meet(RUNNER, 3, "runner");
}

static void test_threads(void)
{
	struct filter by_pid = { .pids = { 1 }, .pids_len = 1 };

	begin(&by_pid, false);
	ok(event_filter_matched(filter), "a process that is there matched");
	ok(!(meet(WANTED, 1, "wanted")->flags & EVENT_FLAG_BYSTANDER), "who was asked for is no bystander");
	ok(meet(OTHER, 2, "other")->flags & EVENT_FLAG_BYSTANDER, "who was not has a name, as a bystander");
	ok(wake(WANTED, 0), "a wake-up of who was asked for passes");
	ok(!wake(OTHER, 0), "a wake-up of who was not asked for is left out");
	ok(plain(EVENT_ROLE, WANTED, 0), "a role of who was asked for passes");
	ok(!plain(EVENT_ROLE, OTHER, 0), "a role of who was not asked for is left out");
	ok(plain(EVENT_LOST, 0, 0), "a loss, which is of no thread, passes");
	ok(plain(EVENT_DEVICE, 0, 0), "a device, which is of no thread, passes");
	ok(plain(EVENT_VBLANK, 0, 0), "a vblank, which is of no thread, passes");
	ok(!plain(EVENT_CUDA_COUNT, 0, 0), "counts of all threads together are left out");
	ok(!plain(EVENT_EXEC, 77, 0), "a thread that was never introduced is not one that was asked for");
	ok(!event_filter_failed(filter), "filter had the memory that it needed");
}

static void test_switches(void)
{
	struct filter by_pid = { .pids = { 1 }, .pids_len = 1 };

	begin(&by_pid, false);
	ok(!on_switch(0, OTHER, 1, RUNNER), "a switch of two others is left out");
	ok(on_switch(0, RUNNER, 1, WANTED), "a switch to who was asked for passes");
	ok(on_switch(0, WANTED, 1, RUNNER), "a switch from who was asked for passes");
	ok(!on_switch(0, RUNNER, 1, OTHER), "switches of others are left out while who was asked for sleeps");
	wake(WANTED, 0);
	ok(on_switch(0, OTHER, 0, RUNNER), "switches of others pass on the CPU that who was asked for waits for");
	ok(!on_switch(1, OTHER, 0, RUNNER), "switches of CPUs that nobody who was asked for waits for are left out");
	move(WANTED, 0, 1);
	ok(on_switch(1, RUNNER, 0, OTHER), "switches of the CPU that a waiting thread is moved to pass");
	ok(!on_switch(0, RUNNER, 0, OTHER), "switches of the CPU that a waiting thread has left are left out");
	on_switch(1, OTHER, 0, WANTED);
	ok(!on_switch(1, OTHER, 0, RUNNER), "switches of others are left out when who was asked for runs");
	begin(&by_pid, true);
	ok(on_switch(0, OTHER, 1, RUNNER), "switch of two others passes where every switch is wanted");
}

static void test_names_and_cpus(void)
{
	struct filter by_name = { .comms = { "want*" }, .comms_len = 1 };
	struct filter by_cpu = { .cpus = { 1 << 1 }, .has_cpus = true };
	struct event_rename rename = { .head = { 1, OTHER, 0, EVENT_RENAME, 0 }, .comm = { "wanted too" } };

	begin(&by_name, false);
	ok(wake(WANTED, 0), "a thread whose name fits the pattern passes");
	ok(!wake(OTHER, 0), "a thread whose name does not fit the pattern is left out");
	ok(!(pass(&rename)->flags & EVENT_FLAG_BYSTANDER), "who gets such a name is no bystander any more");
	ok(wake(OTHER, 0), "who gets such a name matches from then on");
	rename.comm = (struct comm){ "no more" };
	ok(pass(&rename)->flags & EVENT_FLAG_BYSTANDER, "who loses such a name is a bystander");
	ok(!wake(OTHER, 0), "who loses such a name matches no more");
	begin(&by_cpu, false);
	ok(event_filter_matched(filter), "a set of CPUs asks for no thread");
	ok(on_switch(1, OTHER, 1, RUNNER), "a switch of a CPU of the set passes");
	ok(!on_switch(0, OTHER, 1, RUNNER), "a switch of a CPU that is not in the set is left out");
	ok(!on_switch(5000, OTHER, 1, RUNNER), "a CPU that no list can name is not asked for");
	ok(move(WANTED, 0, 1), "a move to a CPU of the set passes");
	ok(!move(WANTED, 0, 2), "a move between other CPUs than those of the set is left out");
}

static void test_tid_change(void)
{
	struct filter by_pid = { .pids = { 1 }, .pids_len = 1 };
	struct event_tid_change change = { .head = { 1, 1, 0, EVENT_TID_CHANGE, 0 }, .old_tid = WANTED, .pid = 1 };

	begin(&by_pid, false);
	pass(&change);
	ok(wake(1, 0), "who goes on under another tid is still the one that was asked for");
	change.old_tid = 4711;
	change.head.tid = 4712;
	ok(pass(&change), "a change of a tid that was never seen does no harm");
}

static void test_no_match(void)
{
	struct filter nobody = { .pids = { 999 }, .pids_len = 1 };

	begin(&nobody, false);
	ok(!event_filter_matched(filter), "a process that is not there did not match");
}

static const char *take(struct excerpt *part, int key, const char *value)
{
	return excerpt_take(part, key, value);
}

static void test_excerpts(void)
{
	struct excerpt part = { 0 };
	struct reason why;

	ok(excerpt_is_empty(&part), "nothing given is all of it");
	ok(!take(&part, EXCERPT_FROM, "2.5s"), "a beginning of 2.5s is taken");
	is(part.from_ns, 2500000000ULL, "a moment is a span since the start");
	ok(!take(&part, EXCERPT_TO, "1m"), "an end of 1m is taken");
	ok(excerpt_check(&part, &why), "an end later than the beginning is sound");
	ok(!take(&part, EXCERPT_TO, "0s"), "an end of 0s is taken");
	ok(!excerpt_check(&part, &why), "an end earlier than the beginning is not sound");
	ok(take(&part, EXCERPT_FROM, "2.5"), "a moment without a unit is refused");
	ok(take(&part, EXCERPT_FROM, "-1s"), "a moment with a sign is refused");
	ok(take(&part, EXCERPT_FROM, "."), "a moment without a digit is refused");
	part = (struct excerpt){ .from_ns = 1 };
	ok(!take(&part, EXCERPT_FROM, "0"), "a beginning of 0 has no unit to forget");
	is(part.from_ns, 0, "a beginning of 0 is the start");
	part = (struct excerpt){ 0 };
	ok(!take(&part, EXCERPT_AROUND, "182"), "a frame's number is taken");
	ok(excerpt_check(&part, &why), "a frame alone is sound");
	ok(part.margin_ns, "a frame has a margin");
	ok(take(&part, EXCERPT_AROUND, "0"), "a frame's number of 0 is refused");
	ok(take(&part, EXCERPT_AROUND, "1x"), "a frame's number with a letter is refused");
	part = (struct excerpt){ .has_margin = true };
	ok(!excerpt_check(&part, &why), "a margin alone is not sound");
}

int main(void)
{
	test_threads();
	test_switches();
	test_names_and_cpus();
	test_tid_change();
	test_no_match();
	test_excerpts();
	event_filter_close(filter);
	return tap_end();
}

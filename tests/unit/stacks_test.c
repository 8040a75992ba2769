// SPDX-License-Identifier: GPL-2.0
/* model/stacks.c and view/stack_words.c: stacks that come before and after their names, sums, folded lines, and events
 * that hold anything. */
#include <stdlib.h>
#include <string.h>

#include "../../src/view/stack_words.h"
#include "tap.h"

enum { KERNEL = 7, USER = 8, PID = 100, WAKER_PID = 200 };

static struct stacks stacks;

static void name(u32 pid, u32 number, u32 frame, const char *text)
{
	struct event_stack_frame event = {
		.head.kind = EVENT_STACK_FRAME, .pid = pid, .stack = number, .frame = frame
	};

	memcpy(event.name.text, text, strlen(text));
	stacks_handle(&stacks, &event.head);
}

static struct event_stack back(u64 time_ns, u32 tid, u64 off_ns)
{
	struct event_stack event = { .head = { .time_ns = time_ns, .tid = tid, .kind = EVENT_STACK },
				     .off_ns = off_ns,
				     .kernel = KERNEL,
				     .user = USER,
				     .waker_kernel = STACK_NONE,
				     .waker_user = STACK_NONE };

	stacks_handle(&stacks, &event.head);
	return event;
}

static const char *folded(u32 pid, u32 user, u32 kernel, const char *comm_text)
{
	static char text[1024];
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct comm comm = { "" };

	snprintf(comm.text, sizeof(comm.text), "%s", comm_text);
	stack_fold(out, &stacks, "waits", &comm, pid, user, kernel);
	fclose(out);
	return text;
}

static void test_folded(void)
{
	name(0, KERNEL, 0, "__schedule");
	name(0, KERNEL, 1, "schedule");
	name(PID, USER, 1, "main");
	name(PID, USER, 0, "work");
	is_text(folded(PID, USER, KERNEL, "game"), "waits;game;main;work;schedule_[k];__schedule_[k]",
		"folded line goes from the outermost function to the kernel's");
	is_text(folded(PID, STACK_NONE, KERNEL, "kworker"), "waits;kworker;schedule_[k];__schedule_[k]",
		"folded line of a thread without a stack of its own has the kernel's");
	is_text(folded(PID + 1, USER, STACK_NONE, "other"), "waits;other",
		"functions of one process are not those of another with the same number");
	name(PID, 9, 0, "a;b\033[2J c");
	is_text(folded(PID, 9, STACK_NONE, "x;y"), "waits;x:y;a:b?[2J c",
		"semicolons and escapes in names can't break a folded line");
	name(PID, 10, 2, "outer");
	is_text(folded(PID, 10, STACK_NONE, "gap"), "waits;gap;outer;?;?", "function without a name has its place");
	name(PID, 11, 0, "_ZN3foo3barEv");
	is_text(folded(PID, 11, STACK_NONE, "cc"), "waits;cc;foo::bar()", "C++ names are demangled");
	stacks_free(&stacks);
}

static void test_longest(void)
{
	back(1000, 5, 300);
	back(2000, 5, 900);
	back(3000, 5, 500);
	back(2500, 6, 5000);
	is(stacks_longest(&stacks, 5, 0, 4000)->off_ns, 900, "longest time away of a thread is found");
	is(stacks_longest(&stacks, 5, 2000, 4000)->off_ns, 500, "time away that ended before the span does not count");
	ok(!stacks_longest(&stacks, 5, 3000, 4000), "span without a return has none");
	ok(!stacks_longest(&stacks, 7, 0, 4000), "thread that never came back has none");
	for (u32 i = 0; i < 100; i++)
		back(10000 + i, 5, i);
	ok(!stacks_longest(&stacks, 5, 0, 4000), "only the last returns of a thread are kept");
	is(stacks_longest(&stacks, 5, 0, 20000)->off_ns, 99, "last returns of a thread are there");
	stacks_free(&stacks);
}

static void test_sums(void)
{
	const struct comm one = { "one" }, two = { "two" }, none = { "" };
	struct event_stack event = back(1000, 5, 300);

	stacks_add(&stacks, &event, PID, &one, &none, 300);
	stacks_add(&stacks, &event, PID, &one, &none, 500);
	stacks_add(&stacks, &event, PID, &two, &none, 1000);
	event.waker_pid = WAKER_PID;
	event.waker_kernel = 21;
	stacks_add(&stacks, &event, PID, &one, &none, 10);
	is(stacks.sums_len, 3, "waits differ by name and by waker");
	stacks_order(&stacks);
	is(stacks.sums[0].ns, 1000, "most time comes first");
	is(stacks.sums[1].ns, 800, "waits with the same stacks are summed up");
	is(stacks.sums[1].times, 2, "waits with the same stacks are counted");
	is(stacks.sums[1].max_ns, 500, "longest of the waits is kept");
	stacks_restart(&stacks);
	stacks_add(&stacks, &event, PID, &one, &none, 10);
	is(stacks.sums_len, 1, "after a restart sums begin anew");
	stacks_free(&stacks);
}

/* Processes of one program have the same functions on stacks of different numbers. */
static void test_same_functions(void)
{
	const struct comm one = { "one" }, none = { "" };
	struct event_stack event = back(1000, 5, 300);

	name(0, KERNEL, 0, "__schedule");
	name(PID, USER, 0, "work");
	name(PID + 1, USER + 1, 0, "work");
	name(PID + 1, USER + 2, 0, "other");
	stacks_add(&stacks, &event, PID, &one, &none, 300);
	stacks_add(&stacks, &event, PID, &one, &none, 100);
	event.head.tid = 6;
	event.user = USER + 2;
	stacks_add(&stacks, &event, PID + 1, &one, &none, 1000);
	event.user = USER + 1;
	stacks_add(&stacks, &event, PID + 1, &one, &none, 500);
	stacks_order(&stacks);
	is(stacks.sums_len, 2, "stacks with the same functions are one, whatever their numbers and processes are");
	is(stacks.sums[0].tid, 6, "sum of one thread has its tid");
	is(stacks.sums[1].ns, 900, "waits in the same functions are summed up");
	is(stacks.sums[1].times, 3, "waits in the same functions are counted");
	is(stacks.sums[1].tid, 0, "sum of several threads has no tid");
	stacks_free(&stacks);
}

/* Where the kernel did not tell that it was an interrupt, the names on the stack do. */
static void test_interrupts(void)
{
	const struct comm one = { "one" }, met = { "met" }, other = { "other" };
	struct event_stack event = back(1000, 5, 300);

	name(0, 20, 0, "try_to_wake_up");
	name(0, 20, 1, "asm_sysvec_apic_timer_interrupt");
	name(0, 20, 2, "do_syscall_64");
	event.waker_kernel = 20;
	event.waker_pid = WAKER_PID;
	event.waker_user = USER;
	stacks_add(&stacks, &event, PID, &one, &met, 300);
	event.waker_pid = WAKER_PID + 1;
	stacks_add(&stacks, &event, PID, &one, &other, 500);
	is(stacks.sums_len, 2, "wakers of two processes are two");
	stacks_order(&stacks);
	is(stacks.sums_len, 1, "who was met by an interrupt is no waker");
	is(stacks.sums[0].ns, 800, "waits that an interrupt ended are summed up");
	is(stacks.sums[0].max_ns, 500, "longest wait that an interrupt ended is kept");
	is(stacks.sums[0].waker_pid, 0, "wait that an interrupt ended has no waker");
	is_text(folded(0, STACK_NONE, 20, "an interrupt"),
		"waits;an interrupt;asm_sysvec_apic_timer_interrupt_[k];try_to_wake_up_[k]",
		"interrupt's stack ends where it came in");
	stacks_free(&stacks);
}

static void test_junk(void)
{
	struct event_stack_frame long_name = { .head.kind = EVENT_STACK_FRAME, .pid = PID, .stack = 1 };
	u32 seed = 4711;

	memset(long_name.name.text, 'x', sizeof(long_name.name.text));
	stacks_handle(&stacks, &long_name.head);
	is(strlen(stacks_find(&stacks, PID, 1)->names[0]), LONG_NAME_LEN, "name without an end has one");
	name(PID, 1, STACK_FRAMES_MAX, "deep");
	name(PID, 1, 0xffffffff, "deeper");
	is(stacks.refused, 2, "functions too deep on a stack are counted, not kept");
	for (u32 i = 0; i < 100000; i++) {
		seed = seed * 1664525 + 1013904223;
		name(seed, seed >> 3, seed >> 25, "f");
		back(seed, seed >> 5, seed);
	}
	ok(stacks.len <= STACKS_KEPT, "number of stacks has a bound");
	ok(stacks.refused > 2, "stacks above the bound are counted");
	ok(!stacks_find(&stacks, PID, STACK_NONE), "no stack has no functions");
	stacks_free(&stacks);
}

int main(void)
{
	test_folded();
	test_longest();
	test_sums();
	test_same_functions();
	test_interrupts();
	test_junk();
	return tap_end();
}

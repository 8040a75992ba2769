// SPDX-License-Identifier: GPL-2.0
/* model/lead_in.c: what stands before a part leads to what was known, however many events there were. */
#include <stdlib.h>

#include "../../src/model/event_filter.h"
#include "../../src/model/lead_in.h"
#include "../../src/model/threads.h"
#include "tap.h"

enum { CPUS = 4, TIDS = 40, EVENTS = 20000 };

static struct cpu_topology topology[CPUS];
static struct threads whole, led;
static struct lead_in *lead_in;
static u64 now_ns, given, last_ns;
static bool in_order;

static void handle(void *data, const struct event_header *event)
{
	struct wait ended;

	in_order &= event->time_ns >= last_ns;
	last_ns = event->time_ns;
	given++;
	threads_handle(data, event, &ended);
}

static void take(const void *event)
{
	struct wait ended;

	threads_handle(&whole, event, &ended);
	lead_in_take(lead_in, event);
}

static void begin(size_t frames_most)
{
	now_ns = NSEC_PER_SEC;
	given = last_ns = 0;
	in_order = true;
	threads_init(&whole, topology, CPUS);
	threads_init(&led, topology, CPUS);
	lead_in = lead_in_open(frames_most);
}

static void end(void)
{
	threads_free(&whole);
	threads_free(&led);
	lead_in_close(lead_in);
}

static void meet(u32 tid, u64 start_ns, const char *name)
{
	struct event_thread event = { .head = { now_ns, tid, 0, EVENT_THREAD, 0 }, .start_ns = start_ns, .pid = tid };

	strncpy(event.comm.text, name, COMM_LEN - 1);
	take(&event);
}

static void on_switch(u16 cpu, u32 from, u16 state, u8 flags, u32 to)
{
	struct event_switch event = { .head = { now_ns, from, cpu, EVENT_SWITCH, flags },
				      .next_tid = to,
				      .prev_state = state,
				      .prev_prio = 121,
				      .next_prio = 121 };

	take(&event);
}

static void wake(u32 tid, u16 cpu)
{
	struct event_wakeup event = {
		.head = { now_ns, tid, cpu, EVENT_WAKEUP, 0 }, .target_cpu = cpu, .waker_tid = 7, .prio = 121
	};

	take(&event);
}

/* A machine that does as it likes, but as a machine does. */
static void live(void)
{
	u32 runs[CPUS] = { 0 }, seed = 1;
	int state[TIDS + 1] = { 0 }; /* 0: sleeps; 1: waits; 2: runs */

	for (u32 tid = 1; tid <= TIDS; tid++)
		meet(tid, tid, "thread");
	for (u32 i = 0; i < EVENTS; i++) {
		u32 random = (seed = seed * 1103515245 + 12345) >> 8, tid = 1 + random % TIDS,
		    cpu = random / TIDS % CPUS;

		now_ns += 1000;
		if (!state[tid]) {
			wake(tid, (u16)cpu);
			state[tid] = 1;
		} else if (state[tid] == 1) {
			u32 was = runs[cpu];
			bool preempted = random >> 20 & 1;

			on_switch((u16)cpu, was, preempted ? 0 : 1, preempted ? EVENT_FLAG_PREEMPTED : 0, tid);
			state[was] = was && preempted;
			state[tid] = 2;
			runs[cpu] = tid;
		}
	}
}

static void test_state(void)
{
	u32 wrong = 0;

	begin(0);
	live();
	lead_in_give(lead_in, handle, &led);
	for (u32 tid = 1; tid <= TIDS; tid++) {
		const struct thread *one = threads_by_tid(&whole, tid), *other = threads_by_tid(&led, tid);

		wrong += !other || one->account.run_since_ns != other->account.run_since_ns ||
			 one->account.wait_since_ns != other->account.wait_since_ns ||
			 one->account.wait_kind != other->account.wait_kind || one->queue_cpu != other->queue_cpu ||
			 strcmp(one->comm.text, other->comm.text) != 0;
	}
	is(wrong, 0, "every thread does what it did: runs, waits or sleeps, since then, on that CPU");
	wrong = 0;
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		wrong += whole.cpus[cpu].tid != led.cpus[cpu].tid || whole.cpus[cpu].since_ns != led.cpus[cpu].since_ns;
	is(wrong, 0, "every CPU has whom it had");
	ok(in_order, "what leads in comes in the order of time");
	ok(given <= TIDS * 4 + CPUS, "what leads in are few events (%llu of %d)", (unsigned long long)given,
	   EVENTS + TIDS);
	given = 0;
	lead_in_give_closing(lead_in, now_ns, handle, &led);
	is(given, CPUS, "closing of a part says of each CPU who runs there");
	ok(!lead_in_failed(lead_in), "lead-in had the memory that it needed");
	end();
}

static void test_ends(void)
{
	begin(0);
	meet(10, 1, "first");
	on_switch(0, 0, 0, 0, 10);
	on_switch(0, 10, STATE_DEAD, 0, 0);
	lead_in_give(lead_in, handle, &led);
	ok(!threads_by_tid(&led, 10), "who ended is not there any more");
	meet(10, 2, "second");
	wake(10, 1);
	lead_in_give(lead_in, handle, &led);
	is(threads_by_tid(&led, 10)->start_ns, 2, "who has its tid then is another");
	end();
}

static void test_many(void)
{
	size_t bytes;

	begin(0);
	for (u32 tid = 1; tid < 10000; tid++) {
		meet(tid, tid, "short");
		on_switch(0, tid - 1, STATE_DEAD, 0, tid);
	}
	bytes = lead_in_bytes(lead_in);
	for (u32 tid = 10000; tid < 200000; tid++) {
		struct event_thread event = { .head = { now_ns, tid, 0, EVENT_THREAD, 0 }, .start_ns = tid };
		struct event_switch dies = { .head = { now_ns, tid - 1, 0, EVENT_SWITCH, 0 },
					     .next_tid = tid,
					     .prev_state = STATE_DEAD };

		lead_in_take(lead_in, &event.head);
		lead_in_take(lead_in, &dies.head);
	}
	ok(lead_in_bytes(lead_in) <= 2 * bytes, "threads that come and go leave nothing behind (%zu bytes)",
	   lead_in_bytes(lead_in));
	end();
}

static void test_frames(void)
{
	struct event_frame frame = { .head = { 1, 10, 0, EVENT_FRAME, 0 } };

	begin(100);
	for (u32 i = 0; i < 1000; i++)
		lead_in_take(lead_in, &frame.head);
	lead_in_give(lead_in, handle, &led);
	is_between(100, given, 200, "of frames the last are kept (%llu)", (unsigned long long)given);
	end();
	begin(0);
	for (u32 i = 0; i < 1000; i++)
		lead_in_take(lead_in, &frame.head);
	lead_in_give(lead_in, handle, &led);
	is(given, 1000, "where all frames are asked for, all are kept");
	end();
}

static char functions[256];

static void note_function(void *data, const struct event_header *event)
{
	const struct event_stack_frame *frame = (const struct event_stack_frame *)event;
	size_t len = strlen(functions);

	(void)data;
	snprintf(functions + len, sizeof(functions) - len, "%u:%u:%u:%s@%llu ", frame->pid, frame->stack, frame->frame,
		 frame->name.text, (unsigned long long)event->time_ns);
}

static bool name_function(u32 pid, u32 stack, u32 frame, const char *name)
{
	struct event_stack_frame event = {
		.head = { now_ns, 0, 0, EVENT_STACK_FRAME, 0 }, .pid = pid, .stack = stack, .frame = frame
	};

	memcpy(event.name.text, name, strlen(name));
	lead_in_take(lead_in, &event.head);
	return lead_in_give_functions(lead_in, &event.head, note_function, NULL);
}

static const char *functions_of(u32 tid, u32 kernel, u32 user)
{
	struct event_stack event = { .head = { 9, tid, 0, EVENT_STACK, 0 },
				     .kernel = kernel,
				     .user = user,
				     .waker_kernel = STACK_NONE,
				     .waker_user = STACK_NONE };

	functions[0] = '\0';
	lead_in_take(lead_in, &event.head);
	lead_in_give_functions(lead_in, &event.head, note_function, NULL);
	return functions;
}

static void test_functions(void)
{
	begin(0);
	meet(10, 1, "waits");
	ok(!name_function(0, 5, 0, "schedule"), "function on a stack that no event refers to is not in the part");
	name_function(10, 5, 0, "work");
	name_function(10, 5, 1, "main");
	name_function(11, 5, 0, "elsewhere");
	is_text(functions_of(10, 5, 5), "0:5:0:schedule@9 10:5:0:work@9 10:5:1:main@9 ",
		"functions on an event's stacks come before it, and no others");
	is_text(functions_of(10, 5, 5), "", "functions come once");
	is_text(functions_of(10, 6, STACK_NONE), "", "functions that nobody named don't come");
	is(lead_in_nameless(lead_in), 1, "stack without functions is counted");
	ok(name_function(0, 6, 0, "late"), "function that is named after its event is in the part");
	is(lead_in_nameless(lead_in), 0, "stack that was named late has its functions");
	ok(!lead_in_dropped_functions(lead_in), "functions that were named all had room");
	for (u32 i = 0; i < 400000; i++) {
		name_function(12, i, 0, "one of many");
		if (i % 1000 == 0)
			functions_of(10, 5, 5);
	}
	ok(lead_in_bytes(lead_in) < (80 << 20), "room for functions has a bound (%zu bytes)", lead_in_bytes(lead_in));
	ok(lead_in_dropped_functions(lead_in), "functions that went for want of room show");
	ok(name_function(10, 5, 0, "work"), "stack that events refer to stays");
	end();
}

/* Whatever a recording claims. */
static void test_nonsense(void)
{
	u32 seed = 7;

	begin(10);
	for (u32 i = 0; i < 200000; i++) {
		union any_event event;

		for (size_t at = 0; at < sizeof(event.bytes); at++)
			event.bytes[at] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
		event.head.kind = (u8)(1 + event.head.kind % (EVENT_KINDS - 1));
		event.head.tid %= 50;
		lead_in_take(lead_in, &event.head);
		lead_in_give_functions(lead_in, &event.head, handle, &led);
	}
	lead_in_give(lead_in, handle, &led);
	lead_in_give_closing(lead_in, 1, handle, &led);
	ok(given > 0, "events that make no sense do no harm");
	end();
}

int main(void)
{
	test_state();
	test_ends();
	test_many();
	test_frames();
	test_functions();
	test_nonsense();
	return tap_end();
}

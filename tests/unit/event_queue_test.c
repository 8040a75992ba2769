// SPDX-License-Identifier: GPL-2.0
/* src/stream/event_queue.h: events come out in the order of time, whatever the order in which they came. */
#include "../../src/stream/event_queue.h"
#include "tap.h"

static void add_switch(struct event_queue *queue, u64 time_ns, u32 tid)
{
	struct event_switch event = { .head = { .time_ns = time_ns, .kind = EVENT_SWITCH, .tid = tid } };

	event_queue_add(queue, &event.head, sizeof(event));
}

static void add_rename(struct event_queue *queue, u64 time_ns, u32 tid)
{
	struct event_rename event = { .head = { .time_ns = time_ns, .kind = EVENT_RENAME, .tid = tid } };

	event_queue_add(queue, &event.head, sizeof(event));
}

static u32 next_tid(struct event_queue *queue)
{
	u32 tid = event_queue_first(queue)->tid;

	event_queue_drop(queue);
	return tid;
}

static void test_order(void)
{
	struct event_queue queue = {};

	ok(!event_queue_first(&queue), "a queue without events has no first one");
	add_switch(&queue, 10, 1);
	add_switch(&queue, 30, 3);
	add_rename(&queue, 20, 2);
	add_switch(&queue, 30, 4);
	add_switch(&queue, 5, 0);
	for (u32 tid = 0; tid < 5; tid++)
		is(next_tid(&queue), tid, "event %u of a queue that got its events out of order comes out in its turn",
		   tid);
	ok(!event_queue_first(&queue), "a queue whose events were all dropped is empty");
	add_switch(&queue, 1, 9);
	is(next_tid(&queue), 9, "an empty queue takes an event that is older than those it had");
	event_queue_free(&queue);
}

static void test_growth(void)
{
	struct event_queue queue = {};
	u64 last_ns = 0, out_of_order = 0, came = 0;

	for (u64 i = 0; i < 20000; i++) {
		/* Every third of another kind, so of another length; every seventh comes 50 ns late. */
		if (i % 3)
			add_switch(&queue, 1000 + i * 10 - (i % 7 == 0) * 50, 1);
		else
			add_rename(&queue, 1000 + i * 10 - (i % 7 == 0) * 50, 1);
		if (i < 100 || i % 2)
			continue;
		out_of_order += event_queue_first(&queue)->time_ns < last_ns;
		last_ns = event_queue_first(&queue)->time_ns;
		event_queue_drop(&queue);
		came++;
	}
	for (; event_queue_first(&queue); came++) {
		out_of_order += event_queue_first(&queue)->time_ns < last_ns;
		last_ns = event_queue_first(&queue)->time_ns;
		event_queue_drop(&queue);
	}
	is(came, 20000, "a queue that grows while it is read hands over every event");
	is(out_of_order, 0, "a queue that grows while it is read hands over its events in the order of time");
	event_queue_free(&queue);
}

static void test_damage(void)
{
	struct event_queue queue = {};
	struct event_header unknown = { .time_ns = 10, .kind = EVENT_KINDS };

	event_queue_add(&queue, &unknown, sizeof(unknown));
	ok(!event_queue_is_whole(&queue), "an event of an unknown kind is not whole");
	add_switch(&queue, 5, 1);
	is(event_queue_first(&queue)->tid, 1, "an older event goes before one of an unknown kind");
	ok(event_queue_is_whole(&queue), "an event of a known kind is whole");
	event_queue_free(&queue);
	unknown.kind = EVENT_SWITCH;
	event_queue_add(&queue, &unknown, sizeof(unknown));
	ok(!event_queue_is_whole(&queue), "an event that ends before its kind's length is not whole");
	event_queue_free(&queue);
}

int main(void)
{
	test_order();
	test_growth();
	test_damage();
	return tap_end();
}

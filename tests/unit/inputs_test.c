// SPDX-License-Identifier: GPL-2.0
/* model/inputs.c: devices and their readers from a made stream, also where parts of it are missing. */
#include "../../core/input.h"
#include "../../src/model/inputs.h"
#include "tap.h"

static struct threads threads;
static struct inputs inputs;

static void report(u32 device, u64 at_ns, u64 interval_ns, u32 events)
{
	struct event_input event = { .head = { .time_ns = at_ns, .kind = EVENT_INPUT },
				     .interval_ns = interval_ns,
				     .device = device,
				     .events = events };

	inputs_handle(&inputs, &threads, &event.head);
}

static void wake(u32 device, u32 tid, u64 delay_ns)
{
	struct event_input_wake event = { .head = { .tid = tid, .kind = EVENT_INPUT_WAKE },
					  .delay_ns = delay_ns,
					  .device = device };

	inputs_handle(&inputs, &threads, &event.head);
}

static void add_thread(u32 tid, u64 start_ns)
{
	struct event_thread event = {
		.head = { .tid = tid, .kind = EVENT_THREAD }, .start_ns = start_ns, .pid = 5, .comm = { "reader" }
	};
	struct wait ended;

	threads_handle(&threads, &event.head, &ended);
}

int main(void)
{
	struct event_device device = { .head = { .kind = EVENT_DEVICE },
				       .device = 4,
				       .node = ~0u,
				       .device_kind = INPUT_MOUSE,
				       .vendor = 0x1209,
				       .product = 0x7a01,
				       .name = { "a mouse" } };
	struct cpu_topology place = { 0 };

	threads_init(&threads, &place, 1);
	add_thread(8, 1);
	for (u64 i = 0; i < 8001; i++)
		report(4, NSEC_PER_SEC + i * 125000, i ? 125000 : 0, 2);
	wake(4, 8, 40000);
	is(inputs.sources->reports, 8001, "reports of a device that was not introduced are counted");
	is(inputs.sources->events, 16002, "events in reports of an unknown device are counted");
	is(input_rate(inputs.sources), 800000, "device that reports every 125 us has a rate of 8 kHz");
	is(inputs.sources->interval_ns.max, 125000, "an eighth of a millisecond apart");
	is(inputs.sources->kind, INPUT_OTHER, "device that was not introduced is of no known kind");
	inputs_handle(&inputs, &threads, &device.head);
	is(inputs.sources->kind, INPUT_MOUSE, "device that is introduced has its kind");
	device.node = 3;
	inputs_handle(&inputs, &threads, &device.head);
	device.node = ~0u;
	inputs_handle(&inputs, &threads, &device.head);
	is(inputs.sources->node, 3, "introduction without a node keeps the node that is known");
	add_thread(8, 2);
	wake(4, 8, 50000);
	ok(inputs.sources->readers->next, "reader of a reused tid is another reader");
	ok(!inputs.sources->readers->next->next, "reader of a reused tid is one more, not two");
	is(inputs.sources->readers->pid, 5, "a reader has its process");
	wake(9, 77, 1);
	is(inputs.sources->next->number, 9, "a device that is known by a wake-up alone");
	is(input_rate(inputs.sources->next), 0, "device with a single report has no rate");
	report(9, 500, 0, 1);
	report(9, 400, 0, 1);
	is(input_rate(inputs.sources->next), 0, "device whose clock steps back has no rate");
	for (u32 i = 0; i < 2 * INPUT_ROWS_MAX; i++)
		report(1000 + i, 500, 0, 1);
	is(inputs.len, INPUT_ROWS_MAX, "inputs have no more rows than can be shown");
	is(inputs.refused, INPUT_ROWS_MAX + 5, "reports of devices without a row are counted");
	inputs_free(&inputs);
	threads_free(&threads);
	return tap_end();
}

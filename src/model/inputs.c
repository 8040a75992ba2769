// SPDX-License-Identifier: GPL-2.0
/* Keeps what is known of input devices and their readers in lists; there are few of either.
 * A device whose `device` event was lost has no name and is counted all the same. */
#include "inputs.h"

#include <stdlib.h>

#include "../../core/input.h"

/* Room for a device or a reader, or NULL. */
static void *new_row(struct inputs *inputs, size_t size)
{
	void *row = inputs->len < INPUT_ROWS_MAX ? calloc(1, size) : NULL;

	if (row)
		inputs->len++;
	else
		inputs->refused++;
	return row;
}

static struct input_source *source_of(struct inputs *inputs, u32 number)
{
	struct input_source **at = &inputs->sources, *source;

	for (; (source = *at); at = &source->next)
		if (source->number == number)
			return source;
	*at = source = new_row(inputs, sizeof(*source));
	if (!source)
		return NULL;
	source->number = number;
	source->node = ~0u;
	source->kind = INPUT_OTHER;
	return source;
}

/* The program and the kernel half may both describe it; only one of them knows the node. */
static void handle_device(struct inputs *inputs, const struct event_device *event)
{
	struct input_source *source = source_of(inputs, event->device);

	if (!source)
		return;
	if (event->node != ~0u)
		source->node = event->node;
	source->kind = event->device_kind;
	source->vendor = event->vendor;
	source->product = event->product;
	source->name = event->name;
}

static void handle_report(struct inputs *inputs, const struct event_input *event)
{
	struct input_source *source = source_of(inputs, event->device);

	if (!source)
		return;
	if (!source->reports)
		source->first_ns = event->head.time_ns;
	else if (event->interval_ns)
		hist_add(&source->interval_ns, event->interval_ns);
	source->last_ns = event->head.time_ns;
	source->reports++;
	source->events += event->events;
}

static void handle_wake(struct inputs *inputs, const struct threads *threads, const struct event_input_wake *event)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid);
	u64 start_ns = thread ? thread->start_ns : 0;
	struct input_source *source = source_of(inputs, event->device);
	struct input_reader **at = source ? &source->readers : NULL, *reader = NULL;

	for (; at && (reader = *at); at = &reader->next)
		if (reader->tid == event->head.tid && reader->start_ns == start_ns)
			break;
	if (at && !reader)
		*at = reader = new_row(inputs, sizeof(*reader));
	if (!reader)
		return;
	reader->tid = event->head.tid;
	reader->start_ns = start_ns;
	/* The last name counts: a thread is often named after its first wake-up. */
	if (thread) {
		reader->pid = thread->pid;
		reader->comm = thread->comm;
	}
	hist_add(&reader->delay_ns, event->delay_ns);
}

void inputs_handle(struct inputs *inputs, const struct threads *threads, const struct event_header *event)
{
	if (event->kind == EVENT_DEVICE)
		handle_device(inputs, (const struct event_device *)event);
	if (event->kind == EVENT_INPUT)
		handle_report(inputs, (const struct event_input *)event);
	if (event->kind == EVENT_INPUT_WAKE)
		handle_wake(inputs, threads, (const struct event_input_wake *)event);
}

static void free_readers(struct input_reader *reader)
{
	for (struct input_reader *next; reader; reader = next) {
		next = reader->next;
		free(reader);
	}
}

void inputs_free(struct inputs *inputs)
{
	for (struct input_source *source = inputs->sources, *next; source; source = next) {
		next = source->next;
		free_readers(source->readers);
		free(source);
	}
	*inputs = (struct inputs){ 0 };
}

u64 input_rate(const struct input_source *source)
{
	u64 span_ns = source->last_ns - source->first_ns;

	return source->reports > 1 && source->last_ns > source->first_ns
		       ? (u64)(100.0 * (double)(source->reports - 1) * NSEC_PER_SEC / (double)span_ns)
		       : 0;
}

void inputs_restart(struct inputs *inputs)
{
	for (struct input_source *source = inputs->sources; source; source = source->next) {
		source->reports = source->events = source->first_ns = 0;
		source->interval_ns = (struct hist){ 0 };
		for (struct input_reader *reader = source->readers; reader; reader = reader->next)
			reader->delay_ns = (struct hist){ 0 };
	}
}

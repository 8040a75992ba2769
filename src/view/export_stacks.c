// SPDX-License-Identifier: GPL-2.0
/* Stacks of threads that had no CPU, as slices as long as that; and jobs of the kernel's scheduler for GPUs, in their
 * queue and on their ring. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/vec.h"
#include "../sink/demangle.h"
#include "../sink/text.h"
#include "export_trace.h"
#include "thread_words.h"

enum { STACK_WORDS_SIZE = 2048, STACK_NAME_SIZE = 256, AWAY_MOST = 1024 };

/* Not before the part that is written, whatever a recording claims. */
static u64 in_part(const struct exporter *exporter, u64 from_ns, u64 to_ns)
{
	if (from_ns < exporter->from_ns)
		from_ns = exporter->from_ns;
	return from_ns < to_ns ? from_ns : to_ns;
}

/* From who called to where it was, as flame graphs have them. */
static void add_stack(char *into, size_t size, const struct stack *stack, u32 len, const char *mark)
{
	char name[STACK_NAME_SIZE];

	for (u32 frame = len; frame > 0; frame--) {
		const char *given = stack->names[frame - 1] ? stack->names[frame - 1] : "?";
		char *whole = demangle(given);
		size_t used = strlen(into);

		format_plain(name, sizeof(name), whole ? whole : given);
		free(whole);
		snprintf(into + used, size - used, "%s%s%s", used ? ";" : "", name, mark);
	}
}

/* `is_met`: an interrupt met whoever ran, whose own functions have nothing to do with it. */
static void stack_words(char into[STACK_WORDS_SIZE], const struct stacks *stacks, u32 pid, u32 user, u32 kernel,
			bool is_met)
{
	const struct stack *of_user = is_met ? NULL : stacks_find(stacks, pid, user);
	const struct stack *of_kernel = stacks_find(stacks, 0, kernel);
	u32 interrupt = is_met ? stack_interrupt(of_kernel) : 0;

	into[0] = '\0';
	add_stack(into, STACK_WORDS_SIZE, of_user, of_user ? of_user->len : 0, "");
	add_stack(into, STACK_WORDS_SIZE, of_kernel, interrupt ? interrupt : of_kernel ? of_kernel->len : 0, "_[k]");
}

static void put_away(struct exporter *exporter, const struct event_stack *event)
{
	const struct thread *thread = threads_by_tid(exporter->threads, event->head.tid);
	u64 now_ns = event->head.time_ns, began_ns = span_between(event->off_ns, now_ns);
	char stack[STACK_WORDS_SIZE], waker_stack[STACK_WORDS_SIZE], waker[THREAD_WORDS_SIZE];
	struct trace_arg args[] = { TEXT_ARG("stack", stack), NUMBER_ARG("wait_ns", event->wait_ns),
				    TEXT_ARG("waker", waker), TEXT_ARG("waker_stack", waker_stack) };
	struct trace_mark mark = { .from_ns = in_part(exporter, began_ns, now_ns),
				   .to_ns = now_ns,
				   .name = "had no CPU",
				   .category = "stack",
				   ARGS(args) };

	stack_words(stack, &exporter->stacks, thread ? thread->pid : event->head.tid, event->user, event->kernel,
		    false);
	stack_words(waker_stack, &exporter->stacks, event->waker_pid, event->waker_user, event->waker_kernel,
		    !event->waker_pid);
	thread_words(waker, exporter->threads, event->waker_tid, THREAD_TIGHT);
	if (!waker_stack[0])
		mark.args_len -= 1 + !event->waker_tid;
	export_mark(exporter, event->head.tid, LANE_STACKS, &mark);
}

static bool is_named(const struct stacks *stacks, u32 pid, u32 number)
{
	return number == STACK_NONE || stacks_find(stacks, pid, number);
}

static bool has_names(const struct exporter *exporter, const struct event_stack *event)
{
	const struct thread *thread = threads_by_tid(exporter->threads, event->head.tid);

	return is_named(&exporter->stacks, thread ? thread->pid : event->head.tid, event->user) &&
	       is_named(&exporter->stacks, 0, event->kernel) &&
	       is_named(&exporter->stacks, event->waker_pid, event->waker_user) &&
	       is_named(&exporter->stacks, 0, event->waker_kernel);
}

/* Functions are named some time after their stack was seen: until then it waits, and those behind it. The last function
 * of a stack comes with the others, so that whatever follows it finds all of them. */
void export_stacks(struct exporter *exporter, const struct event_stack *event, bool is_last)
{
	size_t at = 0;

	if (event && !vec_reserve(exporter->away, exporter->away_room, exporter->away_len + 1, 16))
		exporter->failed = true;
	else if (event)
		exporter->away[exporter->away_len++] = *event;
	while (at < exporter->away_len && (is_last || exporter->away_len - at > AWAY_MOST ||
					   (at + 1 < exporter->away_len && has_names(exporter, &exporter->away[at]))))
		put_away(exporter, &exporter->away[at++]);
	exporter->away_len -= at;
	if (at && exporter->away_len)
		memmove(exporter->away, exporter->away + at, exporter->away_len * sizeof(*exporter->away));
}

static u64 ring_key(const struct event_fence *event)
{
	u64 key = 0xcbf29ce484222325ull;

	for (u32 i = 0; i < COMM_LEN; i++)
		key = (key ^ (u64)((u8)event->driver.text[i] << 8 | (u8)event->timeline.text[i])) * 0x100000001b3ull;
	return key >> 8; /* a place's number has room for so much */
}

/* A ring gets its next job while it does the one before: that one's end is when this one begins, as 'tactus gpu' has
 * it. */
void export_job(struct exporter *exporter, const struct event_fence *event)
{
	bool ran = event->head.flags & EVENT_FLAG_RAN;
	u64 now_ns = event->head.time_ns, given_ns = span_between(event->took_ns, now_ns), began_ns = given_ns;
	struct place *place = export_place(exporter, ran ? PLACE_RING : PLACE_RING_QUEUE, ring_key(event));
	char device[COMM_TEXT_SIZE], ring[COMM_TEXT_SIZE], by[THREAD_WORDS_SIZE], name[EXPORT_NAME_SIZE];
	struct trace_arg args[] = { NUMBER_ARG("context", event->context), NUMBER_ARG("seqno", event->seqno),
				    TEXT_ARG("begun_by", by), NUMBER_ARG("behind_ns", 0) };
	struct trace_mark mark = {
		.to_ns = now_ns, .name = ran ? "job" : "in the queue", .category = "gpu", ARGS(args)
	};

	if (!place)
		return;
	if (ran && place->written > given_ns && place->written <= now_ns)
		began_ns = place->written;
	if (ran && now_ns > place->written)
		place->written = now_ns;
	args[3].number = began_ns - given_ns;
	mark.args_len -= !ran;
	mark.from_ns = in_part(exporter, began_ns, now_ns);
	comm_text(device, &event->driver);
	comm_text(ring, &event->timeline);
	thread_words(by, exporter->threads, event->head.tid, THREAD_TIGHT);
	snprintf(name, sizeof(name), "ring %s %s%s", device, ring, ran ? "" : " queue");
	mark.track = export_place_lane(exporter, place, name, mark.from_ns, mark.to_ns);
	if (mark.track)
		exporter->form->mark(exporter->sink, &mark);
}

// SPDX-License-Identifier: GPL-2.0
/* Follows each moved thread until it runs. A thread has at most one move that it has not run after: the next one ends
 * the wait for it. */
#include "moves.h"

#include <stdlib.h>

#include "../base/sort.h"

static struct thread_moves *moves_of(struct thread *thread)
{
	if (!thread->moves)
		thread->moves = calloc(1, sizeof(*thread->moves));
	return thread->moves;
}

const char *move_cause_name(enum move_cause cause)
{
	static const char *const names[MOVE_CAUSES] = { "unknown", "wakeup", "balance", "affinity", "exec", "hotplug" };

	return names[cause];
}

const char *distance_name(enum distance distance)
{
	static const char *const names[DISTANCES] = { "core", "cache", "node", "across" };

	return names[distance];
}

static void add(struct move_sums *sums, const struct move *move)
{
	sums->moves++;
	sums->causes[move->cause]++;
	sums->distances[move->distance]++;
	if (move->after != MOVE_RAN)
		return;
	sums->runs++;
	sums->to_run_ns += move->to_run_ns;
	if (move->to_run_ns > sums->to_run_max_ns)
		sums->to_run_max_ns = move->to_run_ns;
}

/* The move that the thread has not run after yet, if there is one, ends like this. */
static bool finish_move(struct moves *moves, struct thread *thread, enum after_move after, u64 now_ns,
			struct move *done)
{
	struct thread_moves *own = thread ? thread->moves : NULL;

	if (!own || !own->pending.at_ns)
		return false;
	*done = own->pending;
	own->pending.at_ns = 0;
	done->after = after;
	done->to_run_ns = after == MOVE_RAN ? span_between(done->ready_ns, now_ns) : 0;
	add(&own->sums, done);
	add(&moves->causes[done->cause], done);
	add(&moves->all, done);
	return true;
}

static bool handle_migrate(struct moves *moves, struct threads *threads, const struct event_migrate *event,
			   struct move *done)
{
	struct thread *thread = threads_by_tid(threads, event->head.tid);
	struct thread_moves *own = thread && !thread->bystander ? moves_of(thread) : NULL;
	bool moved_on;

	if (!own) {
		moves->failed |= thread && !thread->bystander;
		return false;
	}
	moved_on = finish_move(moves, thread, MOVE_MOVED_ON, event->head.time_ns, done);
	own->pending = (struct move){ .at_ns = event->head.time_ns,
				      .ready_ns = event->head.time_ns,
				      .asleep = !(event->head.flags & MOVE_WAKING) && !thread->account.run_since_ns &&
						!thread->account.wait_since_ns,
				      .tid = event->head.tid,
				      .by_tid = event->by_tid,
				      .role = thread->role ? thread->role->role : 0,
				      .from_cpu = event->from_cpu,
				      .to_cpu = event->to_cpu,
				      .cause = move_cause(event->head.flags),
				      .distance = DISTANCE_CROSS };
	if (event->from_cpu < threads->cpus_len && event->to_cpu < threads->cpus_len)
		own->pending.distance = cpu_distance(&threads->topology[event->from_cpu],
						     &threads->topology[event->to_cpu]);
	return moved_on;
}

static void handle_wakeup(struct threads *threads, const struct event_header *event)
{
	struct thread *thread = threads_by_tid(threads, event->tid);

	if (thread && thread->moves && thread->moves->pending.asleep && thread->account.woken_at_ns == event->time_ns)
		thread->moves->pending.ready_ns = event->time_ns;
}

bool moves_handle(struct moves *moves, struct threads *threads, const struct event_header *event, struct move *done)
{
	switch (event->kind) {
	case EVENT_MIGRATE:
		return handle_migrate(moves, threads, (const struct event_migrate *)event, done);
	case EVENT_WAKEUP:
		handle_wakeup(threads, event);
		return false;
	case EVENT_SWITCH:
		return finish_move(moves, threads_by_tid(threads, ((const struct event_switch *)event)->next_tid),
				   MOVE_RAN, event->time_ns, done);
	case EVENT_UNSEEN_SWITCH:
		return finish_move(moves, threads_by_tid(threads, event->tid), MOVE_RAN,
				   ((const struct event_unseen_switch *)event)->since_ns, done);
	default:
		return false;
	}
}

bool moves_left(struct moves *moves, struct threads *threads, size_t *at, struct move *done)
{
	while (*at < threads->len)
		if (finish_move(moves, threads->all[(*at)++], MOVE_NOT_RUN, 0, done))
			return true;
	return false;
}

static int by_moves(const void *a, const void *b)
{
	const struct thread *x = *(const struct thread *const *)a, *y = *(const struct thread *const *)b;

	if (x->moves->sums.moves != y->moves->sums.moves)
		return x->moves->sums.moves < y->moves->sums.moves ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

const struct thread **moves_sorted(const struct threads *threads, size_t *len)
{
	const struct thread **list = threads->len ? malloc(threads->len * sizeof(struct thread *)) : NULL;

	*len = 0;
	for (size_t i = 0; list && i < threads->len; i++)
		if (threads->all[i]->moves && threads->all[i]->moves->sums.moves)
			list[(*len)++] = threads->all[i];
	if (list)
		sort_rows(list, *len, sizeof(struct thread *), by_moves);
	return list;
}

void moves_restart(struct moves *moves, struct threads *threads)
{
	for (size_t i = 0; i < threads->len; i++)
		if (threads->all[i]->moves)
			threads->all[i]->moves->sums = (struct move_sums){ 0 };
	for (int cause = 0; cause < MOVE_CAUSES; cause++)
		moves->causes[cause] = (struct move_sums){ 0 };
	moves->all = (struct move_sums){ 0 };
}

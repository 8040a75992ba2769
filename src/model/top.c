// SPDX-License-Identifier: GPL-2.0
/* Counts what events tell, turn by turn. A run is charged to its thread and its CPU where it ends, and where a turn
 * ends; other models say what was late and why. */
#include "top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/role.h"
#include "../base/vec.h"

enum { FRAMELESS_TURNS = 10 }; /* after so many nobody presents any more */
enum { GAP_TURNS = 60 };       /* a gap in a stream that is longer is leapt over */

int top_init(struct top *top, u32 cpus_len, top_explain explain)
{
	*top = (struct top){ .explain = explain, .cpus_len = cpus_len };
	frames_init(&top->frame_model, false);
	top->cpus = calloc(cpus_len ? cpus_len : 1, sizeof(*top->cpus));
	return top->cpus ? 0 : -ENOMEM;
}

static void free_thread(struct top_thread *thread)
{
	top_waits_free(&thread->waits);
	free(thread);
}

void top_free(struct top *top)
{
	for (size_t i = 0; i < top->len; i++)
		free_thread(top->threads[i]);
	free(top->threads);
	map_free(&top->by_tid);
	free(top->cpus);
	frames_free(&top->frame_model);
	misses_free(&top->miss_model);
	*top = (struct top){ 0 };
}

struct top_thread *top_find(const struct top *top, u32 tid)
{
	u32 index = map_get(&top->by_tid, tid);

	return index ? top->threads[index - 1] : NULL;
}

u64 top_rate_tenths(const struct top *top, u64 count)
{
	return top->last_span_ns ? (u64)((double)count * 10 * NSEC_PER_SEC / (double)top->last_span_ns + 0.5) : 0;
}

long top_place(u64 taken, u64 room, u64 back)
{
	return back < taken && back < room ? (long)((taken - 1 - back) % room) : -1;
}

struct comm top_comm_of(const struct threads *threads, u32 tid)
{
	const struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;

	return thread ? thread->comm : (struct comm){ "" };
}

struct top_thread *top_meet(struct top *top, u32 tid, u32 pid, u64 start_ns, const struct comm *comm)
{
	struct top_thread *known = top_find(top, tid);

	if (known && known->start_ns == start_ns)
		return known;
	if (known) { /* a tid may be given to another thread */
		top_waits_free(&known->waits);
	} else {
		if (top->len < TOP_THREADS_MOST && vec_reserve(top->threads, top->room, top->len + 1, 64) &&
		    map_reserve(&top->by_tid, top->len + 1))
			known = calloc(1, sizeof(*known));
		if (!known) {
			top->refused++;
			return NULL;
		}
		top->threads[top->len++] = known;
		map_set(&top->by_tid, tid, (u32)top->len);
	}
	*known = (struct top_thread){ .tid = tid, .pid = pid, .start_ns = start_ns, .comm = *comm };
	return known;
}

/* NULL: it is not watched, not known, or there is no room. */
static struct top_thread *meet(struct top *top, const struct threads *threads, u32 tid)
{
	struct top_thread *known = tid ? top_find(top, tid) : NULL;
	const struct thread *thread;

	if (known || !tid)
		return known;
	thread = threads_by_tid(threads, tid);
	if (!thread || thread->bystander)
		return NULL;
	return top_meet(top, tid, thread->pid, thread->start_ns, &thread->comm);
}

void top_add_other(struct top_other *others, u32 len, const struct threads *threads, u32 tid, u64 amount)
{
	struct top_other *least = &others[0];

	for (u32 i = 0; i < len; i++) {
		if (others[i].amount && others[i].tid == tid) {
			others[i].amount += amount;
			/* A name may come after what its thread did. */
			if (!others[i].comm.text[0])
				others[i].comm = top_comm_of(threads, tid);
			return;
		}
		if (others[i].amount < least->amount)
			least = &others[i];
	}
	if (least->amount > amount)
		least->amount -= amount;
	else
		*least = (struct top_other){ tid, top_comm_of(threads, tid), amount };
}

/* What is long ago counts less: an eighth less with each turn. */
static void wear_down(struct top_other *others, u32 len)
{
	for (u32 i = 0; i < len; i++)
		others[i].amount -= (others[i].amount + 7) / 8;
}

/* What the CPU has done until now goes to whoever is on it. */
static void charge(struct top_cpu *cpu, struct top_thread *thread, u64 now_ns)
{
	u64 ran_ns = cpu->since_ns ? span_between(cpu->since_ns, now_ns) : 0;

	if (thread) {
		thread->now.cpu_ns += ran_ns;
		cpu->busy_ns += ran_ns;
	}
	if (cpu->since_ns && now_ns > cpu->since_ns)
		cpu->since_ns = now_ns;
}

static void take_switch(struct top *top, const struct threads *threads, const struct event_switch *event)
{
	struct top_cpu *cpu = event->head.cpu < top->cpus_len ? &top->cpus[event->head.cpu] : NULL;
	struct top_thread *thread;

	top->now.switches++;
	if (!cpu)
		return;
	thread = meet(top, threads, event->head.tid);
	/* In a filtered stream switches between others are missing: nobody knows who had the CPU. */
	if (cpu->tid == event->head.tid)
		charge(cpu, thread, event->head.time_ns);
	if (thread) {
		thread->now.runs++;
		thread->prio = event->prev_prio;
	}
	cpu->seen = true;
	cpu->switches++;
	cpu->tid = event->next_tid;
	cpu->since_ns = event->head.time_ns;
}

static void take_on_cpu(struct top *top, const struct event_header *event, u64 since_ns)
{
	struct top_cpu *cpu = event->cpu < top->cpus_len ? &top->cpus[event->cpu] : NULL;

	if (!cpu || (event->flags & EVENT_FLAG_CLOSING))
		return;
	cpu->seen = true;
	cpu->tid = event->tid;
	cpu->since_ns = since_ns > cpu->since_ns ? since_ns : cpu->since_ns;
}

static void take_thread(struct top *top, const struct event_thread *event)
{
	if (top_find(top, event->head.tid))
		top_meet(top, event->head.tid, event->pid, event->start_ns, &event->comm);
}

static void keep_wait(struct top *top, const struct threads *threads, struct top_thread *thread,
		      const struct wait *wait, u64 wait_ns)
{
	struct top_wait kept = { .to_ns = wait->to_ns,
				 .wait_ns = wait_ns,
				 .tid = thread->tid,
				 .cpu = wait->cpu,
				 .comm = wait->thread->comm,
				 .kind = wait->kind,
				 .waker_tid = wait->kind == WAIT_WOKEN ? wait->waker_tid : 0 };

	kept.culprit = history_culprit(&top->miss_model.history, wait->cpu, wait->from_ns, wait->to_ns,
				       &kept.behind_tid);
	kept.waker_comm = top_comm_of(threads, kept.waker_tid);
	kept.behind_comm = top_comm_of(threads, kept.behind_tid);
	if (kept.culprit == CULPRIT_THREAD)
		top_add_other(thread->culprits, TOP_CULPRITS, threads, kept.behind_tid, wait_ns);
	top->waits[top->waits_taken++ % TOP_LONG_WAITS] = kept;
}

static void take_wait(struct top *top, const struct threads *threads, const struct wait *wait)
{
	u64 wait_ns = span_between(wait->from_ns, wait->to_ns);
	struct top_thread *thread = meet(top, threads, wait->thread->tid);

	if (!thread)
		return;
	if (!top_waits_add(&thread->waits, wait_ns))
		top->refused++;
	if (wait_ns >= TOP_LONG_NS)
		keep_wait(top, threads, thread, wait, wait_ns);
}

static void take_late(struct top *top, const struct threads *threads, const struct late_frame *late,
		      const struct frame_process *process)
{
	struct top_late *kept = &top->late[top->late_taken++ % TOP_LATE_FRAMES];

	*kept = (struct top_late){ .frame = *late, .pid = process->pid, .comm = process->comm };
	if (top->explain)
		top->explain(kept->words, sizeof(kept->words), threads, late);
	top->now.late_frames++;
}

static void take_miss(struct top *top, const struct threads *threads, const struct miss *miss)
{
	struct top_thread *thread = meet(top, threads, miss->tid);

	top->now.misses++;
	if (thread)
		thread->now.misses++;
	top->misses[top->misses_taken++ % TOP_MISSES] =
		(struct top_miss){ .miss = *miss,
				   .comm = top_comm_of(threads, miss->tid),
				   .behind_comm = top_comm_of(threads, miss->behind_tid) };
}

static void take_move(struct top *top, const struct threads *threads, const struct move *move)
{
	top->moves[top->moves_taken++ % TOP_MOVES] = (struct top_move){ .move = *move,
									.comm = top_comm_of(threads, move->tid) };
}

/* What other models find. They see every event, whatever is shown. */
static void ask_models(struct top *top, struct threads *threads, const struct event_header *event)
{
	const struct frame_process *process = NULL;
	struct miss found[MISSES_AT_ONCE];
	struct late_frame late;
	struct move move;
	u32 len = misses_handle(&top->miss_model, threads, event, found);
	bool moved = moves_handle(&top->move_model, threads, event, &move);
	bool is_late;

	/* Following each thread for the reasons costs: only while something presents. */
	if (event->kind == EVENT_FRAME)
		top->frame_model.explains = true;
	is_late = frames_handle(&top->frame_model, threads, event, &late, &process);
	if (top->frozen)
		return;
	for (u32 i = 0; i < len; i++)
		take_miss(top, threads, &found[i]);
	if (moved)
		take_move(top, threads, &move);
	if (is_late && process)
		take_late(top, threads, &late, process);
}

/* Who ran while an interrupt woke it has nothing to do with it; tid 0 stands for that. */
static void take_waker(struct top_thread *thread, const struct threads *threads, const struct event_wakeup *event)
{
	bool by_interrupt = event->head.flags & EVENT_FLAG_BY_INTERRUPT;

	thread->wakers_unsure |= !(event->head.flags & (EVENT_FLAG_BY_INTERRUPT | EVENT_FLAG_BY_THREAD));
	top_add_other(thread->wakers, TOP_WAKERS, threads, by_interrupt ? 0 : event->waker_tid, TOP_WAKER_AMOUNT);
}

static void count_event(struct top *top, const struct threads *threads, const struct event_header *event)
{
	struct top_thread *thread;

	if (event->kind == EVENT_LOST) {
		top->now.lost += ((const struct event_lost *)event)->count;
		return;
	}
	top->now.frames += event->kind == EVENT_FRAME;
	if (event->kind != EVENT_WAKEUP && event->kind != EVENT_MIGRATE && event->kind != EVENT_SUBMIT &&
	    event->kind != EVENT_CUDA_LAUNCH && event->kind != EVENT_DECISION && event->kind != EVENT_FRAME)
		return;
	top->now.wakeups += event->kind == EVENT_WAKEUP;
	top->now.moves += event->kind == EVENT_MIGRATE;
	top->now.submits += event->kind == EVENT_SUBMIT;
	top->now.launches += event->kind == EVENT_CUDA_LAUNCH;
	thread = meet(top, threads, event->tid);
	if (!thread)
		return;
	thread->now.wakeups += event->kind == EVENT_WAKEUP;
	if (event->kind == EVENT_WAKEUP && !top->frozen)
		take_waker(thread, threads, (const struct event_wakeup *)event);
	thread->now.moves += event->kind == EVENT_MIGRATE;
	thread->now.submits += event->kind == EVENT_SUBMIT;
	thread->now.launches += event->kind == EVENT_CUDA_LAUNCH;
	thread->now.pushes += event->kind == EVENT_DECISION &&
			      ((const struct event_decision *)event)->what == DECISION_PREEMPT;
}

void top_handle(struct top *top, struct threads *threads, const struct event_header *event, const struct wait *ended)
{
	if (event->kind == EVENT_THREAD)
		take_thread(top, (const struct event_thread *)event);
	if (top->by_sums) {
		if (event->kind != EVENT_WAKEUP && event->kind != EVENT_MIGRATE)
			count_event(top, threads, event);
		ask_models(top, threads, event);
		return;
	}
	top_advance(top, threads, event->time_ns);
	if (event->kind == EVENT_SWITCH)
		take_switch(top, threads, (const struct event_switch *)event);
	else if (event->kind == EVENT_SAMPLE)
		take_on_cpu(top, event, event->time_ns);
	else if (event->kind == EVENT_UNSEEN_SWITCH)
		take_on_cpu(top, event, ((const struct event_unseen_switch *)event)->since_ns);
	count_event(top, threads, event);
	ask_models(top, threads, event);
	if (ended && !top->frozen)
		take_wait(top, threads, ended);
}

static void add_counts(struct top_counts *to, const struct top_counts *more)
{
	to->cpu_ns += more->cpu_ns;
	to->runs += more->runs;
	to->wakeups += more->wakeups;
	to->moves += more->moves;
	to->submits += more->submits;
	to->launches += more->launches;
	to->misses += more->misses;
	to->pushes += more->pushes;
}

static void add_sums(struct top_sums *to, const struct top_sums *more)
{
	to->switches += more->switches;
	to->wakeups += more->wakeups;
	to->moves += more->moves;
	to->submits += more->submits;
	to->launches += more->launches;
	to->misses += more->misses;
	to->late_frames += more->late_frames;
	to->frames += more->frames;
	to->lost += more->lost;
}

static bool did_something(const struct top_counts *counts)
{
	return counts->cpu_ns || counts->runs || counts->wakeups || counts->submits || counts->launches;
}

static void turn_thread(struct top *top, const struct threads *threads, struct top_thread *thread)
{
	const struct thread *known;

	/* Most threads sleep for long: all that is shown of them has been empty for a while. */
	if (thread->idle_turns > TOP_SHOWN && !did_something(&thread->now)) {
		thread->idle_turns++;
		return;
	}
	known = threads_by_tid(threads, thread->tid);
	if (known && known->start_ns == thread->start_ns) {
		thread->pid = known->pid;
		thread->comm = known->comm;
		thread->ended = known->ended;
		thread->has_role = known->role != NULL;
		thread->role = known->role ? known->role->role : ROLE_UNKNOWN;
		thread->tier = known->role ? known->role->tier : TIER_INTERACTIVE;
		if (!top->by_sums)
			thread->prio = known->account.prio;
	} else {
		thread->ended = true;
	}
	thread->idle_turns = did_something(&thread->now) ? 0 : thread->idle_turns + 1;
	thread->last = thread->now;
	add_counts(&thread->all, &thread->now);
	thread->now = (struct top_counts){ 0 };
	thread->worst_ns[top->turns % TOP_SHOWN] = thread->waits.max_ns[thread->waits.at];
	top_waits_turn(&thread->waits);
	wear_down(thread->culprits, TOP_CULPRITS);
	wear_down(thread->wakers, TOP_WAKERS);
}

static bool is_over(const struct top_thread *thread)
{
	return thread->idle_turns > (thread->ended ? (u32)TOP_ENDED_TURNS : (u32)TOP_KEPT_TURNS);
}

static void forget_idle(struct top *top)
{
	size_t kept = 0;

	for (size_t i = 0; i < top->len; i++) {
		if (is_over(top->threads[i]))
			free_thread(top->threads[i]);
		else
			top->threads[kept++] = top->threads[i];
	}
	if (kept == top->len)
		return;
	top->len = kept;
	map_clear(&top->by_tid);
	for (size_t i = 0; i < kept; i++)
		map_set(&top->by_tid, top->threads[i]->tid, (u32)i + 1);
}

static void turn_cpu(struct top *top, const struct threads *threads, struct top_cpu *cpu, u64 now_ns)
{
	u64 percent;

	if (!top->by_sums)
		charge(cpu, meet(top, threads, cpu->tid), now_ns);
	percent = top->last_span_ns ? (cpu->busy_ns * 100 + top->last_span_ns / 2) / top->last_span_ns : 0;
	cpu->percent = percent < 100 ? (u32)percent : 100;
	cpu->percents[top->turns % TOP_SHOWN] = (u8)cpu->percent;
	cpu->busy_ns = cpu->switches = 0;
	cpu->shown_tid = cpu->tid;
	cpu->shown_comm = top_comm_of(threads, cpu->tid);
}

static void turn_frames(struct top *top)
{
	top->frameless_turns = top->last.frames ? 0 : top->frameless_turns + 1;
	if (top->frameless_turns > FRAMELESS_TURNS)
		top->frame_model.explains = false;
	top->presenters_len = 0;
	for (const struct frame_process *process = top->frame_model.processes;
	     process && top->presenters_len < TOP_PRESENTERS; process = process->next) {
		struct top_presenter *one = &top->presenters[top->presenters_len];
		struct frame_times times = frame_times(process, process->line_from);

		if (process->last_ns + FRAMELESS_TURNS * (u64)TOP_TURN_NS < top->shown_ns)
			continue;
		*one = (struct top_presenter){ .pid = process->pid,
					       .comm = process->comm,
					       .fps_tenths = top_rate_tenths(top, process->line_frames),
					       .late = process->line_late,
					       .all_late = process->late,
					       .dropped = process->dropped,
					       .target_ns = process->target_ns,
					       .p50_ns = times.p50_ns,
					       .p99_ns = times.p99_ns,
					       .max_ns = times.max_ns,
					       .last_len = process->shown_len };
		for (u32 i = 0; i < process->shown_len; i++)
			one->last_ns[i] =
				process->shown_ns[(process->shown_next + FRAMES_SHOWN - process->shown_len + i) %
						  FRAMES_SHOWN];
		top->presenters_len++;
	}
	frames_turn_over_for_good(&top->frame_model);
}

static void turn(struct top *top, const struct threads *threads, u64 now_ns)
{
	top->turns++;
	top->last_span_ns = span_between(top->turn_from_ns, now_ns);
	top->turn_from_ns = now_ns;
	top->shown_ns = now_ns;
	top->last = top->now;
	add_sums(&top->all, &top->now);
	top->now = (struct top_sums){ 0 };
	for (u32 cpu = 0; cpu < top->cpus_len; cpu++)
		turn_cpu(top, threads, &top->cpus[cpu], now_ns);
	for (size_t i = 0; i < top->len; i++)
		turn_thread(top, threads, top->threads[i]);
	turn_frames(top);
	forget_idle(top);
}

/* A recording may claim any time. At the end of time no turn ends any more. */
static u64 turn_after(u64 time_ns)
{
	return time_ns < ~0ULL - TOP_TURN_NS ? time_ns + TOP_TURN_NS : ~0ULL;
}

void top_turn(struct top *top, const struct threads *threads, u64 now_ns)
{
	turn(top, threads, now_ns);
	top->turn_at_ns = turn_after(now_ns);
}

bool top_advance(struct top *top, struct threads *threads, u64 now_ns)
{
	bool turned = false;

	if (!top->turn_at_ns) {
		top->turn_from_ns = now_ns;
		top->turn_at_ns = turn_after(now_ns);
	}
	if (now_ns < top->turn_at_ns || top->turn_at_ns == ~0ULL || top->frozen || top->by_sums)
		return false;
	if (now_ns - top->turn_at_ns > GAP_TURNS * (u64)TOP_TURN_NS)
		top->turn_at_ns = now_ns - now_ns % TOP_TURN_NS + top->turn_at_ns % TOP_TURN_NS - TOP_TURN_NS;
	while (now_ns >= top->turn_at_ns && top->turn_at_ns != ~0ULL) {
		turn(top, threads, top->turn_at_ns);
		top->turn_at_ns = turn_after(top->turn_at_ns);
		turned = true;
	}
	return turned;
}

void top_thaw(struct top *top, struct threads *threads, u64 now_ns)
{
	top->frozen = false;
	if (!top->turn_at_ns || now_ns < top->turn_at_ns)
		return;
	turn(top, threads, now_ns);
	top->turn_at_ns += ((now_ns - top->turn_at_ns) / TOP_TURN_NS + 1) * TOP_TURN_NS;
}

void top_finish(struct top *top, struct threads *threads, u64 now_ns)
{
	top_advance(top, threads, now_ns);
	if (now_ns > top->turn_from_ns)
		turn(top, threads, now_ns);
}

// SPDX-License-Identifier: GPL-2.0
/* Switches and wake-ups, in batches of one CPU each: columns of numbers, and names by their place in a list.
 * A batch tells of each switch only who comes; who left is who came before. Where nobody is known to have come, a
 * switch is written out whole. */
#include <stdlib.h>
#include <string.h>

#include "perfetto_packets.h"

enum {
	BATCH_EVENTS = 1024,
	BATCH_COMMS = 128,
	BATCH_SLOTS = 512,
	BATCH_NAMES_BYTES = BATCH_COMMS * COMM_PLAIN_SIZE,
};

struct batch_comm {
	struct comm comm;
	u32 generation; /* of the batch that it is in */
	u32 place;
};

struct cpu_batch {
	u32 cpu;
	u32 tid;    /* who runs, as a reader takes it */
	bool known; /* somebody does */
	bool lost;  /* events are missing since the last one */
	bool last_is_whole;
	u64 last_ns; /* of the last switch */
	u64 seen_ns; /* who runs woke somebody then: it was still there */
	u64 lost_ns;
	u64 switch_ns, waking_ns; /* of the last in the batch; 0: none is */
	u32 events;
	u32 generation;
	bool has_flags; /* of its wake-ups, who did it is known */
	u32 comms_len;
	struct protobuf columns[COMPACT_FIELDS];
	struct batch_comm comms[BATCH_SLOTS];
};

/* Kernel's task states as Linux reports them since 4.14: one of them each. */
enum {
	REPORT_RUNNABLE = 0,
	REPORT_SLEEPS = 1,
	REPORT_BLOCKED = 2,
	REPORT_STOPPED = 4,
	REPORT_TRACED = 8,
	REPORT_DEAD = 0x10,
	REPORT_PARKED = 0x40,
	REPORT_IDLE = 0x80,
	REPORT_PREEMPTED = 0x100,
};
enum { IN_HARD_INTERRUPT = 8 };

static u32 reported_state(u32 state, bool preempted)
{
	enum { PARKED = 0x40, DEAD = 0x80, NO_LOAD = 0x400 };

	if (preempted)
		return REPORT_PREEMPTED;
	if (state & DEAD)
		return REPORT_DEAD;
	if ((state & REPORT_BLOCKED) && (state & NO_LOAD))
		return REPORT_IDLE;
	if (state & REPORT_SLEEPS)
		return REPORT_SLEEPS;
	if (state & REPORT_BLOCKED)
		return REPORT_BLOCKED;
	if (state & REPORT_STOPPED)
		return REPORT_STOPPED;
	if (state & REPORT_TRACED)
		return REPORT_TRACED;
	/* Of the others no reader has a word: it waits for something, and nothing more is known. */
	return state & PARKED ? REPORT_PARKED : state ? REPORT_BLOCKED : REPORT_RUNNABLE;
}

void perfetto_sched_free(struct perfetto *perfetto)
{
	for (u32 cpu = 0; cpu < perfetto->cpus_len; cpu++) {
		for (u32 i = 0; perfetto->cpus[cpu] && i < COMPACT_FIELDS; i++)
			protobuf_free(&perfetto->cpus[cpu]->columns[i]);
		free(perfetto->cpus[cpu]);
	}
	free(perfetto->cpus);
}

/* NULL: there are not so many CPUs, or for want of memory. */
static struct cpu_batch *batch_of(struct perfetto *perfetto, u32 cpu)
{
	struct cpu_batch *made;

	if (cpu < perfetto->cpus_len && perfetto->cpus[cpu])
		return perfetto->cpus[cpu];
	if (cpu >= PERFETTO_CPUS_MAX)
		return NULL;
	if (!vec_lengthen(perfetto->cpus, perfetto->cpus_len, (size_t)cpu + 1) || !(made = calloc(1, sizeof(*made)))) {
		perfetto->out.failed = true;
		return NULL;
	}
	made->cpu = cpu;
	made->generation = 1;
	perfetto->cpus[cpu] = made;
	return made;
}

static size_t bundle_begin(struct perfetto *perfetto, struct cpu_batch *batch, size_t *packet)
{
	size_t bundle;

	*packet = perfetto_packet_begin(perfetto, ~0ULL);
	bundle = protobuf_begin(&perfetto->out, PACKET_FTRACE_EVENTS);
	protobuf_number(&perfetto->out, BUNDLE_CPU, batch->cpu);
	if (batch->lost)
		protobuf_number(&perfetto->out, BUNDLE_LOST_EVENTS, 1);
	batch->lost = false;
	return bundle;
}

static void bundle_end(struct perfetto *perfetto, size_t bundle, size_t packet)
{
	protobuf_end(&perfetto->out, bundle);
	perfetto_packet_end(perfetto, packet);
}

static void flush_batch(struct perfetto *perfetto, struct cpu_batch *batch)
{
	struct protobuf *out = &perfetto->out;
	size_t packet, bundle, compact;

	if (!batch->events)
		return;
	bundle = bundle_begin(perfetto, batch, &packet);
	compact = protobuf_begin(out, BUNDLE_COMPACT_SCHED);
	for (u32 field = 1; field < COMPACT_FIELDS; field++) {
		struct protobuf *column = &batch->columns[field];

		/* The names are entries of their own, written as they are. */
		if (column->len && field == COMPACT_INTERN_TABLE && protobuf_reserve(out, column->len)) {
			memcpy(out->bytes + out->len, column->bytes, column->len);
			out->len += column->len;
		} else if (column->len) {
			protobuf_bytes(out, field, column->bytes, column->len);
		}
		out->failed |= column->failed;
		column->len = 0;
	}
	protobuf_end(out, compact);
	bundle_end(perfetto, bundle, packet);
	batch->events = batch->comms_len = 0;
	batch->switch_ns = batch->waking_ns = 0;
	batch->generation++;
}

/* A CPU of which nothing came after a loss has a bundle that says only that. */
static void flush_loss(struct perfetto *perfetto, struct cpu_batch *batch)
{
	size_t packet, bundle = bundle_begin(perfetto, batch, &packet);

	bundle_end(perfetto, bundle, packet);
}

void perfetto_sched_flush(struct perfetto *perfetto)
{
	for (u32 cpu = 0; cpu < perfetto->cpus_len; cpu++) {
		struct cpu_batch *batch = perfetto->cpus[cpu];

		if (batch)
			flush_batch(perfetto, batch);
		if (batch && batch->lost)
			flush_loss(perfetto, batch);
	}
}

/* Where in the batch's list the name is. */
static u32 place_of(struct cpu_batch *batch, const struct comm *comm, u32 tid)
{
	static const struct comm idle = { "swapper" }, none = { "" };
	const struct comm *named = comm ? comm : tid ? &none : &idle;
	char plain[COMM_PLAIN_SIZE];
	struct batch_comm *slot;
	u64 words[2];
	size_t at;

	memcpy(words, named->text, sizeof(words));
	at = (size_t)((words[0] ^ words[1] * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL >> 40) % BATCH_SLOTS;
	for (;; at = (at + 1) % BATCH_SLOTS) {
		slot = &batch->comms[at];
		if (slot->generation != batch->generation)
			break;
		if (!memcmp(slot->comm.text, named->text, COMM_LEN))
			return slot->place;
	}
	slot->comm = *named;
	slot->generation = batch->generation;
	slot->place = batch->comms_len++;
	perfetto_comm(plain, named, tid);
	protobuf_text(&batch->columns[COMPACT_INTERN_TABLE], COMPACT_INTERN_TABLE, plain);
	return slot->place;
}

static void put(struct cpu_batch *batch, enum compact_field field, u64 value)
{
	protobuf_varint(&batch->columns[field], value);
}

/* An event that is written out whole, in a bundle of its own. */
struct whole_event {
	size_t packet, bundle, event, inner;
};

/* `flags`: of its context; ~0: not known. */
static struct whole_event whole_begin(struct perfetto *perfetto, struct cpu_batch *batch, u64 at_ns, u32 tid, u32 flags,
				      u32 field)
{
	struct protobuf *out = &perfetto->out;
	struct whole_event whole;

	whole.bundle = bundle_begin(perfetto, batch, &whole.packet);
	whole.event = protobuf_begin(out, BUNDLE_EVENT);
	protobuf_number(out, FTRACE_TIMESTAMP, perfetto_time(perfetto, at_ns));
	protobuf_number(out, FTRACE_PID, tid);
	if (flags != ~0u)
		protobuf_number(out, FTRACE_COMMON_FLAGS, flags);
	whole.inner = protobuf_begin(out, field);
	return whole;
}

static void whole_end(struct perfetto *perfetto, const struct whole_event *whole)
{
	protobuf_end(&perfetto->out, whole->inner);
	protobuf_end(&perfetto->out, whole->event);
	bundle_end(perfetto, whole->bundle, whole->packet);
}

static void put_comm(struct perfetto *perfetto, u32 field, const struct comm *comm, u32 tid)
{
	char name[COMM_PLAIN_SIZE];

	perfetto_comm(name, comm, tid);
	protobuf_text(&perfetto->out, field, name);
}

static u64 printed(u32 prio)
{
	return (u64)(s64)prio_printed(prio);
}

/* Behind what came before. */
static void put_whole_switch(struct perfetto *perfetto, struct cpu_batch *batch, const struct trace_switch *change)
{
	enum { PREV_COMM = 1, PREV_PID, PREV_PRIO, PREV_STATE, NEXT_COMM, NEXT_PID, NEXT_PRIO };
	struct protobuf *out = &perfetto->out;
	struct whole_event whole;

	flush_batch(perfetto, batch);
	whole = whole_begin(perfetto, batch, change->at_ns, change->prev_tid, ~0u, FTRACE_SCHED_SWITCH);
	put_comm(perfetto, PREV_COMM, change->prev_comm, change->prev_tid);
	protobuf_number(out, PREV_PID, change->prev_tid);
	protobuf_number(out, PREV_PRIO, printed(change->prev_prio));
	protobuf_number(out, PREV_STATE, reported_state(change->prev_state, change->preempted));
	put_comm(perfetto, NEXT_COMM, change->next_comm, change->next_tid);
	protobuf_number(out, NEXT_PID, change->next_tid);
	protobuf_number(out, NEXT_PRIO, printed(change->next_prio));
	whole_end(perfetto, &whole);
	batch->known = batch->last_is_whole = true;
	batch->tid = change->next_tid;
	batch->last_ns = change->at_ns;
}

/* In the batch. Of one moment a reader takes those of a batch first, and either kind in its order: what comes at the
 * moment of a switch that is written out whole is written out too, and a wake-up just before would be the next
 * thread's. */
static void put_switch(struct perfetto *perfetto, struct cpu_batch *batch, const struct trace_switch *change)
{
	u64 now_ns = perfetto_time(perfetto, change->at_ns);

	if (!batch->known || (batch->last_is_whole && change->at_ns == batch->last_ns)) {
		put_whole_switch(perfetto, batch, change);
		return;
	}
	if (batch->events >= BATCH_EVENTS || batch->comms_len >= BATCH_COMMS || now_ns == batch->waking_ns)
		flush_batch(perfetto, batch);
	put(batch, COMPACT_SWITCH_TIME, now_ns - batch->switch_ns);
	put(batch, COMPACT_SWITCH_PREV_STATE, reported_state(change->prev_state, change->preempted));
	put(batch, COMPACT_SWITCH_NEXT_PID, change->next_tid);
	put(batch, COMPACT_SWITCH_NEXT_PRIO, printed(change->next_prio));
	put(batch, COMPACT_SWITCH_NEXT_COMM, place_of(batch, change->next_comm, change->next_tid));
	batch->switch_ns = now_ns;
	batch->last_ns = change->at_ns;
	batch->last_is_whole = false;
	batch->tid = change->next_tid;
	batch->events++;
}

/* Another thread leaves than came: it came in what is missing, not before that began. */
static void put_unseen(struct perfetto *perfetto, struct cpu_batch *batch, const struct trace_switch *change)
{
	u64 since_ns = batch->seen_ns >= batch->last_ns ? batch->seen_ns + 1 : batch->last_ns;
	u64 at_ns = batch->lost_ns > since_ns ? batch->lost_ns : since_ns;
	struct trace_switch unseen = { .at_ns = at_ns < change->at_ns ? at_ns : change->at_ns,
				       .cpu = change->cpu,
				       .prev_tid = batch->tid,
				       .next_tid = change->prev_tid,
				       .prev_prio = change->prev_prio,
				       .next_prio = change->prev_prio,
				       .next_comm = change->prev_comm };

	put_switch(perfetto, batch, &unseen);
}

void perfetto_switched(void *sink, const struct trace_switch *change)
{
	struct perfetto *perfetto = sink;
	struct cpu_batch *batch = batch_of(perfetto, change->cpu);
	struct trace_switch changed = *change;

	if (!batch || (change->prev_is_unknown && batch->known && batch->tid == change->next_tid))
		return;
	/* A CPU's switches never go back. */
	if (change->at_ns < batch->last_ns || (change->prev_is_unknown && batch->known)) {
		if (change->prev_is_unknown && batch->known)
			changed.prev_tid = batch->tid;
		if (change->at_ns < batch->last_ns)
			changed.at_ns = batch->last_ns;
		changed.prev_is_unknown = false;
		perfetto_switched(sink, &changed);
		return;
	}
	if (batch->known && batch->tid != change->prev_tid)
		put_unseen(perfetto, batch, change);
	put_switch(perfetto, batch, change);
}

static u32 flags_of(const struct trace_wakeup *wakeup)
{
	return wakeup->woken_by & EVENT_FLAG_BY_INTERRUPT ? IN_HARD_INTERRUPT : 0;
}

static void put_whole_wakeup(struct perfetto *perfetto, struct cpu_batch *batch, const struct trace_wakeup *wakeup)
{
	enum { COMM = 1, PID, PRIO, SUCCESS, TARGET_CPU };
	struct protobuf *out = &perfetto->out;
	struct whole_event whole = whole_begin(perfetto, batch, wakeup->at_ns, wakeup->waker_tid,
					       wakeup->woken_by ? flags_of(wakeup) : ~0u,
					       wakeup->is_new ? FTRACE_SCHED_WAKEUP_NEW : FTRACE_SCHED_WAKING);

	put_comm(perfetto, COMM, wakeup->comm, wakeup->tid);
	protobuf_number(out, PID, wakeup->tid);
	protobuf_number(out, PRIO, printed(wakeup->prio));
	protobuf_number(out, SUCCESS, 1);
	protobuf_number(out, TARGET_CPU, wakeup->target_cpu);
	whole_end(perfetto, &whole);
}

void perfetto_woken(void *sink, const struct trace_wakeup *wakeup)
{
	struct perfetto *perfetto = sink;
	struct cpu_batch *batch = batch_of(perfetto, wakeup->cpu);
	bool has_flags = wakeup->woken_by;
	u64 now_ns = perfetto_time(perfetto, wakeup->at_ns);

	if (!batch)
		return;
	/* A reader takes who runs there for the waker. */
	if (wakeup->is_new || !batch->known || batch->tid != wakeup->waker_tid || wakeup->at_ns < batch->last_ns) {
		put_whole_wakeup(perfetto, batch, wakeup);
		return;
	}
	if (batch->events >= BATCH_EVENTS || batch->comms_len >= BATCH_COMMS || now_ns < batch->waking_ns ||
	    (batch->waking_ns && batch->has_flags != has_flags))
		flush_batch(perfetto, batch);
	batch->has_flags = has_flags;
	put(batch, COMPACT_WAKING_TIME, now_ns - batch->waking_ns);
	put(batch, COMPACT_WAKING_PID, wakeup->tid);
	put(batch, COMPACT_WAKING_TARGET_CPU, wakeup->target_cpu);
	put(batch, COMPACT_WAKING_PRIO, printed(wakeup->prio));
	put(batch, COMPACT_WAKING_COMM, place_of(batch, wakeup->comm, wakeup->tid));
	if (has_flags)
		put(batch, COMPACT_WAKING_FLAGS, flags_of(wakeup));
	batch->waking_ns = now_ns;
	batch->seen_ns = wakeup->at_ns;
	batch->events++;
}

void perfetto_renamed(void *sink, const struct trace_thread *thread)
{
	enum { PID = 1, NEW_COMM = 3 };
	struct perfetto *perfetto = sink;
	struct cpu_batch *batch = batch_of(perfetto, thread->cpu);
	struct whole_event whole;

	if (!batch || !thread->tid)
		return;
	whole = whole_begin(perfetto, batch, thread->at_ns, thread->tid, ~0u, FTRACE_TASK_RENAME);
	protobuf_number(&perfetto->out, PID, thread->tid);
	put_comm(perfetto, NEW_COMM, thread->comm, thread->tid);
	whole_end(perfetto, &whole);
}

/* Just after its last switch: whoever has its tid from then on is another thread. */
void perfetto_ended(void *sink, const struct trace_thread *thread)
{
	enum { COMM = 1, PID, PRIO };
	struct perfetto *perfetto = sink;
	struct cpu_batch *batch = batch_of(perfetto, thread->cpu);
	struct whole_event whole;

	if (!batch || !thread->tid)
		return;
	whole = whole_begin(perfetto, batch, thread->at_ns + 1, 0, ~0u, FTRACE_SCHED_PROCESS_FREE);
	put_comm(perfetto, COMM, thread->comm, thread->tid);
	protobuf_number(&perfetto->out, PID, thread->tid);
	protobuf_number(&perfetto->out, PRIO, 120);
	whole_end(perfetto, &whole);
}

void perfetto_lost(void *sink, u32 cpu, u64 at_ns)
{
	struct perfetto *perfetto = sink;
	struct cpu_batch *batch = batch_of(perfetto, cpu);

	if (!batch)
		return;
	flush_batch(perfetto, batch);
	batch->lost = true;
	batch->lost_ns = at_ns;
}

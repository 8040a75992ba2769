/* SPDX-License-Identifier: GPL-2.0 */
/* The way out for events: a ring a CPU, so that CPUs never wait for each other, and a reader that is woken when enough
 * has come together, or at once for kinds that it wants at once. What a ring has no room for is counted on its CPU. */
#ifndef TACTUS_BPF_RING_H
#define TACTUS_BPF_RING_H

#include "kernel.h"
#include "../core/event.h"
#include "../core/sched_config.h"

/* One for all objects of a run: they share this map as they share the threads and rings. What stands here is for a
 * trial load: everything on. */
const volatile struct sched_config config SEC(".rodata.config") = {
	.cpus_len = 1, .account = ACCOUNT_HAND_OVER, .emit = EVENTS_ALL, .role_wakeups = ROLE_WAKEUPS_DEFAULT
};

/* Grown to cpus_len elements before loading, as the rings are. */
struct sched_cpu cpus[1] SEC(".data.cpus");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

static __always_inline struct sched_cpu *cpu_state(u32 cpu)
{
	u64 index = cpu;

	/* Older verifiers accept the address only if check and use are of one and the same 64-bit register. */
	barrier_var(index);
	if (index >= config.cpus_len)
		return NULL;
	barrier_var(index);
	return &cpus[index];
}

/* A ring is looked at so many times while it fills once. The last two of these parts are left to what the scheduler
 * does not send, the last one to what new threads do not bring along. The reader is woken at every fourth look. */
enum { RING_LOOKS = 16, RING_NEARLY_FULL_AT = 14, RING_FOR_RARE_AT = 15, RING_WAKES = 4 };

static __always_inline bool is_used_up_to(void *ring, u64 parts)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= (u64)config.look_bytes * parts;
}

static __always_inline bool is_nearly_full(void *ring)
{
	return is_used_up_to(ring, RING_NEARLY_FULL_AT);
}

/* In this order: who sees the sum grow finds the kind counted. */
static __always_inline void event_is_lost(struct sched_cpu *cpu, u8 kind)
{
	__sync_fetch_and_add(&cpu->lost_kinds[kind % SCHED_KINDS_MAX], 1);
	__sync_fetch_and_add(&cpu->lost, 1);
}

/* Asked before what is told of a thread because it is new: a storm of forks drowns no frame either. True: it is counted
 * as lost. */
static __always_inline bool ring_refuses_new_thread(struct sched_cpu *cpu, u32 cpu_id, u8 kind)
{
	void *ring = cpu->nearly_full ? bpf_map_lookup_elem(&rings, &cpu_id) : NULL;

	if (!ring || !is_used_up_to(ring, RING_FOR_RARE_AT))
		return false;
	event_is_lost(cpu, kind);
	return true;
}

/* Room for an event with its header filled in, or NULL if the ring is full. `irqs_on`: interrupts may be on here. What
 * is sent from inside the scheduler, where they are not, comes in storms; it may not take the last of a ring, so that
 * no storm of switches drowns a frame. */
static __always_inline void *event_begin(struct sched_cpu *cpu, u32 cpu_id, u8 kind, u64 bytes, u64 now_ns, u32 tid,
					 bool irqs_on)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu_id);
	struct event_header *event = NULL;

	if (ring && cpu->nearly_full && !irqs_on)
		cpu->nearly_full = is_nearly_full(ring);
	if (ring && (irqs_on || !cpu->nearly_full))
		event = bpf_ringbuf_reserve(ring, bytes, 0);
	if (!event) {
		event_is_lost(cpu, kind);
		return NULL;
	}
	if (irqs_on)
		__sync_fetch_and_add(&cpu->produced_irqs_on, 1);
	else
		cpu->produced++;
	event->time_ns = now_ns;
	event->tid = tid;
	event->cpu = (u16)cpu_id;
	event->kind = kind;
	event->flags = 0;
	return event;
}

/* Another part of the ring has been used. Returns whether it is time to wake the reader. */
static __noinline int ring_look(u32 cpu_id)
{
	struct sched_cpu *cpu = cpu_state(cpu_id);
	void *ring = bpf_map_lookup_elem(&rings, &cpu_id);

	if (!cpu || !ring)
		return 0;
	cpu->unread_bytes = 0;
	cpu->nearly_full = is_nearly_full(ring);
	return ++cpu->looks % RING_WAKES == 0 || cpu->nearly_full;
}

static __always_inline void event_submit(struct sched_cpu *cpu, void *event, u64 bytes, bool is_prompt)
{
	const struct event_header *head = event;
	bool wakes = false;

	if (is_prompt) {
		/* A wake-up is dear, and the reader rests after each. */
		wakes = head->time_ns - cpu->woken_ns >= PROMPT_WAKE_NS;
		if (wakes)
			cpu->woken_ns = head->time_ns;
	}
	cpu->unread_bytes += bytes;
	if (cpu->unread_bytes >= config.look_bytes && ring_look(head->cpu))
		wakes = true;
	bpf_ringbuf_submit(event, wakes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline bool is_prompt_kind(u32 kind)
{
	return config.prompt_kinds >> kind % SCHED_KINDS_MAX & 1;
}

static __always_inline void event_send(struct sched_cpu *cpu, void *event, u64 bytes)
{
	event_submit(cpu, event, bytes, is_prompt_kind(((const struct event_header *)event)->kind));
}

#define EVENT_BEGIN(cpu, cpu_id, KIND, type, now_ns, tid, irqs_on) \
	((struct type *)event_begin(cpu, cpu_id, EVENT_##KIND, sizeof(struct type), now_ns, tid, irqs_on))

#endif

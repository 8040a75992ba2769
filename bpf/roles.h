/* SPDX-License-Identifier: GPL-2.0 */
/* What each thread is for, kept with the thread. Hooks of every sensor add facts and call role_update, which decides by
 * core/role.h, stores the answer where a scheduler finds it, and sends an event when it is news. */
#ifndef TACTUS_BPF_ROLES_H
#define TACTUS_BPF_ROLES_H

#include "threads.h"
#include "../core/role_awaited.h"

enum { NAMES_MAX = 4096 };

/* Prefixes of threads' names, and the roles that they suggest. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NAMES_MAX);
	__type(key, struct name_key);
	__type(value, u32);
} names SEC(".maps");

/* Until when anybody at all handles an input event: whoever wakes need not look further after it. One for all objects,
 * as the threads are. */
u64 input_near_until_ns SEC(".data.near") = 0;

static __always_inline void input_note_near(u64 until_ns)
{
	input_near_until_ns = until_ns;
}

static __always_inline bool input_is_near(u64 now_ns)
{
	return input_near_until_ns > now_ns;
}

static __always_inline bool keeps_roles(void)
{
	return config.role_wakeups != 0;
}

static __always_inline void fill_role(struct event_role *event, struct task_struct *p, struct task_ctx *thread,
				      u64 now_ns)
{
	struct role_facts *facts = &thread->role.facts;
	struct thread_account *account = &thread->account;

	event->role = thread->role.answer.role;
	event->was_role = thread->role.reported_role;
	event->confidence = thread->role.answer.confidence;
	event->evidence = thread->role.answer.evidence;
	event->tier = thread->role.answer.tier;
	event->boost = thread->role.answer.boost;
	event->prio = (u8)prio_of(p);
	event->has = facts->has;
	event->gpu_submits = facts->gpu_submits;
	event->presents = facts->presents;
	event->input_reads = facts->input_reads;
	event->audio_writes = facts->audio_writes;
	event->net_wakes = facts->net_wakes;
	event->frame_wakes = facts->frame_wakes;
	event->wine_priority = facts->wine_priority;
	event->process = facts->process;
	event->gpu_driver = facts->gpu_driver;
	event->present_api = facts->present_api;
	event->input_kind = facts->input_kind;
	event->learned_confidence = facts->learned_confidence;
	event->age_ns = span_between(thread->role.first_ns, now_ns);
	event->wakeups = account->wakeups;
	event->wake_gap_ns = account->wake_gap_ns;
	event->cpu_ns = account->cpu_ns;
	event->was_tier = thread->role.reported_tier;
	event->wine_class = facts->wine_class;
}

static __always_inline void send_role(struct task_struct *p, struct task_ctx *thread, u64 now_ns, u8 flags)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct event_role *event;
	bool is_prompt;

	if (!(config.emit & EVENTS_ROLES) || !thread->watched || !cpu || cpu->window != WINDOW_OPEN)
		return;
	if (ring_refuses_new_thread(cpu, cpu_id, EVENT_ROLE))
		return;
	emit_thread_info(cpu, cpu_id, p, thread, now_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, ROLE, event_role, now_ns, tid_of(p), true);
	if (!event)
		return;
	event->head.flags = flags;
	fill_role(event, p, thread, now_ns);
	is_prompt = is_prompt_kind(EVENT_ROLE) || (config.prompt_urgency && role_changes_urgency(&thread->role));
	thread->role.reported_role = thread->role.answer.role;
	thread->role.reported_confidence = thread->role.answer.confidence;
	thread->role.reported_evidence = thread->role.answer.evidence;
	thread->role.reported_tier = thread->role.answer.tier;
	event_submit(cpu, event, sizeof(*event), is_prompt);
}

/* A fact is news, whether or not it changes the role. */
static __always_inline void role_is_told_anew(struct role_state *role)
{
	role->reported_evidence = EVIDENCE_NONE;
}

/* Call after a fact that can change the role. `p` is the thread itself. */
static __noinline int role_update(struct task_struct *p, struct task_ctx *thread, u64 now_ns)
{
	role_answers(&thread->role);
	if (role_is_news(&thread->role))
		send_role(p, thread, now_ns, 0);
	return 0;
}

static __noinline int role_review(struct task_struct *p, struct task_ctx *thread, u64 now_ns)
{
	role_judge(&thread->role, &thread->account, now_ns);
	return role_update(p, thread, now_ns);
}

/* The storage of the thread that runs here now, for hooks of other sensors. NULL: it has none, or roles are off. */
static __always_inline struct task_ctx *role_here(struct task_struct *current)
{
	struct task_ctx *thread = keeps_roles() && tid_of(current) ? thread_of(current) : NULL;

	return thread && !thread->ended ? thread : NULL;
}

/* The same where roles may be off. */
static __always_inline struct task_ctx *thread_here(struct task_struct *current)
{
	struct task_ctx *thread = tid_of(current) ? thread_of(current) : NULL;

	return thread && !thread->ended ? thread : NULL;
}

/* At switches and wake-ups: judges behaviour when enough of it has been seen. True if it has. */
static __always_inline bool role_tick(struct task_struct *p, struct task_ctx *thread, u64 now_ns)
{
	if (!keeps_roles() || !role_is_due(&thread->role, &thread->account, now_ns, config.role_wakeups))
		return false;
	role_review(p, thread, now_ns);
	return true;
}

/* An urgent thread was woken; by `current`, or by an interrupt (NULL). Where the kernel does not say whether an
 * interrupt wakes, one that meets a relative counts as well. */
static __noinline int role_waited(struct task_struct *p, struct task_ctx *thread, struct task_struct *current,
				  u64 now_ns)
{
	struct wait_end end = { .now_ns = now_ns,
				.waiter_tid = tid_of(p),
				.slept_us = slept_us(&thread->account, now_ns) };
	struct task_ctx *waker = NULL;

	if (current && !(current->flags & PF_KTHREAD) && tid_of(current))
		waker = thread_of(current);
	if (!waker || waker == thread) {
		role_wait_ends(&thread->role, NULL, &end);
		return 0;
	}
	end.tid = tid_of(current);
	end.was_asked = waker->waker_tid == end.waiter_tid;
	end.group = awaited_group((struct kin){ pid_of(p), pid_of(p->real_parent) },
				  (struct kin){ pid_of(current), pid_of(current->real_parent) }, (int)end.was_asked);
	role_wait_ends(&thread->role, &waker->role, &end);
	return 0;
}

/* A thread is woken by another, and an input event is near. */
static __noinline int role_told_of_input(struct task_ctx *thread, struct task_struct *current, u64 now_ns)
{
	struct task_ctx *waker = tid_of(current) ? thread_of(current) : NULL;

	if (waker && waker != thread && role_tells_of_input(&waker->role))
		role_is_awaited(&thread->role, 0, now_ns);
	return 0;
}

/* Somebody wakes it. A thread of the same process that is at work for a frame hands a part of that over. Anybody else
 * on the CPU may just have been interrupted by its timer. */
static __always_inline void role_woken(struct task_struct *p, struct task_ctx *thread, struct task_struct *current,
				       u32 by, u64 now_ns)
{
	bool is_within = role_is_woken_within(by == EVENT_FLAG_BY_INTERRUPT, pid_of(current) == pid_of(p));
	struct task_ctx *waker = is_within ? thread_of(current) : NULL;

	if (waker) {
		waker->role.served += role_is_by_clock(&thread->role);
		role_is_asked_within(&thread->role, &waker->role);
	} else {
		timer_heard(&thread->role.timer, now_ns);
		thread->role.told += by == EVENT_FLAG_BY_THREAD && !(current->flags & PF_KTHREAD);
	}
	if (thread->role.answer.tier == TIER_LATENCY_CRITICAL)
		role_waited(p, thread, by == EVENT_FLAG_BY_INTERRUPT ? NULL : current, now_ns);
	if (input_is_near(now_ns) && by != EVENT_FLAG_BY_INTERRUPT)
		role_told_of_input(thread, current, now_ns);
	thread->role.for_frames = waker && role_is_for_frames(&waker->role);
	thread->role.facts.frame_wakes += thread->role.for_frames;
	if ((config.raise & RAISE_FRAMES) && thread->role.for_frames)
		scx_task_share_frame(&thread->scx, &waker->scx);
}

static __always_inline void role_name(struct task_ctx *thread, const struct comm *comm)
{
	struct name_key key = { .bits = COMM_LEN * 8, .comm = *comm };
	u32 *found = bpf_map_lookup_elem(&names, &key), value = found ? *found : 0;

	thread->role.facts.name_role = value & NAME_BY_USER ? ROLE_UNKNOWN : (u8)value;
	thread->role.facts.has &= (u8)~HAS_COMPILES;
	thread->role.facts.has |= value & NAME_COMPILES ? HAS_COMPILES : 0;
	/* What the user said of this very thread stays. */
	if (value & NAME_BY_USER)
		thread->role.facts.user_role = (u8)value;
}

static __always_inline void role_begin(struct task_struct *p, struct task_ctx *thread)
{
	struct comm comm = {};

	if (!keeps_roles())
		return;
	comm_of(p, comm.text);
	thread->role.first_ns = bpf_ktime_get_ns();
	thread->role.reported_tier = TIER_INTERACTIVE;
	role_window_begins(&thread->role, &thread->account, thread->role.first_ns);
	thread->role.facts.has = (tid_of(p) == pid_of(p) ? HAS_FIRST_THREAD : 0) |
				 (p->flags & PF_KTHREAD ? HAS_KERNEL_THREAD : 0);
	role_name(thread, &comm);
	role_answers(&thread->role);
}

/* A new thread of a process shares what is known of the process. */
static __always_inline void role_inherit(struct task_struct *child, struct task_ctx *thread, struct task_struct *parent,
					 struct task_ctx *from)
{
	if (!keeps_roles())
		return;
	role_begin(child, thread);
	if (pid_of(child) != pid_of(parent))
		return;
	thread->role.facts.process = from->role.facts.process;
	thread->role.facts.wine_class = from->role.facts.wine_class;
	role_answers(&thread->role);
}

/* A new program: nothing that the old one did says what this one is for. The caller decides its role afterwards. */
static __always_inline void role_exec(struct task_struct *p, struct task_ctx *thread)
{
	struct role_facts fresh = {};
	struct pattern none = {};

	if (!keeps_roles())
		return;
	fresh.name_role = thread->role.facts.name_role;
	fresh.user_role = thread->role.facts.user_role;
	fresh.has = HAS_FIRST_THREAD | (thread->role.facts.has & HAS_COMPILES);
	thread->role.facts = fresh;
	thread->role.pattern = none;
	thread->role.reported_evidence = EVIDENCE_NONE;
	thread->role.first_ns = bpf_ktime_get_ns();
	role_window_begins(&thread->role, &thread->account, thread->role.first_ns);
}

/* Threads of which there is nothing to say get no event at the end. */
static __always_inline bool role_matters(struct task_ctx *thread)
{
	return thread_was_active(&thread->account) ||
	       (thread->role.answer.role != ROLE_UNKNOWN && !(thread->role.facts.has & HAS_KERNEL_THREAD));
}

/* A thread's last switch. One that lived shortly is judged by the little there was of it. Only the sched sensor has use
 * for it. */
static __noinline __attribute__((unused)) int role_end(struct task_struct *p, struct task_ctx *thread)
{
	u64 now_ns = bpf_ktime_get_ns();

	if (!keeps_roles() || thread->ended)
		return 0;
	if (!thread->role.pattern.calls && config.role_wakeups != ROLE_WAKEUPS_NEVER)
		role_judge(&thread->role, &thread->account, now_ns);
	role_answers(&thread->role);
	if (role_matters(thread))
		send_role(p, thread, now_ns, EVENT_FLAG_CLOSING);
	return 0;
}

/* A class changes how sure an answer is by less than makes news, but is news itself. */
static __always_inline void role_has_class(struct role_state *role, u8 class)
{
	if (role->facts.wine_class == class)
		return;
	role->facts.wine_class = class;
	role_is_told_anew(role);
}

static __always_inline void role_ordered(struct task_struct *p, struct task_ctx *thread, const struct role_order *order,
					 u64 now_ns)
{
	struct role_facts *facts = &thread->role.facts;
	struct comm comm = {};

	switch (order->what) {
	case ORDER_JUDGE:
		if (role_is_due(&thread->role, &thread->account, now_ns, config.role_wakeups)) {
			role_review(p, thread, now_ns);
			return;
		}
		break;
	case ORDER_PROCESS:
		facts->process |= (u16)order->value;
		break;
	case ORDER_NOT_PROCESS:
		facts->process &= (u16)~order->value;
		break;
	case ORDER_NAME:
		/* The user's word is a rule on names, which may have gone. */
		facts->user_role = ROLE_UNKNOWN;
		comm_of(p, comm.text);
		role_name(thread, &comm);
		break;
	case ORDER_USER:
		facts->user_role = (u8)order->value;
		break;
	case ORDER_WINE:
		facts->wine_priority = (s16)order->value;
		facts->has |= HAS_WINE_PRIORITY;
		break;
	case ORDER_WINE_CLASS:
		role_has_class(&thread->role, (u8)order->value);
		break;
	case ORDER_LEARNED:
		facts->learned_role = (u8)order->value;
		facts->learned_confidence = (u8)(order->value >> 8);
		break;
	case ORDER_INPUT:
		facts->input_kind = (u8)order->value;
		facts->input_reads++;
		break;
	case ORDER_AUDIO:
		facts->audio_writes++;
		break;
	}
	role_update(p, thread, now_ns);
}

static __always_inline bool filters_threads(void)
{
	return config.filter & (FILTER_PID | FILTER_COMM | FILTER_CGROUP | FILTER_COMMAND);
}

#endif

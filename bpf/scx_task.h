/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's state of a thread. The scheduler (bpf/scx*) owns it; sensors write to it only through the functions
 * here. It lies in struct task_ctx, so that one look-up gives role and scheduler state. */
#ifndef TACTUS_BPF_SCX_TASK_H
#define TACTUS_BPF_SCX_TASK_H

#include "../core/effective_tier.h"

/* Of group_owner: none has these numbers. */
#define OWNER_NONE 0xffffffffu	  /* no control group but the root */
#define OWNER_UNKNOWN 0xfffffffeu /* not looked for yet */

struct scx_task {
	u64 vtime;	  /* virtual time used, by the clock of its queue */
	u64 charged_ns;	  /* how much of its CPU time has been charged to its vtime */
	u64 burst_ns;	  /* CPU time since it last slept */
	u64 queued_at_ns; /* runnable since; 0: it does not wait */
	u64 awake_since_ns;
	u64 input_until_ns; /* it handles an input event until then */
	u64 lock_until_ns;  /* it holds a lock that an urgent thread waits for; 0: not */
	u64 frame_due_ns;   /* when the frame that it works on is due; 0: none */
	u64 last_burst_ns;  /* CPU time of the burst before it last slept */
	struct inherited_urgency inherited;
	struct urgent_watch watch;
	struct move_rate move_rate;
	u32 queue;
	u32 tier;	      /* that it was enqueued with */
	s32 cpu;	      /* where it ran last */
	u32 is_late;	      /* dispatched out of order because it had waited too long */
	u32 is_light;	      /* woken by a timer or a device, for little: see tier_is_light */
	u32 counted_urgent;   /* it is counted in its queue's load */
	u32 may_burn;	      /* it has run on and on, and stays urgent: its user may burn so much */
	u32 asks_in;	      /* the queue in which it waits and asks for turns, plus one; 0: it does not */
	u32 asks_timed;	      /* and it is counted as woken by a timer or a device */
	u32 by_timer;	      /* a timer or a device woke it last */
	u32 boost;	      /* that it was enqueued with */
	u32 owner;	      /* whose budget its urgency is charged to */
	u32 group_owner;      /* and which control group's */
	u64 effective_weight; /* its weight among all threads, see core/tier.h */
	u64 group;	      /* the control group's id; 0: the root */
	u64 group_weight;     /* what the group's sum has of it; 0: it is not runnable */
	u64 granted_ns;	      /* of its group's quota, and not yet run */
	u64 parked_at_ns;     /* waits for its group's quota since then; 0: it does not */
};

/* An input event woke the thread: it is urgent until then. */
static __always_inline void scx_task_note_input(struct scx_task *task, u64 until_ns)
{
	task->input_until_ns = until_ns;
}

/* The scheduler made the thread wait longer: it is treated as if an urgent one waited for it, so with all limits that
 * urgency has, until then. It passes nothing on. */
static __always_inline void scx_task_ease(struct scx_task *task, u64 until_ns)
{
	task->inherited = (struct inherited_urgency){ .until_ns = until_ns, .depth = TIER_INHERIT_DEPTH, .boost = 1 };
}

/* The thread has presented: its next frame is due then. 0: unknown. */
static __always_inline void scx_task_note_frame(struct scx_task *task, u64 due_ns)
{
	task->frame_due_ns = due_ns;
}

/* The waker works on a frame and hands a part of it over. */
static __always_inline void scx_task_share_frame(struct scx_task *task, const struct scx_task *waker)
{
	task->frame_due_ns = waker->frame_due_ns;
}

#endif

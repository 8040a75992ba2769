/* SPDX-License-Identifier: GPL-2.0 */
/* Every kind of event, declared once. From the tables below come the enum, the structs and the checks of their sizes
 * here, and in event_info.h the names and field descriptors by which a sink prints events that it knows nothing of. */
#ifndef TACTUS_CORE_EVENT_H
#define TACTUS_CORE_EVENT_H

#include "types.h"

struct event_header {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u32 tid;     /* the thread that the event is about */
	u16 cpu;     /* where it happened */
	u8 kind;     /* enum event_kind */
	u8 flags;    /* EVENT_FLAG_* */
};

/* header.flags */
enum {
	EVENT_FLAG_PREEMPTED = 1, /* switch: the thread was pushed off while it could still run */
	EVENT_FLAG_NEW = 2,	  /* thread, wakeup: it has just been forked */
	EVENT_FLAG_CLOSING = 4,	  /* sample, role: taken at the end of the window; the role is no news */
	EVENT_FLAG_BYSTANDER = 8, /* thread, rename: not watched; it has a name and no account */
	/* wakeup: who did it. Neither: that is not known, as on kernels that do not show it and in older recordings. */
	EVENT_FLAG_BY_INTERRUPT = 16, /* an interrupt, while waker_tid just happened to run */
	EVENT_FLAG_BY_THREAD = 32,    /* waker_tid itself */
	EVENT_FLAG_NESTED = 64,	      /* cuda_call: made inside another one that is watched */
	EVENT_FLAG_ENTRY = 128,	      /* cuda_launch: no cuda_call follows at its end */
	/* fence: of a job in the kernel's scheduler for GPUs, whose ring is the timeline. Neither: from the fence's
	 * beginning to its signal. */
	EVENT_FLAG_QUEUED = 1, /* it was in the queue for so long and goes to the ring now */
	EVENT_FLAG_RAN = 2,    /* the ring had it for so long and has done it */
};

/* What the scheduler decided. */
enum decision {
	DECISION_NONE,
	DECISION_PREEMPT,	/* other_tid is pushed off to_cpu for the thread */
	DECISION_MOVE,		/* it runs on to_cpu now, and ran on from_cpu before */
	DECISION_DEADLINE_MISS, /* it is urgent and waited longer than it may; other_tid ran there before it */
};

/* Priorities are the kernel's plus one: 0 deadline, 1 to 100 real time, 101 to 140 nice -20 to 19. Lower goes first.
 * What is printed is the kernel's own: -1, 0 to 99, 100 to 139. */
enum { PRIO_REALTIME_LAST = 100 };

core_fn s32 prio_printed(u32 prio)
{
	return (s32)(prio - 1);
}

/* Groups of events that somebody asks for together. A sensor sends the events of the groups that were asked for. */
enum event_group {
	EVENTS_SCHED = 1 << 0,	/* switches, wake-ups, moves, the scheduler's decisions */
	EVENTS_ROLES = 1 << 1,	/* what threads turn out to be for, and new programs */
	EVENTS_FRAMES = 1 << 2, /* and pictures handed to servers, and periods of displays */
	EVENTS_CUDA = 1 << 3,
	EVENTS_GPU = 1 << 4,   /* submits, fences, memory */
	EVENTS_INPUT = 1 << 5, /* what input devices send, and who wakes for it */
	EVENTS_ALL = (1 << 6) - 1,
	EVENTS_STACKS = 1 << 6, /* only where somebody asks for them by name: they cost much */
	EVENTS_ANY = 0,		/* come with every group */
};

/* EVENT(KIND, name, group, rate, bytes). A kind is the number that recordings have: new ones go to the end. RARE: it
 * comes now and then, and somebody may want to see it at once. The bytes include the header's 16 and are a multiple of
 * 8, so that records stay aligned. */
/* clang-format off */
#define EVENT_TABLE(EVENT)                                      \
	EVENT(SWITCH, switch, SCHED, OFTEN, 24)                 \
	EVENT(WAKEUP, wakeup, SCHED, OFTEN, 24)                 \
	EVENT(MIGRATE, migrate, SCHED, OFTEN, 24)               \
	EVENT(THREAD, thread, ANY, OFTEN, 48)                   \
	EVENT(TID_CHANGE, tid_change, SCHED, OFTEN, 24)         \
	EVENT(RENAME, rename, SCHED, OFTEN, 32)                 \
	EVENT(SAMPLE, sample, SCHED, OFTEN, 24)                 \
	EVENT(UNSEEN_SWITCH, unseen_switch, SCHED, OFTEN, 24)   \
	EVENT(LOST, lost, ANY, OFTEN, 24)                       \
	EVENT(ROLE, role, ROLES, RARE, 96)                      \
	EVENT(EXEC, exec, ROLES, RARE, 72)                      \
	EVENT(DECISION, decision, SCHED, RARE, 40)              \
	EVENT(FRAME, frame, FRAMES, RARE, 48)                   \
	EVENT(CUDA_CALL, cuda_call, CUDA, OFTEN, 72)            \
	EVENT(CUDA_LAUNCH, cuda_launch, CUDA, OFTEN, 64)        \
	EVENT(CUDA_IOCTL, cuda_ioctl, CUDA, OFTEN, 48)          \
	EVENT(CUDA_NAME, cuda_name, CUDA, OFTEN, 224)           \
	EVENT(CUDA_COUNT, cuda_count, CUDA, OFTEN, 48)          \
	EVENT(SUBMIT, submit, GPU, RARE, 40)                    \
	EVENT(FENCE, fence, GPU, RARE, 64)                      \
	EVENT(GPU_MEMORY, gpu_memory, GPU, RARE, 32)            \
	EVENT(DEVICE, device, INPUT, RARE, 80)                  \
	EVENT(INPUT, input, INPUT, RARE, 32)                    \
	EVENT(INPUT_WAKE, input_wake, INPUT, RARE, 32)          \
	EVENT(VBLANK, vblank, FRAMES, OFTEN, 32)                \
	EVENT(CUDA_XID, cuda_xid, CUDA, OFTEN, 208)             \
	EVENT(COMMIT, commit, FRAMES, RARE, 24)                 \
	EVENT(SERVED, served, FRAMES, OFTEN, 24)                \
	EVENT(STACK, stack, STACKS, OFTEN, 56)                  \
	EVENT(STACK_FRAME, stack_frame, STACKS, OFTEN, 216)     \
	EVENT(EFFECT, effect, SCHED, RARE, 56)                  \
	EVENT(CUDA_WORK, cuda_work, CUDA, OFTEN, 88)

/* FIELD(event, type, name, how it prints). "The thread" is the header's. */

/* The thread leaves the CPU in prev_state (the kernel's TASK_* bits; 0: it can still run) and next_tid comes. */
#define EVENT_FIELDS_switch(FIELD, E)      \
	FIELD(E, u32, next_tid, NUMBER)    \
	FIELD(E, u16, prev_state, HEX)     \
	FIELD(E, u8, prev_prio, PRIO)    \
	FIELD(E, u8, next_prio, PRIO)

/* The thread is woken by waker_tid, or by an interrupt while that one ran (EVENT_FLAG_BY_*), for target_cpu. */
#define EVENT_FIELDS_wakeup(FIELD, E)      \
	FIELD(E, u32, waker_tid, NUMBER)   \
	FIELD(E, u16, target_cpu, NUMBER)  \
	FIELD(E, u16, prio, PRIO)

/* The thread is moved to another CPU's run queue by by_tid. The flags are those of core/move.h. */
#define EVENT_FIELDS_migrate(FIELD, E)     \
	FIELD(E, u32, by_tid, NUMBER)      \
	FIELD(E, u16, from_cpu, NUMBER)    \
	FIELD(E, u16, to_cpu, NUMBER)

/* Who the thread is: sent once, before its first other event. */
#define EVENT_FIELDS_thread(FIELD, E)      \
	FIELD(E, u64, start_ns, NUMBER)    \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, parent_tid, NUMBER)  \
	FIELD(E, struct comm, comm, TEXT)

/* An exec by a thread that is not its process's first: it has the process's tid now, and had old_tid before. */
#define EVENT_FIELDS_tid_change(FIELD, E)        \
	FIELD(E, u32, old_tid, NUMBER)     \
	FIELD(E, u32, pid, NUMBER)

/* The thread has this name from now on. */
#define EVENT_FIELDS_rename(FIELD, E)      \
	FIELD(E, struct comm, comm, TEXT)

/* The thread is on the CPU as the window opens or closes (EVENT_FLAG_CLOSING). */
#define EVENT_FIELDS_sample(FIELD, E)      \
	FIELD(E, u64, prio, PRIO)

/* The thread is on the CPU since since_ns, although the kernel showed no switch to it. */
#define EVENT_FIELDS_unseen_switch(FIELD, E)      \
	FIELD(E, u64, since_ns, NUMBER)

/* Of no thread: so many events of the header's CPU and of that kind (0: of any) are missing here. */
#define EVENT_FIELDS_lost(FIELD, E)        \
	FIELD(E, u32, count, NUMBER)       \
	FIELD(E, u32, of_kind, NUMBER)

/* The thread turns out to be for something; core/role.h has the meanings of the numbers. */
#define EVENT_FIELDS_role(FIELD, E)        \
	FIELD(E, u8, role, NUMBER)         \
	FIELD(E, u8, was_role, NUMBER)     \
	FIELD(E, u8, confidence, NUMBER)   \
	FIELD(E, u8, evidence, NUMBER)     \
	FIELD(E, u8, tier, NUMBER)         \
	FIELD(E, u8, boost, NUMBER)        \
	FIELD(E, u8, prio, PRIO)         \
	FIELD(E, u8, has, HEX)             \
	FIELD(E, u32, gpu_submits, NUMBER) \
	FIELD(E, u32, presents, NUMBER)    \
	FIELD(E, u32, input_reads, NUMBER) \
	FIELD(E, u32, audio_writes, NUMBER) \
	FIELD(E, u32, net_wakes, NUMBER)   \
	FIELD(E, u32, frame_wakes, NUMBER) \
	FIELD(E, s16, wine_priority, SIGNED) \
	FIELD(E, u16, process, HEX)        \
	FIELD(E, u8, gpu_driver, NUMBER)   \
	FIELD(E, u8, present_api, NUMBER)  \
	FIELD(E, u8, input_kind, NUMBER)   \
	FIELD(E, u8, learned_confidence, NUMBER) \
	FIELD(E, u64, age_ns, NUMBER)      \
	FIELD(E, u64, wakeups, NUMBER)     \
	FIELD(E, u64, wake_gap_ns, NUMBER) \
	FIELD(E, u64, cpu_ns, NUMBER)      \
	FIELD(E, u32, was_tier, NUMBER)    \
	FIELD(E, u32, wine_class, NUMBER)

/* The thread runs a new program. */
#define EVENT_FIELDS_exec(FIELD, E)      \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, parent_pid, NUMBER)  \
	FIELD(E, struct tail, path, TEXT)

/* What the scheduler decided about the thread: enum decision. */
#define EVENT_FIELDS_decision(FIELD, E)    \
	FIELD(E, u8, what, NUMBER)         \
	FIELD(E, u8, tier, NUMBER)         \
	FIELD(E, u16, from_cpu, NUMBER)    \
	FIELD(E, u16, to_cpu, NUMBER)      \
	FIELD(E, u16, boost, NUMBER)       \
	FIELD(E, u32, other_tid, NUMBER)   \
	FIELD(E, u32, other_tier, NUMBER)  \
	FIELD(E, u64, wait_ns, NUMBER)

/* The thread presents a frame: so long after its last one, and after its last submit to a GPU (0: there was none). */
#define EVENT_FIELDS_frame(FIELD, E)       \
	FIELD(E, u64, interval_ns, NUMBER) \
	FIELD(E, u64, submit_ns, NUMBER)   \
	FIELD(E, u64, number, NUMBER)      \
	FIELD(E, u64, api, NUMBER)

/* The thread's call into libcuda, or a function of NVIDIA's driver, has returned; core/cuda.h has the meanings of the numbers. */
#define EVENT_FIELDS_cuda_call(FIELD, E)   \
	FIELD(E, u64, duration_ns, NUMBER) \
	FIELD(E, u64, wait_ns, NUMBER)     \
	FIELD(E, u64, bytes, NUMBER)       \
	FIELD(E, u64, address, HEX)        \
	FIELD(E, u64, stream, HEX)         \
	FIELD(E, u32, function, NUMBER)    \
	FIELD(E, u32, result, NUMBER)      \
	FIELD(E, u32, copy, NUMBER)        \
	FIELD(E, u32, pid, NUMBER)

/* The thread's call that launches a kernel begins. */
#define EVENT_FIELDS_cuda_launch(FIELD, E) \
	FIELD(E, u64, kernel, HEX)         \
	FIELD(E, u64, stream, HEX)         \
	FIELD(E, u32, function, NUMBER)    \
	FIELD(E, u32, grid_x, NUMBER)      \
	FIELD(E, u32, grid_y, NUMBER)      \
	FIELD(E, u32, grid_z, NUMBER)      \
	FIELD(E, u32, block_x, NUMBER)     \
	FIELD(E, u32, block_y, NUMBER)     \
	FIELD(E, u32, block_z, NUMBER)     \
	FIELD(E, u32, shared_bytes, NUMBER)

/* The thread's ioctl on an NVIDIA device has returned. */
#define EVENT_FIELDS_cuda_ioctl(FIELD, E)  \
	FIELD(E, u64, duration_ns, NUMBER) \
	FIELD(E, u32, cmd, HEX)            \
	FIELD(E, u32, detail, HEX)         \
	FIELD(E, u32, status, HEX)         \
	FIELD(E, s32, result, SIGNED)      \
	FIELD(E, u16, device, NUMBER)      \
	FIELD(E, u16, minor, NUMBER)       \
	FIELD(E, u32, inner_nr, NUMBER)

/* Of no thread: what a function, kernel or library is called. */
#define EVENT_FIELDS_cuda_name(FIELD, E)   \
	FIELD(E, u64, handle, HEX)         \
	FIELD(E, u64, same_as, HEX)        \
	FIELD(E, u32, what, NUMBER)        \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, struct long_name, name, TEXT)

/* Of no thread: how often a function was called until now. */
#define EVENT_FIELDS_cuda_count(FIELD, E)  \
	FIELD(E, u64, entered, NUMBER)     \
	FIELD(E, u64, returned, NUMBER)    \
	FIELD(E, u64, failed, NUMBER)      \
	FIELD(E, u32, function, NUMBER)    \
	FIELD(E, u32, unused, NUMBER)

/* The thread has handed work to a GPU: how long the call took (0: not known), how long after the last one it began (0: there was
 * none), what kind of work (enum gpu_work), and what the driver answered. */
#define EVENT_FIELDS_submit(FIELD, E)      \
	FIELD(E, u64, took_ns, NUMBER)     \
	FIELD(E, u64, interval_ns, NUMBER) \
	FIELD(E, u32, cmd, HEX)            \
	FIELD(E, u8, driver, NUMBER)       \
	FIELD(E, u8, work, NUMBER)         \
	FIELD(E, s16, result, SIGNED)

/* A GPU has done what the thread began, so long ago. */
#define EVENT_FIELDS_fence(FIELD, E)       \
	FIELD(E, u64, took_ns, NUMBER)     \
	FIELD(E, u32, context, NUMBER)     \
	FIELD(E, u32, seqno, NUMBER)       \
	FIELD(E, struct comm, driver, TEXT) \
	FIELD(E, struct comm, timeline, TEXT)

/* The process (0: all of them) has so much of a GPU's memory now. */
#define EVENT_FIELDS_gpu_memory(FIELD, E)  \
	FIELD(E, u64, bytes, NUMBER)       \
	FIELD(E, u32, gpu, NUMBER)         \
	FIELD(E, u32, pid, NUMBER)

/* Of no thread: an input device, /dev/input/eventN with its node N (~0: not known). */
#define EVENT_FIELDS_device(FIELD, E)      \
	FIELD(E, u32, device, NUMBER)      \
	FIELD(E, u32, node, NUMBER)        \
	FIELD(E, u16, device_kind, NUMBER) \
	FIELD(E, u16, bus, NUMBER)         \
	FIELD(E, u16, vendor, HEX)         \
	FIELD(E, u16, product, HEX)        \
	FIELD(E, struct tail, name, TEXT)

/* Of no thread: a device reports so many events together, so long after its last report. */
#define EVENT_FIELDS_input(FIELD, E)       \
	FIELD(E, u64, interval_ns, NUMBER) \
	FIELD(E, u32, device, NUMBER)      \
	FIELD(E, u32, events, NUMBER)

/* The thread was woken by a device's report, and runs so long after it. */
#define EVENT_FIELDS_input_wake(FIELD, E)  \
	FIELD(E, u64, delay_ns, NUMBER)    \
	FIELD(E, u32, device, NUMBER)      \
	FIELD(E, u32, device_kind, NUMBER)

/* The display begins its next period (no thread), or the thread learns that its picture is up in that period. */
#define EVENT_FIELDS_vblank(FIELD, E)      \
	FIELD(E, u64, at_ns, NUMBER)       \
	FIELD(E, u32, seq, NUMBER)         \
	FIELD(E, u32, display, NUMBER)

/* Of no thread: the NVIDIA driver reports an error. */
#define EVENT_FIELDS_cuda_xid(FIELD, E)    \
	FIELD(E, u32, code, NUMBER)        \
	FIELD(E, u32, unused, NUMBER)      \
	FIELD(E, struct long_name, message, TEXT)

/* The thread hands a finished picture to its Wayland server, after presenting so many frames. */
#define EVENT_FIELDS_commit(FIELD, E)      \
	FIELD(E, u64, number, NUMBER)

/* Of no thread: the process presents to the Wayland server server_pid (0: not known, or several). */
#define EVENT_FIELDS_served(FIELD, E)      \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, server_pid, NUMBER)

/* The thread is back on a CPU after so long without one, at the end of which it could run for wait_ns: the numbers of its own stacks as
 * it left, and of those of waker_tid as that one woke it (STACK_NONE: there is none, or it could not be taken). */
#define EVENT_FIELDS_stack(FIELD, E)         \
	FIELD(E, u64, off_ns, NUMBER)        \
	FIELD(E, u64, wait_ns, NUMBER)       \
	FIELD(E, u32, kernel, NUMBER)        \
	FIELD(E, u32, user, NUMBER)          \
	FIELD(E, u32, waker_tid, NUMBER)     \
	FIELD(E, u32, waker_pid, NUMBER)     \
	FIELD(E, u32, waker_kernel, NUMBER)  \
	FIELD(E, u32, waker_user, NUMBER)

/* Of no thread: a function on a stack of the process (0: the kernel's), of that number; frame 0 is where it is, 1 its caller. */
#define EVENT_FIELDS_stack_frame(FIELD, E)   \
	FIELD(E, u32, pid, NUMBER)           \
	FIELD(E, u32, stack, NUMBER)         \
	FIELD(E, u32, frame, NUMBER)         \
	FIELD(E, u32, unused, NUMBER)        \
	FIELD(E, struct long_name, name, TEXT)

/* The thread's process waited longer for CPUs while tactus acted than while it did not (99th percentiles), and so this
 * was done (core/effect.h) with cause_pid, for so long. */
#define EVENT_FIELDS_effect(FIELD, E)      \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, cause_pid, NUMBER)   \
	FIELD(E, u64, acted_p99_ns, NUMBER) \
	FIELD(E, u64, held_p99_ns, NUMBER) \
	FIELD(E, u64, span_ns, NUMBER)     \
	FIELD(E, u64, what, NUMBER)

/* The thread, one of the kernel's, has done what the process's for_tid had queued inside the NVIDIA driver, so long before it began. */
#define EVENT_FIELDS_cuda_work(FIELD, E)   \
	FIELD(E, u64, duration_ns, NUMBER) \
	FIELD(E, u64, queued_ns, NUMBER)   \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, for_tid, NUMBER)     \
	FIELD(E, struct tail, function, TEXT)
/* clang-format on */

#define STACK_NONE 0xffffffffu

#define EVENT_ENUM(KIND, name, group, rate, bytes) EVENT_##KIND,
enum event_kind { EVENT_NONE, EVENT_TABLE(EVENT_ENUM) EVENT_KINDS };
#undef EVENT_ENUM

enum { EVENT_RATE_OFTEN, EVENT_RATE_RARE };

#define EVENT_KINDS_OF(KIND, name, group, rate, bytes) (EVENTS_##group & groups ? 1ull << EVENT_##KIND : 0) |
/* The kinds, as bits, that belong to these groups. */
core_fn u64 event_kinds_of(u32 groups)
{
	return EVENT_TABLE(EVENT_KINDS_OF) 0;
}
#undef EVENT_KINDS_OF

#define EVENT_GROUP_OF(KIND, name, group, rate, bytes) (kinds >> EVENT_##KIND & 1 ? EVENTS_##group : 0) |
/* The groups to ask for so that events of these kinds come. */
core_fn u32 event_groups_of(u64 kinds)
{
	return EVENT_TABLE(EVENT_GROUP_OF) 0;
}
#undef EVENT_GROUP_OF

#define EVENT_IF_RARE(KIND, name, group, rate, bytes) \
	(EVENT_RATE_##rate == EVENT_RATE_RARE ? 1ull << EVENT_##KIND : 0) |
core_fn u64 event_rare_kinds(void)
{
	return EVENT_TABLE(EVENT_IF_RARE) 0;
}
#undef EVENT_IF_RARE

#define EVENT_MEMBER(E, type, name, how) type name;
#define EVENT_STRUCT(KIND, name, group, rate, bytes)                                                        \
	struct event_##name {                                                                               \
		struct event_header head;                                                                   \
		EVENT_FIELDS_##name(EVENT_MEMBER, name)                                                     \
	};                                                                                                  \
	_Static_assert(sizeof(struct event_##name) == (bytes), "event " #name ": the table's size is off"); \
	_Static_assert((bytes) % 8 == 0, "event " #name ": not a multiple of 8");
EVENT_TABLE(EVENT_STRUCT)
#undef EVENT_STRUCT
#undef EVENT_MEMBER

_Static_assert(sizeof(struct event_header) == 16, "the event header is part of the recording format");

#endif

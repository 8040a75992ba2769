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
	/* wakeup: who did it. Neither: that is not known, as on kernels that do not tell and in older recordings. */
	EVENT_FLAG_BY_INTERRUPT = 16, /* an interrupt, while waker_tid just happened to run */
	EVENT_FLAG_BY_THREAD = 32,    /* waker_tid itself */
	EVENT_FLAG_NESTED = 64,	      /* cuda_call: made inside another one that is watched */
	EVENT_FLAG_ENTRY = 128,	      /* cuda_launch: no cuda_call follows at its end */
};
/* A migrate event's flags are the facts of core/move.h. */

/* What the scheduler decided. */
enum decision {
	DECISION_NONE,
	DECISION_PREEMPT, /* other_tid is pushed off to_cpu for the thread */
	DECISION_MOVE,	  /* it runs on to_cpu now, and ran on from_cpu before */
	DECISION_MISS,	  /* it is urgent and waited longer than it may; other_tid ran there before it */
};

/* Priorities are the kernel's plus one: 0 deadline, 1 to 100 real time, 101 to 140 nice -20 to 19. Lower goes first. */
enum { PRIO_REALTIME_LAST = 100 };

/* EVENT(KIND, name, bytes): the bytes include the header's 16 and are a multiple of 8, so that records stay aligned. */
/* clang-format off */
#define EVENT_TABLE(EVENT)          \
	EVENT(SWITCH, switch, 24)   \
	EVENT(WAKEUP, wakeup, 24)   \
	EVENT(MIGRATE, migrate, 24) \
	EVENT(THREAD, thread, 48)   \
	EVENT(EXEC, exec, 24)       \
	EVENT(RENAME, rename, 32)   \
	EVENT(SAMPLE, sample, 24)   \
	EVENT(MISSED, missed, 24)   \
	EVENT(LOST, lost, 24)       \
	EVENT(ROLE, role, 96)       \
	EVENT(LAUNCH, launch, 72)   \
	EVENT(DECISION, decision, 40) \
	EVENT(FRAME, frame, 48)     \
	EVENT(CUDA_CALL, cuda_call, 72) \
	EVENT(CUDA_LAUNCH, cuda_launch, 64) \
	EVENT(CUDA_IOCTL, cuda_ioctl, 48) \
	EVENT(CUDA_NAME, cuda_name, 224) \
	EVENT(CUDA_COUNT, cuda_count, 48) \
	EVENT(SUBMIT, submit, 40)   \
	EVENT(FENCE, fence, 64)     \
	EVENT(GPU_MEMORY, gpu_memory, 32) \
	EVENT(DEVICE, device, 80)   \
	EVENT(INPUT, input, 32)     \
	EVENT(INPUT_WAKE, input_wake, 32) \
	EVENT(VBLANK, vblank, 32) \
	EVENT(CUDA_XID, cuda_xid, 208) \
	EVENT(COMMIT, commit, 24) \
	EVENT(SERVED, served, 24)

/* FIELD(event, type, name, how it prints). The header's thread: switch: who leaves the CPU; wakeup: who is woken;
 * migrate: who is moved; thread: who is introduced, before its first other event; exec: who took the tid of its
 * process in an exec; rename: who is called otherwise from now on; sample: who is on the CPU at a window's edge; missed: who
 * is on the CPU although the kernel showed no switch to it; lost: nobody, events of the header's CPU and of that kind
 * (0: of any) are missing here;
 * role: who turns out to be for something (core/role.h has the numbers' meanings); launch: who runs a new program;
 * decision: whom the scheduler decided about, see enum decision; frame: who presents, how long after its last frame and how
 * long after its last submit to a GPU (0: there was none); cuda_call, cuda_ioctl: who called, when the call returned;
 * cuda_launch: who launches a kernel, as the call begins; cuda_name, cuda_count, cuda_xid: nobody (core/cuda.h has the meanings of
 * the numbers); submit: who has handed work to a GPU, how long that call took (0: not known), how long after the last one it began (0: there was none), what kind of work (enum gpu_work) and what the
 * driver answered; fence: who began what a GPU has now done, and how long ago that was; gpu_memory: the process (0: all of
 * them) that has so much of a GPU's memory now; device: nobody, an input device is introduced, /dev/input/eventN with its
 * node N (~0: not known); input: nobody, so many events of a device are reported together, so long after its last report;
 * input_wake: who was woken by a device's report, and how long after that it runs; commit: who hands a finished picture to its
 * Wayland server, and how many frames it has presented; served: nobody, the process pid presents to the Wayland server
 * server_pid (0: to one that can't be told, or to several). */
/* vblank: nobody (0), the display begins its next period; or who is told that its picture is up in that period. */
#define EVENT_FIELDS_vblank(FIELD, E)      \
	FIELD(E, u64, at_ns, NUMBER)       \
	FIELD(E, u32, seq, NUMBER)         \
	FIELD(E, u32, display, NUMBER)
#define EVENT_FIELDS_switch(FIELD, E)      \
	FIELD(E, u32, next_tid, NUMBER)    \
	FIELD(E, u16, prev_state, HEX)     \
	FIELD(E, u8, prev_prio, NUMBER)    \
	FIELD(E, u8, next_prio, NUMBER)
#define EVENT_FIELDS_wakeup(FIELD, E)      \
	FIELD(E, u32, waker_tid, NUMBER)   \
	FIELD(E, u16, target_cpu, NUMBER)  \
	FIELD(E, u16, prio, NUMBER)
#define EVENT_FIELDS_migrate(FIELD, E)     \
	FIELD(E, u32, by_tid, NUMBER)      \
	FIELD(E, u16, from_cpu, NUMBER)    \
	FIELD(E, u16, to_cpu, NUMBER)
#define EVENT_FIELDS_thread(FIELD, E)      \
	FIELD(E, u64, start_ns, NUMBER)    \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, parent_tid, NUMBER)  \
	FIELD(E, struct comm, comm, TEXT)
#define EVENT_FIELDS_exec(FIELD, E)        \
	FIELD(E, u32, old_tid, NUMBER)     \
	FIELD(E, u32, pid, NUMBER)
#define EVENT_FIELDS_rename(FIELD, E)      \
	FIELD(E, struct comm, comm, TEXT)
#define EVENT_FIELDS_sample(FIELD, E)      \
	FIELD(E, u64, prio, NUMBER)
#define EVENT_FIELDS_missed(FIELD, E)      \
	FIELD(E, u64, since_ns, NUMBER)
#define EVENT_FIELDS_lost(FIELD, E)        \
	FIELD(E, u32, count, NUMBER)       \
	FIELD(E, u32, of_kind, NUMBER)
#define EVENT_FIELDS_role(FIELD, E)        \
	FIELD(E, u8, role, NUMBER)         \
	FIELD(E, u8, was_role, NUMBER)     \
	FIELD(E, u8, confidence, NUMBER)   \
	FIELD(E, u8, evidence, NUMBER)     \
	FIELD(E, u8, tier, NUMBER)         \
	FIELD(E, u8, boost, NUMBER)        \
	FIELD(E, u8, prio, NUMBER)         \
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
	FIELD(E, u64, was_tier, NUMBER)
#define EVENT_FIELDS_launch(FIELD, E)      \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, parent_pid, NUMBER)  \
	FIELD(E, struct tail, path, TEXT)
#define EVENT_FIELDS_decision(FIELD, E)    \
	FIELD(E, u8, what, NUMBER)         \
	FIELD(E, u8, tier, NUMBER)         \
	FIELD(E, u16, from_cpu, NUMBER)    \
	FIELD(E, u16, to_cpu, NUMBER)      \
	FIELD(E, u16, boost, NUMBER)       \
	FIELD(E, u32, other_tid, NUMBER)   \
	FIELD(E, u32, other_tier, NUMBER)  \
	FIELD(E, u64, wait_ns, NUMBER)
#define EVENT_FIELDS_frame(FIELD, E)       \
	FIELD(E, u64, interval_ns, NUMBER) \
	FIELD(E, u64, submit_ns, NUMBER)   \
	FIELD(E, u64, number, NUMBER)      \
	FIELD(E, u64, api, NUMBER)
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
#define EVENT_FIELDS_cuda_ioctl(FIELD, E)  \
	FIELD(E, u64, duration_ns, NUMBER) \
	FIELD(E, u32, cmd, HEX)            \
	FIELD(E, u32, detail, HEX)         \
	FIELD(E, u32, status, HEX)         \
	FIELD(E, s32, result, SIGNED)      \
	FIELD(E, u16, device, NUMBER)      \
	FIELD(E, u16, minor, NUMBER)       \
	FIELD(E, u32, inner_nr, NUMBER)
#define EVENT_FIELDS_cuda_name(FIELD, E)   \
	FIELD(E, u64, handle, HEX)         \
	FIELD(E, u64, same_as, HEX)        \
	FIELD(E, u32, what, NUMBER)        \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, struct long_name, name, TEXT)
#define EVENT_FIELDS_cuda_count(FIELD, E)  \
	FIELD(E, u64, entered, NUMBER)     \
	FIELD(E, u64, returned, NUMBER)    \
	FIELD(E, u64, failed, NUMBER)      \
	FIELD(E, u32, function, NUMBER)    \
	FIELD(E, u32, unused, NUMBER)
#define EVENT_FIELDS_submit(FIELD, E)      \
	FIELD(E, u64, took_ns, NUMBER)     \
	FIELD(E, u64, interval_ns, NUMBER) \
	FIELD(E, u32, cmd, HEX)            \
	FIELD(E, u8, driver, NUMBER)       \
	FIELD(E, u8, work, NUMBER)         \
	FIELD(E, s16, result, SIGNED)
#define EVENT_FIELDS_fence(FIELD, E)       \
	FIELD(E, u64, took_ns, NUMBER)     \
	FIELD(E, u32, context, NUMBER)     \
	FIELD(E, u32, seqno, NUMBER)       \
	FIELD(E, struct comm, driver, TEXT) \
	FIELD(E, struct comm, timeline, TEXT)
#define EVENT_FIELDS_gpu_memory(FIELD, E)  \
	FIELD(E, u64, bytes, NUMBER)       \
	FIELD(E, u32, gpu, NUMBER)         \
	FIELD(E, u32, pid, NUMBER)
#define EVENT_FIELDS_device(FIELD, E)      \
	FIELD(E, u32, device, NUMBER)      \
	FIELD(E, u32, node, NUMBER)        \
	FIELD(E, u16, device_kind, NUMBER) \
	FIELD(E, u16, bus, NUMBER)         \
	FIELD(E, u16, vendor, HEX)         \
	FIELD(E, u16, product, HEX)        \
	FIELD(E, struct tail, name, TEXT)
#define EVENT_FIELDS_input(FIELD, E)       \
	FIELD(E, u64, interval_ns, NUMBER) \
	FIELD(E, u32, device, NUMBER)      \
	FIELD(E, u32, events, NUMBER)
#define EVENT_FIELDS_input_wake(FIELD, E)  \
	FIELD(E, u64, delay_ns, NUMBER)    \
	FIELD(E, u32, device, NUMBER)      \
	FIELD(E, u32, device_kind, NUMBER)
#define EVENT_FIELDS_commit(FIELD, E)      \
	FIELD(E, u64, number, NUMBER)
#define EVENT_FIELDS_served(FIELD, E)      \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, server_pid, NUMBER)
#define EVENT_FIELDS_cuda_xid(FIELD, E)    \
	FIELD(E, u32, code, NUMBER)        \
	FIELD(E, u32, unused, NUMBER)      \
	FIELD(E, struct long_name, message, TEXT)
/* clang-format on */

#define EVENT_ENUM(KIND, name, bytes) EVENT_##KIND,
enum event_kind { EVENT_NONE, EVENT_TABLE(EVENT_ENUM) EVENT_KINDS };
#undef EVENT_ENUM

#define EVENT_MEMBER(E, type, name, how) type name;
#define EVENT_STRUCT(KIND, name, bytes)                                                                     \
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

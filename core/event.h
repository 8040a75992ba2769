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
	u8 flags;
};

/* EVENT(KIND, name, bytes): the bytes include the header's 16 and are a multiple of 8, so that records stay aligned. */
/* clang-format off */
#define EVENT_TABLE(EVENT)          \
	EVENT(SWITCH, switch, 24)   \
	EVENT(WAKEUP, wakeup, 24)   \
	EVENT(MIGRATE, migrate, 24) \
	EVENT(FORK, fork, 32)       \
	EVENT(EXEC, exec, 32)       \
	EVENT(EXIT, exit, 16)       \
	EVENT(RENAME, rename, 32)   \
	EVENT(LOST, lost, 24)

/* FIELD(event, type, name, how it prints). The thread in the header is the one that leaves the CPU, is woken, is
 * moved, is the child, or is the one that calls exec, exit or prctl. */
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
	FIELD(E, u32, from_cpu, NUMBER)    \
	FIELD(E, u32, to_cpu, NUMBER)
#define EVENT_FIELDS_fork(FIELD, E)        \
	FIELD(E, u64, start_ns, NUMBER)    \
	FIELD(E, u32, pid, NUMBER)         \
	FIELD(E, u32, parent_tid, NUMBER)
#define EVENT_FIELDS_exec(FIELD, E)        \
	FIELD(E, struct comm, comm, TEXT)
#define EVENT_FIELDS_exit(FIELD, E)
#define EVENT_FIELDS_rename(FIELD, E)      \
	FIELD(E, struct comm, comm, TEXT)
#define EVENT_FIELDS_lost(FIELD, E)        \
	FIELD(E, u64, count, NUMBER)
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

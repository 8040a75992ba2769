/* SPDX-License-Identifier: GPL-2.0 */
/* What perfetto.c and perfetto_sched.c share: the field numbers of Perfetto's messages that are written, and how a
 * packet begins and ends. Numbers are those of protos/perfetto/trace/ in Perfetto's repository. */
#ifndef TACTUS_SINK_PERFETTO_PACKETS_H
#define TACTUS_SINK_PERFETTO_PACKETS_H

#include "perfetto.h"
#include "protobuf.h"

enum { TRACE_PACKET = 1 };
enum trace_packet_field {
	PACKET_FTRACE_EVENTS = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TIMESTAMP_CLOCK = 58,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_MACHINE_ID = 98,
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3, CLOCK_BOOTTIME_ID = 6 };
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2, SNAPSHOT_CLOCK_ID = 1, SNAPSHOT_CLOCK_TIME = 2 };
enum { INFO_UTSNAME = 1, INFO_NUM_CPUS = 8, INFO_MACHINE_NAME = 17, UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3 };
enum { TREE_PROCESSES = 1, TREE_THREADS = 2, TREE_PROCESS_PID = 1, TREE_PROCESS_PPID = 2, TREE_PROCESS_CMDLINE = 3 };
enum { TREE_THREAD_TID = 1, TREE_THREAD_NAME = 2, TREE_THREAD_TGID = 3 };
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_OF_PROCESS = 3,
	TRACK_OF_THREAD = 4,
	TRACK_PARENT_UUID = 5,
	TRACK_OF_COUNTER = 8,
};
enum { DESCRIPTOR_PID = 1, DESCRIPTOR_TID = 2, COUNTER_UNIT_NAME = 6 };
enum {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME_TEXT = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW_IDS = 47,
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
};
enum {
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2
};
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST_EVENTS = 3, BUNDLE_COMPACT_SCHED = 4 };
enum compact_field {
	COMPACT_SWITCH_TIME = 1,
	COMPACT_SWITCH_PREV_STATE,
	COMPACT_SWITCH_NEXT_PID,
	COMPACT_SWITCH_NEXT_PRIO,
	COMPACT_INTERN_TABLE,
	COMPACT_SWITCH_NEXT_COMM,
	COMPACT_WAKING_TIME,
	COMPACT_WAKING_PID,
	COMPACT_WAKING_TARGET_CPU,
	COMPACT_WAKING_PRIO,
	COMPACT_WAKING_COMM,
	COMPACT_WAKING_FLAGS,
	COMPACT_FIELDS
};
enum { FTRACE_TIMESTAMP = 1, FTRACE_PID = 2, FTRACE_COMMON_FLAGS = 5 };
enum {
	FTRACE_SCHED_SWITCH = 4,
	FTRACE_SCHED_WAKING = 20,
	FTRACE_SCHED_WAKEUP_NEW = 114,
	FTRACE_TASK_RENAME = 236,
	FTRACE_SCHED_PROCESS_FREE = 240,
};

enum {
	PERFETTO_SEQUENCE = 0x74,
	PERFETTO_CPUS_MAX = 1024, /* a reader takes a trace with more for damaged */
	PERFETTO_TEXT_MOST = 512, /* of a name or a value, in bytes */
};

struct interned_text;
struct cpu_batch;

struct perfetto {
	struct protobuf out;
	perfetto_write write;
	void *data;
	int error;
	u64 boot_minus_mono_ns;
	u32 machine_id;			/* 0: none */
	struct interned_text *interned; /* a table of INTERNED_SLOTS */
	u32 interned_len;
	u64 last_iid;
	bool clears_state;	     /* with the next packet that needs it */
	struct protobuf body, fresh; /* of a packet: the event, and what it names for the first time */
	struct cpu_batch **cpus;
	u32 cpus_len;
};

/* A packet of the one sequence; ~0: it has no time. */
size_t perfetto_packet_begin(struct perfetto *perfetto, u64 at_ns);
void perfetto_packet_end(struct perfetto *perfetto, size_t begun);

/* As readers take times: CLOCK_BOOTTIME. */
u64 perfetto_time(const struct perfetto *perfetto, u64 mono_ns);

/* A name that need not end, as text that harms nobody. */
enum { COMM_PLAIN_SIZE = 2 * COMM_LEN };
void perfetto_comm(char into[COMM_PLAIN_SIZE], const struct comm *comm, u32 tid);

void perfetto_sched_free(struct perfetto *perfetto);
void perfetto_sched_flush(struct perfetto *perfetto);
void perfetto_switched(void *sink, const struct trace_switch *change);
void perfetto_woken(void *sink, const struct trace_wakeup *wakeup);
void perfetto_renamed(void *sink, const struct trace_thread *thread);
void perfetto_ended(void *sink, const struct trace_thread *thread);
void perfetto_lost(void *sink, u32 cpu, u64 at_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A trace as trace viewers show it, whatever their file format: who runs on each CPU, and tracks with slices, instants
 * and counters. Who makes one calls a form's functions; times are CLOCK_MONOTONIC and need not come in order, but on
 * one track no slice begins before the last one has ended. */
#ifndef TACTUS_SINK_TRACE_H
#define TACTUS_SINK_TRACE_H

#include <stdbool.h>

#include "../../core/event.h"

/* The clocks are those of one moment. */
struct trace_machine {
	const char *name; /* "": not known */
	const char *kernel;
	u64 wall_ns, mono_ns, boot_ns;
	u32 cpus_len;
};

enum trace_arg_kind { ARG_NUMBER, ARG_SIGNED, ARG_HEX, ARG_TEXT };

/* What is known of a slice: a name, which is a literal, and a value. */
struct trace_arg {
	const char *name;
	enum trace_arg_kind kind;
	u64 number;
	const char *text;
};

enum track_kind { TRACK_LANE, TRACK_PROCESS, TRACK_THREAD, TRACK_COUNTER };

struct trace_track {
	u64 id;
	u64 parent; /* 0: none */
	enum track_kind kind;
	u32 pid, tid;	  /* of a process or thread, or of what it belongs to; 0: the machine's */
	const char *name; /* not of a thread's or process's own */
	const char *unit; /* of a counter */
	bool is_nested;	  /* what the thread itself does: it lies within what else it does, never across */
};

struct trace_mark {
	const struct trace_track *track;
	u64 from_ns, to_ns;
	bool is_instant;
	const char *name;
	bool name_is_rare;    /* there is no use in keeping it */
	const char *category; /* a literal */
	const struct trace_arg *args;
	u32 args_len;
	u64 flow; /* 0: none; marks with the same are joined by arrows, in the order of time */
};

struct trace_switch {
	u64 at_ns;
	u32 cpu;
	u32 prev_tid, next_tid;
	u32 prev_prio, next_prio; /* as in core/event.h */
	u32 prev_state;		  /* the kernel's TASK_* bits */
	bool preempted;
	bool prev_is_unknown; /* whoever was there */
	const struct comm *prev_comm, *next_comm;
};

struct trace_wakeup {
	u64 at_ns;
	u32 cpu, target_cpu;
	u32 tid, waker_tid;
	u32 prio;
	u32 woken_by; /* EVENT_FLAG_BY_*, 0: not known */
	bool is_new;
	const struct comm *comm;
};

/* A thread, and who it belongs to. `pid` 0: not known. */
struct trace_thread {
	u64 at_ns;
	u32 cpu;
	u32 tid, pid, parent_pid;
	const struct comm *comm;
	const char *program; /* of a process, where it is known; NULL */
};

struct trace_form {
	void (*track)(void *sink, const struct trace_track *track);
	void (*mark)(void *sink, const struct trace_mark *mark);
	void (*count)(void *sink, const struct trace_track *track, u64 at_ns, u64 value);
	void (*thread)(void *sink, const struct trace_thread *thread);
	void (*renamed)(void *sink, const struct trace_thread *thread);
	void (*ended)(void *sink, const struct trace_thread *thread);
	void (*switched)(void *sink, const struct trace_switch *change);
	void (*woken)(void *sink, const struct trace_wakeup *wakeup);
	/* Events of that CPU are missing here. */
	void (*lost)(void *sink, u32 cpu, u64 at_ns);
	/* Hands over what was kept back. Nothing is known after that time. */
	void (*flush)(void *sink);
	void (*end)(void *sink, u64 at_ns);
};

#endif

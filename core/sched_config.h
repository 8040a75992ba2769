/* SPDX-License-Identifier: GPL-2.0 */
/* What the two halves of the sched sensor tell each other besides events: the settings that are fixed before loading,
 * the state of each CPU's window and ring, and a thread's account as it is handed over. */
#ifndef TACTUS_CORE_SCHED_CONFIG_H
#define TACTUS_CORE_SCHED_CONFIG_H

#include "event.h"
#include "name_pattern.h"
#include "role.h"

enum { SCHED_CPUS_MAX = 1024, SCHED_KINDS_MAX = 64 };

_Static_assert((int)EVENT_KINDS <= (int)SCHED_KINDS_MAX, "each kind of event needs a bit and a count of losses");

enum {
	FILTER_PID = 1 << 0,
	FILTER_COMM = 1 << 1,
	FILTER_CGROUP = 1 << 2,
	FILTER_COMMAND = 1 << 3, /* pid is a process whose children and threads are watched with it */
	FILTER_CPUS = 1 << 4,
};

enum { FILTER_PIDS_MAX = 64, FILTER_COMMS_MAX = 16, FILTER_CGROUPS_MAX = 8 };

struct filter_cgroup {
	u64 id;
	u64 level;
};

/* The reader looks again so long after it was woken, whether or not it is woken again; what comes meanwhile need not
 * wake it, as long as that is shorter. */
enum { PROMPT_REST_NS = 250 * NSEC_PER_USEC, PROMPT_WAKE_NS = 200 * NSEC_PER_USEC };

enum {
	ACCOUNT_KEEP = 1,      /* for roles */
	ACCOUNT_HAND_OVER = 2, /* and give them to the program, those of threads that end at their end */
};

/* What makes a thread urgent for a moment, whatever it is. */
enum {
	RAISE_INPUT = 1 << 0,  /* it was woken by an input device, or by one that was */
	RAISE_FRAMES = 1 << 1, /* it is at work for a frame that is nearly due */
};

struct sched_config {
	u32 cpus_len;
	u32 account;	    /* keep threads' accounts: ACCOUNT_* */
	u32 emit;	    /* EVENTS_*: send events of these groups */
	u32 look_bytes;	    /* look at a ring whenever so much has gone into it */
	u64 prompt_kinds;   /* kinds of events, as bits, for which the reader is woken at once */
	u32 prompt_urgency; /* and for a thread that becomes urgent, or no longer is */
	u32 filter;	    /* FILTER_* */
	u32 command_pid;
	u32 pids_len, comms_len, cgroups_len; /* that are filtered by */
	u32 raise;			      /* RAISE_*, for the scheduler */
	u32 role_wakeups; /* judge a thread's behaviour after so many wake-ups; 0: roles are not kept */
	/* Wake-ups are counted where they are made: one hook instead of two. Else where they arrive, which is when the
	 * thread can run in earnest. */
	u32 counts_at_waking;
	u32 counts_cpus; /* how long each CPU is busy and idle */
	u32 keeps_sums;	 /* what each thread does is added up, see core/sums.h */
	u32 no_paths;	 /* the kernel keeps its memory to itself: no program's path can be found */
	struct filter_cgroup cgroups[FILTER_CGROUPS_MAX];
	u32 pids[FILTER_PIDS_MAX];
	struct name_pattern comms[FILTER_COMMS_MAX];
	u64 cpus[SCHED_CPUS_MAX / 64];
};

enum window { WINDOW_BEFORE, WINDOW_OPEN, WINDOW_CLOSED };

/* One CPU's. Written by that CPU alone; padded as struct cpu_account is. */
struct sched_cpu {
	u64 window;
	u64 running; /* the task_struct on it, to notice switches that the hook did not see */
	u64 unseen_switches;
	u64 produced;	      /* events put into the ring where interrupts are off */
	u64 produced_irqs_on; /* and elsewhere: counted with atomic adds */
	u64 lost;	      /* events that the ring had no room for */
	u64 unread_bytes;     /* since the ring was last looked at */
	u64 waiters;	      /* watched threads that wait for this CPU; other CPUs write it too */
	u64 goes;	      /* it is on its way offline, or is offline */
	u64 nearly_full;      /* little room is left in the ring: it is kept for what is rare */
	u64 looks;
	u64 woken_ns;  /* when the reader was last woken at once */
	u64 unreached; /* how often a hook did not get at what is kept of a thread */
	u64 switches;  /* these five with counts_cpus */
	u64 busy_ns;   /* until turned_ns, as idle_ns */
	u64 idle_ns;
	u64 turned_ns; /* when it last turned busy or idle; 0: that is not known */
	u64 is_idle;
	u64 running_tid;		 /* with keeps_sums */
	u32 lost_kinds[SCHED_KINDS_MAX]; /* what was lost, by kind */
} __attribute__((aligned(128)));

/* What the program asks of the sums, and what there was no room for. */
struct sums_state {
	u64 only;  /* single switches and wake-ups are sent of urgent threads alone */
	u64 ended; /* sums of threads that end are handed over even so that all are sent */
	u64 refused;
};

/* What snapshot_cpu is asked to do. */
enum snapshot { SNAPSHOT_OPEN, SNAPSHOT_CLOSE };

/* What `assign` does to the threads it is run over. */
enum role_order_what {
	ORDER_JUDGE,	   /* judge behaviour that is due, send what was not sent */
	ORDER_PROCESS,	   /* add the PROCESS_* bits of the value */
	ORDER_USER,	   /* the user says that this is the role; ROLE_UNKNOWN takes it back */
	ORDER_WINE,	   /* Windows code asked for this priority */
	ORDER_LEARNED,	   /* role in the low byte, confidence in the next */
	ORDER_INPUT,	   /* it reads an input device of this kind: count that */
	ORDER_AUDIO,	   /* it feeds a sound device */
	ORDER_PREDICT,	   /* look up what is predicted of its kind */
	ORDER_WINE_CLASS,  /* Windows code gave its process this class */
	ORDER_NOT_PROCESS, /* take the PROCESS_* bits of the value away */
	ORDER_NAME,	   /* the rules on names have changed: look its name up again */
};

struct role_order {
	u32 what;
	u32 tid; /* 0: all threads that it is run over */
	s32 value;
	u32 applied; /* to so many threads: the kernel half's answer */
};

/* Names in the map of names: the longest prefix of a thread's name that is in there gives its role, in the low byte of
 * the value. */
enum { NAME_BY_USER = 1 << 8, NAME_COMPILES = 1 << 9 };

struct name_key {
	u32 bits;
	struct comm comm;
};

struct thread_row {
	u64 start_ns;
	u32 tid;
	u32 pid;
	u32 parent_tid;
	u32 ended;
	struct comm comm;
	struct thread_account account;
};

#endif

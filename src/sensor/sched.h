/* SPDX-License-Identifier: GPL-2.0 */
/* The sched sensor: threads' accounts kept in the kernel, and the stream of scheduler events.
 * Start it with struct sensor_settings.for_sched, then open the window, then close it. */
#ifndef TACTUS_SENSOR_SCHED_H
#define TACTUS_SENSOR_SCHED_H

#include "../../core/sched_config.h"
#include "../../core/tally.h"
#include "../../core/waits.h"
#include "../base/options.h"
#include "../model/rules.h"
#include "../model/threads.h"
#include "kinds.h"

/* What is missed where no program can see whether it is in an interrupt. */
#define SCHED_LOSS_INTERRUPTS "whether a thread or an interrupt wakes another is not known"

struct sched_settings {
	bool account; /* keep threads' accounts, for sched_read_threads */
	u32 groups;   /* EVENTS_*: send these; those of CUDA keep accounts, so that waits inside calls are known */
	bool no_sched_hooks; /* leave the hooks out that follow threads from switch to switch: nothing is known of how
			    they run, no accounts, no behaviour. Not with a cgroup to filter by */
	bool prompt;	     /* wake the reader at once for what is rare */
	bool prompt_urgency; /* and for a thread that becomes urgent, or no longer is */
	bool counts_cpus;    /* for sched_read_cpus */
	bool keeps_sums;     /* for sched_sums.h */
	u32 raise;	     /* RAISE_* of core/sched_config.h */
	struct filter filter;
	u32 command_pid;  /* watch this process with its children and threads; 0: no command */
	u32 role_wakeups; /* keep roles, judge a thread after so many wake-ups, send what changes; 0: no roles */
	u32 ring_bytes;	  /* each CPU's ring; 0: so that all together have 4 MB */
	const struct cpu_topology *topology;
	u32 cpus_len;
};

/* From here on everything counts. Returns 0 or -errno. */
int sched_open_window(struct sensor *sensor);

/* From here on nothing counts any more. */
int sched_close_window(struct sensor *sensor);
/* Before that: a command's end is told a moment before its threads leave their CPUs for the last time. */
void sched_await_command(const struct sensor *sensor);

/* After the window has closed: adds every thread that was active in it. */
int sched_read_threads(struct sensor *sensor, struct threads *threads);

/* Accounts of ended threads wait in a ring of their own: takes them over. Call now and then, so that it does not fill.
 */
void sched_collect_ended(struct sensor *sensor, struct threads *threads);

/* Becomes readable when many are waiting there. */
int sched_ended_fd(const struct sensor *sensor);

struct sched_losses {
	u64 unseen_switches;
	u64 unreached; /* how often a hook did not get at what is kept of a thread */
	u64 events;
	u64 of_kind[EVENT_KINDS]; /* these, by kind */
	u64 threads;		  /* that got no account, or whose account was lost at their end */
};
struct sched_losses sched_losses(const struct sensor *sensor);

/* What all CPUs together have done so far, with counts_cpus: switches, those that were not seen, busy and idle time. */
void sched_read_cpus(const struct sensor *sensor, u64 now_ns, struct cpu_account *sum);

/* Roles, if they are kept. */

/* How long threads of each tier have waited so far, over all CPUs. */
int sched_read_tally(const struct sensor *sensor, struct sched_tally *tally);

/* The role as it is now of every thread, or of one process's (0: all): events of kind role, each after one of kind
 * thread if that was not sent before. */
int sched_read_roles(struct sensor *sensor, u32 pid, int (*take)(void *data, const void *event), void *data);

/* What each thread has waited for CPUs since the last call: a struct wait_row for each that has waited at all. */
int sched_take_waits(struct sensor *sensor, int (*take)(void *data, const void *row), void *data);

/* The sched_ext scheduler treats the process's threads as urgent until then, at most. Returns 0 or -errno. */
int sched_ease(struct sensor *sensor, u32 pid, u64 until_ns);

/* Assigns a fact to a process's threads, or to one thread (tid 0: all of them; pid 0: of all processes). Returns the
 * number of threads that got it, or -errno. */
int sched_assign(struct sensor *sensor, u32 pid, u32 tid, enum role_order_what what, s32 value);

/* What a thread's name says, see model/rules.h. The longest name that fits counts. */
int sched_add_name(struct sensor *sensor, const struct name_rule *rule);
/* Before other rules: threads keep what their names said until they are asked again (ORDER_NAME). */
void sched_forget_names(struct sensor *sensor);

/* Lets another sensor's object work on the same threads, rings, counters and settings. Call it between the object's
 * open and its load. Without a sensor (NULL) the object gets its own, which is enough to see whether it loads. */
struct bpf_object;
int sched_share(const struct sensor *sensor, struct bpf_object *object);

/* What events are sent (EVENTS_*); all kinds for no sensor (NULL). */
u32 sched_emits(const struct sensor *sensor);

/* Whether the process of a pidfd is the command after `--` or a descendant of it, by what the kernel half has followed.
 */
bool sched_is_of_command(const struct sensor *sensor, int pidfd);

/* For sched_sums.c: all of the kernel half. */
struct bpf_object *sched_object(const struct sensor *sensor);

/* For the learned sensor: the kernel half's maps by name, what it is to do (LEARN_*), and what it counted. */
int sched_map_fd(const struct sensor *sensor, const char *name);
/* The types that these maps hold. */
struct btf;
const struct btf *sched_types(const struct sensor *sensor);
void sched_set_learning(struct sensor *sensor, u32 flags);
struct sched_learned {
	u64 looks, found; /* threads looked up, and those of which something was predicted */
	u64 notes;	  /* observations made */
	u64 refused;	  /* for which the map had no room */
};
struct sched_learned sched_learned(const struct sensor *sensor);

/* For the stream: the rings' descriptors, one a CPU, and each CPU's counters. */
const int *sched_ring_fds(const struct sensor *sensor);
const struct sched_cpu *sched_cpus(const struct sensor *sensor, u32 *len);

#endif

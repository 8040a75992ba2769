/* SPDX-License-Identifier: GPL-2.0 */
/* Where a view's events come from: the kernel, now, or a recording (-i FILE). A view says what it needs and what to do
 * with each event; everything around that is done here, in the same way for all: filters, the command, time, losses. */
#ifndef TACTUS_VIEW_SOURCE_H
#define TACTUS_VIEW_SOURCE_H

#include "../base/say.h"
#include "../model/threads.h"
#include "../sensor/evidence.h"
#include "../stream/recording.h"
#include "view.h"

struct cuda_settings;
struct sensor;

/* One CPU's ring: every event that was to be sent was either read or lost. */
struct ring_count {
	u64 produced, read, lost;
};

struct source {
	/* Set by the view before source_play: */
	const char *view; /* its name, for messages */
	bool accounts;	  /* live: let the kernel keep accounts, and fill `threads` with them at the end */
	bool events;	  /* live: send every event; on replay events always come */
	bool roles;  /* live: find out what threads are for, with every sensor that helps; `threads` get their roles */
	bool frames; /* live, with `roles`: send an event a frame */
	bool unfollowed; /* live, with `roles`, unless it records: as sched_settings has it, which is cheap */
	bool gpu;	 /* live, with `roles`: send an event a submit to a GPU, and of what the GPU has done */
	bool input;	 /* live, with `roles`: send what input devices report, and who wakes for it */
	/* live, with `roles`: the sensor that the view lives from. It is told if there is nothing for it to watch, or
	 * why it can't. */
	const char *subject;
	int subject_hooks;  /* with `subject`: only its first so many hooks do, and without them it can't start; 0: any
			     */
	const char *absent; /* with `subject`: what this machine does not have then */
	u32 raise;	    /* live, with `roles`: RAISE_* of core/sched_config.h */
	bool prompt; /* live: hand rare kinds over at once, before it is sure that none of another CPU is older */
	const struct cuda_settings *cuda; /* live: calls into libcuda and ioctls, as sensor/cuda.h has it; NULL: none */
	bool cuda_counts; /* live, with cuda: also hand the counts of calls over at each tick; they are not recorded */
	const char *without; /* live, with `roles`: sensors that are not needed; NULL: as the options say */
	bool whole_machine;  /* live: the command only says how long; everything is watched */
	bool learns;	     /* live, with roles: what threads turn out to be goes into the database */
	bool counts_cpus;    /* live: for sched_read_cpus */
	bool forgets_ended;  /* `threads` knows only the last of those that ended: for a view that prints as it goes */
	bool raw;	     /* live: events only go to the recording that is written, not to `threads` */
	/* With `events`, or on replay. The event has been applied to `threads`; `ended` is NULL or the wait it ended.
	 */
	void (*on_event)(void *data, const struct event_header *event, const struct wait *ended);
	/* Live, with `raw`: every event, in place of on_event; nothing is kept of it. */
	void (*on_raw)(void *data, const struct event_header *event);
	/* Live only: when everything is in place and before the command starts. False ends it with status 1. */
	bool (*on_open)(void *data, struct sensor *sched);
	/* Live only, with roles: a thread has a tier that was learned of its kind. Comes at once, before its event. */
	void (*on_tier)(void *data, u32 tid, u32 tier, u64 run_ns, u64 time_ns);
	/* Live only: about every 100 ms, after the events of that time. False ends it. */
	bool (*on_tick)(void *data);
	/* Live only: after the last tick, while everything is still in place. */
	void (*on_close)(void *data);
	void *data;

	/* Set by source_play, valid until source_free: */
	struct threads threads;
	struct recording_info info;
	bool replay;
	u32 command_pid;		   /* live: the command, held until on_open is done; 0: there is none */
	u64 lost;			   /* events that the rings had no room for */
	u64 lost_kinds[EVENT_KINDS];	   /* these by kind; 0: not known */
	u64 unseen;			   /* live: switches that the kernel did not show */
	u64 unreached;			   /* events left out: what is kept of a thread could not be reached */
	struct ring_count *rings;	   /* live, with events: one a CPU */
	u64 read;			   /* live: events read from the rings */
	u64 written_bytes, written_events; /* live: of the recording, up to date once a second */
	struct evidence_losses evidence;   /* live: facts that a full map or ring refused */
	u32 cuda_libraries;		   /* live, with cuda: that were probed */
	u32 cuda_late;			   /* live, with cuda: of them, only after a process had mapped them */
	u64 cuda_lost;			   /* live, with cuda: calls that could not be kept, arguments not read */
	bool cuda_ioctls;		   /* live, with cuda: ioctls were watched */
	u32 cuda_counters;		   /* live, with cuda: processes that counted their calls themselves */
	u64 cuda_counted;		   /* live, with cuda: how many these were */
	struct reason cuda_trap;	   /* live, with cuda: why every call traps; "": not every one has to */
	u64 refused;			   /* threads that a full map or failed allocation turned away */
};

/* Plays everything from start to end. Returns the status to end with (0, the command's, or after a message 1); the view
 * prints its result if source->threads.cpus is set. */
int source_play(struct source *source, const struct options *options);
void source_free(struct source *source);

/* Prints what was lost, on stderr, if anything was. */
void source_print_losses(const struct source *source);

#endif

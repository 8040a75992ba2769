/* SPDX-License-Identifier: GPL-2.0 */
/* Gathers the events that somebody asks for, from the kernel, now, or from a recording (-i FILE). A view says what it
 * needs and what to do with each event; everything around that is done here, in the same way for all: which sensors
 * serve it, filters, the command, time, losses. */
#ifndef TACTUS_CAPTURE_CAPTURE_H
#define TACTUS_CAPTURE_CAPTURE_H

#include "../base/options.h"
#include "../base/say.h"
#include "../model/threads.h"
#include "../sensor/sensor_set.h"
#include "../stream/recording.h"

/* A sensor that the view lives from. */
struct capture_subject {
	const char
		*sensor; /* NULL: there is none. The view's user hears it if it can't watch, or has nothing to watch */
	int hooks;	 /* only its first so many hooks do, and without them the capture can't start; 0: any */
	const char *absent; /* what this machine does not have where it has nothing to watch */
};

struct capture_request {
	const char *view; /* its name, for messages */
	/* EVENTS_*: the events that are wanted, live; a recording has what it has. With EVENTS_ROLES every sensor helps
	 * to find out what threads are for, and `threads` get their roles. A recording that is written has more. */
	u32 groups;
	bool accounts;	     /* live: let the kernel keep accounts, and fill `threads` with them at the end */
	bool counts_cpus;    /* live: for sched_read_cpus */
	bool sums;	     /* live: for sensor/sched_sums.h */
	const char *without; /* live: sensors that are not needed; NULL: as the options say */
	struct capture_subject subject;
	const struct cuda_settings *cuda; /* with EVENTS_CUDA */
	bool no_sched_hooks;		  /* live, unless it records: as sched_settings has it, which is cheap */
	bool prompt; /* live: hand rare kinds over at once, before it is sure that none of another CPU is older */
	bool soon; /* live: tick every 20 ms, for a view that prints what happens and needs the order of time for it */
	bool prompt_urgency; /* live: likewise who becomes urgent, or no longer is */
	bool snapshots;	     /* live: also hand the sensors' counts over at each tick; they are not recorded */
	bool whole_machine;  /* live: the command only says how long; everything is watched */
	bool learns;	     /* live: what threads turn out to be goes into the database */
	bool forgets_ended;  /* `threads` knows only the last of those that ended: for a view that prints as it goes */
	bool no_threads;     /* live: nothing is kept in `threads`; on_event's `ended` is always NULL */
	int also_fd;	     /* live: tick too when this is readable; 0: none */
	/* Live: tick every 250 ms, between ticks read a ring only once a quarter of it has come, and do not hurry to
	 * what programs map. Much cheaper; what a program does in its first 250 ms may be missed. */
	bool calm;
	bool names_stacks;  /* of a recording: on_event also gets functions on stacks from just behind the part */
	u64 stacks_over_ns; /* live, with EVENTS_STACKS: stacks of threads that had no CPU for so long */
	u32 raise;	    /* live: RAISE_* of core/sched_config.h */
	/* Of a recording: it is open already, and is closed by this; privileges are the view's own affair then. */
	struct recording_reader *opened;

	u64 interval_ns;   /* the window is cut into pieces so long, see intervals.h; 0: it is not */
	bool forgets_many; /* with it: `threads` need not know threads that ended long ago */

	/* One of these pieces is over. */
	void (*on_interval)(void *data, u64 from_ns, u64 to_ns);
	/* Of a recording: on_event also gets what was before the part that is asked for, while before_window is set. It
	 * may be taken for what is known at its beginning; nothing of it is shown. */
	bool wants_before;
	bool only_matching; /* of a recording: with a filter, no switch comes that its threads have nothing to do with
			     */
	/* With wants_before: the part that is asked for begins, and so does all that is counted. */
	void (*on_window)(void *data);
	/* The event has been applied to `threads`; `ended` is NULL or the wait it ended. */
	void (*on_event)(void *data, const struct event_header *event, const struct wait *ended);
	/* When everything is in place, live or not, and still every right: opens what the view itself writes. False,
	 * after a message, ends it with status 1. */
	bool (*on_outputs)(void *data);
	/* Live only: when everything is in place and before the command starts. False ends it with status 1. */
	bool (*on_open)(void *data, struct sensor *sched);
	/* Live only: a thread has a tier that was learned of its kind. Comes at once, before its event. */
	void (*on_tier)(void *data, u32 tid, u32 tier, u64 run_ns, u64 time_ns);
	/* Live only: a program is a game, or serves one; see model/games.h. */
	void (*on_program)(void *data, const struct program_seen *seen);
	/* Live only: about every 100 ms, after the events of that time. False ends it. */
	bool (*on_tick)(void *data);
	/* Live only: after the last tick, while the window is still open. */
	void (*on_close)(void *data);
	/* Live only: after the last event, while the sensors are still there. */
	void (*on_end)(void *data);
	void *data;
};

/* Everything that is missing from a result. */
struct capture_losses {
	u64 events;		  /* that the rings had no room for, */
	u64 of_kind[EVENT_KINDS]; /* by kind; 0: not known */
	u64 unreached;		  /* events left out: what is kept of a thread could not be reached */
	u64 unseen_switches;	  /* that the kernel did not show */
	u64 threads;		  /* that a full map or failed allocation turned away */
	struct {
		const char *sensor;
		u64 facts;	    /* that its maps, rings or hooks could not take */
	} sensors[SENSORS_MAX + 1]; /* and mappings */
	u32 sensors_len;
};

/* One CPU's ring: every event that was to be sent was either read or lost. */
struct ring_count {
	u64 produced, read, lost;
};

struct capture {
	struct capture_request request;

	/* The result, set by capture_run and valid until capture_free: */
	struct threads threads;
	struct recording_info info;
	bool replay, verbose;
	bool before_window; /* see wants_before */
	bool stopped;	    /* by a view that wants no more of a recording */
	int folder;	    /* of a recording: in which the view's file gets its name at the end; 0: none */
	bool is_excerpt;    /* not all of a recording, or not of all its threads */
	u64 window_from_ns; /* what is counted begins here; times are shown since threads.first_ns */
	u32 command_pid;    /* live: the command, held until on_open is done; 0: there is none */
	struct capture_losses losses;
	struct ring_count *rings;	   /* live, with events: one a CPU */
	u64 interval_from_ns;		   /* of the piece that goes on; 0: there is none */
	u64 read;			   /* live: events read from the rings */
	u64 written_bytes, written_events; /* live: of the recording, up to date once a second */
	struct sensor_refusals refusals;   /* live: what processes said or mapped and was not gone into, so far */
	struct rules *rules;		   /* live, with EVENTS_ROLES, as long as the next */
	struct sensor_set *sensors;	   /* live, until on_end has returned */
	struct stream *stream;		   /* live, while the window is open; for capture_put */
};

/* Gathers everything from start to end. Returns the status to end with (0, the command's, or after a message 1); the
 * view prints its result if capture->threads.last_ns is set. */
int capture_run(struct capture *capture, const struct options *options);
void capture_free(struct capture *capture);

/* Live, between on_open and on_close: adds an event to the stream, and so to a recording. */
void capture_put(struct capture *capture, const struct event_header *event);

/* Live, from on_open to on_close: reads the rules anew, and looks at programs and threads by them. Returns 0, or -errno
 * after a message; then the old ones hold. */
int capture_reload_rules(struct capture *capture);

/* Prints what is missing, on stderr, if anything is. What changes no figure that is shown is said only with -v. */
void capture_print_losses(const struct capture *capture);

#endif

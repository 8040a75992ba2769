/* SPDX-License-Identifier: GPL-2.0 */
/* All sensors that serve what was asked for, started together beside the sched sensor, whose threads they share. Each
 * is optional: one that can't work here leaves its reason and takes nothing else down. */
#ifndef TACTUS_SENSOR_SENSOR_SET_H
#define TACTUS_SENSOR_SENSOR_SET_H

#include "../base/options.h"
#include "../model/games.h"
#include "../model/rules.h"
#include "../model/threads.h"
#include "sensor.h"

struct libraries;
struct procdb_settings;
struct sched_settings;
struct cuda_settings;

/* What every sensor's `open` gets; NULL where it is only tried (tactus doctor). */
struct sensor_settings {
	u32 groups; /* EVENTS_*, that were asked for */
	const struct options *options;
	struct sensor *sched;	       /* for sched_share and sched_assign */
	const struct threads *threads; /* that are known so far, by the stream */
	struct libraries *libraries;   /* to learn of mapped libraries, see libraries.h; NULL if that can't be had */
	const struct rules *rules;     /* what the user and the built-in rules say of programs; NULL: none are needed */
	const struct procdb_settings *db; /* of what was learned; NULL: the default, and it is only read */
	const struct sched_settings *for_sched;
	const struct cuda_settings *for_cuda;
	u64 stacks_over_ns; /* with EVENTS_STACKS: of threads that had no CPU for so long */
	void *prepared;	    /* the sensor's own, from before the command was forked */
	/* Called at once when a thread has a tier that was learned of its kind; NULL: nobody needs to know. */
	void (*on_tier)(void *data, u32 tid, u32 tier, u64 run_ns, u64 time_ns);
	/* Called for each program that the rules know for a game, or for what serves one; NULL: nobody needs to know.
	 */
	void (*on_program)(void *data, const struct program_seen *seen);
	void *data;
};

struct sensor_set;

/* Before the command is forked, and right after. `settings` needs its groups, options and what is for a sensor. Returns
 * 0, or -errno for want of memory. */
int sensor_set_open(struct sensor_set **out, const struct sensor_settings *settings);
void sensor_set_after_fork(struct sensor_set *set);

/* `settings` has all but the libraries. `without`: names of sensors not to start, as in "gpu,names", or NULL. */
void sensor_set_start(struct sensor_set *set, const struct sensor_settings *settings, const char *without);
/* Other rules hold from now on, also for programs and threads that are there. The old ones can be freed then. */
void sensor_set_rules(struct sensor_set *set, const struct rules *rules, const char *without);
void sensor_set_close(struct sensor_set *set);

/* What is wrong with a list of sensors to leave out, or NULL. */
const char *sensor_set_check_names(const char *without);

bool sensor_set_leaves_out(const char *without, const char *name);

/* A descriptor that is readable when there is work; -1: there never is. */
int sensor_set_fd(const struct sensor_set *set);
/* Does what there is to do and hands over events of what it found, as of now_ns; costs little when there is nothing.
 * `first`: only those sensors that work before the rings are read. */
void sensor_set_work(struct sensor_set *set, bool first, u64 now_ns, event_handler handle, void *data);
/* For every role event. */
void sensor_set_handle(struct sensor_set *set, const struct event_header *event);
/* Events about what is there already, such as devices. */
void sensor_set_describe(struct sensor_set *set, u64 now_ns, event_handler handle, void *data);
/* Events of how things stand now, such as counts. Returns 0 or -errno. */
int sensor_set_snapshot(struct sensor_set *set, event_handler handle, void *data);
/* Adds the rings that sensors have of their own. Returns 0 or -errno. */
int sensor_set_add_sources(struct sensor_set *set, struct stream *stream);

/* Calls `add` with what a full map or ring refused of each sensor's, if anything. Where mappings are lost, /proc is
 * looked at instead. */
void sensor_set_losses(const struct sensor_set *set, void (*add)(void *data, const char *sensor, u64 lost), void *data);

/* What others' processes said or mapped and was not gone into, so far. */
struct sensor_refusals {
	u64 addresses; /* reported, where no function that presents begins */
	u64 files;     /* mapped, and not looked at, or not to the end */
};
struct sensor_refusals sensor_set_refused(const struct sensor_set *set);

/* How often hooks reported something of a thread so far: enum hit. */
void sensor_set_hits(const struct sensor_set *set, u64 hits[HITS]);

/* NULL: there is none of that name. */
struct sensor *sensor_set_find(struct sensor_set *set, const char *name);

#endif

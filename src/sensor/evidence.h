/* SPDX-License-Identifier: GPL-2.0 */
/* All sensors that tell what threads are for, started together beside the sched sensor, whose threads they share.
 * Each is optional: one that can't work here leaves its reason and takes nothing else down. */
#ifndef TACTUS_SENSOR_EVIDENCE_H
#define TACTUS_SENSOR_EVIDENCE_H

#include "../model/rules.h"
#include "sensor.h"

struct libraries;
struct procdb_settings;

/* What the open of an evidence sensor gets as its settings; NULL where it is only tried (tactus doctor). */
struct evidence_settings {
	struct sensor *sched;	     /* for sched_share and sched_assign */
	struct libraries *libraries; /* to be told of mapped libraries, see libraries.h; NULL if that can't be had */
	const struct rules *rules;   /* what the user and the house say of programs */
	const struct procdb_settings *db; /* of what was learned; NULL: the default, and it is only read */
	/* Called at once when a thread has a tier that was learned of its kind; NULL: nobody needs to know. */
	void (*on_tier)(void *data, u32 tid, u32 tier, u64 run_ns, u64 time_ns);
	void *data;
};

struct evidence_set;

/* `wishes` has all but the libraries. `without`: names of sensors not to start, as in "gpu,names", or NULL. Returns 0
 * or -errno for want of memory. */
int evidence_start(struct evidence_set **out, const struct evidence_settings *wishes, const char *without);
void evidence_stop(struct evidence_set *evidence);

/* What is wrong with a list of sensors to leave out, or NULL. */
const char *evidence_check_names(const char *without);

bool evidence_leaves_out(const char *without, const char *name);

/* A descriptor that is readable when there is work; -1: there never is. */
int evidence_fd(const struct evidence_set *evidence);
/* Does what there is to do; costs little when there is nothing. */
void evidence_work(struct evidence_set *evidence);
void evidence_take(struct evidence_set *evidence, const struct event_header *event);
/* Events about what is there already, such as devices. */
void evidence_describe(struct evidence_set *evidence, u64 now_ns,
		       void (*take)(void *data, const struct event_header *event), void *data);
/* Events of what the last work has found. */
void evidence_tell(struct evidence_set *evidence, u64 now_ns,
		   void (*take)(void *data, const struct event_header *event), void *data);

/* Facts that a full map or ring refused, and which sensors lost how many: "3 of mappings, 1 of launch". Where mappings
 * are lost, /proc is looked at instead. */
struct evidence_losses {
	u64 sum;
	char words[160];
};
struct evidence_losses evidence_lost(const struct evidence_set *evidence);

/* The sensors, for telling which hook each one has. */
const struct sensor *evidence_sensors(const struct evidence_set *evidence, int *len);

#endif

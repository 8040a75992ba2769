/* SPDX-License-Identifier: GPL-2.0 */
/* The cuda sensor: calls into every libcuda that a watched process maps, and the ioctls under them. Start it beside the
 * sched sensor with sensor_start(&sensor, &cuda_kind, &settings). */
#ifndef TACTUS_SENSOR_CUDA_H
#define TACTUS_SENSOR_CUDA_H

#include "../stream/live.h"
#include "cuda_detour.h"
#include "cuda_driver.h"
#include "kinds.h"

struct cuda_settings {
	struct sensor *sched;
	const char *api;    /* "default", "all", or an extended regular expression for functions' names */
	u32 sample;	    /* send one call in so many; 0 or 1: all */
	u32 pid;	    /* the only process that is watched; 0: there may be others */
	const char *driver; /* functions of the kernel's to watch, see cuda_driver.h; NULL: none */
	enum driver_by driver_by;
	bool counts_only;	    /* count calls and send nothing of them */
	bool no_ioctls;		    /* calls only */
	const char *library;	    /* probed before anything maps it; NULL: those that lie where libraries do */
	bool tells;		    /* without sampling: a command tells of its launches itself */
	bool no_detour;		    /* every call runs into its probe */
	struct cuda_detour *detour; /* by which the command counts itself, see cuda_detour.h; NULL: it does not */
};

/* Hands over, as events of kind cuda_name, the functions that were probed since the last time. */
void cuda_tell_names(struct sensor *sensor, live_take take, void *data);

/* Hands over, as events of kind cuda_count, how often each function was called. */
int cuda_tell_counts(struct sensor *sensor, live_take take, void *data);

struct cuda_state_of {
	u32 libraries;	  /* probed */
	u32 found_mapped; /* of them, only once a process had mapped them */
	u32 functions;
	u32 probes;
	bool ioctls;	  /* are watched */
	u64 lost_threads; /* that got no storage */
	u64 too_deep;
	u64 unread; /* arguments that could not be read */
	u64 missed; /* calls at which the kernel did not run a program: its CPU was busy with the same one */
	struct cuda_detour_counts detour; /* as of the last cuda_tell_counts */
};
struct cuda_state_of cuda_state(const struct sensor *sensor);

/* What a libcuda here exports and what would be done with each function. Calls `take` for each; returns how many
 * there are, or -errno with a reason. `path` gets the library's. */
struct cuda_function;
int cuda_list_functions(char *path, size_t size, void (*take)(void *data, const struct cuda_function *function),
			void *data, struct reason *why);

/* Whether a function is in the set that `api` names. */
bool cuda_is_chosen(const struct cuda_function *function, const char *api);

#endif

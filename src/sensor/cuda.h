/* SPDX-License-Identifier: GPL-2.0 */
/* The cuda sensor: calls into every libcuda that a watched process maps, and the ioctls under them. */
#ifndef TACTUS_SENSOR_CUDA_H
#define TACTUS_SENSOR_CUDA_H

#include "cuda_detour.h"
#include "cuda_driver.h"
#include "kinds.h"

/* How many there are: without any of them no call is seen. */
enum { CUDA_HOOKS = 2 };

struct cuda_settings {
	const char *api;    /* "default", "all", or an extended regular expression for functions' names */
	u32 sample;	    /* send one call in so many; 0 or 1: all */
	const char *driver; /* functions of the kernel's to watch, see cuda_driver.h; NULL: none */
	enum driver_by driver_by;
	bool counts_only;    /* count calls and send nothing of them */
	bool no_ioctls;	     /* calls only */
	const char *library; /* probed before anything maps it; NULL: those that lie where libraries do */
	bool reports;	     /* without sampling: a command reports its launches itself */
	bool ranges;	     /* that programs name by NVTX */
	bool no_detour;	     /* every call runs into its probe */
};

struct cuda_state_of {
	u32 libraries;	  /* probed */
	u32 found_mapped; /* of them, only once a process had mapped them */
	u32 functions;
	u32 probes;
	bool ioctls;			  /* are watched */
	struct cuda_detour_counts detour; /* as of the last snapshot */
	const char *trap;		  /* why every call runs into its probe; "": not every one has to */
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

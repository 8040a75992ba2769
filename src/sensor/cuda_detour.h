/* SPDX-License-Identifier: GPL-2.0 */
/* The folder and the library (detour/) by which a program that tactus starts counts its calls itself, and only one in N
 * runs into a probe. Opened before the command is forked, given to it, informed of each libcuda that is probed, read
 * and removed. */
#ifndef TACTUS_SENSOR_CUDA_DETOUR_H
#define TACTUS_SENSOR_CUDA_DETOUR_H

#include <stdbool.h>

#include "../base/say.h"
#include "../model/cuda_api.h"
#include "../model/detour.h"
#include "../model/threads.h"

struct cuda_detour;
struct sensor;

/* Makes the folder. `every`: one call in so many runs into the probe; `reports`: none but launches go past it, and
 * each of them is reported. Returns 0, or -errno with a reason. */
int cuda_detour_open(struct cuda_detour **out, u64 every, bool reports, struct reason *why);
/* Removes it. What a program still counts is lost then, and it does not notice; nobody can make the folder again but
 * who could before. */
void cuda_detour_close(struct cuda_detour *detour);

#define DETOUR_NAME "detour.so"
enum { DETOUR_PATH_BYTES = DETOUR_FOLDER_BYTES + sizeof("/" DETOUR_NAME) };

/* Where the library is, if the command was told to take it for NVTX's ranges too. */
bool cuda_detour_path(const struct cuda_detour *detour, char path[DETOUR_PATH_BYTES]);

/* Puts the library into the environment that a command is forked with, and takes it out again. */
int cuda_detour_give(struct cuda_detour *detour, bool for_ranges);
void cuda_detour_take_back(const struct cuda_detour *detour);

/* A function of the library that is open as `fd`, which has this number and cookie; 0: it is not watched. */
void cuda_detour_add(struct cuda_detour *detour, int fd, const struct cuda_function *function, u64 cookie);
/* The library's functions have all been added: from now on programs find them. Returns 0 or -errno. */
int cuda_detour_plan(struct cuda_detour *detour, int fd);

/* Readable when a program asks for memory to count in; it waits for the answer. */
int cuda_detour_fd(const struct cuda_detour *detour);
/* Answers; the sched sensor says who is of the command. */
void cuda_detour_serve(struct cuda_detour *detour, struct sensor *sched);

struct cuda_detour_counts {
	u32 processes; /* that counted */
	u32 broken;    /* whose counts are not as they should be */
	u64 calls;
	u64 lost;    /* launches that were reported and not read */
	u64 refused; /* launches reported in the name of another process's thread */
};

/* Calls `take` with what was counted of a function in a process, for each; returns the sums. */
struct cuda_detour_counts cuda_detour_read(struct cuda_detour *detour,
					   void (*take)(void *data, u32 function, const struct cuda_counts *counts),
					   void *data);

/* Reads what programs reported since the last time; `all`: none of them reports any more. */
void cuda_detour_collect(struct cuda_detour *detour, bool all);
/* The oldest launch that was read and not dropped yet, if it is older than that; NULL: there is none. It is of a thread
 * that is known, of the process that reports it. */
const struct event_header *cuda_detour_first(struct cuda_detour *detour, u64 before_ns, const struct threads *threads);
void cuda_detour_drop(struct cuda_detour *detour);

#endif

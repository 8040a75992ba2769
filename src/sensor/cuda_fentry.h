/* SPDX-License-Identifier: GPL-2.0 */
/* fentry and fexit on functions of the kernel's modules: the cheapest hook there is, and a program of its own for each
 * function, whose types the module's BTF has to hold. */
#ifndef TACTUS_SENSOR_CUDA_FENTRY_H
#define TACTUS_SENSOR_CUDA_FENTRY_H

#include "cuda_driver.h"

struct cuda_bpf;
struct sensor;
struct fentry;

/* What all of them share: the maps of the object `with`. */
struct fentry_plan {
	struct cuda_bpf *with;
	const struct sensor *sched;
	bool with_end;
	size_t most; /* functions */
};

/* Hooks what it can of `places`, but no more than `most`, and takes that out of them. Returns how many; `why` says why
 * not all of them, if it isn't because of `most`. `out` is NULL if there is none. */
size_t fentry_attach(struct fentry **out, const struct fentry_plan *plan, struct driver_places *places,
		     struct reason *why);
/* How often the kernel did not run one of the programs because its CPU was busy with the same one. */
u64 fentry_recursion_misses(const struct fentry *fentry);
void fentry_free(struct fentry *fentry);

/* Asks whether one could be had: programs that do nothing are loaded and not attached. */
struct fentry_trial;
struct fentry_trial *fentry_trial_begin(void);
bool fentry_would_take(struct fentry_trial *trial, const char *module, const char *symbol, struct reason *why);
void fentry_trial_end(struct fentry_trial *trial);

#endif

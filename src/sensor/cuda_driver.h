/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of NVIDIA's kernel modules, by pattern: their names differ between versions, so they are looked up; and the
 * probes on them. */
#ifndef TACTUS_SENSOR_CUDA_DRIVER_H
#define TACTUS_SENSOR_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"
#include "../base/say.h"
#include "uprobes.h"

/* Where to put a program, and what to hand it there. */
struct driver_places {
	const char **symbols;
	const char **modules;
	u64 *cookies;
	size_t len;
};

struct driver_probes {
	struct bpf_link **links;
	size_t len;
};

/* By what functions of the kernel's are watched: fentry for the first few and kprobes for the others, or one alone. */
enum driver_by { DRIVER_BY_AUTO, DRIVER_BY_FENTRY, DRIVER_BY_KPROBE };

/* fentry takes longer to put on, a function at a time: beyond these, kprobes. */
enum { DRIVER_FENTRY_MOST = 64 };

struct fentry;
struct driver_hooks {
	struct driver_probes probes;
	struct fentry *fentry;
};

struct cuda_bpf;
struct sensor;
struct driver_plan {
	struct cuda_bpf *with; /* loaded */
	const struct sensor *sched;
	enum driver_by by;
	bool counts_only;
	u32 (*number_for)(void *data, const char *name); /* 0: there is no room for it */
	void *data;
};

/* Hooks every function whose name fits one of the shell patterns (with commas between them), of modules whose names
 * begin with nvidia, or, for MODULE:PATTERN, of that one; `vmlinux` is the kernel itself. Returns 0, with how in `why`,
 * or -errno with the reason if none is hooked. */
int driver_watch(struct driver_hooks *hooks, const char *pattern, const struct driver_plan *plan, struct reason *why);
void driver_hooks_free(struct driver_hooks *hooks);

/* Calls `take` for each function whose name fits, with the best hook that it can have here, or with why it can have
 * none. A NULL pattern: all of NVIDIA's modules. */
void driver_list(const char *pattern, void (*take)(void *data, const char *module, const char *symbol, const char *how),
		 void *data);

#endif

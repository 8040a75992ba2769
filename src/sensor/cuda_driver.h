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

/* One that a probe can be put on. */
struct driver_function {
	char *symbol;
	char *name; /* MODULE:SYMBOL */
};

struct driver_functions {
	struct driver_function *all;
	size_t len, room;
};

/* Those whose names fit a shell pattern, of modules whose names begin with nvidia, or, if the pattern is
 * MODULE:PATTERN, of that one; `vmlinux` is the kernel itself. Returns 0, or -errno with a reason. */
int driver_functions_find(struct driver_functions *functions, const char *pattern, struct reason *why);
void driver_functions_free(struct driver_functions *functions);

/* Where to put a program, and what to tell it there. */
struct driver_places {
	const char **symbols;
	u64 *cookies;
	size_t len;
};

struct driver_probes {
	struct bpf_link **links;
	size_t len;
};

/* Puts a program on all of them at once (kprobe.multi), or on each by itself, where some may be refused. Both return 0,
 * or -errno with a reason if none is there. */
int driver_probe_all(struct driver_probes *probes, const struct bpf_program *program,
		     const struct driver_places *places, enum uprobe_side side, struct reason *why);
int driver_probe_each(struct driver_probes *probes, const struct bpf_program *program,
		      const struct driver_places *places, enum uprobe_side side, struct reason *why);
void driver_probes_free(struct driver_probes *probes);

#endif

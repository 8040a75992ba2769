/* SPDX-License-Identifier: GPL-2.0 */
/* What this machine is and what this process may do: kernel, BTF, capabilities, CPUs, sched_ext, tracefs.
 * Reads files and asks the kernel; changes nothing. */
#ifndef TACTUS_BASE_SYSTEM_H
#define TACTUS_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"
#include "say.h"

/* The capabilities that some part of the program needs. */
struct capability {
	const char *name;
	int number;
	const char *for_what;
	bool required; /* without it nothing can be watched */
};

extern const struct capability capabilities[];
extern const size_t capabilities_len;

bool capability_held(const struct capability *capability);

/* True if everything required is held; else says in `why` what is missing and what to do. */
bool may_load_programs(struct reason *why);

const char *kernel_release(void);
/* False too for a release that is no number. */
bool kernel_is_at_least(unsigned int major, unsigned int minor);
bool kernel_has_btf(void);
/* Whether each session's threads are weighed as one against those of others: then a nice value counts within a session.
 */
bool kernel_groups_sessions(void);

/* Whether programs may ask if they run in an interrupt: the kernel must show where it keeps that. */
bool kernel_shows_interrupts(void);

/* One more than the highest CPU number that this kernel can have. */
u32 possible_cpus(void);

struct sched_ext_state {
	bool available;
	char loaded[64]; /* the scheduler in charge, empty if it is the kernel's own */
};
struct sched_ext_state sched_ext_state(void);

/* Reads a small text file, relative to dir_fd if the path is, and cuts the newline off. Returns 0 or -errno. */
int read_line_at(int dir_fd, const char *path, char *line, size_t size);

/* A descriptor of tracefs's top folder, wherever it is mounted. Where it is not, one of a mount that only this process
 * sees, so that the system is left as it was. Returns -errno if it can't be had. */
int tracefs_open(void);

#endif
